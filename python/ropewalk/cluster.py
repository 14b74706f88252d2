"""Runs on a Dask cluster: each worker simulates, and this process alone writes the store.

Workers need the same build of Ropewalk. Files that a scenario names, as traces, they need under the same path.
They need no folder in common: a run's tables come back as octets.
"""

from __future__ import annotations

import tempfile
import threading
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ropewalk import _core
from ropewalk.build import build
from ropewalk.errors import InputError, RopewalkError, RunError, UnsupportedError
from ropewalk.executor import Finished, perform
from ropewalk.store import whole
from ropewalk.waiting import check

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    import distributed

    from ropewalk.plan import Job

AHEAD: Final = 4
"""Runs given to the scheduler for each thread of its workers, so that none waits for this process."""

POLL_S: Final = 1.0
"""How often a worker asks whether the command has been stopped."""

CONNECT_S: Final = 30
"""How long to wait for the scheduler's answer."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What comes back from a worker."""

    tables: tuple[tuple[str, bytes], ...] = ()
    """Name and content of each file, in the order in which they have to appear."""

    error: RopewalkError | None = None
    """Why the run failed, if it did."""


class DaskExecutor:
    """Carries out jobs on the workers of a Dask scheduler. A run whose worker dies is given to another one."""

    def __init__(self, address: str, *, patience_s: float = 0) -> None:
        """Connect to a scheduler: its address, `tcp://HOST:8786`, or the JSON file that it has written.

        Args:
            address: Where it is.
            patience_s: How long to wait for its first worker.

        Raises:
            UnsupportedError: dask.distributed is not installed.
            InputError: No scheduler answers there, it has no workers, or one of them has another build.
        """
        try:
            import distributed
        except ImportError as cause:
            message = "runs on a cluster need dask.distributed: pip install 'ropewalk[dask]'"
            raise UnsupportedError(message) from cause
        where: dict[str, Any] = (
            {"scheduler_file": address} if Path(address).is_file() else {"address": address}
        )
        try:
            self._client = distributed.Client(**where, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as cause:
            message = f"--dask {address}: no Dask scheduler answers there ({cause})"
            raise InputError(message, key="dask", expected="tcp://HOST:PORT, or a scheduler file") from cause
        self.workers = self._threads(patience_s)

    def _threads(self, patience_s: float) -> int:
        """How many runs the cluster carries out at a time, all by this build."""
        if patience_s:
            with suppress(TimeoutError):
                self._client.wait_for_workers(1, timeout=patience_s)
        theirs: dict[str, str] = self._client.run(build, on_error="ignore")
        if not theirs:
            raise InputError("the Dask scheduler has no workers: start some with `dask worker`", key="dask")
        for worker, other in sorted(theirs.items()):
            if other != build():
                message = f"the worker {worker} has another build of Ropewalk ({other}, here {build()})"
                raise InputError(f"{message}: install the same one everywhere", key="dask")
        return sum(self._client.nthreads().values())

    def close(self) -> None:
        """Leave the cluster. Its scheduler and workers go on."""
        self._client.close()

    def run(self, jobs: Sequence[Job]) -> Generator[Finished]:
        """Yield each job as it finishes; stop the others when closed or interrupted."""
        import distributed

        _refuse(jobs)
        waiting = iter(jobs)
        stop = distributed.Event(f"ropewalk-{uuid.uuid4().hex}", client=self._client)
        given: dict[distributed.Future[Carried], Job] = {}

        def give() -> distributed.Future[Carried] | None:
            job = next(waiting, None)
            if job is None:
                return None
            future = self._client.submit(carry, _absolute(job), build(), stop.name, pure=False)
            given[future] = job
            return future

        ahead = [future for _ in range(AHEAD * self.workers) if (future := give()) is not None]
        running = distributed.as_completed(ahead, loop=self._client.loop)
        try:
            for future in running:
                yield _finished(given.pop(future), future)
                if (more := give()) is not None:
                    running.add(more)
        finally:
            stop.set()
            self._client.cancel(list(given), force=True)


def _refuse(jobs: Sequence[Job]) -> None:
    """Runs that a cluster cannot carry out.

    Raises:
        UnsupportedError: There is one.
    """
    if any(job.emulated for job in jobs):
        raise UnsupportedError("scenarios with Linux hosts run on this machine alone, without --dask")
    if any(job.keep or job.captures is not None or job.key is None for job in jobs):
        raise UnsupportedError("a cluster takes runs that go into a store alone, without captures")


def _absolute(job: Job) -> Job:
    """The job for a process that is in another folder."""
    path = job.source.path
    return replace(job, source=replace(job.source, path=str(Path(path).absolute()))) if path else job


def carry(job: Job, expected: str, stop: str) -> Carried:
    """Carry out a job on a worker, and take its tables along."""
    if build() != expected:
        return Carried(error=RunError(f"{job.label}: this worker has another build of Ropewalk"))
    if job.key is None:
        return Carried(error=RunError(f"{job.label}: the run has no place in a store"))
    try:
        found = check(job.source).hash
    except RopewalkError as error:
        return Carried(error=error)
    if found != job.key.hash:
        return Carried(error=RunError(f"{job.label}: this worker reads another scenario: {found[:12]}"))
    with tempfile.TemporaryDirectory(prefix="ropewalk-") as folder, stopping(stop) as interrupt:
        end = perform(replace(job, key=replace(job.key, folder=Path(folder))), interrupt)
        return Carried(tuple((file.name, file.read_bytes()) for file in end.files), end.error)


@contextmanager
def stopping(name: str) -> Iterator[_core.Interrupt]:
    """An interrupt that is set once the event of this name is, or the block ends."""
    import distributed

    interrupt, ended = _core.Interrupt(), threading.Event()
    with distributed.worker_client(separate_thread=False) as client:
        event = distributed.Event(name, client=client)

        def watch() -> None:
            while not ended.wait(POLL_S):
                if event.is_set():
                    interrupt.set()
                    return

        thread = threading.Thread(target=watch, name="stop", daemon=True)
        thread.start()
        try:
            yield interrupt
        finally:
            ended.set()
            thread.join()


def _finished(job: Job, future: distributed.Future[Carried]) -> Finished:
    """What a worker has brought back, written into the store."""
    from distributed import KilledWorker

    try:
        carried: Carried = future.result()
    except KilledWorker:
        return Finished(job, error=RunError(f"{job.label}: every worker that took it has died"))
    except Exception as cause:  # noqa: BLE001 - whatever a worker raises is this run's end, not all runs'
        return Finished(job, error=RunError(f"{job.label}: its worker failed: {cause}"))
    if carried.error is not None or job.key is None:
        return Finished(job, error=carried.error)
    files = []
    try:
        for name, content in carried.tables:
            with whole(job.key.folder / name) as beside:
                beside.write_bytes(content)
            files.append(job.key.folder / name)
    except RopewalkError as error:
        return Finished(job, error=error)
    return Finished(job, files=tuple(files))
