"""What the words of an option mean: numbers, metres, places and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.routes import Place


def wrong(option: str, text: str, expected: str) -> InputError:
    """The error for an option that says something else than expected."""
    return InputError(f"--{option} {text}: expected {expected}", key=option, expected=expected)


def whole(option: str, text: str, expected: str = "a whole number") -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError as error:
        raise wrong(option, text, expected) from error


def numbers(text: str) -> list[int]:
    """Numbers of nodes: `20,24,32` or `16:48:4`."""
    if ":" not in text:
        return [_nodes(part) for part in text.split(",")]
    parts = text.split(":")
    if len(parts) not in (2, 3):
        raise wrong("nodes", text, "FROM:TO or FROM:TO:STEP")
    first, last, *rest = (_nodes(part) for part in parts)
    step = rest[0] if rest else 1
    if step < 1 or last < first:
        raise wrong("nodes", text, "FROM:TO:STEP with TO not below FROM and STEP at least 1")
    return list(range(first, last + 1, step))


def _nodes(text: str) -> int:
    number = whole("nodes", text.strip(), "numbers such as 32, or 20,24,32, or 16:48:4")
    if number < 0:
        raise wrong("nodes", text, "numbers that are not negative")
    return number


def area(text: str) -> float | tuple[float, float]:
    """Metres: `100` or `100x60`."""
    try:
        sides = [float(part) for part in text.lower().split("x")]
    except ValueError:
        sides = []
    match sides:
        case [side]:
            return side
        case [width, height]:
            return (width, height)
    raise wrong("area", text, "metres, as 100 or 100x60")


def grid(text: str) -> tuple[int, int]:
    """Columns and rows: `6x5`."""
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.strip().isdigit() for part in parts):  # noqa: PLR2004 - two sides
        raise wrong("grid", text, "columns and rows, as 6x5")
    return (int(parts[0]), int(parts[1]))


def place(text: str) -> Place:
    """A point `X,Y`, or else a name."""
    parts = text.split(",")
    try:
        x, y = (float(part) for part in parts)
    except ValueError:
        return text
    return (x, y)


def drawn_place(option: str, text: str) -> Place:
    """A point `X,Y`, or else the number of a node: nodes that are drawn have no other names."""
    found = place(text)
    if isinstance(found, str) and not found.strip().isdigit():
        raise wrong(option, text, "a point in metres, as 20,50, or a node's number")
    return found


def octets(frame: int) -> int:
    """The length of a frame in octets."""
    if not 0 < frame < 2**16:
        raise wrong("frame", str(frame), "1 to 65535 octets")
    return frame


def expect_parquet(out: Path | None) -> None:
    """Refuse a table of another type."""
    if out is not None and out.suffix != ".parquet":
        raise wrong("out", str(out), "a name that ends in .parquet")


def expect_deployment(file: Path) -> None:
    """Refuse a deployment of an unknown type."""
    if file.suffix.lower() not in (".csv", ".json", ".graphml"):
        expected = "a name that ends in .csv, .json or .graphml (a point is written X,Y, without blanks)"
        raise InputError(f"FILE {file}: expected {expected}", file=str(file), expected=expected)


def expect_picture(picture: Path) -> None:
    """Refuse a picture of another type."""
    if picture.suffix not in (".png", ".svg"):
        raise wrong("picture", str(picture), "a name that ends in .png or .svg")
