"""Campaigns: one scenario over a grid of values, each point with several seeds.

name = "second-path"                      # default: the scenario's name
scenario = "degraded-path.toml"           # relative to the campaign file
replications = 10                         # seeds from the scenario's own upwards; or: seeds = [1, 5, 9]
series = false                            # leave the time series out (default: keep)
compare = true                            # run every multipath connection and bond on each single path too (default)
[set]                                     # values replaced at every point
scenario.duration = "60 s"
[grid]                                    # every combination of these
links.b.loss = ["0.5 %", "1 %", "2 %"]
links.b.rate = { from = 1, to = 5, step = 1, unit = "Mbit/s" }
"""

from __future__ import annotations

import difflib
import itertools
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NoReturn

from ropewalk.errors import CampaignError
from ropewalk.plan import MAX_SEEDS
from ropewalk.pointing import Text
from ropewalk.source import ScenarioLike, Source, read_text, resolve

KEYS: Final = ("name", "scenario", "replications", "seeds", "series", "compare", "set", "grid")
RANGE_KEYS: Final = ("from", "to", "step", "unit")
MAX_POINTS: Final = 1_000_000
"""More points than this are a mistake in a range."""

CampaignLike = str | Path | Mapping[str, Any]
"""A campaign file's path, or the same tree as plain dictionaries."""


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of the grid's values."""

    index: int
    """Its place in the grid, the last key varying fastest."""

    parameters: dict[str, Any]
    """Dotted key to value."""

    source: Source
    """The scenario with these values."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """A valid campaign. `load` reads one."""

    source: Source
    """The scenario, with the values set at every point."""

    grid: dict[str, list[Any]] = field(default_factory=dict)
    """Dotted key to the values it takes."""

    name: str | None = None
    """Its name; by default the scenario's."""

    seeds: tuple[int, ...] | None = None
    """The seeds of every point, if listed."""

    replications: int = 1
    """How many seeds from the scenario's own upwards, if they are not listed."""

    series: bool = True
    """Whether to keep time series."""

    file: str | None = None
    """The file that it came from."""

    compare: bool = True
    """Whether to run the single paths too, for the verdict on benefit or harm."""

    text: str = field(default="", repr=False)
    """What the file says."""

    def as_text(self) -> Text:
        """The file, for messages about what it says."""
        reader = _Reader(Path(self.file) if self.file else None, self.text)
        return Text(self.file or "campaign", self.text, reader.locate)

    def points(self) -> Iterator[Point]:
        """Every combination of the grid's values, the last key varying fastest."""
        for index, values in enumerate(itertools.product(*self.grid.values())):
            parameters = dict(zip(self.grid, values, strict=True))
            yield Point(index, parameters, self.source.with_overrides(parameters))

    def seeds_from(self, first: int) -> tuple[int, ...]:
        """The seeds, where the scenario's own is `first`."""
        return self.seeds if self.seeds is not None else tuple(range(first, first + self.replications))


def load(campaign: CampaignLike | Campaign) -> Campaign:
    """Read a campaign in whichever form it is given.

    Raises:
        CampaignError: It is not a valid campaign.
        ScenarioError: Its scenario cannot be read. What the scenario says is checked when it is swept.
    """
    if isinstance(campaign, Campaign):
        return campaign
    if isinstance(campaign, Mapping):
        return _Reader(None, "").campaign(campaign)
    path = Path(campaign)
    text = read_text(path, CampaignError)
    reader = _Reader(path, text)
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as cause:
        reader.syntax_error(cause)
    return reader.campaign(tree)


class _Reader:
    """Turns a tree into a campaign and says where it is wrong."""

    def __init__(self, path: Path | None, text: str) -> None:
        self._path = path
        self._text = text

    def campaign(self, tree: Mapping[str, Any]) -> Campaign:
        if isinstance(tree.get("scenario"), Mapping) and "grid" not in tree and self._path is not None:
            self.fail("scenario", "this is a scenario, no campaign", f"`ropewalk run {self._path}`")
        self._known_keys(tree, KEYS, "")
        if "scenario" not in tree:
            self.fail("scenario", "a campaign names its scenario", 'scenario = "FILE.toml"')
        replications = self._typed(tree, "replications", int, 1)
        if replications < 1:
            self.fail("replications", f"{replications} replications make no result", "a number from 1 up")
        if replications > MAX_SEEDS:
            self.fail("replications", f"{replications} replications are too many", f"at most {MAX_SEEDS}")
        return Campaign(
            source=resolve(
                self._scenario(tree["scenario"]), self._settings(self._typed(tree, "set", Mapping, {}))
            ),
            grid=self._grid(self._typed(tree, "grid", Mapping, {})),
            name=self._typed(tree, "name", str, None),
            seeds=self._seeds(tree),
            replications=replications,
            series=self._typed(tree, "series", bool, True),
            file=str(self._path) if self._path else None,
            text=self._text,
            compare=self._typed(tree, "compare", bool, True),
        )

    def _scenario(self, value: object) -> ScenarioLike:
        if isinstance(value, Mapping):
            return value
        if isinstance(value, str) and "\n" in value:
            return value
        if isinstance(value, (str, Path)):
            return self._path.parent / value if self._path else Path(value)
        return self.fail("scenario", "this is no scenario", "a file's path")

    def _settings(self, tree: Mapping[str, Any]) -> dict[str, Any]:
        return dict(_leaves(tree))

    def _grid(self, tree: Mapping[str, Any]) -> dict[str, list[Any]]:
        grid = {key: self._axis(key, value) for key, value in _leaves(tree, stop=_is_range)}
        points = 1
        for values in grid.values():
            points *= len(values)
        if points > MAX_POINTS:
            self.fail("grid", f"{points} points are too many", f"at most {MAX_POINTS} combinations")
        return grid

    def _axis(self, key: str, value: object) -> list[Any]:
        if isinstance(value, Mapping):
            return self._range(key, value)
        if not isinstance(value, list):
            return self.fail(
                key, "the grid needs the values that this key takes", "a list, or { from, to, step }"
            )
        if not value:
            self.fail(key, "an empty list leaves no point to run", "at least one value")
        return value

    def _range(self, key: str, tree: Mapping[str, Any]) -> list[Any]:
        self._known_keys(tree, RANGE_KEYS, f"{key}.")
        for name in ("from", "to"):
            if name not in tree:
                self.fail(f"{key}.{name}", f"the range lacks `{name}`", "{ from, to, step }")
        for name in ("from", "to", "step"):
            number = tree.get(name, 1)
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                self.fail(f"{key}.{name}", f"`{name}` is not a number", "a number")
        # Decimals, so that 0.1 + 0.2 is the 0.3 that the user means.
        first, last, step = (Decimal(str(tree.get(name, 1))) for name in ("from", "to", "step"))
        if step <= 0 or last < first:
            self.fail(key, "this range is empty or has no end", "from <= to and step > 0")
        count = int((last - first) / step) + 1
        if count > MAX_POINTS:
            self.fail(key, f"{count} values are too many", f"at most {MAX_POINTS}")
        whole = all(isinstance(tree.get(name, 1), int) for name in ("from", "to", "step"))
        values = (first + k * step for k in range(count))
        if "unit" in tree:
            unit = self._typed(tree, "unit", str, "")
            return [f"{value.normalize():f} {unit}" for value in values]
        return [int(value) if whole else float(value) for value in values]

    def _seeds(self, tree: Mapping[str, Any]) -> tuple[int, ...] | None:
        if "seeds" not in tree:
            return None
        if "replications" in tree:
            self.fail("seeds", "`seeds` and `replications` say the same thing twice", "one of the two")
        value = tree["seeds"]
        seeds = self._range("seeds", value) if isinstance(value, Mapping) else value
        whole = isinstance(seeds, list) and all(type(seed) is int and 0 <= seed < 2**64 for seed in seeds)
        if not whole or not seeds:
            self.fail("seeds", "these are no seeds", "a list of whole numbers from 0 up")
        if len(set(seeds)) != len(seeds):
            self.fail("seeds", "a seed is listed twice, and would count twice in the mean", "different seeds")
        return tuple(seeds)

    def _known_keys(self, tree: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
        for key in tree:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, 1)
                self.fail(f"{prefix}{key}", f"unknown key `{key}`", "one of " + ", ".join(known), near)

    def _typed(self, tree: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
        value = tree.get(key, default)
        wrong = not isinstance(value, kind) or (kind is int and isinstance(value, bool))
        if wrong and key in tree:
            names = {int: "a whole number", str: "a string", bool: "true or false", Mapping: "a table"}
            self.fail(key, f"`{key}` is not {names[kind]}", names[kind])
        return value

    def syntax_error(self, cause: tomllib.TOMLDecodeError) -> NoReturn:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(cause))
        message = re.sub(r" \(at .*\)$", "", str(cause))
        # Without a place, the parser means the end of the text.
        at = (int(place[1]), int(place[2])) if place else (max(1, len(self._text.splitlines())), 1)
        raise self._error(message, at, expected="valid TOML") from cause

    def fail(self, key: str, message: str, expected: str, near: list[str] | None = None) -> NoReturn:
        suggestion = near[0] if near else None
        raise self._error(message, self.locate(key), expected=expected, key=key, suggestion=suggestion)

    def _error(
        self,
        message: str,
        at: tuple[int, int] | None,
        *,
        expected: str,
        key: str | None = None,
        suggestion: str | None = None,
    ) -> CampaignError:
        file = str(self._path) if self._path else None
        place = file or "campaign"
        said = f"expected {expected}"
        lines = [f"  = {said}"]
        if at is not None:
            line, column = at
            place = f"{place}:{line}:{column}"
            text = [*self._text.splitlines(), ""][line - 1]
            margin = " " * len(str(line))
            width = len(key.rsplit(".", 1)[-1]) if key else 1
            carets = " " * (column - 1) + "^" * width
            lines = [f"{margin} |", f"{line} | {text}", f"{margin} | {carets} {said}"]
        lines = [f"{place}: {message}", *lines]
        if suggestion:
            lines.append(f"  = did you mean `{suggestion}`?")
        return CampaignError(
            "\n".join(lines),
            message=message,
            file=file,
            line=at[0] if at else None,
            column=at[1] if at else None,
            key=key,
            expected=expected,
            suggestion=suggestion,
        )

    def locate(self, key: str) -> tuple[int, int] | None:
        """The line that ends in this key: `a.b.c = `, or its last part below a table's heading."""
        dotted = r"\s*\.\s*".join(rf"[\"']?{re.escape(part)}[\"']?" for part in key.split("."))
        last = rf"[\"']?{re.escape(key.rsplit('.', 1)[-1])}[\"']?"
        for pattern in (dotted, last):
            match = re.search(
                rf"^[ \t]*\[?[ \t]*({pattern})\s*[=\].]|[{{,]\s*({pattern})\s*=", self._text, re.MULTILINE
            )
            if match:
                start = match.start(1) if match[1] else match.start(2)
                return self._text.count("\n", 0, start) + 1, start - self._text.rfind("\n", 0, start)
        return None


def _is_range(value: object) -> bool:
    return isinstance(value, Mapping) and ("from" in value or "to" in value)


def _nothing(_value: object) -> bool:
    return False


def _leaves(
    tree: Mapping[str, Any], stop: Callable[[object], bool] = _nothing, path: str = ""
) -> Iterator[tuple[str, Any]]:
    """Dotted key and value of everything below nested tables; a table at which to stop is a value."""
    for key, value in tree.items():
        dotted = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping) and not stop(value):
            yield from _leaves(value, stop, dotted)
        else:
            yield dotted, value
