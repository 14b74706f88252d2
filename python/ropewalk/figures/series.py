"""The series of a run as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.errors import InputError
from ropewalk.figures.chart import COLOURS

if TYPE_CHECKING:
    import altair
    import polars as pl
    from matplotlib.figure import Figure

UNITS = {"bytes": "octets", "ms": "ms", "mbps": "Mbit/s"}


def chosen(series: pl.DataFrame, column: str, connection: str | None) -> tuple[str, pl.DataFrame]:
    """The column's full name, and the rows that have it.

    Raises:
        InputError: There is no such column, or there are no rows.
    """
    import polars as pl

    figures = [name for name in series.columns if name.rpartition("_")[2] in UNITS]
    found = next((name for name in figures if column in (name, name.rpartition("_")[0])), None)
    if found is None:
        expected = "one of " + ", ".join(name.rpartition("_")[0] for name in figures)
        raise InputError(f"there is no series of `{column}`; give {expected}", key=column, expected=expected)
    rows = series.filter(pl.col(found).is_not_null())
    if connection is not None:
        rows = rows.filter(pl.col("connection") == connection)
    if rows.is_empty():
        raise InputError(f"the series of `{column}` has no rows", key=column, expected="a run with `series`")
    # Where subflows have the figure, a connection's own row says something else.
    if rows["subflow"].is_not_null().any():
        rows = rows.filter(pl.col("subflow").is_not_null())
    return found, rows


def said(column: str) -> str:
    """A column's name with its unit, for an axis."""
    stem, _, suffix = column.rpartition("_")
    return f"{stem.replace('_', ' ')} [{UNITS[suffix]}]"


def over_time(series: pl.DataFrame, column: str, connection: str | None = None) -> Figure:
    """A column of `series`, a line per seed and subflow; those of connections have a line per connection.

    Raises:
        InputError: There is no such column, or there are no rows.
    """
    from matplotlib.figure import Figure

    found, rows = chosen(series, column, connection)
    picture = Figure(figsize=(8, 4), layout="constrained")
    axes = picture.subplots()
    several = rows["seed"].n_unique() > 1
    lines = rows.partition_by("seed", "connection", "subflow", maintain_order=True)
    for index, line in enumerate(lines):
        seed, name, path = line.select("seed", "connection", "path").row(0)
        label = " ".join(part for part in (name, path, f"seed {seed}" if several else None) if part)
        axes.plot(
            line["time_s"], line[found], color=COLOURS[index % len(COLOURS)], label=label, linewidth=1.2
        )
    axes.set_xlabel("time [s]")
    axes.set_ylabel(said(found))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    picture.legend(loc="outside upper center", ncols=4, frameon=False)
    return picture


def chart(series: pl.DataFrame, column: str, connection: str | None = None) -> altair.Chart:
    """The same as a chart that a notebook can zoom.

    Raises:
        InputError: There is no such column, or there are no rows.
    """
    import altair
    import polars as pl

    found, rows = chosen(series, column, connection)
    name = pl.concat_str("connection", "path", pl.format("seed {}", "seed"), separator=" ", ignore_nulls=True)
    # Lines of its own: a chart of Vega-Lite in a notebook refuses more than 5000 rows unless they are a file.
    data = rows.select("time_s", found, line=name)
    lines = (
        altair.Chart(data)
        .mark_line()
        .encode(
            x=altair.X("time_s", title="time [s]"),
            y=altair.Y(found, title=said(found)),
            color=altair.Color("line", title=None),
        )
    )
    zoomed: altair.Chart = lines.interactive()
    return zoomed
