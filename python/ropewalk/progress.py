"""Progress of long work on standard error: a bar on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import os
import sys
import time
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, Protocol, Self

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as RichBar
    from rich.progress import TaskID

PLAIN_INTERVAL_S: Final = 5.0
"""How long plain progress stays silent between two lines."""


class Loudness(Enum):
    """How much a command says beside its results and errors."""

    QUIET = auto()
    NORMAL = auto()
    VERBOSE = auto()


_chosen = [Loudness.NORMAL]


def choose(loudness: Loudness) -> None:
    """Say so much from now on. For the command line: the Python functions are silent unless told otherwise."""
    _chosen[0] = loudness


def is_verbose() -> bool:
    """Whether as much as possible is to be said."""
    return _chosen[0] is Loudness.VERBOSE


class Progress(Protocol):
    """Where long work says how far it has come. Use it as a context manager around `start` … `advance`."""

    def start(self, total: int, what: str) -> None:
        """Begin a piece of work of `total` steps."""
        ...

    def advance(self, steps: int = 1) -> None:
        """Say that `steps` more are done."""
        ...

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        ...

    def finish(self) -> None:
        """End the piece of work; harmless when none has begun."""
        ...


class Silent:
    """Says nothing. The Python functions use it by default."""

    def start(self, total: int, what: str) -> None:
        """Say nothing."""

    def advance(self, steps: int = 1) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def finish(self) -> None:
        """Say nothing."""


class Notes(Silent):
    """Says nothing but notes."""

    def note(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - this is the output


class Plain:
    """Lines for logs: at the start, at the end, and every few seconds with an estimate of the time left."""

    def __init__(self, interval_s: float = PLAIN_INTERVAL_S) -> None:
        """Write at most one line per `interval_s` seconds of wall-clock time while the work goes on."""
        self._interval_s = interval_s
        self._what = ""
        self._total = 0
        self._done = 0
        self._began = 0.0
        self._said = 0.0

    def start(self, total: int, what: str) -> None:
        """Begin, and say so."""
        self._what, self._total, self._done = what, total, 0
        self._began = self._said = time.monotonic()
        self.note(f"{what}: {total} to do")

    def advance(self, steps: int = 1) -> None:
        """Count, and print a line when it is time for one or all is done."""
        self._done += steps
        now = time.monotonic()
        if self._done >= self._total or now - self._said >= self._interval_s:
            self._said = now
            left = remaining(now - self._began, self._done, self._total)
            self.note(f"{self._what}: {self._done} of {self._total} done, about {clock(left)} left")

    def note(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - this is the output

    def finish(self) -> None:
        """Forget the piece of work."""
        self._total = self._done = 0


class Bar:
    """A bar on a terminal, drawn by rich, which is imported only here."""

    def __init__(self) -> None:
        """Draw nothing yet."""
        self._bar: RichBar | None = None
        self._task: TaskID | None = None

    def start(self, total: int, what: str) -> None:
        """Draw the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.finish()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task(what, total=total)
        self._bar.start()

    def advance(self, steps: int = 1) -> None:
        """Move the bar."""
        if self._bar is not None and self._task is not None:
            self._bar.advance(self._task, steps)

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr, flush=True)  # noqa: T201 - this is the output

    def finish(self) -> None:
        """Leave the bar as it stands and go on below it."""
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._task = None


class Finishing:
    """Context manager that ends a piece of progress whatever happens inside."""

    def __init__(self, progress: Progress) -> None:
        """Take the progress to end."""
        self._progress = progress

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.finish()


def for_terminal() -> Progress:
    """A bar if standard error is a terminal that can move its cursor, plain lines if it is not."""
    if _chosen[0] is Loudness.QUIET:
        return Silent()
    return Bar() if _draws() else Plain()


def bar_or_silent() -> Progress:
    """A bar on a terminal that can move its cursor, lines on a dumb one, notes alone where there is none."""
    if _chosen[0] is Loudness.QUIET:
        return Silent()
    return Bar() if _draws() else Plain() if is_verbose() or sys.stderr.isatty() else Notes()


def _draws() -> bool:
    return not is_verbose() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def remaining(elapsed_s: float, done: int, total: int) -> float:
    """Seconds that the rest will take at the average pace so far."""
    return elapsed_s * (total - done) / done if done else 0.0


def clock(seconds: float) -> str:
    """A duration as h:mm:ss or m:ss."""
    whole = round(seconds)
    minutes, secs = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"
