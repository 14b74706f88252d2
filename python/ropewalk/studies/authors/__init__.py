"""What the authors of the papers 000 and 003 measured over: their deployments with routes, and their channels."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE: Final = "sixteen"
"""The deployment of 16 nodes that the papers show."""
RANGE: Final = 20.0
"""Metres, its end included."""
RANGE_OF_PICTURE: Final = 25.0
"""That of the picture is not told: its routes use links of up to 24.3 m."""


@dataclass(frozen=True, slots=True)
class Theirs:
    """A deployment of theirs, with their routes: lists of places in `positions`, by algorithm."""

    name: str
    positions: tuple[tuple[float, float], ...]
    source: int
    destination: int
    routes: dict[str, list[list[int]]]

    @property
    def names(self) -> list[str]:
        """The numbers that they give to nodes."""
        return [str(place + 1) for place in range(len(self.positions))]

    @property
    def links(self) -> list[tuple[int, int]]:
        """Who hears whom."""
        reach = RANGE_OF_PICTURE if self.name == PICTURE else RANGE
        pairs = combinations(range(len(self.positions)), 2)
        return [(a, b) for a, b in pairs if math.dist(self.positions[a], self.positions[b]) <= reach]


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = files("ropewalk.studies.authors").joinpath(name).read_text(encoding="utf-8")
    return csv.DictReader(io.StringIO(text))


def deployments() -> list[Theirs]:
    """All of them, by name; the picture of 16 nodes is the last one."""
    nodes: dict[str, list[dict[str, str]]] = {}
    for row in _rows("nodes.csv"):
        nodes.setdefault(row["deployment"], []).append(row)
    routes: dict[str, dict[str, list[list[int]]]] = {name: {} for name in nodes}
    for row in _rows("routes.csv"):
        route = [int(node) - 1 for node in row["nodes"].split(" ")]
        routes[row["deployment"]].setdefault(row["disjoint"], []).append(route)
    return [_theirs(name, nodes[name], routes[name]) for name in sorted(nodes)]


def _theirs(name: str, rows: list[dict[str, str]], routes: dict[str, list[list[int]]]) -> Theirs:
    roles = [row["role"] for row in rows]
    return Theirs(
        name=name,
        positions=tuple((float(row["x_m"]), float(row["y_m"])) for row in rows),
        source=roles.index("source"),
        destination=roles.index("destination"),
        routes=routes,
    )


def channels() -> dict[str, dict[str, object]]:
    """Their channels, by name and from the best to the worst, as `loss` of `[[wifi.errors]]`."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in _rows("channels.csv"):
        found.setdefault(row["model"], []).append(row)
    return {
        name: {
            "model": "hidden-markov",
            "loss": [float(row["frame_error_probability"]) for row in rows],
            "transitions": [_normalised([float(row[f"to_{k}"]) for k in range(1, 5)]) for row in rows],
        }
        for name, rows in found.items()
    }


def _normalised(row: list[float]) -> list[float]:
    """They are rounded to a few digits."""
    total = sum(row)
    return [value / total for value in row]
