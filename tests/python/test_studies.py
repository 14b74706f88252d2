"""The studies: their arithmetic by hand, and a small run of each from start to report."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from plotly.offline import get_plotlyjs_version

import ropewalk
from ropewalk import routes
from ropewalk.executor import LocalExecutor
from ropewalk.figures import Chart, Level, Line, Points
from ropewalk.figures.interactive import library
from ropewalk.progress import Silent
from ropewalk.report import Claim, Verdict
from ropewalk.routes import GREEDY
from ropewalk.studies import (
    Kept,
    StudyResult,
    claims,
    degraded_path,
    diamond,
    diamond_causes,
    diamond_cells,
    load,
    mesh_mobility,
    mesh_routing,
    mesh_transport,
    mesh_transport_cells,
    reordering_cells,
    wireless,
)
from ropewalk.studies.cells import Results, Runner
from ropewalk.studies.names import REGISTRY
from ropewalk.studies.output import Output


def test_the_formula_gives_the_paper_s_value_at_one_per_cent() -> None:
    assert degraded_path.rfc3819_mbps(0.01) == pytest.approx(4.4, abs=0.1)
    assert degraded_path.rfc3819_mbps(0.1) < 0.7


def test_a_crossing_is_interpolated_and_may_be_missing() -> None:
    assert degraded_path.crossing([1, 2, 3], [9, 7, 5], 6) == pytest.approx(2.5)
    assert degraded_path.crossing([1, 2, 3], [9, 8, 7], 6) is None
    assert degraded_path.crossing([1, 2, 3], [5, 8, 9], 6) == 1


def _run(study: str, out: Path, workers: int = 2) -> StudyResult:
    return load(study).run(
        out, quick=True, runner=Runner(LocalExecutor(workers), Silent(), Kept(out, quick=True).store, workers)
    )


class _Loaded(HTMLParser):
    """What a page would load from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "link", "img", "iframe"}:
            found = [value or "" for name, value in attrs if name in {"src", "href"}]
            self.addresses += [address for address in found if not address.startswith("data:")]


def _look_at(report: Path, *expected: str) -> None:
    html = report.read_text(encoding="utf-8")
    for text in ("<html", *expected):
        assert text in html
    page = _Loaded()
    page.feed(html)
    assert page.addresses == []


def test_degraded_path_makes_every_figure_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = degraded_path.Extent((0.5, 3.0, 7.0), (1, 2), "3 s", (64, 4000))
    monkeypatch.setattr(degraded_path, "QUICK", tiny)
    result = _run("degraded-path", tmp_path)
    names = {path.name for path in result.files}
    for stem in ("figure-1-formula", "figure-4-threshold", "figure-5-subflows", "schedulers", "buffers"):
        assert {f"{stem}.png", f"{stem}.svg"} <= names
    assert "published-connections.parquet" in names
    assert len(result.findings) == 4
    _look_at(result.report, "goodput-guard", "Published beside measured", "95 %")


def test_the_page_of_claims_is_made_of_their_file() -> None:
    folder = Path(__file__).parents[2] / "docs" / "studies"
    tree = json.loads((folder / claims.FILE).read_text(encoding="utf-8"))
    assert (folder / claims.PAGE).read_text(encoding="utf-8") == claims.page(tree)
    names = [study["study"] for study in tree["studies"]]
    assert names == [name for name in REGISTRY if name in names]
    for study in tree["studies"]:
        assert {"engine", "command"} <= study["provenance"].keys()
        is_quick = study["provenance"]["command"].endswith("--quick")
        for claim in study["claims"]:
            assert claim["verdict"] in set(Verdict)
            assert not is_quick or claim["verdict"] == Verdict.OPEN
            assert all(claim[column] for column in ("claim", "published", "papers_rules", "why"))


def test_a_reason_is_its_first_sentence_and_the_others() -> None:
    claim = Claim(
        "it", "1", "2", Verdict.HOLDS, "It holds at 0.5 Mbit/s, i.e. always. Because it does. And so on."
    )
    assert claim.why == "It holds at 0.5 Mbit/s, i.e. always."
    assert claim.further == "Because it does. And so on."


def test_a_report_carries_the_library_that_its_charts_are_written_for() -> None:
    version = get_plotlyjs_version()
    assert f"plotly.js (basic - minified) v{version}" in library()[:200]


def test_quick_runs_say_so_and_give_no_verdicts(tmp_path: Path) -> None:
    output = Output(tmp_path, "A study", "A paper", {"seeds": "1…3"})
    output.is_quick = True
    output.introduce([Claim("it", "1", "2", Verdict.HOLDS, "Because.")], "What it is about.")
    output.report.heading("Figures")
    level = Level("line to beat", 1.5, 1.4, 1.6)
    marks = Points("published", [1.0], [1.2])
    output.add(Chart("one", "One", "x", "y", [Line("ours", [0.0, 1.0], [1.0, 2.0])], [level], points=[marks]))
    output.report.heading("Further")
    result = output.finish("degraded-path")
    html = result.report.read_text(encoding="utf-8")
    assert len(html) < 1_500_000
    assert "quick run" in html
    assert html.index("chart-one") < html.index("Published beside measured") < html.index("Further")
    for text in (
        "line to beat",
        "published",
        "ropewalk reproduce degraded-path --quick",
        "Made on 2023-11-14",
    ):
        assert text in html
    (study,) = json.loads(claims.collect(tmp_path.parent, [tmp_path.name]).read_text(encoding="utf-8"))[
        "studies"
    ]
    assert study["claims"][0]["verdict"] == "open"
    assert "1 open" in claims.page({"studies": [study]})


def test_equal_runs_make_equal_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = degraded_path.Extent((0.5, 3.0), (1, 2), "2 s", (64,))
    monkeypatch.setattr(degraded_path, "QUICK", tiny)
    written = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        result = _run("degraded-path", folder, workers)
        written.append({path.name: path.read_bytes() for path in (*result.files, result.report)})
    assert written[0].keys() == written[1].keys()
    assert [name for name in written[0] if written[0][name] != written[1][name]] == []


def test_reordering_makes_every_figure_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reordering_cells, "CONNECTION", reordering_cells.CONNECTION.replace("10 MB", "1 MB"))
    result = _run("reordering", tmp_path)
    names = {path.name for path in result.files}
    assert "figure-8-linked-increases-two-paths.png" in names
    assert "figure-9-uncoupled-three-paths.svg" in names
    assert "fixed-series.parquet" in names
    assert len(result.findings) == 7
    _look_at(result.report, "F-RTO", "Published beside measured")


def test_mesh_routing_makes_every_figure_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = mesh_routing.Extent((24, 32), 20, 20, 100, 1000)
    monkeypatch.setattr(mesh_routing, "QUICK", tiny)
    monkeypatch.setattr(mesh_mobility, "QUICK", mesh_mobility.Extent((5.0, 20.0), 3))
    written = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        result = _run("mesh-routing", folder, workers)
        written.append({path.name: path.read_bytes() for path in (*result.files, result.report)})
    assert [name for name in written[0] if written[0][name] != written[1][name]] == []
    for stem in (
        "figure-3-feasibility",
        "figure-4-number-of-routes",
        "figure-5-hops",
        "optimal-missed",
        "route-lives",
    ):
        assert {f"{stem}.png", f"{stem}.svg"} <= written[0].keys()
    data = {"feasibility.parquet", "conditioned.parquet", "ties.parquet", "moving-routes.parquet"}
    assert data <= written[0].keys()
    assert len(result.findings) == 5
    _look_at(result.report, "fewest-metres", "Published beside measured", "95 %")


def test_routes_over_stations_that_walk_last_as_their_speed_says(tmp_path: Path) -> None:
    store = Kept(tmp_path, quick=True).store
    extent = mesh_mobility.Extent((4.0, 16.0), 6)
    moving = mesh_mobility.Moving(extent, Runner(LocalExecutor(1), Silent(), store))
    assert moving.unbroken() == 0
    for name in mesh_mobility.ROUTES:
        slow, fast = (sum(moving.lives(name, speed)) for speed in extent.speeds)
        # Four times the greatest speed, and a little less on average: the least is the same.
        assert 2 < slow / fast < 6
    for speed in extent.speeds:
        first, pair = moving.lives("first", speed), moving.pairs("link", speed)
        assert all(0 < a <= b for a, b in zip(first, pair, strict=True))
    kept, searched = (
        moving.table.filter(policy=policy) for policy in (mesh_mobility.KEPT, mesh_mobility.SEARCHED)
    )
    assert kept["changes"].sum() == 0
    assert searched["changes"].sum() > 0
    # Who looks for routes has a way for more of the time.
    parts = [
        float(frame["broken_s"].sum()) / len(frame) / length
        for frame, length in (
            (kept.filter(name="first", speed=4.0), mesh_mobility.WALK_M / 4.0),
            (searched.filter(name="first", speed=4.0), mesh_mobility.SEARCHED_S),
        )
    ]
    assert parts[1] < parts[0]


def test_the_papers_example_is_recognised() -> None:
    found = routes.search(
        1, nodes=16, condition="all-multipath", first=24_372_004, draws=1, algorithms=GREEDY
    )
    (deployment,) = found.deployments
    assert mesh_routing.alike(deployment)
    assert mesh_routing.hops(deployment) == mesh_routing.EXAMPLE_HOPS


def test_a_subflow_starves_below_a_tenth_of_both() -> None:
    times = [0.5 * k for k in range(1, 13)]
    # Stretches of 2 s: fair, starving, and one in which nothing flows, which counts for neither.
    first, second = [1.0] * 4 + [2.0] * 4 + [0.0] * 4, [1.0] * 4 + [0.1] * 4 + [0.0] * 4
    assert diamond_causes.starving(times, first, second) == pytest.approx(0.5)
    assert diamond_causes.starving(times, second, first) == pytest.approx(0.5)
    assert diamond_causes.starving([], [], []) == 0


def _causes(rates: dict[tuple[str, str, str], float], spread: float = 0.05) -> diamond_causes.Causes:
    """Runs with these rates, and 4.9 Mbit/s wherever none is given."""
    rows = [
        {"cause": cause, "setup": setup, "control": control, "seed": seed, "goodput_mbps": rate}
        for cause in diamond_cells.CAUSES
        for setup in wireless.SETUPS
        for control in (*diamond_cells.CONTROLS, "newreno")
        for seed, rate in enumerate(
            rates.get((cause, setup, control), 4.9) + change for change in (-spread, 0, spread)
        )
    ]
    frame = pl.DataFrame(rows)
    results = Results(frame.filter(control="uncoupled"), frame.clear(), None)
    few = (1, 2, 3)
    extent = diamond_cells.Extent(few, few, few, few, (0.0,), (0.0,), (0.1,), "1 MB", "1 MB", "1 MB")
    return diamond_causes.Causes(results, Results(frame, frame.clear(), None), results, results, extent)


def test_a_cause_is_named_only_if_it_has_what_was_published() -> None:
    two, uncoupled = wireless.TWO, "uncoupled"
    nothing = _causes({})
    assert nothing.explaining(two, uncoupled) == []
    assert "not explained by its known defects" in nothing.said(two, uncoupled)
    assert nothing.needed() == []
    assert nothing.coupled(diamond_cells.ALL).mean == pytest.approx(0)
    one = _causes({(diamond_cells.ALL, two, uncoupled): 3.9})
    assert one.explaining(two, uncoupled) == [diamond_cells.ALL]
    assert f"3.90 ± 0.12 ({diamond_cells.ALL})" in one.said(two, uncoupled)
    # Without any one of them it is as if there were none: all are needed.
    assert one.needed() == list(diamond_cells.KNOWN)
    # An interval that reaches it because it is wide explains nothing, nor what the paper's settings do already.
    wide = _causes({(diamond_cells.ALL, two, uncoupled): 3.9}, spread=0.5)
    assert wide.explaining(two, uncoupled) == []
    alike = _causes({(cause, two, uncoupled): 3.9 for cause in (diamond_cells.PAPERS, diamond_cells.ALL)})
    assert alike.explaining(two, uncoupled) == [diamond_cells.PAPERS]
    # A correct stack that has it too needs no cause.
    both = _causes({(cause, two, uncoupled): 3.9 for cause in (diamond_cells.NONE, diamond_cells.ALL)})
    assert both.explaining(two, uncoupled) == [diamond_cells.NONE]


def test_what_blamed_duplicates_add_is_said() -> None:
    alike = _causes({})
    assert "for none by more than its interval" in alike.of_blame()
    less = _causes({(diamond_cells.ALL, wireless.TWO, "fully-coupled"): 2.9})
    assert "-41 ± 1 % (fully-coupled): clear for fully-coupled." in less.of_blame()
    # 32 octets over two hops at 11 Mbit/s, of 1412 at 4.9.
    assert alike.untested() == pytest.approx(100 * 64 / 11 / (1412 / 4.9))


def test_all_but_one_of_the_causes_is_all_without_its_keys() -> None:
    everything = diamond_cells.CAUSES[diamond_cells.ALL]
    for cause, name in diamond_cells.WITHOUT.items():
        rest = diamond_cells.CAUSES[name]
        assert {**rest, **diamond_cells.KNOWN[cause]} == everything
        assert not rest.keys() & diamond_cells.KNOWN[cause].keys()


def test_diamond_makes_every_figure_and_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        diamond,
        "QUICK",
        diamond_cells.Extent(
            (1, 2), (1, 2), (1, 2), (1, 2), (0.0, 0.3), (0.0, 0.3), (0.3,), "1 MB", "400 kB", "300 kB"
        ),
    )
    result = _run("diamond", tmp_path)
    names = {path.name for path in result.files}
    for stem in (
        "figure-3a-tcp",
        "figure-3b-one-channel",
        "figure-3c-two-channels",
        "figure-3d-fully-coupled",
        "figure-4-lossy-links",
        "figure-5a-fully-coupled",
        "figure-5b-rtt-compensator",
        "bursts",
    ):
        assert {f"{stem}.png", f"{stem}.svg"} <= names
    assert {"ideal-series.parquet", "causes-connections.parquet", "modern-subflows.parquet"} <= names
    assert {"couplings-series.parquet", "caused-lossy-connections.parquet"} <= names
    assert len(result.findings) == 8
    _look_at(result.report, "balia", "ecf", "short preamble", "bursts of 20 ms", "Published beside measured")


def test_mesh_transport_makes_every_figure_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh_transport, "QUICK", mesh_transport_cells.Extent(5, 1, 1, "200 kB", 2, (5.0,), 1))
    written = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        result = _run("mesh-transport", folder, workers)
        written.append({path.name: path.read_bytes() for path in (*result.files, result.report)})
    assert [name for name in written[0] if written[0][name] != written[1][name]] == []
    for stem in ("figure-6-throughput", "algorithms", "example"):
        assert {f"{stem}.png", f"{stem}.svg"} <= written[0].keys()
    assert {"routes.parquet", "papers-connections.parquet"} <= written[0].keys()
    assert len(result.findings) == 4
    _look_at(result.report, "RTS/CTS", "wvegas", "ZD", "Published beside measured", "95 %")


def test_the_first_deployments_of_each_length_are_run() -> None:
    found = routes.conditioned(12, algorithms=GREEDY)
    chosen = mesh_transport_cells.first_of_each(found, 1)
    lengths = [mesh_transport_cells.first_hops(deployment) for deployment in chosen]
    assert len(set(lengths)) == len(lengths)
    assert set(lengths) == {mesh_transport_cells.first_hops(deployment) for deployment in found}
    assert chosen[0] is found[0]


def test_two_channels_are_worth_two_paths() -> None:
    rates = {}
    for setup in (wireless.TCP, wireless.TWO):
        source = diamond_cells.source("5 MB", wireless.transport(setup, "uncoupled"))
        result = ropewalk.run(source, compare=False, series=False)
        rates[setup] = result.connections["goodput_mbps"][0]
    assert rates[wireless.TWO] > 1.85 * rates[wireless.TCP]
