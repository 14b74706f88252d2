"""How far runs have come in simulated time, all of them together: one long run moves a bar as many short ones do."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ropewalk import _core

if TYPE_CHECKING:
    from ropewalk.plan import Job
    from ropewalk.progress import Progress

PATIENCE_S: Final = 1.0
"""What takes no longer to run is not worth a bar."""

FEW_S: Final = 100.0
"""Below so much simulated time milliseconds are counted."""


@dataclass(eq=False)
class Reached:
    """How far one run has come."""

    emulated: bool = False
    core: _core.RunProgress = field(default_factory=_core.RunProgress)
    """Told by the core, if it runs in this process."""

    told_s: float = 0.0
    """Told by another process."""

    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Simulated time; of an emulation real time since it began."""
        return time.monotonic() - self.began if self.emulated else max(self.core.seconds, self.told_s)


class SimulatedTime:
    """The simulated time of runs of equal length, shown once they take long."""

    def __init__(self, shown: Progress, what: str, duration_s: float, runs: int) -> None:
        """Say nothing yet. `what` is what runs."""
        total_s = duration_s * runs
        self._unit, self._per_second = ("seconds", 1) if total_s >= FEW_S else ("milliseconds", 1000)
        self._shown = shown
        self._what = what
        self._duration_s = duration_s
        self._total = max(1, round(total_s * self._per_second))
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._running: list[Reached] = []
        self._done = 0
        self._said: int | None = None

    def begin(self, job: Job) -> Reached:
        """A run begins; any thread may say so."""
        reached = Reached(job.emulated)
        with self._lock:
            self._running.append(reached)
        return reached

    def end(self, reached: Reached) -> None:
        """It has ended."""
        with self._lock:
            self._running.remove(reached)
            self._done += 1

    def look(self) -> None:
        """Show how far it is."""
        if self._said is None:
            if time.monotonic() - self._began < PATIENCE_S:
                return
            self._shown.start(self._total, f"{self._what}, {self._unit} simulated")
            self._said = 0
        now = self._now()
        if now > self._said:
            self._shown.advance(now - self._said)
            self._said = now

    def _now(self) -> int:
        with self._lock:
            under_way = sum(min(reached.seconds, self._duration_s) for reached in self._running)
            seconds = self._done * self._duration_s + under_way
        return min(self._total, int(seconds * self._per_second))
