"""A run as the page's script reads it: columns of numbers, texts by their place in a list.

Times are whole microseconds, each as the difference from the one before, which packs well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import polars as pl

    from ropewalk.view.runs import Shown

MOST_EVENTS: Final = 1_000_000
"""Of events that come with every packet so many are kept; beyond that, every n-th of them."""

MOST_SAMPLES: Final = 300_000
"""So many rows of a time series are kept; beyond that, those of every n-th time."""

BINS: Final = 500
"""The decisions of bonds are counted in so many intervals."""

FREQUENT: Final = ("segment", "scheduling", "sack", "window", "rtt", "collision", "movement", "mark")
"""Kinds that come with every packet or frame."""


def of_run(run: Shown) -> dict[str, Any]:
    """Everything that the page shows of a run."""
    tables = run.tables
    events = tables["events"]
    kept, one_of = _thinned(events)
    return {
        "name": run.name,
        "hash": run.hash,
        "seed": run.seed,
        "end": _end(run),
        "events_total": len(events),
        "one_of": one_of,
        "connections": _rows(tables["connections"]),
        "subflows": _rows(tables["subflows"]),
        "links": _rows(tables["links"]),
        "bonds": _rows(tables["bonds"]),
        "radios": _rows(tables["radios"]),
        "routes": _rows(tables["routes"]),
        "route_changes": _rows(tables["route_changes"]),
        "series": _columns(_sampled(tables["series"])),
        "link_series": _columns(_sampled(tables["link_series"])),
        "bond_series": _columns(_sampled(tables["bond_series"])),
        "events": _columns(kept),
        "decisions": _decisions(events, _end(run)),
    }


def _end(run: Shown) -> float:
    """When the run ended, in seconds, as far as its tables say."""
    import polars as pl

    ends = [0.0]
    for table, column in (("connections", "end_s"), ("series", "time_s"), ("link_series", "time_s"),
                          ("events", "time_s")):  # fmt: skip
        frame = run.tables[table]
        if not frame.is_empty():
            last = frame.select(pl.col(column).max()).item()
            ends.append(float(last or 0.0))
    return max(ends)


def _thinned(events: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The events that the page has: all rare ones, and of the frequent ones every n-th."""
    import polars as pl

    if events.is_empty():
        return events, 1
    events = events.filter(pl.col("kind") != "bond-decision")
    is_frequent = pl.col("kind").is_in(FREQUENT)
    frequent = events.filter(is_frequent)
    one_of = -(-len(frequent) // MOST_EVENTS) or 1
    if one_of == 1:
        return events, 1
    rare = events.filter(~is_frequent)
    if len(rare) > MOST_EVENTS:
        rare = rare.gather_every(-(-len(rare) // MOST_EVENTS))
    return pl.concat([frequent.gather_every(one_of), rare]).sort("time_s", maintain_order=True), one_of


def _sampled(series: pl.DataFrame) -> pl.DataFrame:
    """The rows of a time series that the page has: all, or those of every n-th time."""
    import polars as pl

    one_of = -(-len(series) // MOST_SAMPLES)
    if one_of <= 1:
        return series
    return series.filter((pl.col("time_s").rank("dense") - 1) % one_of == one_of - 1)


def _decisions(events: pl.DataFrame, end: float) -> dict[str, Any]:
    """The decisions of bonds: how many packets went by which path and why, in each interval."""
    import polars as pl

    chosen = events.filter(pl.col("kind") == "bond-decision") if not events.is_empty() else events
    if chosen.is_empty() or end <= 0:
        return {}
    width = end / BINS
    counted = (
        chosen.with_columns(bin=(pl.col("time_s") / width).floor().clip(0, BINS - 1).cast(pl.Int64))
        .group_by("link", "direction", "path", "reason", "bin")
        .agg(packets=pl.len())
        .sort("link", "direction", "path", "reason", "bin")
    )
    return {"width": width, "bins": BINS, **_columns(counted)}


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return frame.to_dicts()


def _columns(frame: pl.DataFrame) -> dict[str, Any]:
    """A table by columns: texts as `{words, at}`, times as differences in microseconds."""
    import polars as pl

    columns: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        if column.null_count() == len(column) and len(column):
            continue
        if name == "time_s":
            micros = (column * 1e6).round().cast(pl.Int64)
            columns["time_us"] = [*micros.head(1), *micros.diff().tail(-1)]
        elif column.dtype in {pl.String, pl.Categorical}:
            column = column.cast(pl.String)
            words = column.drop_nulls().unique(maintain_order=True)
            places = pl.DataFrame({"word": words, "at": range(len(words))}, schema_overrides={"at": pl.Int32})
            joined = pl.DataFrame({"word": column}).join(places, on="word", how="left", maintain_order="left")
            columns[name] = {"words": words.to_list(), "at": joined["at"].fill_null(-1).to_list()}
        elif column.dtype.is_float():
            columns[name] = column.round_sig_figs(5).to_list()
        else:
            columns[name] = column.to_list()
    return columns
