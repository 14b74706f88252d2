"""Means and paired differences with their confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CONFIDENCE: Final = 0.95
"""Coverage of every interval unless another is asked for."""

MOST_STEPS: Final = 10_000
"""The continued fraction needs about the square root of its greater parameter."""

EPSILON: Final = 1e-16
"""Below the distance of two numbers near 1."""


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
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    part = successes / n
    middle = (part + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(part * (1 - part) / n + z * z / (4 * n * n))
    # At 0 and 1 the end is exact, but rounding may miss it.
    low, high = (middle - half) * (successes > 0), 1.0 if successes == n else middle + half
    return Interval(part, low, high, n)


@cache
def student_quantile(probability: float, degrees: int) -> float:
    """The quantile of Student's t distribution, to the precision of its cumulative distribution (about 1e-13)."""
    if probability < 1 / 2:
        return -student_quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while student_cdf(high, degrees) < probability:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in {low, high}:
        if student_cdf(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return middle


def student_cdf(value: float, degrees: int) -> float:
    """Student's t distribution from 0 upwards, by the incomplete beta function (DLMF 8.17)."""
    # Both forms are the same number; each is exact to the last digits where the other is not.
    square = value * value
    if square < degrees:
        return 1 / 2 + incomplete_beta(square / (degrees + square), 1 / 2, degrees / 2) / 2
    return 1 - incomplete_beta(degrees / (degrees + square), degrees / 2, 1 / 2) / 2


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log1p(-x)) / a
    # Lentz's method, modified: from the front to the back, until nothing changes.
    value, numerator, denominator = 1.0, 1.0, 0.0
    for step in range(MOST_STEPS):
        term = _beta_term(step, x, a, b)
        denominator = 1 / (1 + term * denominator)
        numerator = 1 + term / numerator
        value *= numerator * denominator
        if abs(numerator * denominator - 1) < EPSILON:
            break
    return front / value if value else 0.0


def _beta_term(step: int, x: float, a: float, b: float) -> float:
    """A coefficient of the continued fraction, from its first."""
    m, is_odd = divmod(step + 1, 2)
    if is_odd:
        return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))


def paired_difference(
    values: Sequence[float], baseline: Sequence[float], confidence: float = CONFIDENCE
) -> Interval:
    """Mean of `values[k] - baseline[k]` with its t-interval; the two ran with the same seeds.

    Raises:
        ValueError: The two are not equally long, so they cannot be pairs.
    """
    return mean_interval((a - b for a, b in zip(values, baseline, strict=True)), confidence)
