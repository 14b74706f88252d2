"""Runs in processes of their own, each with a bound on its memory: one that needs too much or breaks fails alone."""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, cast

from ropewalk.errors import RopewalkError, RunError
from ropewalk.executor import Finished, LocalExecutor
from ropewalk.memory import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from ropewalk import _core
    from ropewalk.executor import Hand
    from ropewalk.plan import Job
    from ropewalk.simulated import Reached, SimulatedTime

POLL_S: Final = 0.1
"""How often to look whether the runs are to be stopped."""

LENGTH: Final = struct.Struct("<Q")
"""What stands before each message."""


def send(stream: IO[bytes], message: object) -> None:
    """Write a message."""
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read a message from this program's own other half; None at the end."""
    head = _exactly(stream, LENGTH.size)
    if head is None:
        return None
    (length,) = LENGTH.unpack(head)
    content = _exactly(stream, length)
    return pickle.loads(content) if content is not None else None  # noqa: S301 - from our own child or parent


def _exactly(stream: IO[bytes], length: int) -> bytes | None:
    """So many octets, however they come; None if the stream ends before."""
    content = bytearray()
    while len(content) < length:
        more = stream.read(length - len(content))
        if not more:
            return None
        content += more
    return bytes(content)


@dataclass(frozen=True)
class CarriedOutcome:
    """What a run in another process has measured: as the core's outcome, with frames in place of its tables."""

    text: str
    tables: dict[str, pl.DataFrame]

    def summary(self) -> str:
        """The summary as one JSON object."""
        return self.text

    def __getattr__(self, name: str) -> pl.DataFrame:
        """A table."""
        if name.startswith("__") or name not in self.tables:
            raise AttributeError(name)
        return self.tables[name]


@dataclass(frozen=True)
class Answer:
    """How a run ended, as one process tells another."""

    files: tuple[Any, ...]
    error: RopewalkError | None
    outcome: CarriedOutcome | None

    def finished(self, job: Job) -> Finished:
        """The same, of the job that was given."""
        return Finished(job, cast("_core.Outcome | None", self.outcome), self.files, self.error)


class IsolatedExecutor(LocalExecutor):
    """As many processes as there are workers, each with so much memory."""

    def __init__(
        self, max_memory: int, workers: int | None = None, clock: SimulatedTime | None = None
    ) -> None:
        """Use so many processes of so many octets.

        Raises:
            ValueError: The number of workers is not positive.
        """
        super().__init__(workers, clock)
        self.max_memory = max_memory

    @contextmanager
    def _hand(self) -> Iterator[Hand]:
        child = Child(self.max_memory)
        try:
            yield child.perform
        finally:
            child.close()


class Child:
    """A process that carries out one run after the other. When it has died, the next run gets another one."""

    def __init__(self, max_memory: int) -> None:
        """Begin with the first run."""
        self._max_memory = max_memory
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None

    def perform(self, job: Job, interrupt: _core.Interrupt, reached: Reached | None = None) -> Finished:
        """Carry out one job; failures are returned, not raised."""
        process = self._started()
        requests, answers = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        with suppress(BrokenPipeError):
            send(requests, job)
        while True:
            readable, _, _ = select.select([answers], [], [], POLL_S)
            if interrupt.is_set() and not requests.closed:
                # The child stops what it does when nobody can ask for more.
                with suppress(BrokenPipeError):
                    requests.close()
            if not readable:
                continue
            answer = receive(answers)
            if answer is None:
                return Finished(job, error=RunError(f"{job.label}: {self._reason()}"))
            if isinstance(answer, Answer):
                return answer.finished(job)
            if reached is not None:
                reached.told_s = answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._said = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
            # In a group of its own: Ctrl-C is answered here, and the child hears of it from here.
            self._process = subprocess.Popen(  # noqa: S603 - this program
                [sys.executable, "-m", "ropewalk.worker", str(self._max_memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                process_group=0,
                bufsize=0,
            )
        return self._process

    def _reason(self) -> str:
        """Why the child has died."""
        process, said = self._process, self._said
        if process is None or said is None:
            return "its process has ended"
        code = process.wait()
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
        last = lines[-1] if lines else "it said nothing"
        if any("memory allocation of" in line or "MemoryError" in line for line in lines):
            return f"it needs more memory than the {words(self._max_memory)} of --max-memory"
        if code == -signal.SIGKILL:
            return "it was killed, as the system does when memory runs out"
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return f"its process ended {how} ({last})"

    def close(self) -> None:
        """End the process, at once if it does nothing."""
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            process.wait()
        if self._said is not None:
            self._said.close()
            self._said = None


def end_of(stream: IO[bytes]) -> bool:
    """Whether the other half has closed its end. Nothing else is sent while a run goes on."""
    readable, _, _ = select.select([stream], [], [], 0)
    return bool(readable) and not os.read(stream.fileno(), 1)
