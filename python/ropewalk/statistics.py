"""Means and paired differences with their confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CONFIDENCE: Final = 0.95
"""Coverage of every interval unless another is asked for."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    One value alone says nothing about spread: `low` and `high` are then not a number.
    """

    mean: float
    low: float
    high: float
    n: int

    @property
    def half_width(self) -> float:
        """Half of the interval's width: the number after ±."""
        return (self.high - self.low) / 2

    @property
    def known(self) -> bool:
        """Whether there is an interval at all."""
        return not math.isnan(self.low)

    def as_json(self) -> dict[str, float | int | list[float] | None]:
        """`{mean, ci95: [low, high], n}`, with null where there is no interval."""
        ci = [self.low, self.high] if self.known else None
        return {"mean": self.mean if not math.isnan(self.mean) else None, "ci95": ci, "n": self.n}


def mean_interval(values: Iterable[float], confidence: float = CONFIDENCE) -> Interval:
    """Mean with Student's t-interval, for values of independent seeds."""
    sample = list(values)
    n = len(sample)
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    mean = math.fsum(sample) / n
    if n == 1:
        return Interval(mean, math.nan, math.nan, 1)
    variance = math.fsum((value - mean) ** 2 for value in sample) / (n - 1)
    half = student_quantile((1 + confidence) / 2, n - 1) * math.sqrt(variance / n)
    return Interval(mean, mean - half, mean + half, n)


def proportion_interval(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """A proportion with Wilson's score interval, which holds near 0 and 1 too (Wilson 1927)."""
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    from scipy.special import ndtri

    z = float(ndtri((1 + confidence) / 2))
    part = successes / n
    middle = (part + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(part * (1 - part) / n + z * z / (4 * n * n))
    # At 0 and 1 the end is exact, but rounding may miss it.
    low, high = (middle - half) * (successes > 0), 1.0 if successes == n else middle + half
    return Interval(part, low, high, n)


def student_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t distribution."""
    # scipy.special alone: scipy.stats takes a second to import.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def paired_difference(
    values: Sequence[float], baseline: Sequence[float], confidence: float = CONFIDENCE
) -> Interval:
    """Mean of `values[k] - baseline[k]` with its t-interval; the two ran with the same seeds.

    Raises:
        ValueError: The two are not equally long, so they cannot be pairs.
    """
    return mean_interval((a - b for a, b in zip(values, baseline, strict=True)), confidence)
