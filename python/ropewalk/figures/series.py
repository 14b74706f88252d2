"""The series of a run as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.errors import InputError
from ropewalk.figures.chart import COLOURS

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

UNITS = {"bytes": "octets", "ms": "ms", "mbps": "Mbit/s"}


def over_time(series: pl.DataFrame, column: str, connection: str | None = None) -> Figure:
    """A column of `series`, a line per seed and subflow; those of connections have a line per connection.

    Raises:
        InputError: There is no such column, or there are no rows.
    """
    import polars as pl
    from matplotlib.figure import Figure

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
    stem, _, suffix = found.rpartition("_")
    axes.set_xlabel("time [s]")
    axes.set_ylabel(f"{stem.replace('_', ' ')} [{UNITS[suffix]}]")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    picture.legend(loc="outside upper center", ncols=4, frameon=False)
    return picture
