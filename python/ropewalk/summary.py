"""Summaries of runs, in the keys of `ropewalk run --json`, and what several of them say together."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from ropewalk.statistics import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

IDENTITY: Final = ("name", "direction", "path", "protocol", "scenario", "version")
"""Keys whose values name a thing; every other value is a figure, unless it is another text."""


def combine(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The runs of several seeds as one summary in which every figure is an `Interval`.

    The seeds are listed under `seeds`. A truth value counts as 1 or 0: its mean says in which part it held. A text
    that is no name, such as the way of a route, stays where all runs have the same, and is `None` elsewhere.
    """
    merged = {"scenario": runs[0]["scenario"], "seeds": [run["seed"] for run in runs]}
    merged |= {"version": runs[0]["version"], "duration_s": runs[0]["duration_s"]}
    if "flows" in runs[0]:
        merged["flows"] = _combine_items([run["flows"] for run in runs])
    for key in ("connections", "links", "routes"):
        if key in runs[0]:
            merged[key] = _combine_lists([run[key] for run in runs])
    return merged


def _combine_lists(lists: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Items that name the same thing become one, in the order of first appearance."""
    together: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for items in lists:
        seen: Counter[tuple[Any, ...]] = Counter()
        for item in items:
            name = tuple(item.get(key) for key in IDENTITY)
            seen[name] += 1
            together.setdefault((*name, seen[name]), []).append(item)
    return [_combine_items(items) for items in together.values()]


def _combine_items(items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    combined: dict[str, Any] = {}
    for key, first in items[0].items():
        values = [item[key] for item in items]
        if key in IDENTITY:
            combined[key] = first
        elif isinstance(first, list):
            combined[key] = _combine_lists(values)
        elif isinstance(first, str):
            combined[key] = first if all(value == first for value in values) else None
        else:
            combined[key] = mean_interval(float(value) for value in values if value is not None)
    return combined


def to_json(summary: dict[str, Any]) -> str:
    """A summary as one line of JSON; intervals become `{mean, ci95, n}`."""
    return json.dumps(summary, default=_encode, allow_nan=False)


def _encode(value: object) -> object:
    if isinstance(value, Interval):
        return value.as_json()
    raise TypeError(f"{type(value).__name__} is no part of a summary")
