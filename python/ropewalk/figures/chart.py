"""What a chart shows, independent of what draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.statistics import Interval

COLOURS: Final = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#000000",
    "#8c6d31",
    "#7f7f7f",
)
"""Okabe and Ito's palette, which the colour-blind can tell apart, and two more."""


@dataclass(frozen=True, slots=True)
class Line:
    """A curve, with a band around it where there are confidence intervals."""

    label: str
    x: list[float]
    y: list[float]
    low: list[float] | None = None
    high: list[float] | None = None
    dashed: bool = False
    markers: bool = True

    @classmethod
    def of(cls, label: str, x: Sequence[float], y: Sequence[Interval], *, dashed: bool = False) -> Line:
        """Means with their intervals, where those are known."""
        known = all(interval.known for interval in y)
        return cls(
            label=label,
            x=list(x),
            y=[interval.mean for interval in y],
            low=[interval.low for interval in y] if known else None,
            high=[interval.high for interval in y] if known else None,
            dashed=dashed,
        )


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal line, such as a reference that does not depend on x."""

    label: str
    y: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, label: str, interval: Interval) -> Level:
        """A mean with its interval."""
        if not interval.known:
            return cls(label, interval.mean)
        return cls(label, interval.mean, interval.low, interval.high)


@dataclass(frozen=True, slots=True)
class Points:
    """Values from elsewhere, such as published ones, drawn as marks without a line."""

    label: str
    x: list[float]
    y: list[float]


@dataclass(frozen=True, slots=True)
class Bars:
    """A value for each of the chart's categories, such as a mean, perhaps with the ends of an interval."""

    label: str
    y: list[float]
    low: list[float] | None = None
    high: list[float] | None = None

    @classmethod
    def of(cls, label: str, y: Sequence[Interval]) -> Bars:
        """Means with their intervals, where those are known."""
        means = [interval.mean for interval in y]
        if not all(interval.known for interval in y):
            return cls(label, means)
        return cls(label, means, [interval.low for interval in y], [interval.high for interval in y])


@dataclass(frozen=True, slots=True)
class Chart:
    """Axes, with their units, and what is drawn on them."""

    stem: str
    """Name of its files, without an ending."""

    title: str
    x_label: str
    y_label: str
    lines: list[Line]
    levels: list[Level] = field(default_factory=list)
    caption: str = ""
    """A sentence below it in the report."""

    points: list[Points] = field(default_factory=list)
    """What was published, or what the authors' simulator gave when it was run again."""

    categories: list[str] = field(default_factory=list)
    """What the bars stand for; x of points is then a place in this list."""

    bars: list[Bars] = field(default_factory=list)
    """Values by category, which no line may join."""

    log_x: bool = False
    from_zero: bool = True
    """Whether the y axis starts at zero."""


def step(
    label: str, x: Sequence[float], y: Sequence[float], *, dashed: bool = False, begin: float | None = None
) -> Line:
    """A step function that is 0 before the first x, such as a cdf; drawn from `begin`, or from the first x."""
    if not x:
        return Line(label, [], [], dashed=dashed, markers=False)
    xs = [x[0] if begin is None else begin, x[0]]
    ys = [0.0, 0.0]
    for place, value in enumerate(y):
        xs += [x[place], x[place + 1] if place + 1 < len(x) else x[place] + 1]
        ys += [value, value]
    return Line(label, xs, ys, dashed=dashed, markers=False)
