"""What the bonding study runs of proxies: TCP between them by Multipath TCP, UDP by the bond, on the same lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ropewalk.studies import bonding_beyond_cells as wider
from ropewalk.studies.bonding_cells import DSL, FAST, LTE, PLUS_PLUS, source, topology, udp
from ropewalk.studies.cells import Cell

if TYPE_CHECKING:
    from ropewalk.studies.bonding_cells import Extent

PROXIED: Final = (
    topology(
        """
name = "bonding-proxy"
duration = "40 s"
""",
        "server client near far",
        "hub cpe dslam modem tower stick",
        {
            "core": ("server", "hub", FAST),
            "lan": ("client", "cpe", FAST),
            "to-dslam": ("hub", "dslam", FAST),
            "to-tower": ("hub", "tower", FAST),
            "dsl": ("dslam", "modem", DSL),
            "lte": ("tower", "stick", LTE),
            "from-modem": ("modem", "cpe", FAST),
            "from-stick": ("stick", "cpe", FAST),
            "near-dsl": ("near", "dslam", FAST),
            "near-lte": ("near", "tower", FAST),
            "far-dsl": ("far", "modem", FAST),
            "far-lte": ("far", "stick", FAST),
        },
    )
    + """
[bonds.home]
between = ["hub", "cpe"]
paths = [ { link = "to-dslam", cost = 1 }, { link = "to-tower", cost = 2 } ]
"""
)
"""The bond's gateways and, beside them, a proxy at either end of the same two lines."""

UDP_MBPS: Final = 62.0
"""As on the line; nearly what DSL has (§5.4)."""

BY_BOND: Final = "by the bond"
LINKED: Final = "by proxies, linked increases"
UNCOUPLED: Final = "by proxies, uncoupled"
WAYS: Final = (BY_BOND, LINKED, UNCOUPLED)
"""How the TCP flow goes. Between proxies it is Multipath TCP with a subflow on each line.

A proxy takes what a greedy sender has as fast as it can pass it on, for the links to the proxies limit nothing: what
is between the proxies is all that counts, and a proxy's own sender stands for it.
"""

COUPLING: Final = {LINKED: "linked-increases", UNCOUPLED: "uncoupled"}


def conditions() -> list[str]:
    """Lines on which both ways are compared: those that are neither bad nor die."""
    return [name for name in wider.conditions() if name not in {wider.BAD, wider.DEAD}]


def _flow(way: str) -> dict[str, Any]:
    common = {"application": {"kind": "bulk"}, "tcp": PLUS_PLUS}
    if way == BY_BOND:
        return {**common, "protocol": "tcp", "from": "server", "to": "client"}
    return {
        **common,
        "protocol": "mptcp",
        "from": "near",
        "to": "far",
        "paths": ["near-dsl", "near-lte"],
        "mptcp": {"congestion_control": COUPLING[way]},
    }


def proxy_cells(extent: Extent) -> list[Cell]:
    """UDP by the bond, and one TCP flow beside it by the bond or by proxies."""
    end = extent.beyond_s - 1
    return [
        Cell(
            {"condition": condition, "scheduler": scheduler, "way": way},
            source(
                PROXIED,
                {
                    "connections.flow": _flow(way),
                    "connections.udp": udp(UDP_MBPS, 0, end),
                    "scenario.duration": f"{extent.beyond_s} s",
                    **lines,
                    **bond,
                },
            ),
        )
        for condition, lines in wider.conditions().items()
        if condition in conditions()
        for scheduler, bond in wider.SCHEDULERS.items()
        for way in WAYS
    ]
