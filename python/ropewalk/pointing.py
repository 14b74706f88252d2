"""Mistakes in values that a campaign gives to its scenario: told where the campaign's file says them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Locate = Callable[[str], tuple[int, int] | None]

HINT = "  = "
"""What lines begin with that say what was expected, or what was meant."""


@dataclass(frozen=True, slots=True)
class Text:
    """A campaign's file."""

    name: str
    text: str
    locate: Locate
    """Line and column of a key, counted from 1."""


def pointed(diagnostic: str, overrides: Iterable[tuple[str, str]], campaign: Text) -> str:
    """A scenario's diagnostic in the campaign's terms: what the core calls `--set KEY=VALUE` is a line there."""
    blocks = diagnostic.split("\n\n")
    return "\n\n".join(_block(block, overrides, campaign) for block in blocks)


def _block(block: str, overrides: Iterable[tuple[str, str]], campaign: Text) -> str:
    for key, value in overrides:
        given = f"--set {key}={value}: "
        if block.startswith(given):
            message, *hints = block.removeprefix(given).splitlines()
            at = campaign.locate(key)
            if at is None:
                return "\n".join([f"{campaign.name}: {key}={value}: {message}", *hints])
            about = value if "unknown key" not in message else key.rsplit(".", 1)[-1]
            return "\n".join(_shown(message, hints, campaign, at, about))
    return block


def _shown(message: str, hints: list[str], campaign: Text, at: tuple[int, int], about: str) -> list[str]:
    """The line with carets below what it is about, or below the key if a value stands elsewhere, as in a range."""
    line, column = at
    text = campaign.text.splitlines()[line - 1]
    place = text.find(about, column - 1)
    start, width = (place, len(about)) if place >= 0 else (column - 1, 1)
    margin = " " * len(str(line))
    first, *others = hints or [""]
    carets = f"{' ' * start}{'^' * width} {first.removeprefix(HINT)}".rstrip()
    head = f"{campaign.name}:{line}:{start + 1}: {message}"
    return [head, f"{margin} |", f"{line} | {text}", f"{margin} | {carets}", *others]
