"""Results as text for people: aligned columns, units in the head, ± half of the 95 % confidence interval."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ropewalk.statistics import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from ropewalk.benefit import Benefit
    from ropewalk.results import RunResult, SweepResult

Cell = Interval | float | int | str | bool | None

UNITS: Final = {"mbps": "Mbit/s", "s": "s", "ms": "ms"}
"""The units that the names of columns end with, as heads say them."""


class Column(NamedTuple):
    """A column of an outcome's table, and how people see it."""

    key: str
    words: str | None = None
    """What its head says; by default the column's name, with its unit."""

    scale: float | None = None
    """What its figures are multiplied by, if `words` has another unit."""

    @property
    def head(self) -> str:
        """Name and unit."""
        stem, _, suffix = self.key.rpartition("_")
        unit = UNITS.get(suffix) if stem else None
        named = f"{stem} {unit}" if unit else self.key
        return self.words or named.replace("_", " ")

    def cell(self, row: Mapping[str, Any]) -> Cell:
        """Its figure or word in a row."""
        return scaled(row[self.key], self.scale)


def scaled(value: Cell, scale: float | None) -> Cell:
    """A figure in another unit."""
    if isinstance(value, Interval) and scale is not None:
        return Interval(scale * value.mean, scale * value.low, scale * value.high, value.n)
    return value * scale if scale is not None and isinstance(value, (int, float)) else value


def heads(columns: Iterable[Column]) -> list[str]:
    """The heads of a table."""
    return [column.head for column in columns]


def cells(columns: Iterable[Column], row: Mapping[str, Any]) -> list[Cell]:
    """One row of a table."""
    return [column.cell(row) for column in columns]


PERCENT: Final = 100.0
LAST_BITS: Final = 1e-12
"""Differences of values of this part of them come of rounding."""

CONNECTIONS: Final = (
    Column("name", "connection"),
    Column("protocol"),
    Column("goodput_mbps"),
    Column("bytes"),
    Column("start_s"),
    Column("end_s"),
    Column("completed"),
)
SUBFLOWS: Final = (
    Column("path"),
    Column("throughput_mbps"),
    Column("bytes"),
    Column("retransmissions"),
    Column("spurious_retransmissions", "spurious"),
    Column("timeouts"),
    Column("srtt_ms", "SRTT ms"),
)
LINKS: Final = (
    Column("name", "link"),
    Column("direction"),
    Column("bytes"),
    Column("packets"),
    Column("drops_queue", "dropped by queue"),
    Column("drops_loss", "lost"),
    Column("utilisation", "utilisation %", PERCENT),
)
FLOWS: Final = (
    Column("connections"),
    Column("completed"),
    Column("completion_p50_s", "completion s: median"),
    Column("completion_p95_s", "95 %"),
    Column("completion_p99_s", "99 %"),
    Column("completion_max_s", "longest"),
    Column("fairness", "Jain's fairness"),
)
ROUTE_FIGURES: Final = (
    Column("changes"),
    Column("mean_duration_s"),
    Column("broken_s"),
    Column("first_broken_s"),
)
RADIO_COUNTS: Final = (
    Column("data_sent", "data frames"),
    Column("retries"),
    Column("collisions"),
    Column("dropped"),
)
RADIO_PARTS: Final = (
    Column("sending", "sending %", PERCENT),
    Column("busy", "busy %", PERCENT),
)
BOND_HEAD: Final = (
    "bond",
    "direction",
    "path",
    "sent packets",
    "part %",
    "received packets",
    "lost",
    "sent again",
)
BROADCAST_HEAD: Final = (
    "broadcast",
    "channel",
    "from",
    "heard by",
    "sent",
    "received",
    "part %",
)

MOST_SHOWN: Final = 20
"""Rows of a table that may have one for each station, or for each pair: the frames have them all."""

MOST_PLACES: Final = 9
"""Digits after the point that a figure has at most: a time of nanoseconds in seconds."""

WHOLE_FROM: Final = 1000
"""From here on a mean is shown without what follows its point."""


def render(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Columns wide enough for their widest cell, figures to the right."""
    body = [[cell(value) for value in row] for row in rows]
    raw = [[isinstance(value, str) for value in row] for row in rows] if isinstance(rows, list) else []
    widths = [max(len(row[k]) for row in [list(head), *body]) for k in range(len(head))]
    left = [bool(raw) and all(row[k] for row in raw) for k in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = (
            text.ljust(width) if to_left else text.rjust(width)
            for text, width, to_left in zip(row, widths, left, strict=True)
        )
        return "  ".join(cells).rstrip()

    return "\n".join([line(head), "  ".join("─" * width for width in widths), *map(line, body)])


def cell(value: Cell) -> str:
    """One figure or word."""
    match value:
        case None:
            return "-"
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case Interval(n=0):
            return "-"
        case Interval():
            return f"{number(value.mean)} ± {number(spread(value))}" if value.known else number(value.mean)
    return number(value)


def spread(value: Interval) -> float:
    """The number after ±; 0 if values differ by no more than their last bits."""
    return value.half_width if value.half_width > LAST_BITS * abs(value.mean) else 0


def number(value: float) -> str:
    """Large numbers with grouping, others with three digits after the point, small ones with three that count."""
    if float(value).is_integer() or abs(value) >= WHOLE_FROM:
        return f"{value:,.0f}"
    places = 2 - math.floor(math.log10(abs(value))) if math.isfinite(value) else 3
    return f"{value:,.{min(max(places, 3), MOST_PLACES)}f}"


def natural(name: str) -> list[tuple[bool, int, str]]:
    """What names are sorted by: f2 comes before f10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(False, int(part), "") if part.isdecimal() else (True, 0, part) for part in parts]


def heading(result: RunResult) -> str:
    """What ran: the scenario, the simulated time, the seeds, and what keys it in a store."""
    first, seeds = result.runs[0], result.seeds
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]}…{seeds[-1]}, means ± 95 % CI"
    engine = f"ropewalk {first['version']}, scenario {result.hash[:12]}"
    return f"{result.scenario}: {number(first['duration_s'])} s, {which} ({engine})"


def of_summary(summary: dict[str, Any]) -> str:
    """The tables of one run, or of several combined."""
    connections = sorted(summary["connections"], key=lambda row: natural(row["name"]))
    links = sorted(summary["links"], key=lambda row: natural(row["name"]))
    subflows = [
        [connection["name"], *cells(SUBFLOWS, subflow)]
        for connection in connections
        for subflow in connection["subflows"]
    ]
    parts = [
        render(heads(CONNECTIONS), [_connection(connection) for connection in connections]),
        render(["connection", *heads(SUBFLOWS)], subflows),
        render(heads(LINKS), [cells(LINKS, link) for link in links]),
    ]
    if "flows" in summary:
        parts.append(render(heads(FLOWS), [cells(FLOWS, summary["flows"])]))
    return "\n\n".join(parts)


def of_findings(findings: Sequence[tuple[str, str, str | None]]) -> str:
    """What a machine can do for Linux hosts, and what mends what is missing."""
    rows = [[what, found, remedy or ""] for what, found, remedy in findings]
    return render(["needed", "found", "mended by"], rows)


def of_commands(summary: dict[str, Any]) -> list[str]:
    """The programs of Linux hosts in one run, and what they have written; none of several runs, which differ."""
    commands = summary.get("commands", [])
    if not commands:
        return []
    rows = [[row["host"], row["name"], row["start_s"], row["end_s"], _ending(row)] for row in commands]
    outputs = [
        f"{row['host']}, {row['name']}:\n{row['output'].rstrip()}"
        for row in commands
        if row["output"].strip()
    ]
    return [render(["host", "command", "start s", "end s", "exit code"], rows), *outputs]


def _ending(row: Mapping[str, Any]) -> str:
    """How a program ended."""
    if row["error"] is not None:
        return str(row["error"])
    if row["signal"] is not None:
        return f"signal {row['signal']}"
    return "ended with the run" if row["exit_code"] is None else str(row["exit_code"])


def of_lateness(summary: dict[str, Any]) -> list[str]:
    """How late the packets of one emulation were, as a sentence; none of a simulation."""
    late = summary.get("lateness")
    if late is None:
        return []
    times = f"{late['mean_ms']:.3f} ms on average, {late['p99_ms']:.3f} ms at the 99th percentile"
    return [f"late: {times}, {late['worst_ms']:.3f} ms at worst, of {number(late['packets'])} packets"]


def of_processes(processes: pl.DataFrame, duration_s: float) -> list[str]:
    """How long the parts of an emulation waited for a processor, the most of all runs; none of a simulation."""
    if processes.is_empty():
        return []
    waited = processes.group_by("name", maintain_order=True).max().select("name", "waited_s")
    parts = [f"{name} {seconds:.2f} s" for name, seconds in waited.iter_rows()]
    return [f"waited for a processor, of {number(duration_s)} s: {', '.join(parts)}"]


def of_routes(summary: dict[str, Any]) -> list[str]:
    """The wireless routes and how stable they were, those that changed most if there are many; none without any."""
    rows: list[tuple[float, Sequence[Cell]]] = []
    for route in summary.get("routes", []):
        figures = cells(ROUTE_FIGURES, route)
        changes = route["changes"].mean if isinstance(route["changes"], Interval) else route["changes"]
        way = route["stations"] or "one for each seed"
        rows.append((changes, [route["name"], route["hops"], way, *figures]))
    head = ["route", "hops", "way at first", *heads(ROUTE_FIGURES)]
    return [_longest(head, rows, "routes")] if rows else []


def of_bonds(result: RunResult) -> list[str]:
    """The table of a scenario's bonds, means over the seeds; none when it has no bonds."""
    if not any(len(outcome.bonds) for outcome in result.outcomes):
        return []
    keys = ["name", "direction", "path"]
    figures = ["sent_packets", "received_packets", "lost", "repaired"]
    means = {
        key: [mean_interval(group[figure].to_list()) for figure in figures]
        for key, group in result.bonds.group_by(keys, maintain_order=True)
    }
    rows: list[Sequence[Cell]] = []
    for (name, direction, path), (sent, received, lost, again) in means.items():
        whole = means[name, direction, None][0].mean
        part = 100 * sent.mean / whole if whole and path is not None else None
        label = "all" if path is None else str(path)
        figures_of = [_one(sent), part, _one(received), _one(lost), _one(again)]
        rows.append([str(name), str(direction), label, *figures_of])
    return [render(BOND_HEAD, rows)]


def of_radios(result: RunResult) -> list[str]:
    """The radios that have sent data, those that sent most if there are many; none without a wireless network."""
    if not any(len(outcome.radios) for outcome in result.outcomes):
        return []
    columns = (*RADIO_COUNTS, *RADIO_PARTS)
    frame = result.radios
    drops = frame["drops_retries"] + frame["drops_queue"] + frame["drops_lifetime"]
    frame = frame.with_columns(drops.alias("dropped"))
    rows: list[tuple[float, Sequence[Cell]]] = []
    for (station, channel), group in frame.group_by(["station", "channel"], maintain_order=True):
        means = {column.key: mean_interval(group[column.key].to_list()) for column in columns}
        if sent := means["data_sent"].mean:
            counts = [_one(means[column.key]) for column in RADIO_COUNTS]
            parts = [_part(means[column.key], column) for column in RADIO_PARTS]
            rows.append((sent, [str(station), str(channel), *counts, *parts]))
    return [_longest(["station", "channel", *heads(columns)], rows, "radios")]


def of_broadcasts(result: RunResult) -> list[str]:
    """Who heard whom, means over the seeds; none when nothing is broadcast."""
    if not any(len(outcome.broadcasts) for outcome in result.outcomes):
        return []
    rows: list[tuple[float, Sequence[Cell]]] = []
    keys = ["name", "channel", "from", "to"]
    for (name, channel, sender, receiver), group in result.broadcasts.group_by(keys, maintain_order=True):
        sent, received = (mean_interval(group[figure].to_list()) for figure in ("sent", "received"))
        part = 100 * received.mean / sent.mean if sent.mean else None
        ends = [str(name), str(channel), str(sender), str(receiver)]
        rows.append((0.0, [*ends, _one(sent), _one(received), part]))
    return [_longest(BROADCAST_HEAD, rows, "broadcasts")]


def _longest(head: Sequence[str], rows: list[tuple[float, Sequence[Cell]]], table: str) -> str:
    """The rows of the greatest weight, in their own order, and how many are left out."""
    most = sorted(range(len(rows)), key=lambda index: -rows[index][0])[:MOST_SHOWN]
    text = render(head, [rows[index][1] for index in sorted(most)])
    left = len(rows) - len(most)
    return f"{text}\n… and {left} more: table `{table}`" if left else text


def _one(value: Interval) -> Cell:
    """The figure itself where there is only one."""
    return value if value.n > 1 else round(value.mean)


def _connection(connection: dict[str, Any]) -> list[Cell]:
    *figures, _ = cells(CONNECTIONS, connection)
    return [*figures, _count(connection["completed"])]


def _count(value: Interval | bool) -> Cell:
    """In how many runs something held, or whether it did in the one."""
    return f"{round(value.mean * value.n)} of {value.n}" if isinstance(value, Interval) else value


def _part(value: Interval, column: Column) -> Cell:
    """In the column's unit; the figure itself where there is only one."""
    return scaled(value if value.n > 1 else value.mean, column.scale)


def of_sweep(result: SweepResult) -> str:
    """One line per point of the grid and connection."""
    benefits = {(benefit.point, benefit.connection): benefit for benefit in result.benefit()}
    axes = list(result.campaign.grid)
    rows: list[Sequence[Cell]] = []
    for point, connection, goodput in result.goodputs():
        parameters = [str(point.parameters[axis]) for axis in axes]
        found = benefits.pop((point.index, connection), None)
        rows.append([*parameters, connection, goodput, *_judged(found)])
    # What is left is about bonds, and about connections whose copies have the rows above.
    for found in benefits.values():
        parameters = [str(found.parameters[axis]) for axis in axes]
        name = found.connection if found.is_bond else f"{found.connection} (all)"
        rows.append([*parameters, name, found.multipath, *_judged(found)])
    head = [
        *axes,
        "connection",
        "goodput Mbit/s",
        "best path",
        "alone on it Mbit/s",
        "difference Mbit/s",
        "verdict",
    ]
    return render(head, rows)


def _judged(found: Benefit | None) -> list[Cell]:
    if found is None:
        return ["-", None, None, "-"]
    return [found.best_path, found.best, found.difference, found.verdict]
