from __future__ import annotations

from ropewalk.statistics import Interval, mean_interval
from ropewalk.summary import combine
from ropewalk.tables import MOST_SHOWN, cell, natural, number, of_routes, render


def test_numbers_keep_what_matters() -> None:
    assert number(3) == "3"
    assert number(3.14159) == "3.142"
    assert number(1234567) == "1,234,567"
    assert number(1234.567) == "1,235"


def test_small_times_have_the_digits_they_need() -> None:
    assert number(0.5) == "0.500"
    assert number(0.0123) == "0.0123"
    assert number(0.00001234) == "0.0000123"
    assert number(-0.002) == "-0.00200"
    assert number(1e-12) == "0.000000000"
    assert (number(float("inf")), number(float("nan"))) == ("inf", "nan")


def test_names_with_numbers_are_in_the_order_of_the_numbers() -> None:
    assert sorted(["f10", "f2", "a-10-b", "a-9-b", "f", "10"], key=natural) == [
        "10",
        "a-9-b",
        "a-10-b",
        "f",
        "f2",
        "f10",
    ]


def test_cells() -> None:
    assert cell(None) == "-"
    assert cell(True) == "yes"
    assert cell("text") == "text"
    assert cell(mean_interval([1.0, 2.0, 3.0])) == "2 ± 2.484"
    assert cell(mean_interval([2.5])) == "2.500"
    assert cell(mean_interval([0.1 + 0.2, 0.3])) == "0.300 ± 0"
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


def route(name: str, way: str, changes: int, first_broken: float | None) -> dict[str, object]:
    return {
        "name": name,
        "hops": way.count(" "),
        "stations": way,
        "changes": changes,
        "mean_duration_s": 2.5 if changes else None,
        "broken_s": 0.5,
        "first_broken_s": first_broken,
    }


def test_routes_of_one_run_and_of_several() -> None:
    run = {"scenario": "mesh", "version": "1", "duration_s": 9.0, "connections": [], "links": []}
    runs = [
        {**run, "seed": 1, "routes": [route("a", "s 1 d", 3, 4.0), route("b", "s 7 d", 0, None)]},
        {**run, "seed": 2, "routes": [route("a", "s 2 5 d", 1, 8.0), route("b", "s 7 d", 0, None)]},
    ]
    (one,) = of_routes(runs[0])
    assert one.splitlines()[2].split() == ["a", "2", "s", "1", "d", "3", "2.500", "0.500", "4"]
    assert one.splitlines()[3].split() == ["b", "2", "s", "7", "d", "0", "-", "0.500", "-"]
    both = combine(runs)
    assert both["routes"][0]["first_broken_s"].mean == 6.0
    assert both["routes"][0]["stations"] is None
    assert both["routes"][1]["stations"] == "s 7 d"
    assert both["routes"][1]["mean_duration_s"].n == 0
    (table,) = of_routes(both)
    assert "one for each seed" in table.splitlines()[2]
    assert of_routes({**run}) == []
    assert "routes" not in combine([{**run, "seed": 1}])


def test_of_many_routes_those_that_changed_most_are_shown() -> None:
    routes = [route(f"r{k}", "s 1 d", k, 1.0) for k in range(MOST_SHOWN + 5)]
    (table,) = of_routes({"routes": routes})
    assert "r4 " not in table
    assert "r5 " in table
    assert "… and 5 more: table `routes`" in table
