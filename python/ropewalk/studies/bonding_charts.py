"""What both studies of the bonding paper's figures draw: the throughput of its lines over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.figures import Chart, Line

if TYPE_CHECKING:
    import polars as pl

    from ropewalk.studies.bonding_measures import Measured, Where


def first_samples(measured: Measured, part: str, path: str | None, where: Where) -> pl.DataFrame:
    """The first seed's samples of a path, or of the whole."""
    return measured.bond_series(part, path, {**where, "seed": measured.extent.seeds[0]})


def lines_chart(  # noqa: PLR0913 - what the figures differ in
    measured: Measured,
    stem: str,
    title: str,
    part: str,
    where: Where,
    *,
    caption: str = "",
    ideal: bool = False,
    dsl: str = "dsl",
) -> Chart:
    """What is offered, and what each line brings; with what an ideal scheduler would leave on DSL."""
    lines = []
    for label, path, column in (
        ("offered", None, "sent_mbps"),
        ("DSL", dsl, "received_mbps"),
        ("LTE", "lte", "received_mbps"),
    ):
        rows = first_samples(measured, part, path, where)
        lines.append(Line(label, rows["time_s"].to_list(), rows[column].to_list(), markers=False))
    if ideal:
        offered = lines[0]
        best = [min(value, measured.room_mbps) for value in offered.y]
        lines.append(Line("DSL, ideal", offered.x, best, dashed=True, markers=False))
    return Chart(stem, title, "time (s)", "without tunnel headers (Mbit/s)", lines, caption=caption)
