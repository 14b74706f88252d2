from __future__ import annotations

import pytest

from ropewalk.benefit import aggregation_benefit, judge, sentence


def test_aggregation_benefit_follows_kaspar() -> None:
    assert aggregation_benefit(12.0, 10.0, 12.0) == pytest.approx(1)
    assert aggregation_benefit(10.0, 10.0, 12.0) == 0
    assert aggregation_benefit(11.0, 10.0, 12.0) == pytest.approx(0.5)
    assert aggregation_benefit(5.0, 10.0, 12.0) == pytest.approx(-0.5)
    assert aggregation_benefit(0.0, 10.0, 12.0) == -1
    assert aggregation_benefit(10.5, 10.0, 10.0) == 0


@pytest.mark.parametrize(
    ("multipath", "verdict"),
    [
        ([11.0], "benefit?"),
        ([9.0], "harm?"),
        ([10.05], "no clear difference"),
        ([9.95], "no clear difference"),
        ([11.0, 11.2, 11.4], "benefit"),
        ([9.0, 9.2, 9.4], "harm"),
        ([9.0, 10.2, 11.6], "no clear difference"),
    ],
)
def test_verdict(multipath: list[float], verdict: str) -> None:
    fast = [10.0, 10.2, 10.4][: len(multipath)]
    slow = [2.0, 1.0, 3.0][: len(multipath)]
    benefit = judge("bulk", multipath, {"b": slow, "a": fast})
    assert benefit.best_path == "a"
    assert benefit.verdict == verdict
    said = sentence(benefit)
    assert f": {verdict}" in said
    assert ("--replications 10" in said) == (len(multipath) == 1)


def test_seeds_are_paired() -> None:
    # The seeds differ by far more than the paths: only pairing shows the benefit.
    multipath = [2.0, 10.0, 30.0, 60.0]
    benefit = judge("bulk", multipath, {"a": [goodput - 1 for goodput in multipath]})
    assert benefit.verdict == "benefit"
    assert benefit.multipath.low < benefit.best.mean


def test_the_best_path_is_the_best_on_average_not_the_best_of_each_seed() -> None:
    benefit = judge("bulk", [10.0, 10.0], {"a": [10.0, 0.0], "b": [0.0, 9.0]})
    assert benefit.best_path == "a"
    assert benefit.difference.mean == pytest.approx(5)


def test_without_a_single_path_there_is_nothing_to_judge() -> None:
    with pytest.raises(ValueError, match="no single path"):
        judge("bulk", [1.0], {})
