"""The command line in this process, with the fake core: what is printed where, and exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner, Result

from fake_core import FakeCore
from ropewalk import studies
from ropewalk.commands import app
from ropewalk.source import Source
from ropewalk.studies import StudyResult
from ropewalk.studies.cells import Cell, Runner

RUN_KEYS = ["scenario", "seed", "version", "duration_s", "connections", "links"]


@pytest.fixture
def scenario(fake: FakeCore, tmp_path: Path) -> str:
    file = tmp_path / "s.toml"
    file.write_text('name = "two-paths"\nseed = 5\n', encoding="utf-8")
    return str(file)


@pytest.fixture
def campaign(scenario: str, tmp_path: Path) -> str:
    file = tmp_path / "c.toml"
    file.write_text('scenario = "s.toml"\nreplications = 2\n[grid]\nb = [1, 2]\n', encoding="utf-8")
    return str(file)


def ropewalk(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_json_is_one_object_with_the_verdicts_and_their_sentences_are_beside_it(scenario: str) -> None:
    result = ropewalk("run", scenario, "--json")
    assert result.exit_code == 0
    tree = json.loads(result.stdout)
    assert list(tree) == [*RUN_KEYS, "benefit"]
    assert tree["seed"] == 5
    (verdict,) = tree["benefit"]
    assert (verdict["connection"], verdict["verdict"]) == ("bulk", "benefit?")
    assert (verdict["best_path"], verdict["goodput_mbps"]) == ("a", pytest.approx(12.005))
    assert result.stderr.startswith("bulk: benefit? 12.005 Mbit/s over all paths against 10.005 Mbit/s")


def test_json_of_replications_has_runs_and_summary(scenario: str) -> None:
    result = ropewalk("run", scenario, "--json", "--replications", "3", "--seed", "10")
    tree = json.loads(result.stdout)
    assert list(tree) == ["runs", "summary", "benefit"]
    assert tree["benefit"][0]["goodput_mbps"]["n"] == 3
    assert [run["seed"] for run in tree["runs"]] == tree["summary"]["seeds"] == [10, 11, 12]
    assert [list(run) for run in tree["runs"]] == [RUN_KEYS] * 3
    goodput = tree["summary"]["connections"][0]["goodput_mbps"]
    assert goodput["mean"] == pytest.approx(12.011)
    assert goodput["ci95"][0] < 12.011 < goodput["ci95"][1]
    assert goodput["n"] == 3
    assert tree["summary"]["connections"][0]["subflows"][1]["path"] == "b"
    assert tree["summary"]["connections"][0]["end_s"] == {"mean": None, "ci95": None, "n": 0}
    assert tree["summary"]["links"][0]["direction"] == "client->server"


def test_text_has_units_and_intervals(scenario: str) -> None:
    one = ropewalk("run", scenario).stdout
    assert "two-paths: 1 s, seed 5 (" in one
    assert "goodput Mbit/s" in one
    assert "±" not in one.split("\n", 1)[1]
    several = ropewalk("run", scenario, "--replications", "3").stdout
    assert "seeds 5…7, means ± 95 % CI" in several
    assert "12.006 ± 0.002" in several
    assert "bulk: benefit" in several


def test_settings_replace_values_and_can_turn_the_verdict(scenario: str) -> None:
    result = ropewalk("run", scenario, "--set", "factor=0.5", "--set", "name=other", "--json")
    assert json.loads(result.stdout)["scenario"] == "other"
    assert "bulk: harm" in result.stderr


def test_no_compare_runs_nothing_else(scenario: str, fake: FakeCore) -> None:
    assert ropewalk("run", scenario, "--no-compare").exit_code == 0
    assert len(fake.ran) == 1


def test_out_writes_tables_and_summary(scenario: str, tmp_path: Path) -> None:
    out = tmp_path / "results"
    result = ropewalk("run", scenario, "--out", str(out), "--pcap", "--json")
    assert result.exit_code == 0
    folder = out / "two-paths"
    names = sorted(file.name.split(".", 3)[-1] for file in folder.glob("*.parquet"))
    assert names == [f"{t}.parquet" for t in ("connections", "links", "series", "subflows")]
    assert json.loads((folder / "summary.json").read_text(encoding="utf-8")) == json.loads(result.stdout)
    assert [file.name for file in folder.glob("*.captures/*")] == ["a.pcapng"]
    assert not list(out.rglob("*.partial"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "missing.toml"],
        ["run", "SCENARIO", "--set", "factro=1"],
        ["run", "SCENARIO", "--set", "factor"],
        ["run", "SCENARIO", "--seed", "-1"],
        ["run", "SCENARIO", "--replications", "0"],
        ["run", "SCENARIO", "--workers", "0"],
        ["run", "SCENARIO", "--unknown"],
        ["run"],
        ["sweep", "missing.toml"],
        ["sweep", "SCENARIO"],
        ["reproduce", "no-such-study"],
        ["explain", "missing.toml"],
        ["no-such-command"],
    ],
)
def test_wrong_input_exits_with_2_and_no_traceback(
    arguments: list[str], scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    result = ropewalk(*(scenario if argument == "SCENARIO" else argument for argument in arguments))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr != ""
    assert "Traceback" not in result.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_failed_run_exits_with_1(scenario: str, fake: FakeCore) -> None:
    fake.failing_seeds = {5}
    result = ropewalk("run", scenario)
    assert result.exit_code == 1
    assert "seed 5 failed" in result.stderr


def test_a_full_disk_exits_with_1(campaign: str, fake: FakeCore, tmp_path: Path) -> None:
    fake.disk.free = 3
    result = ropewalk("sweep", campaign, "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr


def test_sweep_prints_the_grid_with_verdicts_and_skips(campaign: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    first = ropewalk("sweep", campaign, "--out", out, "--workers", "2")
    assert first.exit_code == 0
    assert f"12 runs done, 0 found in the store; results in {out}" in first.stdout
    assert first.stdout.count("benefit") == 2
    assert "two-paths: 12 to do" in first.stderr
    second = ropewalk("sweep", campaign, "--out", out)
    assert "0 runs done, 12 found in the store" in second.stdout


def test_failed_runs_of_a_sweep_exit_with_1(campaign: str, fake: FakeCore, tmp_path: Path) -> None:
    fake.failing_seeds = {6}
    result = ropewalk("sweep", campaign, "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "6 runs done, 0 found in the store, 6 failed" in result.stdout
    assert "seed 6 failed" in result.stderr


def test_ctrl_c_exits_with_130_and_says_how_to_go_on(
    campaign: str, fake: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ropewalk.progress import Plain

    fake.stop_after = 4

    def advance(self: Plain, steps: int = 1) -> None:
        self._done += steps
        if self._done == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Plain, "advance", advance)
    out = tmp_path / "out"
    result = ropewalk("sweep", campaign, "--out", str(out))
    assert result.exit_code == 130
    assert f"stopped; every finished run is in {out}" in result.stderr
    fake.stop_after = None
    monkeypatch.undo()
    assert len(list(out.rglob("*.connections.parquet"))) == 4


def test_reproduce_runs_studies_by_name(
    fake: FakeCore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = ModuleType("fake_study")

    def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
        runner.progress.start(1, "study")
        runner.progress.advance()
        return StudyResult(out / "report.html", (), (f"quick is {quick} on {runner.workers}",))

    vars(module).update(TITLE="A study", PAPER="Nobody, never", run=run)
    monkeypatch.setitem(sys.modules, "fake_study", module)
    monkeypatch.setattr(studies, "REGISTRY", {"fake": "fake_study"})
    for argument in ("fake", "all"):
        out = tmp_path / argument
        result = ropewalk("reproduce", argument, "--quick", "--out", str(out), "--workers", "3")
        assert result.exit_code == 0
        assert "quick is True on 3" in result.stdout
        assert f"report: {out / 'fake' / 'report.html'}" in result.stdout


def test_reproduce_keeps_what_has_run_until_the_last_study_is_done(
    fake: FakeCore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stops = [KeyboardInterrupt, None, KeyboardInterrupt, None]
    for place in (0, 1):
        module = ModuleType(f"fake_study_{place}")

        def run(out: Path, quick: bool, runner: Runner, place: int = place) -> StudyResult:
            cells = [Cell({"what": "cell"}, Source(f'name = "study-{place}"\n'))]
            runner.run(cells, range(1, 5), f"study {place}")
            stop = stops.pop(0) if place == 1 else None
            if stop is not None:
                raise stop
            return StudyResult(out / "report.html")

        vars(module).update(TITLE="A study", PAPER="Nobody, never", run=run)
        monkeypatch.setitem(sys.modules, f"fake_study_{place}", module)
    monkeypatch.setattr(studies, "REGISTRY", {"a": "fake_study_0", "b": "fake_study_1"})
    out = tmp_path / "out"
    stopped = ropewalk("reproduce", "--out", str(out))
    assert stopped.exit_code == 130
    assert f"stopped; every finished run is in {out}: the same command goes on from there" in stopped.stderr
    assert len(fake.ran) == 8
    resumed = ropewalk("reproduce", "--out", str(out))
    assert resumed.exit_code == 0
    for place in (0, 1):
        assert f"study {place}: 4 of 4 runs taken over" in resumed.stderr
    assert len(fake.ran) == 8
    assert not list(out.rglob("*.parquet"))
    assert ropewalk("reproduce", "--out", str(out)).exit_code == 130
    fresh = ropewalk("reproduce", "--out", str(out), "--fresh")
    assert "taken over" not in fresh.stderr
    assert len(fake.ran) == 24


def test_unknown_studies_are_suggested() -> None:
    result = ropewalk("reproduce", "degraded-pth")
    assert "did you mean `degraded-path`?" in result.stderr


def test_explain_schema_and_version(scenario: str) -> None:
    assert json.loads(ropewalk("explain", scenario).stdout)["name"] == "two-paths"
    assert json.loads(ropewalk("schema").stdout) == {"title": "fake"}
    assert ropewalk("--version").stdout == "ropewalk 0.0.fake\n"


def test_doctor_says_what_is_missing_and_what_mends_it(fake: FakeCore) -> None:
    fake.findings = [("TUN interfaces", "yes", None)]
    well = ropewalk("doctor")
    assert well.exit_code == 0
    assert "TUN interfaces" in well.stdout
    fake.findings = [("TUN interfaces", "not found", "modprobe tun")]
    fake.left = ["ropewalk-1-0-client"]
    ill = ropewalk("doctor", "--clean")
    assert ill.exit_code == 1
    assert "modprobe tun" in ill.stdout
    assert "removed: ropewalk-1-0-client" in ill.stdout


def test_a_campaign_given_to_run_is_told_to_be_one(campaign: str) -> None:
    result = ropewalk("run", campaign)
    assert result.exit_code == 2
    assert "this is a campaign, no scenario" in result.stderr
    assert f"`ropewalk sweep {campaign}`" in result.stderr


def test_a_scenario_given_to_sweep_is_told_to_be_one(fake: FakeCore, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('[scenario]\nname = "two-paths"\n', encoding="utf-8")
    result = ropewalk("sweep", str(file), "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "this is a scenario, no campaign" in result.stderr
    assert f"`ropewalk run {file}`" in result.stderr


def test_a_sweep_says_the_paired_difference(campaign: str, tmp_path: Path) -> None:
    result = ropewalk("sweep", campaign, "--out", str(tmp_path / "out"))
    assert "difference Mbit/s" in result.stdout.splitlines()[0]


def test_quiet_says_nothing_beside_results(campaign: str, tmp_path: Path) -> None:
    assert ropewalk("sweep", campaign, "--out", str(tmp_path / "one")).stderr != ""
    assert ropewalk("--quiet", "sweep", campaign, "--out", str(tmp_path / "two")).stderr == ""
    assert ropewalk("--quiet", "--verbose", "schema").exit_code == 2


def test_quiet_and_verbose_may_stand_behind_the_command(campaign: str, tmp_path: Path) -> None:
    assert ropewalk("sweep", campaign, "-q", "--out", str(tmp_path / "one")).stderr == ""
    assert ropewalk("schema", "--quiet", "--verbose").exit_code == 2
    assert "Traceback" in ropewalk("run", str(tmp_path / "none.toml"), "--verbose").stderr
    # Behind `--` it is the name of a file.
    assert "--quiet: cannot read this file" in ropewalk("run", "--", "--quiet").stderr


def test_verbose_shows_where_an_error_came_from(scenario: str) -> None:
    assert "Traceback" in ropewalk("--verbose", "run", scenario, "--set", "factor").stderr
    assert "Traceback" not in ropewalk("run", scenario, "--set", "factor").stderr


def test_verdicts_are_coloured_on_terminals_alone(scenario: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32mbulk: benefit?" in CliRunner().invoke(app, ["run", scenario], color=True).stdout
    assert "\x1b" not in ropewalk("run", scenario).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in CliRunner().invoke(app, ["run", scenario], color=True).stdout


def test_shares_together_are_the_whole(campaign: str, tmp_path: Path) -> None:
    whole, shares = tmp_path / "whole", tmp_path / "shares"
    ropewalk("sweep", campaign, "--out", str(whole))
    first = ropewalk("sweep", campaign, "--out", str(shares), "--share", "1/2")
    assert "left to other shares" in first.stdout
    ropewalk("sweep", campaign, "--out", str(shares), "--share", "2/2")
    assert "0 runs done" in ropewalk("sweep", campaign, "--out", str(shares)).stdout
    contents = [
        {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        for folder in (whole, shares)
    ]
    assert contents[0] == contents[1]


@pytest.mark.parametrize("share", ["0/2", "3/2", "1", "a/b", "1/0"])
def test_shares_that_cannot_be(campaign: str, share: str) -> None:
    result = ropewalk("sweep", campaign, "--share", share)
    assert result.exit_code == 2
    assert "expected I/N" in result.stderr
