"""The command `ropewalk`. Imports are left to `main`, so that a stop is answered from the first moment."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED: Final = 128 + signal.SIGINT
"""Exit code after Ctrl-C."""

TERMINATED: Final = 128 + signal.SIGTERM
"""Exit code after SIGTERM, which `kill`, `timeout`, batch systems and a machine that shuts down send."""


class Terminated(BaseException):
    """SIGTERM has come. Not a `KeyboardInterrupt`, which typer would take for Ctrl-C and end with its exit code."""


STOPS: Final = (KeyboardInterrupt, Terminated)
"""What stops a command from outside."""


def exit_code(stop: BaseException) -> int:
    """The exit code after one of the `STOPS`."""
    return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED


def terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Answer SIGTERM as Python answers SIGINT: by an exception in the main thread."""
    raise Terminated


def main() -> None:
    """Run the command line and exit: 0 done, 1 a run failed, 2 the input is wrong, 130 or 143 stopped."""
    try:
        # Who started this with SIGTERM ignored wants it ignored.
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, terminate)
        from ropewalk.commands import app

        app(prog_name="ropewalk")
    except STOPS as stop:
        sys.stderr.write("stopped\n")
        sys.exit(exit_code(stop))


if __name__ == "__main__":
    main()
