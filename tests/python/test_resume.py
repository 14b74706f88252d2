"""Studies that are interrupted: what has run stays, and the end is the same as without the interruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ropewalk
from ropewalk import studies
from ropewalk.executor import LocalExecutor
from ropewalk.progress import Progress, Silent
from ropewalk.source import resolve
from ropewalk.studies import Kept, StudyResult, degraded_path, load, mesh_routing
from ropewalk.studies.cells import Cell, Runner

if TYPE_CHECKING:
    from pathlib import Path


class Stopping(Silent):
    """Ctrl-C after so many steps of the work, if ever; what was said and done before."""

    def __init__(self, after: int | None = None) -> None:
        self.after = after
        self.done = 0
        self.notes: list[str] = []

    def advance(self, steps: int = 1) -> None:
        self.done += steps
        if self.after is not None and self.done >= self.after:
            raise KeyboardInterrupt

    def note(self, text: str) -> None:
        self.notes.append(text)


def contents(result: StudyResult) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (*result.files, result.report)}


def study(name: str, out: Path, progress: Progress) -> StudyResult:
    runner = Runner(LocalExecutor(1), progress, Kept(out, quick=True).store, workers=1)
    return load(name).run(out, quick=True, runner=runner)


def test_an_interrupted_study_goes_on_and_ends_with_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = degraded_path.Extent((0.5, 3.0), (1, 2), "2 s", (64,))
    monkeypatch.setattr(degraded_path, "QUICK", tiny)
    whole = Stopping()
    expected = contents(study("degraded-path", tmp_path / "whole", whole))
    assert whole.notes == []
    out = tmp_path / "interrupted"
    published = 2 * len(degraded_path.published_cells(tiny))
    for steps in (published + 3, 4):
        with pytest.raises(KeyboardInterrupt):
            study("degraded-path", out, Stopping(steps))
    rest = Stopping()
    assert contents(study("degraded-path", out, rest)) == expected
    # What was stopped may have finished more runs than it had counted.
    assert rest.done <= whole.done - published - 7
    assert rest.notes[0] == f"degraded-path, published: {published} of {published} runs taken over"
    assert len(rest.notes) == 2


def test_an_interrupted_search_for_routes_goes_on_behind_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh_routing, "QUICK", mesh_routing.Extent((24, 32), 20, 20, 100, 1000))
    expected = contents(study("mesh-routing", tmp_path / "whole", Silent()))
    # Forty runs of meshes that move come first; then two searches are done, and a third is not.
    with pytest.raises(KeyboardInterrupt):
        study("mesh-routing", tmp_path / "interrupted", Stopping(85))
    rest = Stopping()
    assert contents(study("mesh-routing", tmp_path / "interrupted", rest)) == expected
    searches = [note for note in rest.notes if note.startswith("routes of")]
    assert searches == ["routes of 20 deployments: taken over"] * 2


def test_a_damaged_run_is_run_again_and_another_build_s_are_not_taken(
    two_paths: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [Cell({"what": "cell"}, resolve(two_paths))]

    def run() -> Stopping:
        progress = Stopping()
        Runner(LocalExecutor(1), progress, Kept(tmp_path, quick=True).store).run(cells, (1, 2, 3), "cells")
        return progress

    assert (run().done, run().done) == (3, 0)
    damaged = min((tmp_path / "runs").rglob("*.subflows.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-20])
    again = run()
    assert again.done == 1
    assert "running it again" in again.notes[0]
    assert again.notes[1] == "cells: 2 of 3 runs taken over"
    monkeypatch.setattr(studies, "build", lambda: "another")
    other = run()
    assert (other.done, other.notes) == (3, [])
    assert len(list((tmp_path / "runs").iterdir())) == 2
    Kept(tmp_path, quick=False).forget()
    assert len(list((tmp_path / "runs").iterdir())) == 2
    Kept(tmp_path, quick=True).forget()
    assert not (tmp_path / "runs").exists()


def test_cells_of_one_scenario_run_once_and_have_rows_each(two_paths: Path, tmp_path: Path) -> None:
    source = resolve(two_paths)
    cells = [
        Cell({"what": "b", "loss": 1}, source),
        Cell({"what": "a", "loss": 0.5}, source),
        Cell({"what": "c", "loss": 3}, source.with_overrides({"links.b.loss": "3 %"})),
    ]
    progress = Stopping()
    results = Runner(LocalExecutor(1), progress, Kept(tmp_path, quick=True).store).run(
        cells, (2, 1), "cells", series=True
    )
    assert progress.done == 4
    assert results.connections.columns[:2] == ["what", "loss"]
    assert results.connections["what"].to_list() == ["a", "a", "b", "b", "c", "c"]
    assert results.connections["seed"].to_list() == [1, 2] * 3
    assert results.goodputs(what="a") == results.goodputs(what="b") != results.goodputs(what="c")
    assert results.goodput(loss=0.5).n == 2
    alone = ropewalk.run(two_paths, seed=2, overrides={"links.b.loss": "3 %"})
    assert results.goodputs(what="c")[1] == alone.connections["goodput_mbps"].item()
    assert results.series is not None
    assert (
        results.series.filter(what="c", seed=2)["cwnd_bytes"].to_list()
        == alone.series["cwnd_bytes"].to_list()
    )
