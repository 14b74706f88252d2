"""The process behind `isolated`: takes runs from its standard input, carries them out, answers on standard output."""

from __future__ import annotations

import os
import re
import resource
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from ropewalk import _core
from ropewalk.errors import RunError
from ropewalk.executor import Finished, perform
from ropewalk.isolated import POLL_S, Answer, CarriedOutcome, end_of, receive, send
from ropewalk.memory import words
from ropewalk.simulated import Reached
from ropewalk.store import Table

if TYPE_CHECKING:
    from typing import IO

    from ropewalk.plan import Job


def bound(max_memory: int) -> None:
    """Let this process have so many octets more than it has now. What needs more ends it, and nothing else."""
    import polars as pl

    # What is there once, as threads and caches, is there before it counts.
    pl.DataFrame({"warm": [1]}).write_parquet(os.devnull)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    match = re.search(r"^VmData:\s+(\d+) kB$", status, re.MULTILINE)
    now = int(match[1]) * 1024 if match else 0
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = now + max_memory
    resource.setrlimit(resource.RLIMIT_DATA, (limit if most < 0 else min(limit, most), most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def answer_of(end: Finished, max_memory: int) -> Answer:
    """How a run ended, for another process."""
    import polars as pl

    error = end.error
    if error is not None and "MemoryError" in f"{error!r}{error.__cause__!r}":
        error = RunError(
            f"{end.job.label}: it needs more memory than the {words(max_memory)} of --max-memory"
        )
    carried = None
    if end.outcome is not None:
        tables = {table: pl.DataFrame(getattr(end.outcome, table)) for table in get_args(Table)}
        carried = CarriedOutcome(end.outcome.summary(), tables)
    return Answer(end.files, error, carried)


def carry_out(job: Job, requests: IO[bytes], answers: IO[bytes]) -> Finished:
    """Carry out a run, and tell from time to time how far it is; stop when nobody listens any more."""
    interrupt, reached = _core.Interrupt(), Reached(job.emulated)
    ended: list[Finished] = []
    thread = threading.Thread(target=lambda: ended.append(perform(job, interrupt, reached)), daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(POLL_S)
        if end_of(requests):
            interrupt.set()
        send(answers, reached.seconds)
    return ended[0]


def main() -> None:
    """Serve until standard input ends."""
    max_memory = int(sys.argv[1])
    requests = os.fdopen(0, "rb", buffering=0, closefd=False)
    answers = os.fdopen(os.dup(1), "wb")
    # What is printed by mistake is no answer.
    os.dup2(2, 1)
    bound(max_memory)
    while (job := receive(requests)) is not None:
        send(answers, answer_of(carry_out(job, requests, answers), max_memory))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
