from __future__ import annotations

from ropewalk.statistics import Interval, mean_interval
from ropewalk.tables import cell, number, render


def test_numbers_keep_what_matters() -> None:
    assert number(3) == "3"
    assert number(3.14159) == "3.142"
    assert number(1234567) == "1,234,567"
    assert number(1234.567) == "1,235"


def test_cells() -> None:
    assert cell(None) == "-"
    assert cell(True) == "yes"
    assert cell("text") == "text"
    assert cell(mean_interval([1.0, 2.0, 3.0])) == "2 ± 2.484"
    assert cell(mean_interval([2.5])) == "2.500"
    assert cell(Interval(0, 0, 0, 0)) == "-"


def test_words_stand_left_and_figures_right() -> None:
    assert render(["name", "figure"], [["a", 1], ["longer", 12.5]]).splitlines() == [
        "name    figure",
        "──────  ──────",
        "a            1",
        "longer  12.500",
    ]


def test_a_table_without_rows_is_its_head() -> None:
    assert render(["name"], []).splitlines() == ["name", "────"]
