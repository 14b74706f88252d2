"""A path by 802.11 beside a recorded cellular line: the scenario, and the lines that are at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.studies import traces

if TYPE_CHECKING:
    from pathlib import Path

WIRELESS: Final = """
[scenario]
name = "wifi-and-3g"
duration = "60 s"
seed = 1

[hosts.client]
[hosts.server]
[routers.ap]

[wifi]
standard = "802.11b"
preamble = "long"
data_rate = "11 Mbit/s"
ack_rate = "1 Mbit/s"
short_retry_limit = 4
propagation = { model = "disk", reception = "25 m" }
propagation_delay = true

[wifi.stations]
client = { position = ["0 m", "0 m"] }
ap = { position = ["0 m", "10 m"] }

[wifi.routes.a]
from = "client"
to = "ap"

[[wifi.errors]]
from = "ap"
to = "client"
above = "340 B"
loss = "20 %"

[links.core]
between = ["ap", "server"]
rate = "100 Mbit/s"
delay = "10 ms"
queue = "1000 packets"

[links.b]
between = ["client", "server"]
delay = "30 ms"
queue = "300 packets"

[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
data = "backward"
paths = ["a", "b"]
application = { kind = "bulk" }
"""
"""Path A by 802.11, a fifth of whose frames fail; path B a recorded cellular line."""

RECORDED: Final = {"3G": "TMobile-UMTS-driving", "LTE": "Verizon-LTE-short"}
"""Recorded lines by what they are."""


def recorded() -> dict[str, tuple[Path, Path]]:
    """Recorded lines that are at hand, down and up: where `ROPEWALK_TRACES` says, or in `../shared/traces`."""
    found = {name: traces.pair(file) for name, file in RECORDED.items()}
    return {name: pair for name, pair in found.items() if pair is not None}
