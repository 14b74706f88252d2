"""What the bonding study runs of voice and video: calls both ways over every scheduler and line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ropewalk.studies import bonding_beyond_cells as wider
from ropewalk.studies.bonding_cells import DIRECT, LINES, PLUS_PLUS, source
from ropewalk.studies.cells import Cell

if TYPE_CHECKING:
    from ropewalk.studies.bonding_cells import Extent

DIRECTIONS: Final = {"down": ("server", "client"), "up": ("client", "server")}
"""Both at the same time: who sends, and to whom."""

VOICE_MS: Final = 20
"""Speech in a packet: G.711 over RTP (RFC 3551 §4.2)."""
VOICE_OCTETS: Final = 172
"""160 of G.711 and the 12 of RTP's header."""
EXPEDITED: Final = 46
"""Code point of voice (RFC 3246 §2.7)."""

VIDEO_MS: Final = 40
"""25 frames per second."""
VIDEO_PACKETS, KEY_PACKETS, KEY_EVERY = 14, 56, 50
"""Packets of a frame; of a key frame, four times as large; one each 2 s: 3.6 Mbit/s."""
VIDEO_OCTETS: Final = 1200
VIDEO_SPREAD_MS: Final = 20
"""In half of the time between frames a frame has left, as senders pace them."""

START_S: Final = 1
REST_S: Final = 1
"""Between the last frame and the end of the run: what comes later than this is lost."""

IDLE: Final = "alone"
LOADED: Final = "beside TCP"
LOADS: Final = (IDLE, LOADED)
"""What else is sent: nothing, or one greedy TCP flow each way."""

THIN: Final = "rate-aware, voice of low delay"
"""As the default, but the gateways are told which packets are voice."""
VARIANTS: Final[dict[str, dict[str, object]]] = {
    **wider.SCHEDULERS,
    THIN: {
        **wider.SCHEDULERS["rate-aware"],
        "bonds.home.classes": [{"dscp": EXPEDITED, "treatment": "low-delay"}],
    },
}
"""Name to the overrides that make the bond so."""


def voice(way: str) -> str:
    """The connection's name."""
    return f"voice-{way}"


def video(way: str) -> str:
    """The connection's name."""
    return f"video-{way}"


def tcp(way: str) -> str:
    """The connection's name."""
    return f"tcp-{way}"


def _calls(extent: Extent, load: str) -> dict[str, Any]:
    """A call with voice and video both ways, and what is beside it: by connection."""
    length = {"duration": f"{extent.beyond_s - START_S - REST_S} s"}
    found: dict[str, Any] = {}
    for way, (sender, receiver) in DIRECTIONS.items():
        ends = {"from": sender, "to": receiver}
        call = {**ends, "protocol": "udp", "start": f"{START_S} s", "dscp": EXPEDITED}
        found[voice(way)] = {
            **call,
            "application": {
                "kind": "frames",
                "interval": f"{VOICE_MS} ms",
                "packet_size": f"{VOICE_OCTETS} B",
                **length,
            },
        }
        found[video(way)] = {
            **call,
            "dscp": 0,
            "application": {
                "kind": "frames",
                "interval": f"{VIDEO_MS} ms",
                "packet_size": f"{VIDEO_OCTETS} B",
                "packets": VIDEO_PACKETS,
                "key_every": KEY_EVERY,
                "key_packets": KEY_PACKETS,
                "spread": f"{VIDEO_SPREAD_MS} ms",
                **length,
            },
        }
        if load == LOADED:
            found[tcp(way)] = {
                **ends,
                "protocol": "tcp",
                "application": {"kind": "bulk"},
                "tcp": PLUS_PLUS,
            }
    return found


def media_cells(extent: Extent) -> list[Cell]:
    """Calls both ways, under every scheduler and condition, and on each line alone without gateways."""
    cells = []
    for load in LOADS:
        calls = {f"connections.{name}": flow for name, flow in _calls(extent, load).items()}
        duration = {"scenario.duration": f"{extent.beyond_s} s"}
        for condition, lines in wider.conditions().items():
            made = {
                name: source(LINES, {**calls, **lines, **bond, **duration}) for name, bond in VARIANTS.items()
            }
            for line, name in wider.ALONE.items():
                direct = {key: {**flow, "paths": [line]} for key, flow in calls.items()}
                made[name] = source(BARE, {**direct, **lines, **duration})
            cells += [
                Cell({"load": load, "condition": condition, "variant": name}, text)
                for name, text in made.items()
            ]
    return cells


BARE: Final = DIRECT.partition("\n[connections.flow]")[0] + "\n"
"""The lines without gateways, and without a connection."""
