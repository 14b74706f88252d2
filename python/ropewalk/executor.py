"""Which runs are carried out, and where: here on threads, or wherever another `Executor` takes them."""

from __future__ import annotations

import os
import queue
import shutil
import threading
from collections.abc import Callable
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ropewalk import _core, partial
from ropewalk.errors import RopewalkError, RunError, StoreError
from ropewalk.progress import Finishing
from ropewalk.store import damage, store_error

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from ropewalk.plan import Job
    from ropewalk.progress import Progress
    from ropewalk.simulated import Reached, SimulatedTime
    from ropewalk.store import Key, Table

LOOK_S = 0.1
"""How often to look how far runs have come."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A job that has come to its end."""

    job: Job
    outcome: _core.Outcome | None = None
    """What it measured, if the job said to keep it."""

    files: tuple[Path, ...] = ()
    """What it has written."""

    error: RopewalkError | None = None
    """Why it failed, if it did."""


Hand = Callable[["Job", _core.Interrupt, "Reached | None"], Finished]
"""Carries out one job."""


class Executor(Protocol):
    """Carries out jobs. What it must keep: a job's files appear whole or not at all."""

    def run(self, jobs: Sequence[Job]) -> Generator[Finished]:
        """Yield each job as it finishes, in any order. Closing the iterator stops what has not finished."""
        ...


class LocalExecutor:
    """Threads of this process. The core releases Python's lock, so each keeps a CPU core busy."""

    def __init__(self, workers: int | None = None, clock: SimulatedTime | None = None) -> None:
        """Use so many threads, or one per CPU core that this process may use.

        Args:
            workers: How many.
            clock: Told how far runs have come.

        Raises:
            ValueError: The number is not positive.
        """
        if workers is not None and workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self.workers = workers if workers is not None else len(os.sched_getaffinity(0))
        self._clock = clock

    @contextmanager
    def _hand(self) -> Iterator[Hand]:
        """What carries out the jobs of one thread."""
        yield perform

    def _timed(self, hand: Hand, job: Job, interrupt: _core.Interrupt) -> Finished:
        if self._clock is None:
            return hand(job, interrupt, None)
        reached = self._clock.begin(job)
        try:
            return hand(job, interrupt, reached)
        finally:
            self._clock.end(reached)

    def _next(self, finished: queue.SimpleQueue[Finished]) -> Finished:
        """The next job that has ended; meanwhile somebody may see how far the others are."""
        while self._clock is not None:
            try:
                return finished.get(timeout=LOOK_S)
            except queue.Empty:
                self._clock.look()
        return finished.get()

    def run(self, jobs: Sequence[Job]) -> Generator[Finished]:
        """Yield each job as it finishes; stop the others when closed or interrupted."""
        interrupt = _core.Interrupt()
        waiting = iter(jobs)
        taking = threading.Lock()
        finished: queue.SimpleQueue[Finished] = queue.SimpleQueue()

        def work() -> None:
            with self._hand() as hand:
                while not interrupt.is_set():
                    with taking:
                        job = next(waiting, None)
                    if job is None:
                        return
                    finished.put(self._timed(hand, job, interrupt))

        # Runs in real time have the machine for themselves, one after the other.
        count = 1 if any(job.emulated for job in jobs) else min(self.workers, len(jobs))
        threads = [threading.Thread(target=work, name=f"run-{k}", daemon=True) for k in range(count)]
        for thread in threads:
            thread.start()
        try:
            for _ in jobs:
                yield self._next(finished)
        finally:
            # Ctrl-C, here or in the consumer, ends up here: unfinished runs stop and write nothing.
            interrupt.set()
            for thread in threads:
                thread.join()


def missing(jobs: Sequence[Job], progress: Progress) -> list[Job]:
    """The jobs whose results no store has whole; damaged ones are reported and missing.

    Raises:
        StoreError: A store cannot be read.
    """
    return [job for job in jobs if job.key is None or _lacks(job.key, job.tables, progress)]


def _lacks(key: Key, tables: Sequence[Table], progress: Progress) -> bool:
    try:
        reason = damage(key, tables)
    except FileNotFoundError:
        return True
    except OSError as cause:
        raise StoreError(f"cannot read the results in {key.folder}: {cause.strerror}") from cause
    if reason is not None:
        progress.note(f"{reason}; running it again")
    return reason is not None


def carry_out(
    jobs: Sequence[Job], executor: Executor, progress: Progress, what: str, *, tolerant: bool = False
) -> dict[Job, Finished]:
    """Carry out jobs and say how far it is. The first failure ends all, unless failures are tolerated and noted.

    Raises:
        RopewalkError: A job failed.
        StoreError: Results cannot be written, so that going on would be useless, tolerant or not.
    """
    ended: dict[Job, Finished] = {}
    if not jobs:
        return ended
    with Finishing(progress), closing(executor.run(jobs)) as finished:
        progress.start(len(jobs), what)
        for end in finished:
            if end.error is not None:
                if not tolerant or isinstance(end.error, StoreError):
                    raise end.error
                progress.note(f"{end.job.label} failed: {end.error}")
            ended[end.job] = end
            progress.advance()
    return ended


def perform(job: Job, interrupt: _core.Interrupt, reached: Reached | None = None) -> Finished:
    """Carry out one job on this thread; failures are returned, not raised."""
    files: list[Path] = []
    try:
        with _captures(job) as capture:
            outcome = _core.run(
                job.source,
                job.seed,
                job.series,
                str(capture) if capture is not None else None,
                interrupt,
                capture_links=list(job.capture_links),
                snap_length=job.snap_length,
                progress=reached.core if reached is not None else None,
            )
        if job.captures is not None:
            files += sorted(job.captures.iterdir())
        if job.key is not None:
            files += map(Path, outcome.write(str(job.key.folder), job.key.stem))
    except RopewalkError as error:
        return Finished(job, error=error)
    except OSError as error:
        return Finished(job, error=store_error(job.key.folder if job.key else job.captures, error))
    except BaseException as error:  # noqa: BLE001 - a panic of the core must not leave the consumer waiting
        return Finished(job, error=RunError(f"{job.label}: the simulator failed: {error}"))
    return Finished(job, outcome if job.keep else None, tuple(files))


@contextmanager
def _captures(job: Job) -> Iterator[Path | None]:
    """A folder for the captures that were asked for. It gets its place if the block ends well, else it goes."""
    if job.captures is None:
        yield None
        return
    beside = partial.beside(job.captures)
    try:
        beside.mkdir(parents=True)
        with partial.locked(beside):
            yield beside
            shutil.rmtree(job.captures, ignore_errors=True)
            beside.rename(job.captures)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
