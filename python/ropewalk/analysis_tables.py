"""An analysis of a capture as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.tables import Cell, render

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from ropewalk.analysis import Analysis

Part = tuple[str, tuple[str, ...], list[tuple[Cell, ...]]]
"""A caption, a head with units, and rows."""

MOST_ROWS: Final = 40
"""A terminal shows no more rows of one table; `--json` and `--out` have all."""

MEGA: Final = 1e-6
MILLI: Final = 1e3


def parts(analysis: Analysis) -> list[Part]:
    """The tables that have rows."""
    every = [
        _connections(analysis),
        _streams(analysis),
        _subflows(analysis),
        _gaps(analysis),
        _events(analysis),
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


def _rows(table: pl.DataFrame, columns: Sequence[str], scales: dict[str, float]) -> list[tuple[Cell, ...]]:
    """The columns of a table, in other units where `scales` says so."""
    return [
        tuple(_scaled(row[name], scales.get(name)) for name in columns) for row in table.iter_rows(named=True)
    ]


def _scaled(value: Cell, scale: float | None) -> Cell:
    return value * scale if scale is not None and isinstance(value, (int, float)) else value


def _connections(analysis: Analysis) -> Part:
    columns = ("connection", "kind", "client", "server", "subflows", "start_s", "end_s")
    head = ("connection", "kind", "client", "server", "subflows", "start s", "end s")
    return ("Connections", head, _rows(analysis.connections, columns, {}))


def _streams(analysis: Analysis) -> Part:
    head = (
        "connection",
        "direction",
        "bytes",
        "goodput Mbit/s",
        "late segments",
        "latest by bytes",
        "blocked ms",
        "longest block ms",
        "mean wait ms",
        "not captured bytes",
    )
    columns = (
        "connection",
        "direction",
        "bytes",
        "goodput_bps",
        "late_segments",
        "late_extent_bytes",
        "blocked_s",
        "longest_block_s",
        "mean_wait_s",
        "missing_bytes",
    )
    scales = {"goodput_bps": MEGA, "blocked_s": MILLI, "longest_block_s": MILLI, "mean_wait_s": MILLI}
    busy = analysis.streams.filter(analysis.streams["bytes"] > 0)
    return ("Data, over all subflows of a connection", head, _rows(busy, columns, scales))


def _subflows(analysis: Analysis) -> Part:
    head = (
        "connection",
        "subflow",
        "client",
        "server",
        "direction",
        "share %",
        "new bytes",
        "retransmitted bytes",
        "reinjected bytes",
        "unmapped bytes",
        "least RTT ms",
        "median RTT ms",
        "backup",
    )
    columns = (
        "connection",
        "subflow",
        "client",
        "server",
        "direction",
        "share",
        "fresh_bytes",
        "retransmitted_bytes",
        "reinjected_bytes",
        "unmapped_bytes",
        "min_rtt_s",
        "median_rtt_s",
        "backup",
    )
    scales = {"share": 100.0, "min_rtt_s": MILLI, "median_rtt_s": MILLI}
    busy = analysis.subflows.filter(analysis.subflows["bytes"] > 0)
    return ("Subflows", head, _rows(busy, columns, scales))


def _gaps(analysis: Analysis) -> Part:
    head = ("connection", "direction", "from s", "duration ms", "subflow before", "subflow after", "handover")
    columns = (
        "connection",
        "direction",
        "start_s",
        "duration_s",
        "subflow_before",
        "subflow_after",
        "handover",
    )
    return ("Times without new data", head, _rows(analysis.gaps, columns, {"duration_s": MILLI}))


def _events(analysis: Analysis) -> Part:
    columns = ("connection", "time_s", "subflow", "direction", "event")
    head = ("connection", "time s", "subflow", "direction", "event")
    return ("Events", head, _rows(analysis.events, columns, {}))
