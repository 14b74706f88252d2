"""What a paper says, as data: the prose around what is measured, in templates.

A study's module `…_statements` declares its statements. A function of the study measures, decides, and hands the
verdict and the values to one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Final

from ropewalk.report import Claim, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VERDICT: Final = "verdict"
"""The name under which templates may choose their words by the verdict."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Something a paper says. Its texts are templates as for `str.format`."""

    claim: str
    published: str
    measured: str
    reason: str
    rerun: str = ""
    correct: str = ""
    words: Mapping[str, Mapping[object, str]] = field(default_factory=dict)
    """What a name in a template stands for, by its value: a template again."""

    def judged(self, verdict: Verdict, **values: object) -> Claim:
        """The statement with a verdict, and with what was measured in its templates.

        Raises:
            TypeError: A value is missing, or no template has it.
        """
        if values.keys() != self.names() - {VERDICT}:
            unlike = ", ".join(sorted(values.keys() ^ (self.names() - {VERDICT})))
            raise TypeError(f"{self.claim}: values and templates differ in {unlike}")
        known = _Known({**values, VERDICT: verdict}, self.words)
        return Claim(
            claim=self.claim.format_map(known),
            published=self.published.format_map(known),
            measured=self.measured.format_map(known),
            verdict=verdict,
            reason=self.reason.format_map(known),
            rerun=self.rerun.format_map(known),
            correct=self.correct.format_map(known),
        )

    def names(self) -> set[str]:
        """What the templates need, whatever words are chosen."""
        return {
            name for template in self._templates() for _, name, _, _ in Formatter().parse(template) if name
        }

    def _templates(self) -> Iterator[str]:
        yield from (self.claim, self.published, self.measured, self.reason, self.rerun, self.correct)
        for choices in self.words.values():
            yield from choices.values()


class _Known(dict[str, object]):
    """Values by name; one that chooses words stands for them."""

    def __init__(self, values: Mapping[str, object], words: Mapping[str, Mapping[object, str]]) -> None:
        super().__init__(values)
        self._words = words

    def __getitem__(self, name: str) -> object:
        value = super().__getitem__(name)
        choices = self._words.get(name)
        return value if choices is None else choices[value].format_map(self)
