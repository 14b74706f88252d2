"""What the mesh study runs: deployments in which all three algorithms find two routes, as networks of stations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from ropewalk import routes
from ropewalk.routes import GREEDY, Deployment
from ropewalk.source import Source
from ropewalk.studies.authors import PICTURE, Theirs
from ropewalk.studies.authors import deployments as deployments_of_authors
from ropewalk.studies.cells import Cell
from ropewalk.studies.wireless import (
    ALL_DEFECTS,
    DEPLOYMENT,
    MODERN,
    ONE,
    SCHEDULERS,
    SETUPS,
    TCP,
    TRANSPORT,
    TWO,
    papers,
    transport,
)

NETWORK: Final = (
    """
[scenario]
name = "mesh"
"""
    + TRANSPORT
    + """
# Routes are computed for 20 m.
[wifi.propagation]
model = "disk"
reception = "25 m"
overlap = "first-wins"
"""
)

MOVING: Final = (
    """
[scenario]
name = "moving-mesh"
duration = "60 s"

[tcp]
preset = "linux"

[hosts.s]
[hosts.d]

[connections.bulk]
from = "s"
to = "d"
application = { kind = "bulk" }

[wifi]
standard = "802.11b"
preamble = "short"
data_rate = "11 Mbit/s"
ack_rate = "11 Mbit/s"
short_retry_limit = 4
queue = "100 packets"
channels = [1, 6]
propagation_delay = true
propagation = { model = "disk", reception = "20 m", overlap = "first-wins" }
update_interval = "100 ms"
route_interval = "1 s"

"""
    + DEPLOYMENT
    + """
[wifi.routes]
a = { from = "s", to = "d", channel = 1, find = { algorithm = "link-disjoint", number = 1 } }
b = { from = "s", to = "d", channel = 1, find = { algorithm = "link-disjoint", number = 2 } }
"""
)
"""Stations that walk about; routes are looked for every second."""

CONTROL: Final = "linked-increases"
"""The papers' choice for the meshes (000 §5.2)."""

CONTROLS: Final = ("uncoupled", "cubic", "lia", "olia", "balia", "wvegas")

PAPERS: Final = "the papers' settings"
DEFECTS: Final = "MPTCP has the defects of the papers' simulator"
DELAYED: Final = "MPTCP has delayed ACKs and full packets too"
NARROW: Final = "stations receive up to 20 m, as routes have it"
AIRS: Final[dict[str, dict[str, object]]] = {
    PAPERS: {},
    DEFECTS: ALL_DEFECTS,
    DELAYED: {
        "connections.bulk.tcp.delayed_ack.segments": 2,
        "connections.bulk.tcp.mss": 1460,
    },
    NARROW: {"wifi.propagation.reception": "20 m"},
    "frames that overlap destroy each other": {"wifi.propagation.overlap": "destroys-all"},
    "they do, with RTS/CTS for data": {
        "wifi.propagation.overlap": "destroys-all",
        "wifi.rts_threshold": "500 B",
        "wifi.long_retry_limit": 4,
        "wifi.short_retry_limit": 7,
    },
    "the carrier is sensed up to 50 m": {"wifi.propagation.carrier_sense": "50 m"},
    "preambles are short, ACKs at 11 Mbit/s": {"wifi.preamble": "short", "wifi.ack_rate": "11 Mbit/s"},
    "the preset is linux, queues of 100 packets, LIA": {
        "tcp": {"preset": "linux"},
        "wifi.queue": "100 packets",
        "connections.bulk.tcp": {},
    },
}
"""What the stations and the transport are like."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run."""

    drawn: int
    """Conditioned deployments that are drawn."""

    per_hops: int | None
    """Of these, at most so many with the same number of hops of the first route are run; `None`: all."""

    beyond_per_hops: int
    """The same for what the papers did not have."""

    transfer: str
    """What each run transfers."""

    authors: int
    """How many of the authors' deployments are run."""

    speeds: tuple[float, ...]
    """Greatest speeds of moving stations in m/s."""

    moving_seeds: int
    """Deployments at each of them."""


FULL: Final = Extent(1000, None, 5, "20 MB", 101, (1.0, 5.0, 20.0), 30)
QUICK: Final = Extent(100, 3, 1, "3 MB", 6, (2.0,), 3)

LONGEST: Final = "3600 s"
"""Simulated time by which every transfer is long over."""


def deployments(extent: Extent, seed: int, workers: int | None) -> list[Deployment]:
    """The first of each number of hops, in the order in which they are drawn."""
    found = routes.conditioned(extent.drawn, seed=seed, algorithms=GREEDY, workers=workers)
    return found if extent.per_hops is None else first_of_each(found, extent.per_hops)


def first_of_each(found: list[Deployment], count: int) -> list[Deployment]:
    """At most so many with the same number of hops of the first route, the first ones."""
    chosen: list[Deployment] = []
    taken: Counter[int] = Counter()
    for deployment in found:
        hops = first_hops(deployment)
        if taken[hops] < count:
            taken[hops] += 1
            chosen.append(deployment)
    return chosen


def first_hops(deployment: Deployment) -> int:
    """Hops of the first route, which is the same for all three algorithms."""
    return len(deployment.routes["link"][0]) - 1


def network(deployment: Deployment | Theirs, algorithm: str, transfer: str) -> dict[str, object]:
    """Overrides with the stations that take part and the first two routes. Silent stations are left out."""
    ends = {deployment.source: "s", deployment.destination: "d"}
    pair = deployment.routes[algorithm][:2]
    named = {node: ends.get(node, f"n{node}") for route in pair for node in route}
    stations: dict[str, object] = {}
    for node in sorted(named):
        x, y = deployment.positions[node]
        stations[named[node]] = {"position": [f"{x!r} m", f"{y!r} m"]}
    return {
        "scenario.duration": LONGEST,
        "connections.bulk.application": {"kind": "bulk", "bytes": transfer},
        "wifi.stations": stations,
        "wifi.routes": {
            name: {"from": "s", "via": [named[node] for node in route[1:-1]], "to": "d", "channel": 1}
            for name, route in zip("ab", pair, strict=True)
        },
    }


def _cell(
    deployment: Deployment,
    transfer: str,
    parameters: dict[str, str],
    *overrides: dict[str, object],
    algorithm: str = "link",
) -> Cell:
    merged = network(deployment, algorithm, transfer)
    for each in overrides:
        merged |= each
    return Cell({"draw": deployment.draw, **parameters}, Source(NETWORK).with_overrides(merged))


def papers_cells(chosen: list[Deployment], transfer: str) -> list[Cell]:
    """TCP over the first route, and both kinds of Multipath TCP over the routes of each algorithm."""
    cells = []
    for deployment in chosen:
        cells.append(_cell(deployment, transfer, {"setup": TCP, "algorithm": "link"}, papers(TCP)))
        cells += [
            _cell(
                deployment,
                transfer,
                {"setup": setup, "algorithm": algorithm},
                papers(setup, CONTROL),
                algorithm=algorithm,
            )
            for algorithm in GREEDY
            for setup in SETUPS[1:]
        ]
    return cells


def authors_cells(extent: Extent) -> list[Cell]:
    """The same over the authors' own deployments, with the link-disjoint routes that their tool found."""
    theirs = [each for each in deployments_of_authors() if each.name != PICTURE][: extent.authors]
    return [
        Cell(
            {"draw": each.name, "setup": setup, "hops": float(len(each.routes["link"][0]) - 1)},
            Source(NETWORK).with_overrides(network(each, "link", extent.transfer) | papers(setup, CONTROL)),
        )
        for each in theirs
        for setup in SETUPS
    ]


def moving_cells(extent: Extent) -> list[Cell]:
    """Today's stacks over stations that walk by random waypoint."""
    return [
        Cell(
            {"speed": speed, "setup": setup},
            Source(MOVING).with_overrides(
                {
                    **transport(setup, None if setup == TCP else "lia"),
                    "wifi.mobility": {
                        "model": "random-waypoint",
                        "area": ["100 m", "100 m"],
                        "speed_min": "0.5 m/s",
                        "speed_max": f"{speed!r} m/s",
                    },
                }
            ),
        )
        for speed in extent.speeds
        for setup in SETUPS
    ]


def air_cells(chosen: list[Deployment], transfer: str) -> list[Cell]:
    """The three setups over LD routes under other settings."""
    return [
        _cell(
            deployment,
            transfer,
            {"air": air, "setup": setup},
            papers(setup, _coupling(air)),
            _fitting(air, setup),
        )
        for deployment in chosen
        for air in AIRS
        for setup in SETUPS
    ]


def _coupling(air: str) -> str:
    return "lia" if "linux" in air else CONTROL


def _fitting(air: str, setup: str) -> dict[str, object]:
    """TCP delays its ACKs anyway."""
    return {key: value for key, value in AIRS[air].items() if setup != TCP or "connections." not in key}


def modern_cells(chosen: list[Deployment], transfer: str) -> list[Cell]:
    """Today's stacks over LD routes: couplings under the preset's scheduler, schedulers under LIA."""
    cells = []
    for deployment in chosen:
        cells.append(
            _cell(deployment, transfer, {"kind": "TCP", "variant": TCP}, transport(TCP), MODERN),
        )
        cells += [
            _cell(
                deployment,
                transfer,
                {"kind": "coupling", "variant": control},
                transport(TWO, control),
                MODERN,
            )
            for control in CONTROLS
        ]
        cells += [
            _cell(
                deployment,
                transfer,
                {"kind": "scheduler", "variant": scheduler},
                transport(TWO, "lia"),
                {"connections.bulk.mptcp.scheduler": scheduler},
                MODERN,
            )
            for scheduler in SCHEDULERS
        ]
        cells.append(
            _cell(deployment, transfer, {"kind": "coupling", "variant": ONE}, transport(ONE, "lia"), MODERN)
        )
    return cells
