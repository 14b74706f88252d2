"""What the two studies over 802.11 share: the papers' transport settings, its three setups, and gains over TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.statistics import mean_interval
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.statistics import Interval

PAPER_003: Final = (
    "D. Gómez, P. Garrido, C. Rabadán, R. Agüero, L. Muñoz: TCP Performance Enhancement over Wireless Mesh Networks "
    "by means of the Combination of Multi-RAT Devices and the MPTCP Protocol, 2014"
)
PAPER_000: Final = (
    "D. Gómez, C. Rabadán, P. Garrido, R. Agüero: Multipath Algorithms and Strategies to Improve TCP Performance "
    "over Wireless Mesh Networks"
)

TRANSPORT: Final = """
# NewReno without options, initial window 1, ssthresh and window 65 535 octets, RTO at least 0.2 s.
[tcp]
preset = "classic"
mss = 1460
delayed_ack = { segments = 2, timeout = "200 ms" }

[hosts.s]
[hosts.d]

[connections.bulk]
from = "s"
to = "d"
application = { kind = "bulk" }

[wifi]
standard = "802.11b"
preamble = "long"
data_rate = "11 Mbit/s"
ack_rate = "1 Mbit/s"
short_retry_limit = 4             # no RTS: every data frame is a short one
queue = "100000 packets"          # practically without a limit
channels = [1, 6]
propagation_delay = true
"""

DEPLOYMENT: Final = """\
[wifi.deployment]
layout = { kind = "uniform", stations = 32, area = ["100 m", "100 m"] }
source = { node = "s", near = ["20 m", "50 m"] }
destination = { node = "d", near = ["80 m", "50 m"] }
until = "all-multipath"
"""
"""The random meshes: two nodes 60 m apart, with two routes of each kind between them."""

TCP: Final = "TCP"
ONE: Final = "MPTCP, one channel"
TWO: Final = "MPTCP, two channels"
SETUPS: Final = (TCP, ONE, TWO)

SCHEDULERS: Final = ("round-robin", "lowest-rtt", "linux", "blest", "ecf", "goodput-guard", "redundant")

PAPERS_MPTCP: Final[dict[str, object]] = {
    "connections.bulk.tcp.delayed_ack.segments": 1,
    "connections.bulk.tcp.mss": 1436,
}
"""The papers' Multipath TCP acknowledges every packet, and carries 1412 octets in each: 1436 less 24 of a mapping."""

STUCK_THRESHOLD: Final[dict[str, object]] = {
    "connections.bulk.tcp.initial_ssthresh": "2824 B",
    "connections.bulk.tcp.quirks.ssthresh_after_loss": 2,
}
RECOVERY_DEFECTS: Final[dict[str, object]] = {
    **STUCK_THRESHOLD,
    "connections.bulk.tcp.fast_recovery": False,
    "connections.bulk.tcp.rto_initial": "200 ms",
}
WAITING_ACKS: Final[dict[str, object]] = {"connections.bulk.tcp.quirks.subflow_acks": "in-data-order"}
EXTRA_ACKS: Final[dict[str, object]] = {"connections.bulk.tcp.quirks.subflow_acks": "twice"}
BLAMED: Final = "connections.bulk.tcp.quirks.duplicates_blame"
ALL_DEFECTS: Final[dict[str, object]] = {**RECOVERY_DEFECTS, **EXTRA_ACKS, BLAMED: "blocking-undone"}
"""What is wrong with the Multipath TCP of the papers' simulator, as far as the stack can be made to do it."""

MODERN: Final[dict[str, object]] = {
    "tcp": {"preset": "linux"},
    "wifi.preamble": "short",
    "wifi.ack_rate": "11 Mbit/s",
    "wifi.queue": "100 packets",
}
"""The preset `linux`, short preambles, ACKs at 11 Mbit/s, and queues of a usual length."""


def transport(setup: str, control: str | None = None) -> dict[str, object]:
    """Overrides that make one of the three setups, with a coupling of Multipath TCP."""
    if setup == TCP:
        return {"connections.bulk.protocol": "tcp", "connections.bulk.paths": ["a"]}
    overrides: dict[str, object] = {
        "connections.bulk.protocol": "mptcp",
        "connections.bulk.paths": ["a", "b"],
        "wifi.routes.b.channel": 6 if setup == TWO else 1,
    }
    if control is not None:
        overrides["connections.bulk.mptcp.congestion_control"] = control
    return overrides


def papers(setup: str, control: str = "uncoupled") -> dict[str, object]:
    """The same with the papers' settings of that transport."""
    return {**transport(setup, control), **(PAPERS_MPTCP if setup != TCP else {})}


def gain(values: Sequence[float], baseline: Sequence[float]) -> Interval:
    """How much more, in per cent, paired: the mean over the pairs with its interval."""
    return mean_interval(100 * (a / b - 1) for a, b in zip(values, baseline, strict=True))


def signed(interval: Interval, unit: str = " %") -> str:
    """A gain as text."""
    half = f" ± {interval.half_width:.0f}" if interval.known and interval.half_width >= 0.5 else ""  # noqa: PLR2004
    return f"{interval.mean:+.0f}{half}{unit}"


def mbps(interval: Interval) -> str:
    """A rate as text."""
    return f"{interval.mean:.2f}" + (f" ± {interval.half_width:.2f}" if interval.known else "")


__all__ = [
    "ALL_DEFECTS",
    "BLAMED",
    "EXTRA_ACKS",
    "MODERN",
    "ONE",
    "PAPERS_MPTCP",
    "PAPER_000",
    "PAPER_003",
    "RECOVERY_DEFECTS",
    "SETUPS",
    "STUCK_THRESHOLD",
    "TCP",
    "TRANSPORT",
    "TWO",
    "WAITING_ACKS",
    "gain",
    "mbps",
    "papers",
    "signed",
    "text_of",
    "transport",
]
