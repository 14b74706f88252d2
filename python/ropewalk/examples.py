"""The scenarios that the package comes with: listed, and written where a user can change them."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Final

from ropewalk import _core
from ropewalk.errors import InputError
from ropewalk.store import store_error, write_text

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA: Final = "ropewalk.schema.json"
"""The file that editors read for completion and help."""

FIRST: Final = "degraded-path"
"""The example that is written if none is named."""


def names() -> dict[str, str]:
    """The examples by name, each with what it shows in a sentence."""
    files = dict(_core.examples())
    scenarios = {name.removesuffix(".toml"): text for name, text in files.items() if name.endswith(".toml")}
    return {name: tomllib.loads(text)["scenario"]["description"] for name, text in scenarios.items()}


def write(example: str, folder: Path, name: str | None = None) -> list[Path]:
    """Write an example with all files that it needs, under another name if one is given.

    Files that are there already with the same content stay as they are.

    Raises:
        InputError: There is no such example, or one of its files is there with other content.
        StoreError: A file cannot be written.
    """
    files = dict(_core.examples())
    text = files.get(f"{example}.toml")
    if text is None:
        raise _unknown(example)
    wanted = {f"{name or example}.toml": _renamed(text, name), SCHEMA: files[SCHEMA]}
    wanted |= {file: content for file, content in files.items() if f'"{file}"' in text}
    for file, content in wanted.items():
        _check(folder / file, content)
    for file, content in wanted.items():
        if not (folder / file).exists():
            write_text(folder / file, content)
    return [folder / file for file in wanted]


def _unknown(example: str) -> InputError:
    import difflib

    known = list(names())
    near = difflib.get_close_matches(example, known, 1)
    hint = f"\n  = did you mean `{near[0]}`?" if near else ""
    expected = "one of " + ", ".join(f"`{name}`" for name in known)
    message = f"there is no example `{example}`"
    return InputError(
        f"{message}\n  = expected {expected}{hint}",
        message=message,
        key=example,
        expected=expected,
        suggestion=near[0] if near else None,
    )


def _renamed(text: str, name: str | None) -> str:
    if name is None:
        return text
    if not re.fullmatch(r"[\w-]{1,100}", name, re.ASCII):
        raise InputError(f"`{name}` is no name of a scenario: letters, digits, - and _", key=name)
    return re.sub(r'^name = ".*"$', f'name = "{name}"', text, count=1, flags=re.MULTILINE)


def _check(file: Path, content: str) -> None:
    try:
        other = file.read_text(encoding="utf-8") != content
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as cause:
        raise store_error(file.parent, OSError(f"{file.name} is there and cannot be read")) from cause
    if other:
        raise InputError(f"{file} is there already, and is not overwritten", file=str(file))
