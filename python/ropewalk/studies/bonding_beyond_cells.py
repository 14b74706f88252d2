"""What the bonding study runs beyond the paper: its schedulers, the lines it meets, and what it is compared with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ropewalk.store import write_text
from ropewalk.studies import bonding_cells as made
from ropewalk.studies import traces
from ropewalk.studies.bonding_cells import DIRECT, LINES, PLUS_PLUS, Extent, papers_bond, source, udp
from ropewalk.studies.cells import Cell

if TYPE_CHECKING:
    from pathlib import Path

SCHEDULERS: Final[dict[str, dict[str, object]]] = {
    "weighted round robin, as printed": papers_bond(0.5, 250, 50, reading=made.AS_PRINTED),
    "weighted round robin, one per T_dwd": papers_bond(0.5, 250, 50, reading=made.LIKELIEST),
    **{
        name: {"bonds.home.scheduler": name}
        for name in ("cost-first", "rate-aware", "flow-aware", "redundant")
    },
}
"""The paper's scheduler in the two readings of its figures, and those that it does not have."""

MPTCP: Final = "MPTCP end to end"
LINE_NAMES: Final = {"dsl": "DSL", "lte": "LTE"}
ALONE: Final = {line: f"{name} alone" for line, name in LINE_NAMES.items()}
TUNNELLED: Final = {line: f"{name} alone through the tunnel" for line, name in LINE_NAMES.items()}
"""A bond of one path: what its headers and its gateways cost."""
BONDED: Final = (*SCHEDULERS, MPTCP)
"""What uses both lines, and is to be better than the best of them."""
VARIANTS: Final = (*BONDED, *ALONE.values(), *TUNNELLED.values())

STEADY: Final = "steady lines"
BAD: Final = "a bad LTE line"
DEAD: Final = "DSL dead for 20 s"
DEAD_FROM_S, DEAD_TO_S = 5, 25
OFFERED_MBPS: Final = 80.0
"""Of UDP, as on a line."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded line, both directions, in Mahimahi's format."""

    down: Path
    up: Path


def recorded() -> dict[str, Recorded]:
    """Recorded LTE lines, if they are at hand: where `ROPEWALK_TRACES` says, or in `../shared/traces`."""
    names = {"T-Mobile": "TMobile-LTE-short", "Verizon": "Verizon-LTE-short", "AT&T": "ATT-LTE-driving-2016"}
    pairs = {f"LTE trace, {label}": traces.pair(name) for label, name in names.items()}
    return {label: Recorded(*pair) for label, pair in pairs.items() if pair is not None}


def _lte(pair: Recorded) -> dict[str, object]:
    queue = "300 packets"
    return {
        "links.lte.forward": {"trace": str(pair.down), "queue": queue},
        "links.lte.backward": {"trace": str(pair.up), "queue": queue},
    }


def dsl_seconds(condition: str, end_s: float) -> float:
    """How long DSL was up until `end_s`."""
    down = min(DEAD_TO_S, end_s) - min(DEAD_FROM_S, end_s) if condition == DEAD else 0
    return end_s - down


def conditions() -> dict[str, dict[str, object]]:
    """What the lines are like, beyond what the paper had: overrides of both topologies."""
    bad: dict[str, object] = {
        "links.lte.rate": "2 Mbit/s",
        "links.lte.delay": "40 ms",
        "links.lte.jitter": "none",
        "links.lte.loss": "1 %",
    }
    dead: dict[str, object] = {
        "links.dsl.changes": [
            {"at": f"{DEAD_FROM_S} s", "state": "down"},
            {"at": f"{DEAD_TO_S} s", "state": "up"},
        ]
    }
    traced = {label: _lte(pair) for label, pair in recorded().items()}
    return {STEADY: {}, **traced, BAD: bad, DEAD: dead}


def udp_cells(extent: Extent) -> list[Cell]:
    """80 Mbit/s of UDP under every scheduler and condition."""
    duration = {"scenario.duration": f"{extent.beyond_s} s"}
    video = {"connections.flow": udp(OFFERED_MBPS, 0, extent.beyond_s - 1)}
    return [
        Cell(
            {"condition": condition, "scheduler": scheduler},
            source(LINES, {**video, **lines, **bond, **duration}),
        )
        for condition, lines in conditions().items()
        for scheduler, bond in SCHEDULERS.items()
    ]


def _bulk() -> dict[str, Any]:
    return {
        "protocol": "tcp",
        "from": "server",
        "to": "client",
        "application": {"kind": "bulk"},
        "tcp": PLUS_PLUS,
    }


def tcp_cells(extent: Extent) -> list[Cell]:
    """One TCP flow under every scheduler and condition; on each line alone; and Multipath TCP without gateways."""
    duration = {"scenario.duration": f"{extent.beyond_s} s"}
    through = {"connections.flow": _bulk(), **duration}
    cells = []
    for condition, lines in conditions().items():
        variants = {name: source(LINES, {**through, **lines, **bond}) for name, bond in SCHEDULERS.items()}
        for line in LINE_NAMES:
            one: dict[str, object] = {"bonds.home.paths": [{"link": line, "cost": 1}]}
            variants[TUNNELLED[line]] = source(LINES, {**through, **lines, **one})
            direct = {"connections.flow.paths": [line], **lines, **duration}
            variants[ALONE[line]] = source(DIRECT, direct)
        variants[MPTCP] = source(DIRECT, {"connections.flow.protocol": "mptcp", **lines, **duration})
        cells += [
            Cell({"condition": condition, "variant": name}, made_of) for name, made_of in variants.items()
        ]
    return cells


# Why one TCP flow makes little of a recorded line: the same line with its variation averaged out, more flows, and
# an egress that keeps no order or waits longer.

AS_RECORDED: Final = "as recorded"
WINDOWS_MS: Final = (20, 50, 200, 1000, 5000)
WHOLE: Final = "averaged over the whole run"
FLOWS: Final = (4, 16)
PATIENT: Final = "resequencer's timeout at least 200 ms"
UNORDERED: Final = "order not restored"


OPPORTUNITY: Final = 1500
"""Octets of one opportunity of a trace."""


def averaged_over(window_ms: int) -> str:
    """What the report calls a trace that was averaged."""
    return f"averaged over {window_ms} ms"


WHY: Final = (
    AS_RECORDED,
    *map(averaged_over, WINDOWS_MS),
    WHOLE,
    *(f"{flows} flows" for flows in FLOWS),
    PATIENT,
    UNORDERED,
)
"""All that is run, in the order of the report."""


def times_of(trace: Path) -> list[int]:
    """The opportunities of a trace, in ms."""
    return [int(line) for line in trace.read_text(encoding="ascii").split()]


def mean_mbps(trace: Path, until_s: float) -> float:
    """The mean rate of a trace until then; it starts again at its end."""
    times = times_of(trace)
    whole, rest = divmod(1000 * until_s, times[-1])
    count = whole * len(times) + sum(time <= rest for time in times)
    return count * OPPORTUNITY * 8e-6 / until_s


def averaged(trace: list[int], window_ms: int) -> list[int]:
    """A trace with the same opportunities in every window, but evenly spaced in it: times in ms, as Mahimahi counts.

    The end, at which the trace starts again, stays where it is, if the last window has an opportunity.
    """
    end = trace[-1]
    count = Counter((time - 1) // window_ms if time else 0 for time in trace)
    times: list[int] = []
    for window in sorted(count):
        start = window * window_ms
        length = min(window_ms, end - start)
        times += [start + (k + 1) * length // count[window] for k in range(count[window])]
    return times


def _average(trace: Path, window_ms: int, folder: Path) -> Path:
    """The file of the averaged trace."""
    file = folder / f"{trace.name}-{window_ms}"
    write_text(file, "\n".join(map(str, averaged(times_of(trace), window_ms))) + "\n")
    return file


def why_cells(extent: Extent, folder: Path) -> list[Cell]:
    """One TCP flow, rate-aware, over recorded lines with less and less variation; and what else could matter.

    Averaged traces are written into `folder`.
    """
    common: dict[str, object] = {"connections.flow": _bulk(), "scenario.duration": f"{extent.beyond_s} s"}
    cells = []
    for condition, pair in recorded().items():
        variants: dict[str, dict[str, object]] = {AS_RECORDED: {}}
        windows = {averaged_over(window): window for window in WINDOWS_MS} | {WHOLE: 1000 * extent.beyond_s}
        for name, window in windows.items():
            variants[name] = {"links.lte.forward.trace": str(_average(pair.down, window, folder))}
        for flows in FLOWS:
            variants[f"{flows} flows"] = {f"connections.flow{k}": _bulk() for k in range(1, flows)}
        variants[PATIENT] = {"bonds.home.resequencer.min_timeout": "200 ms"}
        variants[UNORDERED] = {"bonds.home.order": "off"}
        cells += [
            Cell(
                {"condition": condition, "variant": name},
                source(LINES, {**common, **_lte(pair), **overrides}),
            )
            for name, overrides in variants.items()
        ]
    return cells
