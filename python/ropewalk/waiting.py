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


def drawn(
    call: Callable[[_core.Interrupt, _core.RouteProgress], Result], progress: Progress | None = None
) -> Result:
    """A call that reads a scenario. Drawing its stations until a rare condition holds can take minutes."""
    shown, how_far = progress or Silent(), _core.RouteProgress()
    began, said = time.monotonic(), -1

    def look() -> None:
        nonlocal said
        if said < 0 and how_far.limit > 0 and time.monotonic() - began > PATIENCE_S:
            shown.start(how_far.limit, "deployments drawn, at most")
            said = 0
        if said >= 0 and how_far.drawn > said:
            shown.advance(how_far.drawn - said)
            said = how_far.drawn

    with Finishing(shown):
        return waited(lambda interrupt: call(interrupt, how_far), look)


def check(source: Source, seed: int | None = None, progress: Progress | None = None) -> _core.Info:
    """Whether a scenario is valid, with this seed too, and what it is.

    Raises:
        ScenarioError: It is not valid.
        RunError: Its stations or routes cannot be with this seed.
    """
    arguments = source.arguments()
    return drawn(lambda interrupt, how_far: _core.check(*arguments, seed, interrupt, how_far), progress)


def references(source: Source) -> list[tuple[str, str, str]]:
    """`(connection, path, TOML)` of each multipath connection as TCP on each of its paths.

    Raises:
        ScenarioError: The scenario is not valid.
    """
    arguments = source.arguments()
    return drawn(lambda interrupt, _: _core.references(*arguments, interrupt))


def explain(source: Source, progress: Progress | None = None) -> str:
    """A scenario's topology, drawn, and every default.

    Raises:
        ScenarioError: It is not valid.
    """
    arguments = source.arguments()
    return drawn(lambda interrupt, how_far: _core.explain(*arguments, interrupt, how_far), progress)
