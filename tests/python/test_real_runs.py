"""Python over the real core: results, errors, determinism, files."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ropewalk
from conftest import PATIENCE_S, TWO_PATHS, files
from ropewalk import ScenarioError, StoreError, _core
from ropewalk.source import Source, resolve
from ropewalk.studies.bonding_cells import friendly_cells

COMMAND = [sys.executable, "-m", "ropewalk"]

SUMMARY_KEYS = ["scenario", "seed", "version", "duration_s", "connections", "links", "benefit"]
CONNECTION_KEYS = [
    "name",
    "protocol",
    "bytes",
    "goodput_mbps",
    "start_s",
    "end_s",
    "completed",
    "reinjected_bytes",
    "subflows",
]
SUBFLOW_KEYS = [
    "path",
    "bytes",
    "throughput_mbps",
    "retransmissions",
    "spurious_retransmissions",
    "timeouts",
    "srtt_ms",
]
LINK_KEYS = ["name", "direction", "bytes", "packets", "drops_queue", "drops_loss", "utilisation"]
PROVENANCE = ["scenario", "scenario_hash", "seed"]


def command(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    words = [*COMMAND, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, timeout=PATIENCE_S)


def test_the_summary_has_exactly_the_documented_keys(two_paths: Path) -> None:
    summary = ropewalk.run(two_paths).summary
    assert list(summary) == SUMMARY_KEYS
    assert summary["scenario"] == "two-paths"
    assert summary["seed"] == 7
    assert summary["version"] == ropewalk.version()
    [connection] = summary["connections"]
    assert list(connection) == CONNECTION_KEYS
    assert [list(subflow) for subflow in connection["subflows"]] == [SUBFLOW_KEYS] * 2
    assert {subflow["path"] for subflow in connection["subflows"]} == {"a", "b"}
    assert [list(link) for link in summary["links"]] == [LINK_KEYS] * 4


def test_bonds_are_shown_by_path() -> None:
    scenario = Path(__file__).parents[2] / "scenarios" / "bonding.toml"
    for replications in (1, 3):
        arguments = ["--replications", replications, "--set", "scenario.duration=2 s"]
        shown = command("run", scenario, *arguments).stdout.splitlines()
        head = next(index for index, line in enumerate(shown) if line.startswith("bond "))
        rows = [line.split() for line in shown[head + 2 : head + 8]]
        assert [row[:3] for row in rows[:3]] == [["home", "hub->cpe", path] for path in ("all", "dsl", "lte")]
        assert [row[1] for row in rows[3:]] == ["cpe->hub"] * 3


def test_what_enters_a_bond_leaves_it_or_is_counted_as_lost() -> None:
    scenario = Path(__file__).parents[2] / "scenarios" / "bonding.toml"
    # A second after the last packet nothing waits.
    quiet = {"scenario.duration": "2 s", "connections.video.application.duration": "1 s"}
    result = ropewalk.run(scenario, overrides=quiet)
    there = result.bonds.filter(pl.col("direction") == "hub->cpe").sort("path", nulls_last=False)
    whole, dsl, lte = there.iter_rows(named=True)
    assert whole["sent_packets"] == result.connections["datagrams_sent"].sum() > 0
    assert whole["sent_packets"] == whole["received_packets"] + whole["lost"] + whole["unsent"]
    for path in (dsl, lte):
        assert path["sent_packets"] == path["received_packets"] + path["lost"]
    assert dsl["sent_packets"] + lte["sent_packets"] == whole["sent_packets"] - whole["unsent"]
    assert lte["sent_packets"] < dsl["sent_packets"]


def test_the_bonding_study_shares_the_line_that_it_says() -> None:
    for cell in friendly_cells():
        shown = ropewalk.explain(cell.source)
        assert "to-dslam: RTT at least 13 ms, 64.00 Mbit/s" in shown
        assert "(hub) --to-dslam-- (dslam) --dsl-- (modem) --to-cpe-- (cpe)" in shown
        assert "lte: RTT at least 25 ms, 60.00 Mbit/s" in shown
        assert "path internet: [mirror] --internet-- (dslam) --dsl-- (modem) --home-- [pc]" in shown


def test_wireless_runs_have_tables_of_their_own() -> None:
    chain = Path(__file__).parents[2] / "scenarios" / "chain.toml"
    short = {"connections.bulk.application.bytes": "200 kB"}
    result = ropewalk.run(chain, replications=2, overrides=short)
    assert set(result.radios["station"]) == {"s", "r1", "d"}
    assert result.radios.height == 6
    assert (result.radios["data_sent"] > 0).all()
    assert result.routes["stations"].to_list() == ["s r1 d"] * 2
    assert result.routes["hops"].to_list() == result.route_changes["hops"].to_list() == [2, 2]
    for frame in (result.radios, result.routes, result.route_changes):
        assert frame.columns[:3] == PROVENANCE


def test_the_stability_of_wireless_routes_is_shown_and_in_the_summary(tmp_path: Path) -> None:
    walk = Path(__file__).parents[2] / "scenarios" / "mobile-mesh.toml"
    options = ["--no-compare", "--set", "scenario.duration=10 s"]
    done = command("run", walk, *options, "--json", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    tree = json.loads(done.stdout)
    (route,) = tree["routes"]
    assert route["name"] == "mesh"
    assert route["changes"] > 0
    assert 0 < route["mean_duration_s"] < 10
    assert 0 < route["first_broken_s"] < 10
    table = pl.read_parquet(next(tmp_path.rglob("*.routes.parquet")))
    assert table.drop(PROVENANCE).to_dicts() == [route]
    assert json.loads(next(tmp_path.rglob("summary.json")).read_text(encoding="utf-8")) == tree
    shown = command("run", walk, *options).stdout
    assert route["stations"] in shown
    assert "first broken s" in shown
    both = json.loads(command("run", walk, *options, "--json", "--replications", "2").stdout)
    assert both["runs"][0] == tree
    assert both["summary"]["routes"][0]["changes"]["n"] == 2


def test_radios_and_broadcasts_are_shown_and_counted() -> None:
    probes = Path(__file__).parents[2] / "scenarios" / "probes.toml"
    shown = command("run", probes, "--set", "scenario.duration=5 s").stdout.splitlines()
    for head, row in (("station ", "s "), ("broadcast ", "probe ")):
        at = next(index for index, line in enumerate(shown) if line.startswith(head))
        assert shown[at + 2].startswith(row), shown[at : at + 3]
    result = ropewalk.run(probes, overrides={"scenario.duration": "5 s"})
    heard = result.broadcasts
    assert heard.columns[:3] == PROVENANCE
    assert (heard["received"] <= heard["sent"]).all()
    assert heard["from"].n_unique() == heard["to"].n_unique() == 9
    left = heard.height - 20
    assert f"… and {left} more: table `broadcasts`" in shown


def test_tables_are_polars_frames_with_provenance(two_paths: Path) -> None:
    result = ropewalk.run(two_paths, replications=2)
    for frame in (result.connections, result.subflows, result.links, result.series):
        assert isinstance(frame, pl.DataFrame)
        assert frame.columns[:3] == PROVENANCE
        assert set(frame["seed"]) == {7, 8}
        assert set(frame["scenario_hash"]) == {result.hash}
    assert result.connections.height == 2
    assert result.subflows.height == 4
    assert result.links.height == 8
    per_connection = result.series.filter(pl.col("subflow").is_null())
    assert per_connection["throughput_mbps"].max() > 1  # type: ignore[operator]
    assert result.series.filter(pl.col("subflow").is_not_null())["cwnd_bytes"].min() > 0  # type: ignore[operator]


def test_tables_and_summary_say_the_same(two_paths: Path) -> None:
    result = ropewalk.run(two_paths)
    [connection] = result.summary["connections"]
    assert result.connections["goodput_mbps"].to_list() == [connection["goodput_mbps"]]
    assert result.subflows["bytes"].to_list() == [subflow["bytes"] for subflow in connection["subflows"]]
    assert result.links["drops_loss"].to_list() == [link["drops_loss"] for link in result.summary["links"]]


def test_references_are_paired_and_the_verdict_is_plausible(two_paths: Path) -> None:
    result = ropewalk.run(two_paths, replications=3, overrides={"links.a.loss": "0 %", "links.b.loss": "0 %"})
    [benefit] = result.benefit()
    assert set(benefit.singles) == {"a", "b"}
    assert benefit.best_path == "a"
    # Without loss TCP on a fills most of 10 Mbit/s, on b of 2 Mbit/s.
    assert 7 < benefit.best.mean < 10
    assert 1 < benefit.singles["b"].mean < 2
    assert benefit.difference.mean == pytest.approx(benefit.multipath.mean - benefit.best.mean)


def test_the_same_seed_gives_the_same_result_and_another_another(two_paths: Path) -> None:
    first, again = ropewalk.run(two_paths, seed=3), ropewalk.run(two_paths, seed=3)
    other = ropewalk.run(two_paths, seed=4)
    assert first.summary == again.summary
    assert first.series.equals(again.series)
    assert first.summary["links"] != other.summary["links"]


def test_text_dictionary_and_file_are_the_same_scenario(two_paths: Path) -> None:
    import tomllib

    tree = tomllib.loads(TWO_PATHS)
    hashes = {ropewalk.check(form).hash for form in (two_paths, str(two_paths), TWO_PATHS, tree)}
    assert len(hashes) == 1
    assert ropewalk.check(tree, {"links.b.loss": "5 %"}).hash not in hashes


def test_check_says_what_the_scenario_is(two_paths: Path) -> None:
    info = ropewalk.check(two_paths)
    assert (info.name, info.seed, info.duration_s, info.multipath) == (
        "two-paths",
        7,
        3.0,
        {"bulk": ["bulk"]},
    )


def test_explain_shows_defaults_and_schema_is_json_schema(two_paths: Path) -> None:
    text = ropewalk.explain(two_paths)
    assert "client" in text
    assert "server" in text
    assert len(text.splitlines()) > 20
    schema = ropewalk.schema()
    assert "$schema" in schema
    assert "scenario" in schema["properties"]


@pytest.mark.parametrize(
    ("old", "new", "key", "line"),
    [
        ('rate = "2 Mbit/s"', 'rat = "2 Mbit/s"', "links.b.rat", 17),
        ('loss = "1 %"', 'loss = "120 %"', "links.b.loss", 20),
        ('rate = "2 Mbit/s"', 'rate = "-2 Mbit/s"', "links.b.rate", 17),
        ('to = "server"', 'to = "sever"', "connections.bulk.to", 24),
    ],
)
def test_mistakes_name_file_line_and_key(two_paths: Path, old: str, new: str, key: str, line: int) -> None:
    assert TWO_PATHS.count(old) == 1
    two_paths.write_text(TWO_PATHS.replace(old, new), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        ropewalk.check(two_paths)
    error = caught.value
    assert error.file == str(two_paths)
    assert error.line == line
    assert error.key == key
    assert error.expected or error.suggestion
    assert "^" in str(error)
    done = command("run", two_paths, "--out", two_paths.parent / "out")
    assert done.returncode == 2
    assert str(error) in done.stderr
    assert "Traceback" not in done.stderr
    assert not (two_paths.parent / "out").exists()


def test_json_prints_one_object(two_paths: Path) -> None:
    done = command("run", two_paths, "--json")
    assert done.returncode == 0
    assert list(json.loads(done.stdout)) == SUMMARY_KEYS
    assert "against" in done.stderr


def test_events_are_lines_behind_the_object(two_paths: Path) -> None:
    words = [
        "run",
        str(two_paths),
        "--json",
        "--replications",
        "2",
        "--set",
        'scenario.events=["drop", "timeout"]',
    ]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True)
    summary, *lines = map(json.loads, done.stdout.splitlines())
    assert [run["seed"] for run in summary["runs"]] == [7, 8]
    lost = sum(link["drops_queue"] + link["drops_loss"] for run in summary["runs"] for link in run["links"])
    assert sum(line["kind"] == "drop" for line in lines) == lost > 0
    assert {line["seed"] for line in lines} == {7, 8}
    assert all(line["reason"] for line in lines)


def test_a_shorter_run_is_compared_although_the_file_changes_something_later(tmp_path: Path) -> None:
    late = TWO_PATHS.replace('loss = "1 %"', 'loss = "1 %"\nchanges = [ { at = "2 s", rate = "1 Mbit/s" } ]')
    run = ropewalk.run(late, overrides={"scenario.duration": "1 s"}, out=tmp_path)
    assert run.summary["duration_s"] == 1.0
    assert set(run.benefit()[0].singles) == {"a", "b"}
    with pytest.raises(ScenarioError, match="the simulation ends at 1"):
        ropewalk.run(late.replace('"3 s"', '"1 s"'))


def test_settings_on_the_command_line(two_paths: Path) -> None:
    done = command(
        "run", two_paths, "--json", "--no-compare", "--set", "links.b.loss=3 %", "--set", "scenario.seed=99"
    )
    assert json.loads(done.stdout)["seed"] == 99
    wrong = command("run", two_paths, "--set", "links.b.los=3 %")
    assert wrong.returncode == 2
    assert "loss" in wrong.stderr


def campaign(out: Path) -> dict[str, Any]:
    return {"scenario": out, "replications": 2, "grid": {"links.b.loss": ["0.5 %", "5 %"]}}


def test_one_and_two_workers_write_the_same_bytes(two_paths: Path, tmp_path: Path) -> None:
    for workers in (1, 2):
        ropewalk.sweep(campaign(two_paths), out=tmp_path / str(workers), workers=workers)
    one, two = files(tmp_path / "1"), files(tmp_path / "2")
    assert len(one) == 1 + 4 * 6 + 8 * 3
    assert one == two


def test_a_sweep_in_the_store_is_the_run_itself(two_paths: Path, tmp_path: Path) -> None:
    swept = ropewalk.sweep(campaign(two_paths), out=tmp_path)
    assert swept.connections.filter(pl.col("links.b.loss") == "5 %").height == 2
    run = ropewalk.run(two_paths, overrides={"links.b.loss": "5 %"}, replications=2)
    columns = run.connections.columns
    assert swept.connections.filter(pl.col("point") == 1).select(columns).equals(run.connections)
    mine, theirs = swept.benefit()[1], run.benefit()[0]
    assert mine.difference == theirs.difference
    again = ropewalk.sweep(campaign(two_paths), out=tmp_path)
    assert (again.computed, again.skipped) == (0, 12)


def test_provenance_is_in_every_file(two_paths: Path, tmp_path: Path) -> None:
    result = ropewalk.run(two_paths, out=tmp_path)
    for file in (tmp_path / "two-paths").glob("*.parquet"):
        metadata = pl.read_parquet_metadata(file)
        assert metadata["scenario_hash"] == result.hash
        assert metadata["seed"] == "7"
        assert metadata["engine_version"] == ropewalk.version()
    assert len(result.files) == 7
    assert all(file.is_file() for file in result.files)


def test_captures_are_pcapng_and_whole(two_paths: Path, tmp_path: Path) -> None:
    done = command(
        "run",
        two_paths,
        "--pcap",
        "--no-compare",
        "--out",
        tmp_path / "out",
        "--set",
        "scenario.duration=500 ms",
    )
    assert done.returncode == 0
    captures = list((tmp_path / "out").rglob("*.pcapng"))
    assert captures
    for capture in captures:
        assert capture.read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    assert not list((tmp_path / "out").rglob("*.partial"))


def test_a_folder_that_cannot_be_written_is_reported_first(two_paths: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot write"):
        ropewalk.run(two_paths, out=blocked)
    done = command("run", two_paths, "--out", blocked)
    assert done.returncode == 1
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_disk_that_is_full_half_way_leaves_nothing_behind(two_paths: Path, tmp_path: Path) -> None:
    outcome = _core.run(resolve(two_paths))
    sizes = [Path(file).stat().st_size for file in outcome.write(str(tmp_path), "stem")]
    assert sizes[0] < max(sizes)
    for file in tmp_path.glob("stem*"):
        file.unlink()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes) - 1, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            outcome.write(str(tmp_path), "stem")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [file for file in tmp_path.iterdir() if file != two_paths] == []


def test_an_interrupt_that_is_set_stops_the_run() -> None:
    interrupt = _core.Interrupt()
    interrupt.set()
    with pytest.raises(ropewalk.InterruptedRunError):
        _core.run(Source(TWO_PATHS), interrupt=interrupt)


def test_copies_of_a_connection_are_judged_together(two_paths: Path) -> None:
    result = ropewalk.run(two_paths, overrides={"connections.bulk.count": 2})
    assert result.multipath == {"bulk": ["bulk-1", "bulk-2"]}
    [benefit] = result.benefit()
    assert benefit.connection == "bulk"
    assert benefit.multipath.mean == pytest.approx(result.connections["goodput_mbps"].sum())


def test_means_of_replications(two_paths: Path) -> None:
    result = ropewalk.run(two_paths, replications=3, compare=False)
    goodput = result.combined["connections"][0]["goodput_mbps"]
    values = result.connections["goodput_mbps"].to_list()
    assert goodput.mean == pytest.approx(math.fsum(values) / 3)
    assert goodput.low < min(max(values), goodput.mean) < goodput.high
    assert result.benefit() == []


def test_threads_do_not_wait_for_each_other(two_paths: Path) -> None:
    # While a run is going on in another thread, this one must get Python's lock.
    import threading

    interrupt = _core.Interrupt()
    text = TWO_PATHS.replace('duration = "3 s"', 'duration = "100000 s"')
    caught: list[BaseException] = []

    def work() -> None:
        try:
            _core.run(Source(text), interrupt=interrupt, series=False)
        except ropewalk.InterruptedRunError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    # Without the lock this would come when the run is over, and nobody would be interrupted.
    interrupt.set()
    thread.join(PATIENCE_S)
    assert len(caught) == 1
