"""What the diamond study runs: the network, its lossy links, and the settings of the transport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ropewalk.source import Source
from ropewalk.studies.authors import channels
from ropewalk.studies.cells import Cell
from ropewalk.studies.wireless import (
    BLAMED,
    EXTRA_ACKS,
    MODERN,
    PAPERS_MPTCP,
    SCHEDULERS,
    SETUPS,
    STUCK_THRESHOLD,
    TCP,
    TRANSPORT,
    TWO,
    WAITING_ACKS,
    papers,
    transport,
)

NETWORK: Final = (
    """
[scenario]
name = "diamond"
duration = "2000 s"
sample_interval = "500 ms"
"""
    + TRANSPORT
    + """
# s and d just hear each other, so that nobody is hidden from anybody.
[wifi.propagation]
model = "disk"
reception = "25 m"
overlap = "first-wins"

[wifi.stations]
s = { position = ["0 m", "0 m"] }
r1 = { position = ["0 m", "12.5 m"] }
r2 = { position = ["0 m", "12.5 m"] }
d = { position = ["0 m", "25 m"] }

[wifi.routes]
a = { from = "s", via = ["r1"], to = "d", channel = 1 }
b = { from = "s", via = ["r2"], to = "d", channel = 1 }
"""
)

CONTROLS: Final = ("uncoupled", "linked-increases", "rtt-compensator", "fully-coupled")
MODERN_CONTROLS: Final = ("uncoupled", "cubic", "lia", "olia", "balia", "wvegas", "fully-coupled")

BERNOULLI: Final = "Bernoulli"
BURSTS: Final = "bursts of 8 attempts"
FADES: Final = "bursts of 20 ms"
CHANNELS: Final = (BERNOULLI, BURSTS, FADES)

QUEUED: Final = "two channels, queues of 50 packets, wide windows"
LOSSY: Final = "two channels, half of the frames fail"
"""Where fully coupled windows find losses: of their own making, and of the channel's."""

AIRS: Final[dict[str, dict[str, object]]] = {
    "long preamble, ACKs at 1 Mbit/s": {},
    "long preamble, ACKs at 2 Mbit/s": {"wifi.ack_rate": "2 Mbit/s"},
    "long preamble, ACKs at 11 Mbit/s": {"wifi.ack_rate": "11 Mbit/s"},
    "short preamble, ACKs at 2 Mbit/s": {"wifi.preamble": "short", "wifi.ack_rate": "2 Mbit/s"},
    "short preamble, ACKs at 11 Mbit/s": {"wifi.preamble": "short", "wifi.ack_rate": "11 Mbit/s"},
}

EVERY_PACKET: Final = "an ACK per packet"
HEADERS: Final = "payload of 1412 octets"
THRESHOLD: Final = "ssthresh two segments, at first and after every loss"
RECOVERY: Final = "no fast recovery"
FIRST_TIMEOUT: Final = "first RTO 0.2 s"
EXTRA: Final = "data ahead of the order get an extra ACK, and their own later"
BLAME: Final = "duplicate ACKs cut the window of the subflow that blocks, until it is undone"
NONE: Final = "none: correct protocols, delayed ACKs"
PAPERS: Final = "the first two: the paper's settings"
ALL: Final = "all seven"
NOBODY: Final = "all seven, but duplicate ACKs count for nobody"
KEPT: Final = "all seven, and windows stay cut"
LATE: Final = "all seven, but ACKs wait without an extra one"
"""What that simulator does without DSACK; the paper used it with DSACK."""

KNOWN: Final[dict[str, dict[str, object]]] = {
    EVERY_PACKET: {"connections.bulk.tcp.delayed_ack.segments": 1},
    HEADERS: {"connections.bulk.tcp.mss": 1436},
    THRESHOLD: STUCK_THRESHOLD,
    RECOVERY: {"connections.bulk.tcp.fast_recovery": False},
    FIRST_TIMEOUT: {"connections.bulk.tcp.rto_initial": "200 ms"},
    EXTRA: EXTRA_ACKS,
    BLAME: {BLAMED: "blocking-undone"},
}
"""What sets the paper's Multipath TCP apart from a correct one, as far as the stack has keys for it."""


def _together(*left_out: str) -> dict[str, object]:
    return {
        key: value for cause, keys in KNOWN.items() if cause not in left_out for key, value in keys.items()
    }


WITHOUT: Final = {cause: f"all seven but: {cause}" for cause in KNOWN}
"""What all seven are called when one of them is left out."""

CAUSES: Final[dict[str, dict[str, object]]] = {
    NONE: {},
    **KNOWN,
    PAPERS: PAPERS_MPTCP,
    **{name: _together(cause) for cause, name in WITHOUT.items()},
    ALL: _together(),
    NOBODY: {**_together(), BLAMED: "nobody"},
    KEPT: {**_together(), BLAMED: "blocking"},
    LATE: {**_together(EXTRA, BLAME), **WAITING_ACKS},
}
"""One at a time, all but one, and together."""

TOGETHERS: Final = (ALL, NOBODY, KEPT)
"""What all couplings and the lossy figures are run with once more."""

COUPLED: Final = (NONE, PAPERS, *TOGETHERS)
"""What all couplings are run under."""

UNTESTED: Final = "a mapping counted twice on every segment and ACK"
"""Known of the published simulator, but no key of the stack."""

UNTESTED_OCTETS: Final = (8, 24)
"""What that adds to a segment and to an ACK: headers of 52 octets, where the stack has 44 and 28."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run."""

    seeds: tuple[int, ...]
    """Of everything else."""

    lossy_seeds: tuple[int, ...]
    """Of the paper's lossy figures: as many as in the paper."""

    beyond_seeds: tuple[int, ...]
    """Of what the paper did not have."""

    coupling_seeds: tuple[int, ...]
    """Of the couplings under the causes, which vary much."""

    frame_errors: tuple[float, ...]
    """Of the paper's lossy figures."""

    caused_errors: tuple[float, ...]
    """Of the lossy figures under the causes: no more than the paper has."""

    burst_errors: tuple[float, ...]
    """Mean loss of the comparison with bursts."""

    ideal_size: str
    """Of a transfer in the figures over time."""

    causes_size: str
    """Of a transfer under the causes: a short one does not show what stalls later."""

    size: str
    """Of every other transfer."""


FULL: Final = Extent(
    tuple(range(1, 11)),
    tuple(range(1, 51)),
    tuple(range(1, 6)),
    tuple(range(1, 21)),
    (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
    (0.0, 0.05, 0.1, 0.3),
    (0.05, 0.1, 0.2, 0.3),
    "20 MB",
    "20 MB",
    "20 MB",
)
QUICK: Final = Extent(
    (1, 2, 3),
    (1, 2, 3),
    (1, 2, 3),
    (1, 2, 3),
    (0.0, 0.1, 0.3, 0.5),
    (0.0, 0.1, 0.3),
    (0.1, 0.3),
    "20 MB",
    "20 MB",
    "3 MB",
)


def source(size: str, *overrides: dict[str, object]) -> Source:
    """The diamond with a transfer of this size and other values; later ones win."""
    merged: dict[str, object] = {"connections.bulk.application.bytes": size}
    for each in overrides:
        merged |= each
    return Source(NETWORK).with_overrides(merged)


def lossy(first: float, second: float, channel: str = BERNOULLI) -> dict[str, object]:
    """Frames from s that carry more than 300 octets of TCP fail: so much to r1, so much to r2."""
    return failing(*(_loss(mean, channel) for mean in (first, second)))


def failing(first: object, second: object) -> dict[str, object]:
    """Frames from s to r1 and to r2 that carry more than 300 octets of TCP fail by these models, if there are any."""
    return {
        "wifi.errors": [
            {"from": "s", "to": relay, "above": "340 B", "loss": loss}
            for relay, loss in (("r1", first), ("r2", second))
            if loss
        ]
    }


def _loss(mean: float, channel: str) -> object:
    if not mean:
        return None
    if channel == BURSTS:
        return {"model": "bursts", "mean_loss": mean, "mean_burst": 8.0}
    if channel == FADES:
        return {"model": "bursts", "mean_loss": mean, "mean_burst": 20.0, "per": "time", "step": "1 ms"}
    return mean


def ideal_cells(extent: Extent) -> list[Cell]:
    """Figure 3: no frame errors."""
    size = extent.ideal_size
    cells = [Cell({"setup": TCP, "control": "newreno"}, source(size, papers(TCP)))]
    cells += [
        Cell({"setup": setup, "control": control}, source(size, papers(setup, control)))
        for setup in SETUPS[1:]
        for control in CONTROLS
    ]
    # Enough room in the windows to overflow such queues.
    wide: dict[str, object] = {
        "wifi.queue": "50 packets",
        "tcp.window_scale": 4,
        "tcp.receive_buffer": "1 MB",
    }
    cells += [
        Cell({"setup": setup, "control": control}, source(size, papers(TWO, control), overrides))
        for setup, overrides in ((QUEUED, wide), (LOSSY, lossy(0.5, 0.5)))
        for control in ("uncoupled", "fully-coupled")
    ]
    return cells


def lossy_cells(extent: Extent) -> list[Cell]:
    """Figure 4: both links from s fail alike."""
    return [
        Cell({"setup": setup, "fer": error}, source(extent.size, papers(setup), lossy(error, error)))
        for setup in SETUPS
        for error in extent.frame_errors
    ]


def asymmetric_cells(extent: Extent) -> list[Cell]:
    """Figure 5: only the link from s to r2 fails."""
    return [
        Cell({"control": control, "fer": error}, source(extent.size, papers(TWO, control), lossy(0, error)))
        for control in ("fully-coupled", "rtt-compensator")
        for error in extent.frame_errors
    ]


def cause_cells(extent: Extent) -> list[Cell]:
    """The gain of two channels, with the causes of the published one switched on one at a time."""
    cells = [
        Cell(
            {"cause": cause, "setup": setup},
            source(extent.causes_size, transport(setup, "uncoupled"), overrides),
        )
        for cause, overrides in CAUSES.items()
        for setup in SETUPS[1:]
    ]
    # TCP stays as it was in the paper; once with an ACK per packet too.
    cells += [
        Cell({"cause": cause, "setup": TCP}, source(extent.causes_size, transport(TCP), CAUSES[cause]))
        for cause in (NONE, EVERY_PACKET)
    ]
    return cells


def coupling_cells(extent: Extent) -> list[Cell]:
    """Figure 3 with every coupling under the causes, together and not at all."""
    size = extent.causes_size
    # Whether a subflow starves is asked of longer stretches than those that figures show, and only while data
    # flow: with half-seconds of 2000 s each the series of so many runs would be gigabytes.
    seldom: dict[str, object] = {"scenario.sample_interval": "2 s", "scenario.duration": "400 s"}
    cells = [Cell({"cause": NONE, "setup": TCP, "control": "newreno"}, source(size, papers(TCP), seldom))]
    cells += [
        Cell(
            {"cause": cause, "setup": setup, "control": control},
            source(size, transport(setup, control), CAUSES[cause], seldom),
        )
        for cause in COUPLED
        for setup in SETUPS[1:]
        for control in CONTROLS
    ]
    return cells


def caused_lossy_cells(extent: Extent) -> list[Cell]:
    """Figure 4 with the causes together. TCP is the paper's in either case."""
    size = extent.causes_size
    cells = [
        Cell({"cause": NONE, "setup": TCP, "fer": error}, source(size, papers(TCP), lossy(error, error)))
        for error in extent.caused_errors
    ]
    cells += [
        Cell(
            {"cause": cause, "setup": setup, "fer": error},
            source(size, transport(setup, "uncoupled"), CAUSES[cause], lossy(error, error)),
        )
        for cause in (PAPERS, *TOGETHERS)
        for setup in SETUPS[1:]
        for error in extent.caused_errors
    ]
    return cells


def caused_asymmetric_cells(extent: Extent) -> list[Cell]:
    """Figure 5 with the causes together."""
    return [
        Cell(
            {"cause": cause, "control": control, "fer": error},
            source(extent.causes_size, transport(TWO, control), CAUSES[cause], lossy(0, error)),
        )
        for cause in (PAPERS, *TOGETHERS)
        for control in ("fully-coupled", "rtt-compensator")
        for error in extent.caused_errors
    ]


def air_cells(extent: Extent) -> list[Cell]:
    """Preambles and ACK rates, correct protocols with delayed ACKs."""
    return [
        Cell({"air": air, "setup": setup}, source(extent.size, transport(setup, "uncoupled"), overrides))
        for air, overrides in AIRS.items()
        for setup in SETUPS
    ]


def channel_cells(extent: Extent) -> list[Cell]:
    """Bernoulli against bursts at equal mean loss, on both links from s."""
    return [
        Cell(
            {"channel": channel, "setup": setup, "fer": error},
            source(extent.size, papers(setup), lossy(error, error, channel)),
        )
        for channel in CHANNELS
        for setup in SETUPS
        for error in extent.burst_errors
    ]


MEASURED: Final = "as measured"
INDEPENDENT: Final = "independent, the same mean"
MEANS: Final = {"12": 0.150, "09": 0.287, "05": 0.515}
"""Of the authors' measured channels, by name: the frame error rate over long."""


def measured_cells(extent: Extent) -> list[Cell]:
    """Both links from s as the authors measured a channel, and with independent errors of the same mean."""
    chains = channels()
    return [
        Cell(
            {"channel": name, "kind": kind, "setup": setup},
            source(extent.size, papers(setup), failing(loss, loss)),
        )
        for name, mean in MEANS.items()
        for kind, loss in ((MEASURED, chains[name]), (INDEPENDENT, mean))
        for setup in SETUPS
    ]


def modern_cells(extent: Extent) -> list[Cell]:
    """Today's stacks: TCP, couplings and schedulers, the second path without loss and with."""
    cells = []
    for error in (0.0, 0.3):
        common = (MODERN, lossy(0, error))
        cells.append(
            Cell(
                {"variant": TCP, "kind": "TCP", "fer": error},
                source(extent.size, transport(TCP), *common),
            )
        )
        cells += [
            Cell(
                {"variant": control, "kind": "coupling", "fer": error},
                source(extent.size, transport(TWO, control), *common),
            )
            for control in MODERN_CONTROLS
        ]
        cells += [
            Cell(
                {"variant": scheduler, "kind": "scheduler", "fer": error},
                source(
                    extent.size,
                    transport(TWO, "lia"),
                    {"connections.bulk.mptcp.scheduler": scheduler},
                    *common,
                ),
            )
            for scheduler in SCHEDULERS
        ]
    return cells
