"""Whether several paths did better than the best of them alone would have done."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, Literal

from ropewalk.statistics import Interval, mean_interval, paired_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Verdict = Literal["benefit", "harm", "benefit?", "harm?", "no clear difference"]
"""With a question mark where one seed alone says so: how much seeds differ is not known then."""

DEAD_BAND: Final = 0.01
"""Relative difference within which a single seed does not even give a question."""

HINT: Final = "1 seed, which is no evidence: add --replications 10"
"""What stands in place of the number of seeds where there is one."""


@dataclass(frozen=True, slots=True)
class Benefit:
    """One multipath connection against TCP on each of its paths alone, with the same seeds.

    Or all connections over a bond against each of its paths alone, through a bare tunnel.
    """

    connection: str
    """The connection's name in the scenario, or `bonds.NAME`."""

    verdict: Verdict
    """By the 95 % interval of the paired difference; a question where one seed differs by more than 1 %."""

    multipath: Interval
    """Goodput over all paths, Mbit/s."""

    singles: dict[str, Interval]
    """Goodput on each path alone, Mbit/s."""

    best_path: str
    """The path that alone did best on average."""

    difference: Interval
    """Multipath minus the best single path, paired by seed, Mbit/s."""

    aggregation: Interval
    """Aggregation benefit: 1 = the sum of the paths, 0 = the best one, -1 = nothing arrived (Kaspar 2012)."""

    parameters: dict[str, Any] = field(default_factory=dict)
    """The campaign's grid values of this point; empty for a single scenario."""

    point: int | None = None
    """The index of this point in the campaign's grid; None for a single scenario."""

    @property
    def best(self) -> Interval:
        """Goodput on the best path alone, Mbit/s."""
        return self.singles[self.best_path]

    @property
    def is_bond(self) -> bool:
        """Whether it is about a bond, and not about a Multipath TCP connection."""
        return self.connection.startswith("bonds.")


def judge(
    connection: str,
    multipath: Sequence[float],
    singles: Mapping[str, Sequence[float]],
    parameters: Mapping[str, Any] | None = None,
    point: int | None = None,
) -> Benefit:
    """Compare goodputs of one connection or bond, all in Mbit/s and in the same order of seeds.

    Args:
        connection: The connection's name, or `bonds.NAME`.
        multipath: Its goodput with all its paths.
        singles: Its goodput on each path alone, by path.
        parameters: The grid values of this point of a campaign.
        point: The point's index.

    Raises:
        ValueError: There is no single path, or the lengths differ.
    """
    if not singles:
        raise ValueError(f"{connection}: there is no single path to compare with")
    intervals = {path: mean_interval(values) for path, values in singles.items()}
    best_path = max(intervals, key=lambda path: intervals[path].mean)
    difference = paired_difference(multipath, singles[best_path])
    aggregation = mean_interval(
        aggregation_benefit(
            goodput, singles[best_path][seed], math.fsum(values[seed] for values in singles.values())
        )
        for seed, goodput in enumerate(multipath)
    )
    return Benefit(
        connection=connection,
        verdict=verdict(difference, intervals[best_path].mean),
        multipath=mean_interval(multipath),
        singles=intervals,
        best_path=best_path,
        difference=difference,
        aggregation=aggregation,
        parameters=dict(parameters or {}),
        point=point,
    )


def aggregation_benefit(goodput: float, best: float, total: float) -> float:
    """Kaspar's aggregation benefit of a goodput, where the paths alone give `total`, the best of them `best`.

    Above the best path the scale is what the other paths could add, below it the best path itself. Where the
    others could add nothing, more than the best is no measure of them: 0.
    """
    gain = goodput - best
    scale = total - best if gain >= 0 else best
    return gain / scale if scale > 0 else 0.0


def verdict(difference: Interval, best: float) -> Verdict:
    """What a paired difference to the best single path says."""
    if not difference.known:
        return _question(difference.mean, DEAD_BAND * best)
    if difference.low > 0:
        return "benefit"
    return "harm" if difference.high < 0 else "no clear difference"


def clearly_above(values: Sequence[float], others: Sequence[float]) -> bool:
    """Whether values exceed others with the same seeds, as `verdict` judges it."""
    return verdict(paired_difference(values, others), abs(fmean(others))).startswith("benefit")


def _question(difference: float, band: float) -> Verdict:
    """What a single difference suggests, if it is outside the band."""
    if difference > band:
        return "benefit?"
    return "harm?" if difference < -band else "no clear difference"


def as_row(benefit: Benefit) -> dict[str, Any]:
    """A verdict with the figures behind it, for JSON: each an interval, or with one seed a number."""

    def figure(value: Interval) -> Interval | float:
        return value if value.n > 1 else value.mean

    return {
        "connection": benefit.connection,
        "verdict": benefit.verdict,
        "goodput_mbps": figure(benefit.multipath),
        "best_path": benefit.best_path,
        "alone_mbps": {path: figure(goodput) for path, goodput in benefit.singles.items()},
        "difference_mbps": figure(benefit.difference),
        "aggregation_benefit": figure(benefit.aggregation),
    }


def sentence(benefit: Benefit) -> str:
    """One line for people, with units, interval and number of seeds."""
    multipath, best, difference = benefit.multipath, benefit.best, benefit.difference
    spread = f", 95 % CI {difference.low:+.3f} … {difference.high:+.3f}" if difference.known else ""
    seeds = f"{difference.n} seeds" if difference.n != 1 else HINT
    colon = "" if benefit.verdict.endswith("?") else ":"
    alone = "through a tunnel over" if benefit.is_bond else "as TCP on"
    return (
        f"{benefit.connection}: {benefit.verdict}{colon} {multipath.mean:.3f} Mbit/s over all paths against "
        f"{best.mean:.3f} Mbit/s {alone} {benefit.best_path} alone "
        f"({difference.mean:+.3f} Mbit/s{spread}, {seeds}; "
        f"aggregation benefit {benefit.aggregation.mean:+.2f})"
    )
