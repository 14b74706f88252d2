"""Campaigns through the store, with the fake core: what is skipped, repaired, stopped and resumed."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ropewalk
from conftest import PATIENCE_S, files
from fake_core import FakeCore
from ropewalk import LocalExecutor, RunError, ScenarioError, StoreError
from ropewalk.executor import Executor
from ropewalk.progress import Silent

CAMPAIGN: dict[str, Any] = {
    "name": "grid",
    "scenario": {"name": "two-paths"},
    "replications": 3,
    "grid": {"factor": [0.5, 1.0]},
}
RUNS = 2 * 3 + 2 * 3
"""Two points and, shared by both, two single paths; three seeds each."""


class Notes(Silent):
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.total = self.done = 0

    def start(self, total: int, what: str) -> None:
        self.total = total

    def advance(self, steps: int = 1) -> None:
        self.done += steps

    def note(self, text: str) -> None:
        self.lines.append(text)


def test_frames_carry_the_grid(fake: FakeCore, tmp_path: Path) -> None:
    result = ropewalk.sweep(CAMPAIGN, out=tmp_path)
    assert (result.computed, result.skipped, result.failures) == (RUNS, 0, {})
    frame = result.connections
    assert frame.columns[:2] == ["point", "factor"]
    assert frame["factor"].to_list() == [0.5] * 3 + [1.0] * 3
    assert frame["seed"].to_list() == [1, 2, 3] * 2
    assert result.series.height == result.links.height == result.subflows.height == 6
    assert result.references.height == 12
    assert set(result.references["reference_path"]) == {"a", "b"}


def test_verdicts_follow_the_grid(fake: FakeCore, tmp_path: Path) -> None:
    harm, benefit = ropewalk.sweep(CAMPAIGN, out=tmp_path).benefit()
    assert (harm.parameters, harm.point, harm.verdict) == ({"factor": 0.5}, 0, "harm")
    assert (benefit.parameters, benefit.verdict) == ({"factor": 1.0}, "benefit")
    assert benefit.best_path == "a"
    assert benefit.aggregation.mean == pytest.approx(1, rel=0.01)


def test_what_is_there_is_not_run_again(fake: FakeCore, tmp_path: Path) -> None:
    ropewalk.sweep(CAMPAIGN, out=tmp_path)
    before = files(tmp_path)
    again = ropewalk.sweep(CAMPAIGN, out=tmp_path)
    assert (again.computed, again.skipped) == (0, RUNS)
    assert len(fake.ran) == RUNS
    assert files(tmp_path) == before
    more = ropewalk.sweep(CAMPAIGN | {"replications": 4}, out=tmp_path)
    assert (more.computed, more.skipped) == (4, RUNS)


def test_names_say_what_produced_the_file(fake: FakeCore, tmp_path: Path) -> None:
    result = ropewalk.sweep(CAMPAIGN | {"compare": False}, out=tmp_path)
    digest = result.samples[0].hash
    expected = {
        f"{digest}-2-0.0.fake.{table}.parquet" for table in ("connections", "subflows", "links", "series")
    }
    found = {file.name for file in (tmp_path / "two-paths").iterdir()}
    assert expected <= found
    assert len(found) == 2 * 3 * 4
    manifest = json.loads((tmp_path / "grid.campaign.json").read_text(encoding="utf-8"))
    assert [point["parameters"] for point in manifest["points"]] == [{"factor": 0.5}, {"factor": 1.0}]
    assert manifest["points"][0]["scenario_hash"] == digest


def test_damaged_and_foreign_files_are_reported_and_replaced(fake: FakeCore, tmp_path: Path) -> None:
    ropewalk.sweep(CAMPAIGN, out=tmp_path)
    before = files(tmp_path)
    found = sorted((tmp_path / "two-paths").glob("*.parquet"))
    found[0].write_bytes(found[0].read_bytes()[:-20])
    found[5].write_bytes(b"no Parquet at all")
    # Whole Parquet files, but of another run and of another table.
    found[8].write_bytes(found[12].read_bytes())
    pl.DataFrame({"x": [1]}).write_parquet(found[16])
    notes = Notes()
    result = ropewalk.sweep(CAMPAIGN, out=tmp_path, progress=notes)
    assert result.computed == 4
    assert len(notes.lines) == 4
    for line, file in zip(sorted(notes.lines), (found[0], found[5], found[8], found[16]), strict=True):
        assert line.startswith(str(file))
        assert "running it again" in line
    assert files(tmp_path) == before


def test_a_run_whose_files_are_not_all_there_is_run_again(fake: FakeCore, tmp_path: Path) -> None:
    ropewalk.sweep(CAMPAIGN | {"series": False}, out=tmp_path)
    assert not list(tmp_path.rglob("*.series.parquet"))
    result = ropewalk.sweep(CAMPAIGN, out=tmp_path)
    assert (result.computed, result.skipped) == (6, 6)


def test_one_and_four_workers_write_the_same_bytes(fake: FakeCore, tmp_path: Path) -> None:
    ropewalk.sweep(CAMPAIGN, out=tmp_path / "one", workers=1)
    ropewalk.sweep(CAMPAIGN, out=tmp_path / "four", workers=4)
    assert files(tmp_path / "one") == files(tmp_path / "four")


def test_failed_runs_do_not_stop_the_others(fake: FakeCore, tmp_path: Path) -> None:
    fake.failing_seeds = {2}
    notes = Notes()
    result = ropewalk.sweep(CAMPAIGN, out=tmp_path, progress=notes)
    assert len(result.failures) == 4
    assert result.connections["seed"].to_list() == [1, 3, 1, 3]
    assert [benefit.multipath.n for benefit in result.benefit()] == [2, 2]
    assert (notes.total, notes.done) == (RUNS, RUNS)
    fake.failing_seeds = set()
    assert ropewalk.sweep(CAMPAIGN, out=tmp_path).computed == 4


def test_a_full_disk_stops_the_sweep_and_leaves_no_half_file(fake: FakeCore, tmp_path: Path) -> None:
    fake.disk.free = 5
    with pytest.raises(StoreError, match="No space left on device") as caught:
        ropewalk.sweep(CAMPAIGN, out=tmp_path)
    assert caught.value.errno == 28
    written = [name for name in files(tmp_path) if not name.endswith(".json")]
    assert all(name.endswith(".parquet") for name in written)
    fake.disk.free = None
    assert ropewalk.sweep(CAMPAIGN, out=tmp_path).skipped == 5


def test_an_unwritable_folder_is_found_before_anything_runs(fake: FakeCore, tmp_path: Path) -> None:
    in_the_way = tmp_path / "two-paths"
    in_the_way.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot write results to"):
        ropewalk.sweep(CAMPAIGN, out=tmp_path)
    assert fake.ran == []


def test_an_invalid_point_is_named_before_anything_runs(fake: FakeCore, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="unknown key") as caught:
        ropewalk.sweep(CAMPAIGN | {"grid": {"factro": [1]}}, out=tmp_path / "out")
    assert caught.value.__notes__ == ["at the point factro = 1"]
    assert fake.ran == []
    assert not (tmp_path / "out").exists()


def test_interruption_keeps_what_is_finished_and_the_next_sweep_goes_on(
    fake: FakeCore, tmp_path: Path
) -> None:
    fake.stop_after = 5

    class CtrlC(Notes):
        def advance(self, steps: int = 1) -> None:
            super().advance(steps)
            if self.done == 5:
                assert fake.blocked.wait(PATIENCE_S)
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ropewalk.sweep(CAMPAIGN, out=tmp_path, progress=CtrlC(), workers=2)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("run-")]
    fake.stop_after = None
    result = ropewalk.sweep(CAMPAIGN, out=tmp_path)
    assert (result.skipped, result.computed) == (5, RUNS - 5)


def test_without_a_folder_results_live_as_long_as_the_object(fake: FakeCore) -> None:
    result = ropewalk.sweep(CAMPAIGN)
    assert result.connections.height == 6
    assert result.temporary is not None
    result.temporary.cleanup()


def test_another_executor_can_take_the_jobs(fake: FakeCore, tmp_path: Path) -> None:
    class Backwards:
        def run(self, jobs: Any) -> Any:
            yield from LocalExecutor(1).run(list(reversed(jobs)))

    executor: Executor = Backwards()
    result = ropewalk.sweep(CAMPAIGN, out=tmp_path / "backwards", executor=executor)
    ropewalk.sweep(CAMPAIGN, out=tmp_path / "forwards")
    assert result.connections["seed"].to_list() == [1, 2, 3] * 2
    assert files(tmp_path / "backwards") == files(tmp_path / "forwards")


def test_a_panic_of_the_core_is_a_failed_run(fake: FakeCore, monkeypatch: pytest.MonkeyPatch) -> None:
    class Panic(BaseException):
        pass

    def panic(*_arguments: object, **_options: object) -> None:
        raise Panic("index out of bounds")

    monkeypatch.setattr(ropewalk.executor._core, "run", panic)  # type: ignore[attr-defined]
    with pytest.raises(RunError, match="index out of bounds"):
        ropewalk.run({"name": "two-paths"})


def test_workers_must_be_positive() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        LocalExecutor(0)
