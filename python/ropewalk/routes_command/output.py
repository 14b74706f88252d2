"""What `routes statistics` and `routes cdf` print, write and draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ropewalk.routes_command.options import PRESENTATION

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.routes import Statistics
    from ropewalk.statistics import Interval
    from ropewalk.tables import Cell


COLUMNS: Final = {
    "routes": "number of routes",
    "first_hops": "hops of the first route",
    "second_hops": "hops of the second route",
}
"""What `cdf` shows, and how it is called."""

Curves = dict[str, dict[str, tuple[list[float], list[float]]]]
"""By column and algorithm: values, and the part of deployments that is not above each."""


def write_table(found: dict[str, Statistics], path: Path | None) -> None:
    """Write a row per deployment and algorithm, if a file is asked for."""
    if path is None:
        return
    import polars as pl

    from ropewalk.store import write_parquet

    parts = [
        statistics.table.select(pl.lit(name).alias("layout"), pl.all()) for name, statistics in found.items()
    ]
    write_parquet(pl.concat(parts), path)


def settings(values: dict[str, Any], count: int) -> dict[str, Any]:
    """What the figures depend on."""
    unused = {"nodes"} if values["intensity"] is not None or values["grid"] is not None else set()
    units = {"area": "area_m", "range": "range_m", "intensity": "intensity_per_m2"}
    left = PRESENTATION | unused
    kept = {key: value for key, value in values.items() if key not in left and value is not None}
    return {"count": count, **{units.get(key, key): value for key, value in kept.items()}}


def rows_of(found: dict[str, Statistics]) -> list[dict[str, Any]]:
    """The statistics as JSON has them: an object per layout."""
    from ropewalk.routes import ALGORITHMS, GREEDY

    rows = []
    for name, statistics in found.items():
        row: dict[str, Any] = {
            "layout": name,
            "deployments": statistics.count,
            "drawn": statistics.drawn,
            "connected": statistics.connected,
        }
        for algorithm in ALGORITHMS:
            row[algorithm] = {
                "multipath": statistics.multipath(algorithm),
                "routes": _mean(statistics, algorithm, "routes"),
                "first_hops": _mean(statistics, algorithm, "first_hops"),
                "second_hops": _mean(statistics, algorithm, "second_hops"),
            }
        row["missed"] = {
            disjoint: {
                "any": statistics.missed(disjoint, pair=False),
                "second": statistics.missed(disjoint, pair=True),
            }
            for disjoint in GREEDY[:2]
        }
        rows.append(row)
    return rows


def _mean(statistics: Statistics, algorithm: str, column: str) -> Interval:
    from ropewalk.statistics import mean_interval

    values = statistics.of(algorithm)[column].drop_nulls().cast(float)
    return mean_interval(values.to_list())


def _percent(interval: Interval) -> str:
    from ropewalk.tables import cell

    if interval.n == 0:
        return cell(interval)
    return f"{100 * interval.mean:.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def statistics_table(found: dict[str, Statistics]) -> str:
    """The statistics for people: a line per layout in each of two tables."""
    from ropewalk.tables import render

    head = ["N", "drawn", "1 connected in", "LD %", "ND %", "ZD %", "LD missed %", "ND missed %"]
    rows = [
        [
            name,
            f"{statistics.drawn:,}",
            f"{statistics.drawn / statistics.connected:,.1f}" if statistics.connected else "-",
            *(_percent(statistics.multipath(algorithm)) for algorithm in ("link", "node", "zone")),
            *(_percent(statistics.missed(disjoint, pair=True)) for disjoint in ("link", "node")),
        ]
        for name, statistics in found.items()
    ]
    hops: list[list[Cell]] = [
        [
            name,
            *(
                _mean(statistics, algorithm, column)
                for algorithm in ("link", "node", "zone")
                for column in ("routes", "second_hops")
            ),
            _mean(statistics, "link", "first_hops"),
        ]
        for name, statistics in found.items()
    ]
    hops_head = ["N", *(f"{name} {what}" for name in ("LD", "ND", "ZD") for what in ("routes", "2nd hops"))]
    first = "Two routes or more, and the pairs that greedy misses; 95 % intervals"
    second = (
        "Routes, hops of the second, hops of the first (alike for all); means ± half of the 95 % interval"
    )
    return f"{first}\n\n{render(head, rows)}\n\n{second}\n\n{render([*hops_head, '1st hops'], hops)}"


def curves_of(statistics: Statistics) -> Curves:
    """The cumulative distribution of each column, by algorithm."""
    from ropewalk.routes import ALGORITHMS
    from ropewalk.routes import cdf as of

    return {
        column: {
            algorithm: of(statistics.of(algorithm)[column].drop_nulls().to_list()) for algorithm in ALGORITHMS
        }
        for column in COLUMNS
    }


def curves_table(curves: Curves) -> str:
    """The distributions for people: a line per value."""
    from ropewalk.tables import render

    parts = []
    for column, by in curves.items():
        values = sorted({x for xs, _ in by.values() for x in xs})
        rows = [[f"{x:g}", *(f"{_at(curve, x):.3f}" for curve in by.values())] for x in values]
        parts.append(f"P({COLUMNS[column]} ≤ x)\n\n{render(['x', *by], rows)}")
    return "\n\n".join(parts)


def _at(curve: tuple[list[float], list[float]], x: float) -> float:
    """The value of a step function."""
    below = [y for at, y in zip(*curve, strict=True) if at <= x]
    return below[-1] if below else 0.0


def draw_curves(curves: Curves, path: Path) -> None:
    """Draw the hops of the two preferred routes, by the three kinds of disjointness."""
    from ropewalk.figures import Chart, save
    from ropewalk.figures.chart import step

    lines = [
        step(
            f"{name}, {'first' if column == 'first_hops' else 'second'}",
            *curve,
            dashed=column == "first_hops",
        )
        for column, by in curves.items()
        if column != "routes"
        for name, curve in by.items()
        if name in ("link", "node", "zone")
    ]
    chart = Chart(path.stem, "Hops of the two preferred routes", "hops", "cdf", lines)
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)
    save(chart, folder, (path.suffix,))
