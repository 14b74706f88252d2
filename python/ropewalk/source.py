"""A scenario in any form that a user may give, brought into the one that the core reads: TOML text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ropewalk.errors import InputError, ScenarioError

ScenarioLike = str | Path | Mapping[str, Any]
"""A file's path, TOML text (recognised by its line breaks), or the same tree as plain dictionaries."""

Overrides = Mapping[str, Any]
"""Dotted key to value, replacing what the scenario says."""


@dataclass(frozen=True, slots=True)
class Source:
    """A scenario's text, where it came from, and what overrides it."""

    text: str
    path: str | None = None
    overrides: tuple[tuple[str, str], ...] = ()
    stack: str | None = None
    """What every host runs, `ropewalk` or `linux`, whatever the text says."""

    def with_overrides(self, overrides: Overrides) -> Source:
        """The same scenario with further values replaced."""
        return replace(self, overrides=self.overrides + override_pairs(overrides))


def resolve(scenario: ScenarioLike, overrides: Overrides | None = None) -> Source:
    """Read a scenario in whichever form it is given.

    Raises:
        ScenarioError: The file cannot be read, or the dictionary holds something that TOML cannot.
    """
    pairs = override_pairs(overrides or {})
    if isinstance(scenario, Mapping):
        return Source(to_toml(scenario), None, pairs)
    if isinstance(scenario, str) and "\n" in scenario:
        return Source(scenario, None, pairs)
    path = Path(scenario)
    return Source(read_scenario(path), str(path), pairs)


def refuse_campaign(text: str, path: str | None) -> None:
    """A campaign where a scenario is wanted.

    Raises:
        ScenarioError: It is one.
    """
    if re.search(r"^\s*(\[\s*grid\s*[].]|scenario\s*=\s*[\"'])", text, re.MULTILINE) and not re.search(
        r"^\s*\[\s*scenario\s*\]", text, re.MULTILINE
    ):
        message = "this is a campaign, no scenario"
        expected = f"`ropewalk sweep {path or 'CAMPAIGN.toml'}`"
        raise ScenarioError(
            f"{path or 'scenario'}: {message}\n  = expected {expected}",
            message=message,
            file=path,
            key="scenario",
            expected=expected,
        )


def read_scenario(path: Path) -> str:
    """The text of a scenario's file.

    Raises:
        ScenarioError: The file cannot be read, or holds a campaign.
    """
    text = read_text(path, ScenarioError)
    refuse_campaign(text, str(path))
    return text


def read_text(path: Path, error: type[InputError]) -> str:
    """The text of an input file.

    Raises:
        InputError: The file is missing, unreadable or not UTF-8; raised as the given type.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as cause:
        message = f"{path}: this is not text in UTF-8 (octet {cause.start})"
        raise error(message, file=str(path), expected="TOML in UTF-8") from cause
    except OSError as cause:
        message = f"{path}: cannot read this file: {cause.strerror}"
        raise error(message, file=str(path), expected="a readable TOML file") from cause


def override_pairs(overrides: Overrides) -> tuple[tuple[str, str], ...]:
    """Overrides as the core takes them. A value is TOML, so that the string "5" stays a string."""
    return tuple((key, inline(value, key)) for key, value in overrides.items())


def to_toml(tree: Mapping[str, Any]) -> str:
    """A dictionary as TOML: one line per top-level key of a table, everything deeper inline."""
    lines: list[str] = []
    tables: list[str] = []
    for key, value in tree.items():
        name = quoted(key)
        if isinstance(value, Mapping):
            body = [f"{quoted(k)} = {inline(v, f'{key}.{k}')}" for k, v in value.items() if v is not None]
            tables += [f"[{name}]", *body]
        elif value is not None:
            lines.append(f"{name} = {inline(value, str(key))}")
    return "\n".join([*lines, *tables]) + "\n"


def quoted(text: object) -> str:
    """A basic TOML string or quoted key."""
    # JSON's escapes are a subset of TOML's; DEL is the one character that TOML escapes and JSON does not.
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: object, key: str) -> str:
    """A value as inline TOML.

    Raises:
        ScenarioError: TOML has no such value.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str() | Path():
            return quoted(value)
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case Mapping():
            pairs = (f"{quoted(k)} = {inline(v, f'{key}.{k}')}" for k, v in value.items() if v is not None)
            return "{ " + ", ".join(pairs) + " }"
        case Sequence() if not isinstance(value, (bytes, bytearray)):
            return "[" + ", ".join(inline(item, key) for item in value) + "]"
    expected = "a string, number, boolean, list or dictionary"
    kind = type(value).__name__
    raise ScenarioError(
        f"`{key}`: a scenario cannot hold a {kind}; give {expected}", key=key, expected=expected
    )
