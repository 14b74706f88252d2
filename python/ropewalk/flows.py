"""Many connections as one: how long they took, and how evenly they shared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

PERCENTILES: Final = (50, 90, 95, 99)


def percentile(values: Sequence[float], percent: float) -> float:
    """The percentile of sorted values, between neighbours as numpy and Excel do (Hyndman and Fan 1996, type 7)."""
    place = (len(values) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (place - below)


def jain(values: Sequence[float]) -> float | None:
    """Jain's index of fairness: 1 for equal shares, 1/n if one has everything (Jain 1984). None if nobody has any."""
    squares = math.fsum(value * value for value in values)
    return math.fsum(values) ** 2 / (len(values) * squares) if squares > 0 else None


def of_connections(rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The connections of one run together; None of a single one.

    Completion times are those of connections that did all they were asked to, from their start. Those that run until
    the end of the run complete there.
    """
    if len(rows) < 2:  # noqa: PLR2004 - one flow shares with nobody
        return None
    done = [row for row in rows if row["completed"] and row["end_s"] is not None]
    times = sorted(row["end_s"] - row["start_s"] for row in done)
    figures: dict[str, Any] = {"connections": len(rows), "completed": len(times)}
    for percent in PERCENTILES:
        figures[f"completion_p{percent}_s"] = percentile(times, percent) if times else None
    figures["completion_max_s"] = times[-1] if times else None
    figures["fairness"] = jain([row["goodput_mbps"] for row in rows])
    return figures
