from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk import statistics

finite = st.floats(min_value=-1e6, max_value=1e6)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 30, 99, 1000, 100_000])
@pytest.mark.parametrize("probability", [0.001, 0.3, 0.5, 0.6, 0.9, 0.975, 0.995, 0.9999])
def test_quantiles_of_students_distribution_are_scipys(degrees: int, probability: float) -> None:
    special = pytest.importorskip("scipy.special")
    ours = statistics.student_quantile(probability, degrees)
    assert ours == pytest.approx(float(special.stdtrit(degrees, probability)), rel=1e-10, abs=1e-12)


def test_t_interval_of_a_known_sample() -> None:
    # t(0.975, 4) = 2.776445, s = sqrt(2.5): half width 2.776445 * sqrt(2.5 / 5).
    interval = statistics.mean_interval([1, 2, 3, 4, 5])
    assert interval.mean == 3
    assert interval.n == 5
    assert interval.half_width == pytest.approx(1.963243, abs=1e-6)
    assert interval.low == pytest.approx(3 - 1.963243, abs=1e-6)


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    one = statistics.mean_interval([4.0])
    assert one.mean == 4
    assert not one.known
    assert one.as_json() == {"mean": 4.0, "ci95": None, "n": 1}
    assert statistics.mean_interval([]).as_json() == {"mean": None, "ci95": None, "n": 0}


@given(st.lists(finite, min_size=2, max_size=30))
def test_the_interval_holds_the_mean_and_shifts_with_it(values: list[float]) -> None:
    interval = statistics.mean_interval(values)
    assert interval.low <= interval.mean <= interval.high
    shifted = statistics.mean_interval([value + 1000 for value in values])
    assert shifted.mean == pytest.approx(interval.mean + 1000, abs=1e-6)
    assert shifted.half_width == pytest.approx(interval.half_width, abs=1e-6, rel=1e-6)


def test_pairing_removes_what_both_share() -> None:
    shared = [10.0, 50.0, 90.0, 20.0]
    difference = statistics.paired_difference([value + 1 for value in shared], shared)
    assert difference.low == pytest.approx(1)
    assert difference.high == pytest.approx(1)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        statistics.paired_difference([1.0], [1.0, 2.0])
