"""Deployments and routes from Python: searches, statistics, files, NetworkX, pictures."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ropewalk import routes
from ropewalk.commands import app
from ropewalk.errors import InputError
from ropewalk.routes import ALGORITHMS, GREEDY, Deployment, Layout


def ropewalk(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["routes", *arguments])


@pytest.fixture(scope="module")
def conditioned() -> list[Deployment]:
    return routes.conditioned(5, seed=3, workers=2)


@pytest.fixture
def diamond(tmp_path: Path) -> Path:
    file = tmp_path / "diamond.csv"
    file.write_text("name,x,y\ns,0,0\na,16,12\nb,16,-12\nd,32,0\n", encoding="utf-8")
    return file


def test_conditioned_deployments_have_two_routes_for_all_three(conditioned: list[Deployment]) -> None:
    assert len(conditioned) == 5
    for deployment in conditioned:
        assert len(deployment.names) == len(deployment.positions) == 32
        links = {frozenset(link) for link in deployment.links}
        for algorithm in ALGORITHMS:
            assert len(deployment.routes[algorithm]) >= 2
            for route in deployment.routes[algorithm]:
                assert (route[0], route[-1]) == (deployment.source, deployment.destination)
                assert all(frozenset(hop) in links for hop in pairwise(route))


def test_the_number_of_workers_changes_nothing(conditioned: list[Deployment]) -> None:
    again = routes.conditioned(5, seed=3, workers=1)
    assert [one.json() for one in again] == [one.json() for one in conditioned]


def test_a_search_goes_on_where_another_ended(conditioned: list[Deployment]) -> None:
    rest = routes.search(
        2, nodes=32, condition="all-multipath", seed=3, first=conditioned[2].draw + 1, workers=2
    )
    assert [one.draw for one in rest.deployments] == [one.draw for one in conditioned[3:]]


def test_statistics_agree_with_the_deployments_themselves() -> None:
    layout = Layout(nodes=36)
    statistics = routes.statistics(200, layout, seed=5)
    found = routes.search(200, layout, seed=5)
    assert (statistics.drawn, statistics.connected) == (found.drawn, found.connected)
    assert statistics.count == found.connected == 200
    for algorithm in GREEDY:
        numbers = [len(one.routes[algorithm]) for one in found.deployments]
        assert statistics.hops(algorithm, "routes") == numbers
        several = sum(number >= 2 for number in numbers) / 200
        assert statistics.multipath(algorithm).mean == pytest.approx(several)
        seconds = [
            len(one.routes[algorithm][1]) - 1 for one in found.deployments if len(one.routes[algorithm]) > 1
        ]
        assert statistics.hops(algorithm, "second_hops") == seconds
    missed = sum(len(one.routes["node"]) < 2 <= len(one.routes["optimal-node"]) for one in found.deployments)
    assert statistics.missed("node", pair=True).mean == pytest.approx(missed / 200)
    assert statistics.missed("node", pair=False).mean >= missed / 200


def test_a_cdf_counts_what_is_not_above() -> None:
    assert routes.cdf([3, 1, 3, 2]) == ([1, 2, 3], [0.25, 0.5, 1.0])
    assert routes.cdf([]) == ([], [])


def test_other_layouts_are_drawn() -> None:
    settings: list[dict[str, Any]] = [
        {"nodes": None, "intensity": 0.006},
        {"nodes": None, "grid": (7, 6), "jitter": 0.5, "area_m": (110.0, 90.0)},
    ]
    for setting in settings:
        found = routes.search(3, condition="connected", seed=2, **setting)
        sizes = {len(deployment.names) for deployment in found.deployments}
        assert sizes == {42} if "grid" in setting else min(sizes) >= 2


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"nodes": 1}, "nodes"),
        ({"range_m": 0.0}, "range"),
        ({"area_m": -1.0}, "area"),
        ({"source": (float("nan"), 0.0)}, "source"),
        ({"destination": "32"}, "destination"),
        ({"nodes": 32, "condition": "lucky"}, "condition"),
        ({"ties": "longest"}, "ties"),
        ({"nodes": 32, "range_m": 0.1, "draws": 1000}, "draws"),
        ({"algorithms": ["optimal-zone"]}, "algorithm"),
    ],
)
def test_bad_settings_are_input_errors_that_name_them(settings: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError) as raised:
        routes.search(1, **settings)
    assert raised.value.key == key


def test_a_file_makes_a_deployment(diamond: Path) -> None:
    deployment = routes.load(diamond, range_m=21, source="s", destination=(32.0, 0.0))
    assert deployment.names == ("s", "a", "b", "d")
    assert deployment.routes["node"] == [[0, 1, 3], [0, 2, 3]]
    for text, ending in ((deployment.json(), "json"), (deployment.graphml(), "graphml")):
        again = diamond.with_suffix(f".{ending}")
        again.write_text(text, encoding="utf-8")
        assert routes.load(again).json() == deployment.json()


def test_a_broken_file_is_told_with_its_line(diamond: Path) -> None:
    diamond.write_text("x,y\n0,0\nNaN,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="finite") as raised:
        routes.load(diamond, range_m=5)
    assert (raised.value.line, raised.value.file) == (3, str(diamond))
    with pytest.raises(InputError, match="cannot read"):
        routes.load(diamond.with_name("absent.csv"))


def test_networkx_there_and_back(conditioned: list[Deployment]) -> None:
    networkx = pytest.importorskip("networkx")
    deployment = conditioned[0]
    graph = routes.to_networkx(deployment)
    assert networkx.is_connected(graph)
    source, destination = (deployment.names[end] for end in (deployment.source, deployment.destination))
    assert networkx.shortest_path_length(graph, source, destination) == len(deployment.routes["link"][0]) - 1
    best = networkx.edge_connectivity(graph, source, destination)
    assert best == len(deployment.routes["optimal-link"])
    assert networkx.node_connectivity(graph, source, destination) == len(deployment.routes["optimal-node"])
    again = routes.from_networkx(graph)
    assert again.routes == deployment.routes
    assert again.positions == deployment.positions


def test_networkx_graphs_without_positions_have_routes() -> None:
    networkx = pytest.importorskip("networkx")
    deployment = routes.from_networkx(networkx.petersen_graph(), source="0", destination="7")
    assert len(deployment.routes["optimal-node"]) == 3
    assert deployment.positions == ()
    weighted = networkx.Graph([("a", "b", {"loss": 0.5}), ("b", "c", {"etx": 2, "rate_mbps": 5.5})])
    deployment = routes.from_networkx(weighted, source="a", destination="c")
    assert deployment.quality == {(0, 1): {"etx": 4.0}, (1, 2): {"etx": 2.0, "rate_mbps": 5.5}}
    edges = routes.to_networkx(deployment).edges
    assert edges["b", "c"]["rate_mbps"] == 5.5
    with pytest.raises(InputError, match="undirected"):
        routes.from_networkx(networkx.DiGraph([(0, 1)]), source="0", destination="1")


def test_routes_are_judged_over_channels(diamond: Path) -> None:
    deployment = routes.load(diamond, range_m=21, source="s", destination="d")
    one, two = (deployment.judged(channels=channels).radio for channels in (1, 2))
    assert one is not None
    assert two is not None
    assert one["sets"]["node"]["conflicts_between_routes"] == 4
    assert two["sets"]["node"]["conflicts_between_routes"] == 0
    first = one["sets"]["node"]["routes"][0]
    assert first["ett_s"] == pytest.approx(2 * 1500 * 8 / 11e6)
    # Each hop interferes with the other two nodes; N = 4; the relay keeps its channel.
    assert first["mic"] == pytest.approx(2 * 2 / 4 + 1)
    with pytest.raises(InputError) as raised:
        deployment.judged(delivery=0.0)
    assert raised.value.key == "delivery"


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    file = tmp_path / "chain.csv"
    file.write_text("name,x,y\na,0,0\nb,10,0\nc,20,0\nd,30,0\n", encoding="utf-8")
    return file


def test_channels_of_hops_decide_on_wcett_and_mic(chain: Path) -> None:
    deployment = routes.load(chain, range_m=11, source="a", destination="d")
    # 1500 octets at 6 Mbit/s take 2 ms. Nodes heard by the hops' ends: 1, 2, 1; N = 4.
    settings: dict[str, Any] = {"interference": 1.0, "bit_rate": 6e6, "beta": 0.75, "switch_cost": 0.25}
    for assign, channels, busiest, changes in (
        ("per-route", 3, 3, 2.0),
        ("alternate", 3, 1, 0.5),
        ([0, 0, 1], None, 2, 1.25),
    ):
        radio = deployment.judged(assign=assign, channels=channels, **settings).radio
        assert radio is not None
        judged = radio["sets"]["node"]["routes"][0]
        assert judged["wcett_s"] == pytest.approx(2e-3 * (0.25 * 3 + 0.75 * busiest)), assign
        assert judged["mic"] == pytest.approx(4 / 4 + changes), assign


def test_routes_are_chosen_by_a_metric(tmp_path: Path) -> None:
    file = tmp_path / "square.csv"
    # By way of c the second hop may be on channel 2.
    file.write_text("name,x,y,channels\na,0,0,1\nb,9,0,1\nc,0,9,1 2\nd,9,9,1 2\n", encoding="utf-8")
    deployment = routes.load(file, range_m=11, source="a", destination="d")
    assert deployment.channels == ((1,), (1,), (1, 2), (1, 2))
    taken = {}
    for metric in routes.METRICS:
        chosen = deployment.judged(assign="radios", metric=metric)
        assert chosen.radio is not None
        taken[metric] = (chosen.routes["link"][0][1], chosen.radio["sets"]["link"]["routes"][0]["channels"])
    assert taken == {"hops": (1, [1, 1]), "ett": (1, [1, 1]), "wcett": (2, [1, 2]), "mic": (2, [1, 2])}
    shown = ropewalk("show", str(file), "--range", "11", "--source", "a", "--destination", "d",
                     "--assign", "radios", "--metric", "mic", "--algorithm", "node")  # fmt: skip
    assert shown.exit_code == 0, shown.output
    rows = [line.split() for line in shown.stdout.splitlines() if "→" in line]
    assert [row[3:10] for row in rows] == [
        ["a", "→", "c", "→", "d", "1", "2"],
        ["a", "→", "b", "→", "d", "1", rows[1][9]],
    ]


def test_link_qualities_decide_by_ett(tmp_path: Path) -> None:
    # Over c in two hops of 19 m, or over b in three of 10 m.
    file = tmp_path / "ways.csv"
    file.write_text("name,x,y\na,0,0\nb,10,0\ne,20,0\nc,15,11.5\nd,30,0\n", encoding="utf-8")
    ends = ["--range", "20", "--source", "a", "--destination", "d"]

    def first(*arguments: str) -> tuple[list[str], dict[str, Any]]:
        shown = ropewalk("show", str(file), *ends, "--json", *arguments)
        assert shown.exit_code == 0, shown.output
        tree = json.loads(shown.stdout)
        for algorithm in ("node", "optimal-node"):
            judged = tree["radio"]["sets"][algorithm]["routes"]
            assert judged[0]["ett_s"] <= judged[1]["ett_s"], algorithm
        return tree["routes"]["node"][0], tree["radio"]["sets"]["node"]["routes"][0]

    nodes, judged = first("--metric", "ett")
    assert nodes == ["a", "c", "d"]
    assert judged["ett_s"] == pytest.approx(2 * 8 * 1500 / 11e6)
    nodes, judged = first("--metric", "ett", "--edge-loss", "0.4", "--edge-exponent", "2")
    assert nodes == ["a", "b", "e", "d"]
    assert judged["etx"] == pytest.approx(3 / (1 - 0.4 / 4) ** 2)
    rates = [("a", "b", 11), ("b", "e", 11), ("e", "d", 11), ("a", "c", 2), ("c", "d", 2)]
    tree = {
        "nodes": [{"name": name, "x_m": 0.0, "y_m": 0.0} for name in "abecd"],
        "range_m": 20,
        "links": [{"source": a, "target": b, "rate_mbps": rate} for a, b, rate in rates],
        "source": "a",
        "destination": "d",
    }
    file = tmp_path / "ways.json"
    file.write_text(json.dumps(tree), encoding="utf-8")
    ends = []
    nodes, judged = first("--metric", "ett")
    assert nodes == ["a", "b", "e", "d"]
    assert judged["ett_s"] == pytest.approx(3 * 8 * 1500 / 11e6)
    assert routes.load(file).quality[0, 1] == {"rate_mbps": 11}


def test_show_says_that_there_is_no_route(chain: Path) -> None:
    with chain.open("a", encoding="utf-8") as file:
        file.write("e,50,0\n")
    ends = ["--range", "11", "--source", "a", "--destination", "e"]
    shown = ropewalk("show", str(chain), *ends)
    assert shown.exit_code == 0, shown.output
    assert "no route from a to e: a is among 4 that hear one another, e among 1 node that hears no other" in (
        shown.stdout
    )
    assert json.loads(ropewalk("show", str(chain), *ends, "--json").stdout)["routes"]["link"] == []
    same = ropewalk("show", str(chain), *ends[:-1], "a")
    assert same.exit_code == 2
    assert '--destination: is the source too: node "a"' in same.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nodes", "5"], "--nodes: a deployment from a file is not drawn"),
        (["--condition", "connected"], "--condition: a deployment from a file is not drawn"),
        (["--seed", "3"], "--seed: nothing is random here"),
        (["--beta", "0.3"], "--beta: say over which --channels"),
        (["--radios", "2", "--channels", "2"], "--radios: it belongs to --assign radios"),
        (["--assign", "radios"], "--assign radios: over how many --channels?"),
        (["--assign", "0,x"], "--assign 0,x: expected per-route, alternate, radios, or channels"),
        (["--assign", "0,3", "--channels", "2"], "--assign: there is no channel 3"),
        (["--metric", "etx"], '--metric: there is no "etx"; choose from hops, ett, wcett, mic'),
        (
            ["--metric", "mic", "--algorithm", "optimal-node"],
            "--algorithm optimal-node: there is none by mic",
        ),
        (["--metric", "ett", "--edge-exponent", "2"], "--edge-exponent: it belongs to --edge-loss"),
        (["--metric", "ett", "--edge-loss", "1"], "--edge-loss: must be at least 0 and below 1"),
    ],
)
def test_options_that_change_nothing_are_refused(chain: Path, arguments: list[str], said: str) -> None:
    common = ["show", str(chain), "--range", "11", "--source", "a", "--destination", "d"]
    result = ropewalk(*common, *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["show", "--source", "20", "50"],
            "FILE 50: expected a name that ends in .csv, .json or .graphml (a point",
        ),
        (
            ["show", "--source", "20;50"],
            "--source 20;50: expected a point in metres, as 20,50, or a node's number",
        ),
        (["show", "--source", "40"], "--source: there is no node 40"),
        (["show", "--algorithm", "zones"], "choose from link, node, zone, optimal-link, optimal-node"),
        (
            ["statistics", "--nodes", "20-30"],
            "--nodes 20-30: expected numbers such as 32, or 20,24,32, or 16:48:4",
        ),
        (["statistics", "--out", "x.csv"], "--out x.csv: expected a name that ends in .parquet"),
        (["cdf", "--out", "x.csv"], "--out x.csv: expected a name that ends in .parquet"),
    ],
)
def test_mistakes_of_new_users_are_told_what_was_expected(arguments: list[str], said: str) -> None:
    result = ropewalk(*arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr


def test_statistics_command_as_table_json_and_parquet(tmp_path: Path) -> None:
    import polars as pl

    out = tmp_path / "new" / "routes.parquet"
    arguments = ["statistics", "--nodes", "32:40:8", "--count", "50", "--seed", "2"]
    table = ropewalk(*arguments, "--out", str(out))
    assert table.exit_code == 0, table.output
    assert "1 connected in" in table.stdout
    frame = pl.read_parquet(out)
    assert frame.height == 2 * 50 * 5
    assert set(frame["layout"]) == {"32", "40"}
    tree = json.loads(ropewalk(*arguments, "--json").stdout)
    assert [row["layout"] for row in tree["rows"]] == ["32", "40"]
    row = tree["rows"][0]
    assert row["link"]["multipath"]["n"] == 50
    expected = (frame.filter(layout="32", algorithm="link")["routes"] >= 2).mean()
    assert row["link"]["multipath"]["mean"] == pytest.approx(expected)
    assert tree["settings"]["range_m"] == 20.0


def test_cdf_command_as_table_json_and_picture(tmp_path: Path) -> None:
    picture = tmp_path / "cdf.svg"
    arguments = ["cdf", "--nodes", "40", "--count", "20", "--condition", "node-multipath"]
    result = ropewalk(*arguments, "--picture", str(picture))
    assert result.exit_code == 0, result.output
    assert "P(hops of the second route ≤ x)" in result.stdout
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    tree = json.loads(ropewalk(*arguments, "--json").stdout)
    assert tree["routes"]["node"]["x"][0] == 2
    assert tree["routes"]["node"]["cdf"][-1] == 1.0


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("statistics", {"--out": "routes.parquet"}),
        ("cdf", {"--out": "routes.parquet"}),
        ("cdf", {"--picture": "cdf.png"}),
        ("cdf", {"--out": "routes.parquet", "--picture": "cdf.svg"}),
    ],
)
def test_json_goes_together_with_files(command: str, written: dict[str, str], tmp_path: Path) -> None:
    arguments = [command, "--nodes", "40", "--count", "20"]
    files = {option: tmp_path / name for option, name in written.items()}
    options = [part for option, file in files.items() for part in (option, str(file))]
    result = ropewalk(*arguments, "--json", *options)
    assert result.exit_code == 0, result.output
    assert all(file.stat().st_size > 0 for file in files.values())
    tree = json.loads(result.stdout)
    assert tree == json.loads(ropewalk(*arguments, "--json", "--workers", "1").stdout)
    # The settings are what the figures depend on, not where they went.
    assert tree["settings"]["nodes"] == "40"
    assert not tree["settings"].keys() & {"json", "out", "picture", "workers"}


def test_show_command_draws_prints_and_reads_back(tmp_path: Path) -> None:
    picture, drawn, file = tmp_path / "a.png", tmp_path / "a.svg", tmp_path / "a.json"
    common = ["show", "--nodes", "36", "--number", "2", "--seed", "4"]
    shown = ropewalk(*common, "--picture", str(picture), "--channels", "2")
    assert shown.exit_code == 0, shown.output
    assert "WCETT ms" in shown.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    # A judged deployment's picture has the channels, by the hops and in the legend; another one has none.
    several = [*common, "--channels", "3", "--assign", "alternate", "--picture", str(drawn)]
    assert ropewalk(*several).exit_code == 0
    assert all(text in drawn.read_text(encoding="utf-8") for text in ("ch 0", "ch 1", ", channels 0 1"))
    assert ropewalk(*common, "--picture", str(drawn)).exit_code == 0
    assert "ch 0" not in drawn.read_text(encoding="utf-8")
    text = ropewalk(*common, "--json").stdout
    file.write_text(text, encoding="utf-8")
    again = json.loads(ropewalk("show", str(file), "--json").stdout)
    assert again["routes"] == json.loads(text)["routes"]
    graphml = ropewalk(*common, "--graphml", "--algorithm", "zone").stdout
    assert "zone:1" in graphml
    assert "link:" not in graphml


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "--nodes", "1"], "--nodes: a route needs a source and a destination"),
        (["show", "--nodes", "many"], "--nodes many: expected a whole number"),
        (["show", "--area", "big"], "--area big: expected metres"),
        (["show", "--area", "0"], "--area: width and height must be positive"),
        (["show", "--range", "0"], "--range: must be a positive number of metres"),
        (["show", "--range", "nan"], "--range: must be a positive number of metres"),
        (["show", "--source", "99"], "--source: there is no node 99"),
        (["show", "--grid", "4"], "--grid 4: expected columns and rows"),
        (["show", "--grid", "4x4", "--jitter", "2"], "--jitter: must be from 0 to 1"),
        (["show", "--intensity", "-1"], "--intensity: nodes per square metre must be positive"),
        (["show", "--condition", "lucky"], '--condition: there is no "lucky"'),
        (["show", "--ties", "any"], '--ties: there is no "any"'),
        (["show", "--algorithm", "best"], '--algorithm: there is no "best"'),
        (["show", "--picture", "a.gif"], "--picture a.gif: expected a name that ends in"),
        (["show", "--channels", "2", "--delivery", "0"], "--delivery: must be above 0"),
        (["show", "--json", "--graphml"], "--graphml: choose one"),
        (
            ["show", "--area", "900", "--draws", "5000"],
            "--draws: found 0 of 1 deployments that are all-multipath",
        ),
        (["show", "--intensity", "0.01", "--nodes", "20"], "--nodes: --intensity says how many nodes"),
        (["statistics", "--grid", "4x4", "--nodes", "20"], "--nodes: --grid says how many nodes"),
        (["cdf", "--jitter", "0.5"], "--jitter: it belongs to --grid"),
        (["show", "absent.csv"], "absent.csv: cannot read this file"),
        (["statistics", "--nodes", "40:30"], "--nodes 40:30: expected FROM:TO:STEP"),
        (["statistics", "--nodes", "20,x"], "--nodes x: expected numbers such as 32, or 20,24,32"),
        (["cdf", "--nodes", "20,30"], "--nodes 20,30: expected a whole number"),
    ],
)
def test_bad_input_ends_with_2_and_names_the_option(arguments: list[str], said: str) -> None:
    result = ropewalk(*arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
