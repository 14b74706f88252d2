"""The command `ropewalk`. Imports are left to `main`, so that a stop is answered from the first moment."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED: Final = 128 + signal.SIGINT
"""Exit code after Ctrl-C."""


class Stopped(BaseException):
    """A signal has come that stops the command. Not a `KeyboardInterrupt`, which typer would end without a word."""

    def __init__(self, number: int) -> None:
        """Keep the signal's number."""
        super().__init__(number)
        self.exit_code = 128 + number


STOPS: Final = (KeyboardInterrupt, Stopped)
"""What stops a command from outside."""


def exit_code(stop: BaseException) -> int:
    """The exit code after one of the `STOPS`."""
    return stop.exit_code if isinstance(stop, Stopped) else INTERRUPTED


def answer(number: int, _frame: FrameType | None) -> NoReturn:
    """Answer a signal by an exception in the main thread, as Python itself answers Ctrl-C."""
    raise Stopped(number)


def main() -> None:
    """Run the command line and exit: 0 done, 1 a run failed, 2 the input is wrong, 130 or 143 stopped."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            # Who started this with a signal ignored wants it ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, answer)
        from ropewalk.commands import app

        app(prog_name="ropewalk")
    except STOPS as stop:
        sys.stderr.write("stopped\n")
        sys.exit(exit_code(stop))


if __name__ == "__main__":
    main()
