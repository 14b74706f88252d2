"""What the bonding study runs: its lines, its traffic, and the settings of its gateways."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from ropewalk.source import Source, inline
from ropewalk.studies.cells import Cell

FAST: Final = """
rate = "10 Gbit/s"
queue = "1000 packets"
"""
"""A link that limits nothing."""

DSL: Final = """
rate = "64 Mbit/s"
delay = "6.5 ms"
"""
"""13 ms RTT."""

LTE: Final = """
rate = "60 Mbit/s"
delay = "12.5 ms"
jitter = { distribution = "wander", max = "10 ms" }
"""
"""25 to 45 ms RTT: both directions wander between 12.5 and 22.5 ms."""

INTERNET: Final = """
delay = "18.25 ms"
jitter = { distribution = "wander", max = "0.5 ms" }
"""
"""From a public server: with DSL 50 ms there and back, give or take half of one, so that seeds differ."""


def topology(head: str, hosts: str, routers: str, links: dict[str, tuple[str, str, str]]) -> str:
    """A scenario of hosts, routers and links, each link from where to where and of which kind."""
    nodes = [f"[hosts.{name}]" for name in hosts.split()] + [f"[routers.{name}]" for name in routers.split()]
    wires = [f'[links.{name}]\nbetween = ["{a}", "{b}"]{kind}' for name, (a, b, kind) in links.items()]
    return "\n".join([f"[scenario]{head}", *nodes, "", *wires])


def _bond(name: str, first: str) -> str:
    """A bond of the link that leads to the DSL line, and the LTE line."""
    paths = f'{{ link = "{first}", cost = 1 }}, {{ link = "lte", cost = 2 }}'
    return f'\n[bonds.{name}]\nbetween = ["hub", "cpe"]\npaths = [ {paths} ]\n'


LINES: Final = topology(
    """
name = "bonding"
duration = "40 s"
sample_interval = "100 ms"
""",
    "server client",
    "hub cpe",
    {
        "core": ("server", "hub", FAST),
        "lan": ("client", "cpe", FAST),
        "dsl": ("hub", "cpe", DSL),
        "lte": ("hub", "cpe", LTE),
    },
) + _bond("home", "dsl")
"""A bond of the DSL and the LTE line, a host on either side."""

CROSSED: Final = topology(
    """
name = "bonding-cross-traffic"
duration = "180 s"
sample_interval = "500 ms"
""",
    "server client mirror pc",
    "hub dslam modem cpe",
    {
        "core": ("server", "hub", FAST),
        "lan": ("client", "cpe", FAST),
        "internet": ("mirror", "dslam", FAST + INTERNET),
        "home": ("pc", "modem", FAST),
        "to-dslam": ("hub", "dslam", FAST),
        "dsl": ("dslam", "modem", DSL),
        "to-cpe": ("modem", "cpe", FAST),
        "lte": ("hub", "cpe", LTE),
    },
) + _bond("bond", "to-dslam")
"""The same with a host on either side of the DSL line alone, 50 ms apart there and back."""

DIRECT: Final = (
    topology(
        """
name = "bonding-direct"
duration = "40 s"
""",
        "server client",
        "",
        {"dsl": ("server", "client", DSL), "lte": ("server", "client", LTE)},
    )
    + """
[connections.flow]
from = "server"
to = "client"
application = { kind = "bulk" }
tcp = { hystart = "plus-plus" }
"""
)
"""The lines without gateways, for hosts that have both."""

PLUS_PLUS: Final = {"hystart": "plus-plus"}
"""Of TCP flows that are to show what a bond carries: Linux's HyStart ends slow start early over unlike lines."""

PACKET: Final = 1492
"""Octets of a packet on the line, all headers included, as in the paper."""
TUNNEL: Final = 48
"""Octets of the tunnel's headers: 20 of its own, 28 of UDP and IP."""
PAYLOAD: Final = PACKET - 28 - TUNNEL
"""What is left after UDP and IP, and the tunnel."""
SEALED: Final = TUNNEL + 17
"""Octets of the headers of the daemon's tunnel, which seals each packet."""
QUEUE_PACKETS: Final = 100
"""The queue before DSL, which the paper does not tell."""
DSL_MBPS: Final = 64.0

GAINS: Final = (0.1, 0.5, 1.0)
DECREMENT_DELAYS_MS: Final = (50, 250, 500)
PUBLISHED_LOSS: Final = {
    (0.1, 50): 6.25,
    (0.1, 250): 4.72,
    (0.1, 500): 4.1,
    (0.5, 50): 1.79,
    (0.5, 250): 0.53,
    (0.5, 500): 0.34,
    (1.0, 50): 1.14,
    (1.0, 250): 0.29,
    (1.0, 500): 0.15,
}
"""Per cent, by k and T_dwd in ms."""

FRIENDLY_DELAYS_MS: Final = (50, 500, 1000)
"""T_dwd in figure 6."""

READINGS: Final = {
    "cut": ("whole", "each-report", "as printed, fractions cut off"),
    "rounded": ("rounded", "each-report", "as printed, rounded"),
    "kept": ("fractional", "each-report", "as printed, fractions kept"),
    "slow": ("rounded", "each-delay", "rounded, hand-back by one each T_dwd"),
}
"""What the paper leaves open: how weights are whole, and how fast they fall. Name to keys' values, and words."""
AS_PRINTED: Final = "rounded"
LIKELIEST: Final = "slow"
"""The reading whose figures come nearest to the published ones."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run."""

    seeds: tuple[int, ...]
    beyond_s: int
    """Simulated time of each run that the paper did not have."""

    cross_s: int
    """Simulated time of the runs with cross traffic of constant demand."""


FULL: Final = Extent(tuple(range(1, 11)), 30, 88)
QUICK: Final = Extent((1, 2), 10, 30)


def payload_rate(line_mbps: float, tunnel: int = TUNNEL) -> str:
    """The payload rate of packets that take so much of a line, of which the tunnel's headers are so many octets."""
    return f"{line_mbps * (PACKET - 28 - tunnel) / PACKET:.6f} Mbit/s"


def udp(
    mbps: float, start_s: float = 0, end_s: float | None = None, dscp: int = 0, tunnel: int = TUNNEL
) -> dict[str, Any]:
    """A flow of constant rate, as much as this on a line behind a tunnel with headers of so many octets."""
    application: dict[str, Any] = {
        "kind": "constant-rate",
        "rate": payload_rate(mbps, tunnel),
        "packet_size": f"{PACKET - 28 - tunnel} B",
    }
    if end_s is not None:
        application["duration"] = f"{end_s - start_s:g} s"
    return {
        "protocol": "udp",
        "from": "server",
        "to": "client",
        "start": f"{start_s:g} s",
        "dscp": dscp,
        "application": application,
    }


def ramp(tunnel: int = TUNNEL) -> dict[str, Any]:
    """The demand of the paper's figure 3: 63 to 105 Mbit/s in 15 s, 10 s there, and back in 15 s.

    The rise multiplies by the same factor every 200 ms. The fall is logarithmic: fast at first, then slower.
    """
    steps = 75
    rise = [63 * (105 / 63) ** (k / steps) for k in range(1, steps + 1)]
    fall = [105 - 42 * math.log1p((math.e - 1) * k / steps) for k in range(1, steps + 1)]
    changes = [(0.2 * k, rate) for k, rate in enumerate(rise, 1)]
    changes += [(25 + 0.2 * k, rate) for k, rate in enumerate(fall, 1) if k < steps]
    flow = udp(63, 0, 40, tunnel=tunnel)
    flow["application"]["changes"] = [
        {"at": f"{at:.1f} s", "rate": payload_rate(rate, tunnel)} for at, rate in changes
    ]
    return flow


DEMAND: Final = ((60, 0, 75), (15, 5, 12), (30, 20, 40), (45, 50, 65))
"""Flows of figure 4: Mbit/s, start and end in s. The figure is lost; the text has the starts and the first excess."""


LESS_DEMAND: Final = ((40, 0, 75), (48, 5, 12), (50, 20, 40), (65, 50, 65))
"""The same excess of the second and third flow, but 40 Mbit/s in all when a flow has ended."""
DEMANDS: Final = {"60 Mbit/s throughout": DEMAND, "40 Mbit/s throughout": LESS_DEMAND}
"""What the lost figure 4 may have been."""
TAKEN, LESS = DEMANDS


def papers_bond(
    gain: float, decrement_ms: int, max_weight: int, name: str = "home", reading: str = AS_PRINTED
) -> dict[str, object]:
    """Overrides that make the bond the paper's."""
    arithmetic, pace, _ = READINGS[reading]
    return {
        f"bonds.{name}.scheduler": {
            "kind": "weighted-round-robin",
            "gain": gain,
            "decrement_delay": f"{decrement_ms} ms",
            "arithmetic": arithmetic,
            "decrement_pace": pace,
        },
        f"bonds.{name}.paths[0].weight": 50,
        f"bonds.{name}.paths[1].max_weight": max_weight,
        f"bonds.{name}.order": "global",
        f"bonds.{name}.resequencer.timeout": "50 ms",
        f"bonds.{name}.report_interval": "50 ms",
        f"bonds.{name}.loss_timeout": "50 ms",
    }


def source(text: str, overrides: dict[str, object]) -> Source:
    """A scenario with values in other places."""
    return Source(text, None, tuple((key, inline(value, key)) for key, value in overrides.items()))


def ramp_cells(reading: str, queue_packets: int = QUEUE_PACKETS, tunnel: int = TUNNEL) -> list[Cell]:
    """Figure 3: every k and T_dwd."""
    common = {
        "connections.video": ramp(tunnel),
        "scenario.duration": "41 s",
        "links.dsl.queue": f"{queue_packets} packets",
    }
    return [
        Cell(
            {"gain": gain, "decrement_ms": delay, "reading": reading, "queue": queue_packets},
            source(LINES, {**papers_bond(gain, delay, 45, reading=reading), **common}),
        )
        for gain in GAINS
        for delay in DECREMENT_DELAYS_MS
    ]


EVEN: Final = "even"
SLOWLY: Final = "each T_dwd"
KEPT: Final = "kept"
ROUNDINGS: Final = {"cut off": "whole", "rounded": "rounded", "kept": "fractional"}
"""How fractions of a weight are treated: words to the key's value."""
HAND_BACKS: Final = {"each report": "each-report", "each T_dwd": "each-delay"}
"""How often a weight falls by one: words to the key's value."""
SMALL_GAIN: Final = 0.1
SENDERS: Final[dict[str, dict[str, object]]] = {
    EVEN: {},
    "25 ms after a report": {"connections.video.start": "25 ms"},
    **{
        f"late by {mean_ms} ms on average": {"hosts.server.jitter": {"timers": f"{mean_ms} ms"}}
        for mean_ms in (3, 4, 5)
    },
}
"""How even the flow of figure 3 is, and when it begins: reports come each 50 ms from the beginning on."""


def small_gain_cells() -> list[Cell]:
    """Figure 3 with the k that no reading comes near with: every rounding, every pace, and other senders."""
    return [
        Cell(
            {"rounding": rounding, "pace": pace, "sender": sender, "decrement_ms": delay},
            source(
                LINES,
                {
                    **papers_bond(SMALL_GAIN, delay, 45),
                    "bonds.home.scheduler.arithmetic": arithmetic,
                    "bonds.home.scheduler.decrement_pace": every,
                    "connections.video": ramp(),
                    "scenario.duration": "41 s",
                    "links.dsl.queue": f"{QUEUE_PACKETS} packets",
                    **late,
                },
            ),
        )
        for rounding, arithmetic in ROUNDINGS.items()
        for pace, every in HAND_BACKS.items()
        for sender, late in SENDERS.items()
        if sender == EVEN or (pace == SLOWLY and rounding != KEPT)
        for delay in DECREMENT_DELAYS_MS
    ]


def flows_cells(tunnel: int = TUNNEL) -> list[Cell]:
    """Figures 4 and 5: flows that start and stop, with the hand-back as printed and as slow as it was measured."""
    return [
        Cell(
            {"reading": reading, "demand": name},
            source(
                LINES,
                {
                    **papers_bond(0.5, 250, 45, reading=reading),
                    **{f"connections.flow{k}": udp(*flow, tunnel=tunnel) for k, flow in enumerate(demand, 1)},
                    "scenario.duration": "76 s",
                },
            ),
        )
        for name, demand in DEMANDS.items()
        for reading in (AS_PRINTED, LIKELIEST)
    ]


def _tcp(start_s: float = 0) -> dict[str, Any]:
    return {
        "protocol": "tcp",
        "from": "mirror",
        "to": "pc",
        "start": f"{start_s:g} s",
        "application": {"kind": "bulk"},
        "tcp": PLUS_PLUS,
    }


def friendly_cells(tunnel: int = TUNNEL) -> list[Cell]:
    """Figure 6: TCP on the DSL line alone, and bonded UDP in two stretches."""
    return [
        Cell(
            {"decrement_ms": delay, "reading": reading},
            source(
                CROSSED,
                {
                    **papers_bond(1, delay, 50, "bond", reading),
                    "connections.tcp": _tcp(),
                    "connections.first": udp(41.5, 10, 68.7, tunnel=tunnel),
                    "connections.second": udp(63, 88.7, 165.1, tunnel=tunnel),
                },
            ),
        )
        for reading in (AS_PRINTED, LIKELIEST)
        for delay in FRIENDLY_DELAYS_MS
    ]


TAIL_DROP: Final = "tail drop"
EARLY_DROP: Final = "early drop"
JITTERY: Final = "tail drop, a UDP sender that jitters"
CROSSED_QUEUES: Final[dict[str, dict[str, object]]] = {
    TAIL_DROP: {},
    EARLY_DROP: {
        "links.dsl.queue": {
            "discipline": "red",
            "limit": "200 packets",
            "min_threshold": 20,
            "max_threshold": 100,
            "max_probability": "10 %",
        }
    },
    JITTERY: {"hosts.server.jitter": {"timers": "0.5 ms"}},
}
"""What the paper does not tell: the shaper of the DSL line may drop early, RED around the 100 packets of
elsewhere, and the
program that sends UDP may be late, by half a millisecond on average."""


def _crossing(extent: Extent, flows: int, gain: float, reading: str, queue: str) -> Cell:
    return Cell(
        {"flows": flows, "gain": gain, "reading": reading, "queue": queue},
        source(
            CROSSED,
            {
                **papers_bond(gain, 500, 50, "bond", reading),
                **CROSSED_QUEUES[queue],
                "scenario.duration": f"{extent.cross_s} s",
                "connections.video": udp(62),
                **{f"connections.tcp{k}": _tcp(10) for k in range(flows)},
            },
        ),
    )


def crossing_cells(extent: Extent) -> list[Cell]:
    """§5.4: 62 Mbit/s of UDP, and one or two TCP flows from the tenth second on."""
    tail = [
        _crossing(extent, flows, gain, reading, TAIL_DROP)
        for reading in (AS_PRINTED, LIKELIEST)
        for gain in (0.5, 1.0)
        for flows in (1, 2)
    ]
    others = [
        _crossing(extent, flows, gain, LIKELIEST, queue)
        for queue, gains in ((EARLY_DROP, (1.0,)), (JITTERY, (0.5, 1.0)))
        for gain in gains
        for flows in (1, 2)
    ]
    return [*tail, *others]
