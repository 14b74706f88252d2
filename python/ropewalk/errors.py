"""The exceptions that Ropewalk raises, all derived from `RopewalkError`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    Mistake = tuple[str | None, int | None, str]


class RopewalkError(Exception):
    """Base of every error that Ropewalk raises on purpose."""

    exit_code = 1
    """What the command line exits with when this error ends it."""


class InputError(RopewalkError, ValueError):
    """Something the user wrote is wrong; nothing has run and nothing has been written.

    `str(error)` is the whole diagnostic, with the source line and a caret where they are known.

    Attributes:
        message: What is wrong, in one sentence.
        file: The file it is in, if the input came from one.
        line: The line, counted from 1, if known.
        column: The column, counted from 1, if known.
        key: The dotted key concerned, if any.
        expected: What would have been accepted, if that can be said.
        suggestion: The nearest accepted spelling, if there is one.
        mistakes: All that was found in one go: key, line and diagnostic of each. The attributes are the first's.
    """

    exit_code = 2

    def __init__(  # noqa: PLR0913 - one argument per attribute
        self,
        diagnostic: str,
        *,
        message: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
        expected: str | None = None,
        suggestion: str | None = None,
        mistakes: Sequence[Mistake] = (),
    ) -> None:
        """Keep the diagnostic and its parts."""
        super().__init__(diagnostic)
        self.message = message if message is not None else diagnostic
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.expected = expected
        self.suggestion = suggestion
        self.mistakes = tuple(mistakes) or ((key, line, diagnostic),)

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are rebuilt from `args` alone when unpickled; the attributes follow as state.
        return (type(self), self.args, self.__dict__)


class ScenarioError(InputError):
    """A scenario does not say something that can be run."""


class CampaignError(InputError):
    """A campaign file does not say something that can be swept."""


class RunError(RopewalkError, RuntimeError):
    """A run failed although its scenario is valid."""


class InterruptedRunError(RunError):
    """A run was stopped before its end by request; it has written nothing."""


class StoreError(RopewalkError, OSError):
    """Results could not be written or read back: no permission, no space, or a damaged file."""


class UnsupportedError(RopewalkError, NotImplementedError):
    """What was asked for needs something that is not installed."""

    exit_code = 2
