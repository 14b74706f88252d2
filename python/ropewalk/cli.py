"""The command `ropewalk`. Imports are left to `main`, so that a stop is answered from the first moment."""

from __future__ import annotations

import atexit
import os
import signal
import sys

# As in `typing`. Whatever is imported here comes before the first signal is answered.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Final, NoReturn

    Answer = Callable[[int, FrameType | None], NoReturn]

INTERRUPTED: Final = 128 + signal.SIGINT
"""Exit code after Ctrl-C."""

AGAIN_S: Final = 0.01
"""How long after a stop that Python has dropped the same one comes again."""


class Stopped(BaseException):
    """A signal has come that stops the command. Not a `KeyboardInterrupt`, which typer would end without a word."""

    def __init__(self, number: int) -> None:
        """Keep the signal's number."""
        super().__init__(number)
        self.number = number
        self.exit_code = 128 + number


STOPS: Final = (KeyboardInterrupt, Stopped)
"""What stops a command from outside."""


def exit_code(stop: BaseException) -> int:
    """The exit code after one of the `STOPS`."""
    return stop.exit_code if isinstance(stop, Stopped) else INTERRUPTED


def leave(number: int, _frame: FrameType | None) -> NoReturn:
    """Answer a signal while nothing has begun: there is nothing to undo, and no import can drop the answer."""
    try:
        os.write(2, b"stopped\n")
    finally:
        os._exit(128 + number)


def unwind(number: int, _frame: FrameType | None) -> NoReturn:
    """Answer a signal by an exception in the main thread, as Python itself answers Ctrl-C."""
    raise Stopped(number)


def answer_by(answer: Answer) -> None:
    """Answer Ctrl-C and SIGTERM so from now on. Who started this with a signal ignored wants it ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, answer)


def repeat_dropped(unraisable: sys.UnraisableHookArgs) -> None:
    """Send a stop again that came inside a finalizer or callback: Python drops what is raised there."""
    import threading

    stop = unraisable.exc_value
    if isinstance(stop, Stopped):
        threading.Timer(AGAIN_S, os.kill, (os.getpid(), stop.number)).start()
    else:
        sys.__unraisablehook__(unraisable)


def let_come() -> None:
    """Let signals come that the script before this program has held back."""
    if os.environ.pop("ROPEWALK_HELD", None) is not None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))


def open_closed() -> None:
    """Let output go nowhere that was closed when the command began, instead of into the next file that is opened."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - standard error
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def begin() -> None:
    """Say that there is something to undo from here on: stops are exceptions now. Below `main` alone."""
    if signal.getsignal(signal.SIGINT) is leave or signal.getsignal(signal.SIGTERM) is leave:
        sys.unraisablehook = repeat_dropped
        answer_by(unwind)


_exit_code: Final = [1]
"""What the process ends with; 1 where an exception goes on to the interpreter, which shows it."""


def main() -> None:
    """Run the command line and exit: 0 done, 1 a run failed, 2 the input is wrong, 130 or 143 stopped."""
    answer_by(leave)
    let_come()
    open_closed()
    # Called last: functions run in the reverse of the order in which they were registered.
    atexit.register(end_at_once)
    try:
        command()
    except SystemExit as ending:
        _exit_code[0] = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        raise
    _exit_code[0] = 0


def command() -> None:
    """Do what the arguments say."""
    try:
        from ropewalk.commands import app

        try:
            app(prog_name="ropewalk")
        finally:
            # What there was to undo is undone, and while Python ends nobody catches an exception.
            answer_by(leave)
            sys.stdout.flush()
    except STOPS as stop:
        sys.stderr.write("stopped\n")
        sys.exit(exit_code(stop))
    except OSError as cause:
        unwritable(cause)


def end_at_once() -> None:
    """Leave before the interpreter takes itself apart: from there on it no longer answers signals."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(_exit_code[0])


def unwritable(cause: OSError) -> NoReturn:
    """End when standard output takes no more. A reader that has gone, as `head` does, is no error to tell."""
    if not isinstance(cause, BrokenPipeError):
        sys.stderr.write(f"error: cannot write to standard output: {cause.strerror or cause}\n")
    # Python writes out what is left when it ends: not there.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


if __name__ == "__main__":
    main()
