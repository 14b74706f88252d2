"""An analysis of a capture as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.tables import Cell, Column, cells, heads, render

if TYPE_CHECKING:
    import polars as pl

    from ropewalk.analysis import Analysis

Part = tuple[str, list[str], list[list[Cell]]]
"""A caption, a head with units, and rows."""

MOST_ROWS: Final = 40
"""A terminal shows no more rows of one table; `--json` and `--out` have all."""

MEGA: Final = 1e-6
MILLI: Final = 1e3


def parts(analysis: Analysis) -> list[Part]:
    """The tables that have rows."""
    streams = analysis.streams.filter(analysis.streams["bytes"] > 0)
    subflows = analysis.subflows.filter(analysis.subflows["bytes"] > 0)
    every = [
        _part("Connections", CONNECTIONS, analysis.connections),
        _part("Data, over all subflows of a connection", STREAMS, streams),
        _part("Subflows", SUBFLOWS, subflows),
        _part("Times without new data", GAPS, analysis.gaps),
        _part("Events", EVENTS, analysis.events),
    ]
    return [part for part in every if part[2]]


def text(analysis: Analysis) -> str:
    """Everything as text, the longest tables cut."""
    other = f", {analysis.other_packets:,} not TCP" if analysis.other_packets else ""
    cut = "; the file ends within a packet" if analysis.truncated else ""
    head = f"{analysis.file}: {analysis.packets:,} packets{other}, {analysis.duration_s:.3f} s{cut}"
    return "\n\n".join([head, *(_cut(part) for part in parts(analysis))])


def _cut(part: Part) -> str:
    caption, head, rows = part
    rest = len(rows) - MOST_ROWS
    more = f"\n… and {rest:,} more: --json and --out have all" if rest > 0 else ""
    return f"{caption}\n{render(head, rows[:MOST_ROWS])}{more}"


CONNECTIONS: Final = (
    Column("connection"),
    Column("kind"),
    Column("client"),
    Column("server"),
    Column("subflows"),
    Column("start_s"),
    Column("end_s"),
)
STREAMS: Final = (
    Column("connection"),
    Column("direction"),
    Column("bytes"),
    Column("goodput_bps", "goodput Mbit/s", MEGA),
    Column("late_segments"),
    Column("late_extent_bytes", "latest by bytes"),
    Column("blocked_s", "blocked ms", MILLI),
    Column("longest_block_s", "longest block ms", MILLI),
    Column("mean_wait_s", "mean wait ms", MILLI),
    Column("missing_bytes", "not captured bytes"),
)
SUBFLOWS: Final = (
    Column("connection"),
    Column("subflow"),
    Column("client"),
    Column("server"),
    Column("direction"),
    Column("share", "share %", 100.0),
    Column("fresh_bytes", "new bytes"),
    Column("retransmitted_bytes"),
    Column("reinjected_bytes"),
    Column("unmapped_bytes"),
    Column("min_rtt_s", "least RTT ms", MILLI),
    Column("median_rtt_s", "median RTT ms", MILLI),
    Column("backup"),
)
GAPS: Final = (
    Column("connection"),
    Column("direction"),
    Column("start_s", "from s"),
    Column("duration_s", "duration ms", MILLI),
    Column("subflow_before"),
    Column("subflow_after"),
    Column("handover"),
)
EVENTS: Final = (
    Column("connection"),
    Column("time_s"),
    Column("subflow"),
    Column("direction"),
    Column("event"),
)


def _part(caption: str, columns: tuple[Column, ...], table: pl.DataFrame) -> Part:
    return caption, heads(columns), [cells(columns, row) for row in table.iter_rows(named=True)]
