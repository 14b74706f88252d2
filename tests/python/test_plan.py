"""What `run`, `sweep` and `reproduce` have in common: the list of their jobs, and who may carry them out."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import ropewalk
from conftest import files
from fake_core import FakeCore
from ropewalk import RunError, _core, holding
from ropewalk.executor import Finished, missing, perform
from ropewalk.plan import Case, Job, Plan, Settings
from ropewalk.progress import Silent
from ropewalk.source import Source, resolve
from ropewalk.store import Store, store_error
from ropewalk.studies.cells import Cell, Runner
from ropewalk.waiting import check

TWO = {"name": "two"}


def added(plan: Plan, source: Source, seeds: Sequence[int] = (1, 2)) -> Case:
    return plan.add(source, check(source), seeds, "two")


def test_a_run_that_two_cases_need_is_listed_once_and_belongs_to_both(fake: FakeCore, tmp_path: Path) -> None:
    plan = Plan(Store(tmp_path, "1"), Settings(compare=True))
    first = added(plan, resolve({**TWO, "factor": 0.5}))
    second = added(plan, resolve({**TWO, "factor": 1.0}))
    assert [job.seed for job in plan.jobs] == [1, 2] * 4
    assert [*first.jobs, *first.references["bulk", "a"], *first.references["bulk", "b"]] == plan.jobs[:6]
    assert list(second.jobs) == plan.jobs[6:]
    assert second.references == first.references
    assert not set(first.jobs) & set(second.jobs)
    assert {job.key.folder.name for job in plan.jobs[2:6] if job.key} == {"references"}
    assert all(job.series for job in first.jobs)
    assert not any(job.series for jobs in first.references.values() for job in jobs)


def test_without_a_store_a_run_is_known_by_what_it_runs(fake: FakeCore) -> None:
    plan = Plan(None, Settings(keep=True))
    assert added(plan, resolve(TWO)) == added(plan, resolve(TWO))
    assert added(plan, resolve(TWO), (2, 3)).jobs[0] is plan.jobs[1]
    assert [job.seed for job in plan.jobs] == [1, 2, 3]
    plan.prepare()
    assert missing(plan.jobs, Silent()) == plan.jobs


def test_outcomes_that_come_back_leave_references_unwritten(fake: FakeCore, tmp_path: Path) -> None:
    plan = Plan(Store(tmp_path, "1"), Settings(compare=True, keep=True, capture=True))
    case = added(plan, resolve(TWO))
    assert all(job.keep for job in plan.jobs)
    assert all(job.key and job.captures and job.captures.parent == job.key.folder for job in case.jobs)
    references = [job for jobs in case.references.values() for job in jobs]
    assert references
    assert not any(job.key or job.captures for job in references)


def test_jobs_and_their_ends_go_to_another_process_and_back(tmp_path: Path) -> None:
    source = resolve(TWO).with_overrides({"b": 3})
    job = Job(source, 4, "two, seed 4", False, None, tmp_path / "captures", True)
    errors = [RunError("it failed"), store_error(tmp_path, OSError(28, "No space left on device"))]
    for error in errors:
        end = Finished(job, files=(tmp_path / "file",), error=error)
        back: Finished = pickle.loads(pickle.dumps(end))  # noqa: S301 - its own
        assert (back.job, back.files) == (job, end.files)
        assert type(back.error) is type(error)
        assert str(back.error) == str(error)


@dataclass
class Processes:
    """Carries jobs out in processes of their own. If one dies, what has not come back starts again."""

    marker: Path
    """Made by the process that dies, so that one alone does."""

    deaths: int = 0

    def run(self, jobs: Sequence[Job]) -> Generator[Finished]:
        left = list(jobs)
        while left:
            with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
                ends = [pool.submit(carried, job, self.marker) for job in left]
                for future in as_completed(ends):
                    try:
                        end = future.result()
                    except BrokenProcessPool:
                        self.deaths += 1
                        break
                    left.remove(end.job)
                    yield end


def carried(job: Job, marker: Path) -> Finished:
    """One job. The first with seed 8 ends in the death of its process, with a part of its files written."""
    end = perform(job, _core.Interrupt())
    if job.seed == 8 and not marker.exists():
        end.files[-1].unlink()
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return end


def test_a_worker_that_dies_costs_its_runs_and_changes_no_octet(two_paths: Path, tmp_path: Path) -> None:
    campaign = {"scenario": two_paths, "seeds": [7, 8, 9], "set": {"scenario.duration": "1 s"}}
    ropewalk.sweep(campaign, out=tmp_path / "threads")
    processes = Processes(tmp_path / "died")
    result = ropewalk.sweep(campaign, out=tmp_path / "processes", executor=processes)
    assert processes.deaths == 1
    assert (result.computed, result.failures) == (9, {})
    assert files(tmp_path / "processes") == files(tmp_path / "threads")
    cells = [Cell({"what": "cell"}, resolve(two_paths, {"scenario.duration": "1 s"}))]
    tables = [
        Runner(executor, Silent(), Store(tmp_path / name, "1")).run(cells, (8, 9), "cells").connections
        for name, executor in (
            ("here", ropewalk.LocalExecutor(1)),
            ("there", Processes(tmp_path / "again")),
        )
    ]
    assert tables[0].equals(tables[1])
    # A command of its own would have held the folder. When that ends, what the dead process left is gone.
    with holding.held([tmp_path / "there"]):
        pass
    assert files(tmp_path / "here") == files(tmp_path / "there")


def test_runs_in_real_time_have_the_machine_for_themselves(fake: FakeCore) -> None:
    fake.together = True
    ropewalk.run(resolve(TWO), replications=4, workers=4)
    assert fake.at_once > 1
    fake.at_once = 0
    ropewalk.run(resolve({**TWO, "emulated": True}), replications=4, workers=4)
    assert fake.at_once == 1
