"""Waiting for long work of the core on another thread, so that Ctrl-C is answered and progress is seen."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final, TypeVar

from ropewalk import _core
from ropewalk.progress import Finishing, Silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from ropewalk.progress import Progress
    from ropewalk.source import Source

POLL_S: Final = 0.05
"""How often to look how far it is."""

PATIENCE_S: Final = 0.5
"""What takes no longer to draw is not worth a bar."""

Result = TypeVar("Result")


def waited(call: Callable[[_core.Interrupt], Result], look: Callable[[], None]) -> Result:
    """Call on another thread, `look` from time to time meanwhile; whatever is raised here stops the call."""
    interrupt = _core.Interrupt()
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(call(interrupt))
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
            failure.append(error)

    thread = threading.Thread(target=work, name="core", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(POLL_S)
            look()
    finally:
        interrupt.set()
        thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


class Drawing:
    """Says how many deployments have been drawn, once it takes long."""

    def __init__(self, shown: Progress, how_far: _core.RouteProgress) -> None:
        """Say nothing yet."""
        self._shown = shown
        self._how_far = how_far
        self._began = time.monotonic()
        self._said: int | None = None

    def look(self) -> None:
        """See how far it is."""
        limit = self._how_far.limit
        if self._said is None and limit > 0 and time.monotonic() - self._began > PATIENCE_S:
            self._shown.start(limit, "deployments drawn, at most")
            self._said = 0
        if self._said is not None and self._how_far.drawn > self._said:
            self._shown.advance(self._how_far.drawn - self._said)
            self._said = self._how_far.drawn


def drawn(
    call: Callable[[_core.Interrupt, _core.RouteProgress], Result], progress: Progress | None = None
) -> Result:
    """A call that reads a scenario. Drawing its stations until a rare condition holds can take minutes."""
    shown, how_far = progress or Silent(), _core.RouteProgress()
    drawing = Drawing(shown, how_far)
    with Finishing(shown):
        return waited(lambda interrupt: call(interrupt, how_far), drawing.look)


def check(source: Source, seed: int | None = None, progress: Progress | None = None) -> _core.Info:
    """Whether a scenario is valid, with this seed too, and what it is.

    Raises:
        ScenarioError: It is not valid.
        RunError: Its stations or routes cannot be with this seed.
    """
    return drawn(lambda interrupt, how_far: _core.check(source, seed, interrupt, how_far), progress)


def references(source: Source) -> list[tuple[str, str, str]]:
    """`(name, path, TOML)` of each multipath connection as TCP, and each bond, on each of its paths.

    Raises:
        ScenarioError: The scenario is not valid.
    """
    return drawn(lambda interrupt, _: _core.references(source, interrupt))


def explain(source: Source, progress: Progress | None = None) -> str:
    """A scenario's topology, drawn, and every default.

    Raises:
        ScenarioError: It is not valid.
    """
    return drawn(lambda interrupt, how_far: _core.explain(source, interrupt, how_far), progress)
