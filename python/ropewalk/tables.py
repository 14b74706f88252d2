"""Results as text for people: aligned columns, units in the head, ± half of the 95 % confidence interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ropewalk.statistics import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ropewalk.benefit import Benefit
    from ropewalk.results import RunResult, SweepResult

Cell = Interval | float | int | str | bool | None

CONNECTION_HEAD: Final = (
    "connection",
    "protocol",
    "goodput Mbit/s",
    "bytes",
    "start s",
    "end s",
    "completed",
)
SUBFLOW_HEAD: Final = (
    "connection",
    "path",
    "throughput Mbit/s",
    "bytes",
    "retransmissions",
    "spurious",
    "timeouts",
    "SRTT ms",
)
LINK_HEAD: Final = (
    "link",
    "direction",
    "bytes",
    "packets",
    "dropped by queue",
    "lost",
    "utilisation %",
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
ROUTE_HEAD: Final = (
    "route",
    "hops",
    "way at first",
    "changes",
    "mean duration s",
    "broken s",
    "first broken s",
)
RADIO_HEAD: Final = (
    "station",
    "channel",
    "data frames",
    "retries",
    "collisions",
    "dropped",
    "sending %",
    "busy %",
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
            return f"{number(value.mean)} ± {number(value.half_width)}" if value.known else number(value.mean)
    return number(value)


def number(value: float) -> str:
    """Whole and large numbers with grouping, others with three digits after the point."""
    whole = float(value).is_integer() or abs(value) >= WHOLE_FROM
    return f"{value:,.0f}" if whole else f"{value:,.3f}"


def heading(result: RunResult) -> str:
    """What ran: the scenario, the simulated time, the seeds, and what keys it in a store."""
    first, seeds = result.runs[0], result.seeds
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]}…{seeds[-1]}, means ± 95 % CI"
    engine = f"ropewalk {first['version']}, scenario {result.hash[:12]}"
    return f"{result.scenario}: {number(first['duration_s'])} s, {which} ({engine})"


def of_summary(summary: dict[str, Any]) -> str:
    """The tables of one run, or of several combined."""
    connections = summary["connections"]
    parts = [
        render(CONNECTION_HEAD, [_connection(connection) for connection in connections]),
        render(
            SUBFLOW_HEAD,
            [
                (
                    connection["name"],
                    subflow["path"],
                    subflow["throughput_mbps"],
                    subflow["bytes"],
                    subflow["retransmissions"],
                    subflow["spurious_retransmissions"],
                    subflow["timeouts"],
                    subflow["srtt_ms"],
                )
                for connection in connections
                for subflow in connection["subflows"]
            ],
        ),
        render(LINK_HEAD, [_link(link) for link in summary["links"]]),
    ]
    return "\n\n".join(parts)


def of_routes(summary: dict[str, Any]) -> list[str]:
    """The wireless routes and how stable they were, those that changed most if there are many; none without any."""
    rows: list[tuple[float, Sequence[Cell]]] = []
    for route in summary.get("routes", []):
        figures = [route[key] for key in ("changes", "mean_duration_s", "broken_s", "first_broken_s")]
        changes = figures[0].mean if isinstance(figures[0], Interval) else figures[0]
        way = route["stations"] or "one for each seed"
        rows.append((changes, [route["name"], route["hops"], way, *figures]))
    return [_longest(ROUTE_HEAD, rows, "routes")] if rows else []


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
    figures = ["data_sent", "retries", "collisions", "dropped", "sending", "busy"]
    frame = result.radios
    drops = frame["drops_retries"] + frame["drops_queue"] + frame["drops_lifetime"]
    frame = frame.with_columns(drops.alias("dropped"))
    rows: list[tuple[float, Sequence[Cell]]] = []
    for (station, channel), group in frame.group_by(["station", "channel"], maintain_order=True):
        means = [mean_interval(group[figure].to_list()) for figure in figures]
        if means[0].mean:
            counts = [_one(mean) for mean in means[:4]]
            parts = [_percent(mean if mean.n > 1 else mean.mean) for mean in means[4:]]
            rows.append((means[0].mean, [str(station), str(channel), *counts, *parts]))
    return [_longest(RADIO_HEAD, rows, "radios")]


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


def _connection(connection: dict[str, Any]) -> tuple[Cell, ...]:
    keys = ("name", "protocol", "goodput_mbps", "bytes", "start_s", "end_s", "completed")
    *figures, completed = (connection[key] for key in keys)
    return (*figures, _count(completed))


def _count(value: Interval | bool) -> Cell:
    """In how many runs something held, or whether it did in the one."""
    return f"{round(value.mean * value.n)} of {value.n}" if isinstance(value, Interval) else value


def _link(link: dict[str, Any]) -> tuple[Cell, ...]:
    keys = ("name", "direction", "bytes", "packets", "drops_queue", "drops_loss")
    return (*(link[key] for key in keys), _percent(link["utilisation"]))


def _percent(value: Interval | float | None) -> Cell:
    if value is None:
        return None
    if isinstance(value, Interval):
        return Interval(100 * value.mean, 100 * value.low, 100 * value.high, value.n)
    return 100 * value


def of_sweep(result: SweepResult) -> str:
    """One line per point of the grid and connection."""
    benefits = {(benefit.point, benefit.connection): benefit for benefit in result.benefit()}
    axes = list(result.campaign.grid)
    rows: list[Sequence[Cell]] = []
    for point, connection, goodput in result.goodputs():
        parameters = [str(point.parameters[axis]) for axis in axes]
        found = benefits.pop((point.index, connection), None)
        rows.append([*parameters, connection, goodput, *_judged(found)])
    # What is left is about connections whose copies have the rows above.
    for found in benefits.values():
        parameters = [str(found.parameters[axis]) for axis in axes]
        rows.append([*parameters, f"{found.connection} (all)", found.multipath, *_judged(found)])
    head = [*axes, "connection", "goodput Mbit/s", "best path", "TCP on it Mbit/s", "verdict"]
    return render(head, rows)


def _judged(found: Benefit | None) -> list[Cell]:
    return [found.best_path, found.best, found.verdict] if found else ["-", None, "-"]
