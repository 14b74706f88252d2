"""How long the routes of a mesh last when its stations walk about: runs without traffic, a figure and tables.

The routes of a conditioned deployment are kept until they break, or looked for every second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ropewalk.figures import Chart, Line
from ropewalk.routes import GREEDY
from ropewalk.source import Source
from ropewalk.statistics import Interval, mean_interval, paired_difference
from ropewalk.studies.cells import Cell
from ropewalk.studies.wireless import DEPLOYMENT, signed

if TYPE_CHECKING:
    import polars as pl

    from ropewalk.studies.cells import Results, Runner
    from ropewalk.studies.output import Output

NETWORK: Final = (
    """
[scenario]
name = "moving-mesh"

[hosts.s]
[hosts.d]

[wifi]
standard = "802.11b"
propagation = { model = "disk", reception = "20 m" }

"""
    + DEPLOYMENT
    + """
[wifi.routes]
first = { from = "s", to = "d", find = { algorithm = "shortest" } }
link = { from = "s", to = "d", find = { algorithm = "link-disjoint", number = 2 } }
node = { from = "s", to = "d", find = { algorithm = "node-disjoint", number = 2 } }
zone = { from = "s", to = "d", find = { algorithm = "zone-disjoint", number = 2 } }

# A word each minute: there is hardly anything in the air.
[connections.word]
protocol = "udp"
from = "s"
to = "d"
paths = ["first"]
application = { kind = "constant-rate", rate = "10 bit/s" }
"""
)

SHORT: Final = {"link": "LD", "node": "ND", "zone": "ZD"}
FIRST: Final = "first"
ROUTES: Final = (FIRST, *GREEDY)

KEPT: Final = "kept"
SEARCHED: Final = "looked for every second"

SLOWEST: Final = 0.5
"""Stations draw their speeds, in m/s, from here up to that of the cell."""

STEP_M: Final = {KEPT: 0.1, SEARCHED: 0.5}
"""How far the fastest station gets between two looks."""

WALK_M: Final = 100
"""How far it gets in a run in which routes are kept."""

SEARCHED_S: Final = 60
"""How long a run is in which routes are looked for."""

SPEED_LABEL: Final = "greatest speed (m/s)"

Lives = Callable[[str, float], list[float]]
"""Of a route, at a speed: how long it lasts, by seed."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run."""

    speeds: tuple[float, ...]
    """Greatest speeds in m/s."""

    seeds: int
    """Deployments at each speed."""


FULL: Final = Extent((1.0, 2.0, 5.0, 10.0, 20.0), 100)
QUICK: Final = Extent((2.0, 10.0), 10)


def cells(extent: Extent) -> list[Cell]:
    """Every speed, with routes that are kept and with routes that are looked for."""
    return [
        Cell({"speed": speed, "policy": policy}, Source(NETWORK).with_overrides(_walk(speed, policy)))
        for speed in extent.speeds
        for policy in (KEPT, SEARCHED)
    ]


def _walk(speed: float, policy: str) -> dict[str, object]:
    duration = WALK_M / speed if policy == KEPT else SEARCHED_S
    walk: dict[str, object] = {
        "scenario.duration": f"{duration!r} s",
        "wifi.update_interval": f"{1000 * STEP_M[policy] / speed!r} ms",
        "wifi.mobility": {
            "model": "random-waypoint",
            "area": ["100 m", "100 m"],
            "speed_min": f"{SLOWEST!r} m/s",
            "speed_max": f"{speed!r} m/s",
        },
    }
    return walk if policy == KEPT else {**walk, "wifi.route_interval": "1 s"}


class Moving:
    """The routes of meshes that move, and what is told of them."""

    def __init__(self, extent: Extent, runner: Runner) -> None:
        """Run what the store does not have."""
        self.extent = extent
        seeds = tuple(range(1, extent.seeds + 1))
        results: Results = runner.run(cells(extent), seeds, "meshes that move", tables=("routes",))
        self.table = results.tables["routes"]

    def _rows(self, name: str, speed: float, policy: str) -> pl.DataFrame:
        return self.table.filter(name=name, speed=speed, policy=policy).sort("seed")

    def lives(self, name: str, speed: float) -> list[float]:
        """How long each route lasted, in s, by seed; one that never broke as long as the run."""
        return self._rows(name, speed, KEPT)["first_broken_s"].fill_null(WALK_M / speed).to_list()

    def pairs(self, name: str, speed: float) -> list[float]:
        """How long it took until the first route and the second one of an algorithm had both broken."""
        both = zip(self.lives(FIRST, speed), self.lives(name, speed), strict=True)
        return [max(lives) for lives in both]

    def broken(self, name: str, speed: float) -> list[float]:
        """Per cent of the time in which a route that is looked for was broken, or not there, by seed."""
        return [100 * broken / SEARCHED_S for broken in self._rows(name, speed, SEARCHED)["broken_s"]]

    def unbroken(self) -> int:
        """How many routes never broke in their run, so that their lives are longer than counted."""
        return int(self.table.filter(policy=KEPT)["first_broken_s"].null_count())

    def show(self, output: Output) -> None:
        """Add the section to a report."""
        report = output.report
        report.heading("Routes over stations that move")
        report.text(
            "Path stability and duration, which 003 leaves open. Conditioned deployments as above, whose stations "
            f"walk by random waypoint at {SLOWEST:g} m/s up to the speed given; a route breaks when one of its hops "
            "is out of range. Hardly anything is sent, so this is about the routes alone. Kept: the routes of the "
            "beginning are used until they break. Looked for: each algorithm begins anew every second, as if it knew "
            "all links, and keeps the old route where there is none.",
            *self.sentences(),
        )
        output.add(self._lives_chart())
        output.add(self._broken_chart())
        self._life_table(output)
        self._hops_table(output)
        self._search_table(output)

    def sentences(self) -> list[str]:
        """What came out, as sentences."""
        speeds = self.extent.speeds
        walked = ", ".join(
            f"{speed * mean_interval(self.lives(FIRST, speed)).mean:.1f} at {speed:g} m/s" for speed in speeds
        )
        unbroken = self.unbroken()
        said = [
            f"Life times speed, of the first route in metres: {walked}."
            + (f" {unbroken} routes outlived their run and are counted as long as that." if unbroken else "")
        ]
        second = "; ".join(f"{SHORT[name]} {self._longer(self.lives, name)}" for name in GREEDY)
        both = "; ".join(f"{SHORT[name]} {self._longer(self.pairs, name)}" for name in GREEDY)
        said.append(
            f"Over all speeds, the second route lasts against the first: {second}. Until both have broken it takes "
            f"against the first alone: {both}."
        )
        return said

    def _longer(self, of: Lives, name: str) -> str:
        """Life times speed against that of the first route, paired by deployment, in per cent of its mean."""
        first = self._walked(self.lives, FIRST)
        mean = mean_interval(first).mean
        more = paired_difference(self._walked(of, name), first)
        middle, low, high = (100 * value / mean for value in (more.mean, more.low, more.high))
        return signed(Interval(middle, low, high, more.n))

    def _walked(self, of: Lives, name: str) -> list[float]:
        """Life times speed by seed, the mean over the speeds, which share a seed's deployment."""
        by_speed = [[speed * life for life in of(name, speed)] for speed in self.extent.speeds]
        return [sum(walked) / len(walked) for walked in zip(*by_speed, strict=True)]

    # The figure and the tables.

    def _lives_chart(self) -> Chart:
        speeds = self.extent.speeds

        def line(text: str, of: Lives, name: str, *, dashed: bool = False) -> Line:
            return Line.of(text, speeds, [mean_interval(of(name, speed)) for speed in speeds], dashed=dashed)

        drawn = GREEDY[:2]
        return Chart(
            "route-lives",
            "How long routes last over stations that walk",
            SPEED_LABEL,
            "time until broken (s)",
            [
                line(label(FIRST), self.lives, FIRST),
                *(line(label(name), self.lives, name, dashed=True) for name in drawn),
                *(line(f"until both have broken, {SHORT[name]}", self.pairs, name) for name in drawn),
            ],
            caption=f"Routes that are kept: means of {self.extent.seeds} deployments with 95 % intervals. ZD is in "
            "the table.",
        )

    def _broken_chart(self) -> Chart:
        speeds = self.extent.speeds
        return Chart(
            "routes-broken",
            "Routes that are looked for every second",
            SPEED_LABEL,
            "broken or not there (% of the time)",
            [
                Line.of(label(name), speeds, [mean_interval(self.broken(name, speed)) for speed in speeds])
                for name in ROUTES
            ],
            caption=f"Means of {self.extent.seeds} deployments with 95 % intervals.",
        )

    def _life_table(self, output: Output) -> None:
        rows = [
            [
                f"{speed:g}",
                *(seconds(self.lives(name, speed)) for name in ROUTES),
                *(seconds(self.pairs(name, speed)) for name in GREEDY),
            ]
            for speed in self.extent.speeds
        ]
        output.report.table(
            f"Time until a route is broken, in s: means of {self.extent.seeds} deployments",
            [
                SPEED_LABEL,
                "first route",
                *(f"second, {SHORT[name]}" for name in GREEDY),
                *(f"both, {SHORT[name]}" for name in GREEDY),
            ],
            rows,
        )

    def _hops_table(self, output: Output) -> None:
        speed = self.extent.speeds[0]
        kept = self.table.filter(speed=speed, policy=KEPT)
        rows = []
        for hops in sorted(kept["hops"].unique().to_list()):
            row = [str(hops)]
            for name in ROUTES:
                lives = self._rows(name, speed, KEPT).filter(hops=hops)["first_broken_s"]
                row.append(
                    f"{seconds(lives.fill_null(WALK_M / speed).to_list())} ({len(lives)})"
                    if len(lives)
                    else "-"
                )
            rows.append(row)
        output.report.table(
            f"Time until a route is broken, in s, by its hops, speeds up to {speed:g} m/s; in brackets how many",
            ["hops", "first route", *(f"second, {SHORT[name]}" for name in GREEDY)],
            rows,
        )

    def _search_table(self, output: Output) -> None:
        rows = []
        for speed in self.extent.speeds:
            for name in ROUTES:
                found = self._rows(name, speed, SEARCHED)
                minutes = SEARCHED_S / 60
                rows.append(
                    [
                        f"{speed:g}",
                        label(name),
                        seconds([changes / minutes for changes in found["changes"]]),
                        seconds(found["mean_duration_s"].drop_nulls().to_list()),
                        seconds(self.broken(name, speed)),
                    ]
                )
        output.report.table(
            "Routes looked for every second: how often they are led another way, how long they keep one, and for how "
            "much of the time they are broken, those that are not there among them",
            [SPEED_LABEL, "route", "changes per minute", "mean duration (s)", "broken (% of the time)"],
            rows,
        )


def label(name: str) -> str:
    """A route as text."""
    return "first route" if name == FIRST else f"second route, {SHORT[name]}"


def seconds(values: list[float]) -> str:
    """A mean with its interval as text."""
    interval = mean_interval(values)
    if interval.n == 0:
        return "-"
    return f"{interval.mean:.2f}" + (f" ± {interval.half_width:.2f}" if interval.known else "")
