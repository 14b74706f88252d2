"""The bonding paper's figures on the wire: the daemon in namespaces, over links in real time, beside the simulation.

It needs root, the daemon, and the time that the experiments last.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ropewalk.figures import Bars, Chart, Line, Points
from ropewalk.statistics import mean_interval
from ropewalk.studies import bonding_cells as made
from ropewalk.studies import bonding_claims as stated
from ropewalk.studies import bonding_wire_cells as worlds
from ropewalk.studies.bonding import PAPER
from ropewalk.studies.bonding_charts import first_samples, lines_chart
from ropewalk.studies.bonding_measures import Measured
from ropewalk.studies.output import Output
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ropewalk.statistics import Interval
    from ropewalk.store import Table
    from ropewalk.studies import StudyResult
    from ropewalk.studies.bonding_measures import Where
    from ropewalk.studies.bonding_wire_cells import World
    from ropewalk.studies.cells import Runner

__all__ = ["PAPER", "TITLE", "run"]

TITLE: Final = "Bonding DSL and LTE at layer 3, on the wire"
TABLES: Final[tuple[Table, ...]] = ("connections", "bonds", "bond_series", "processes")
PART: Final = f"ramp {worlds.READING}"
FLOWS: Final[Where] = {"reading": worlds.READING, "demand": worlds.DEMAND}
STRETCHES_S: Final = ((95.0, 140.0), stated.LAST_THIRD_S, stated.LAST_S)
"""Of figure 6: where TCP's rate is told."""


def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
    """Run the study and write figures, data and report into `out`.

    Raises:
        ScenarioError: This machine has no Linux hosts, or no daemon; nothing of it has run there.
        RunError: A run failed. What has run before is taken over by the next start.
        StoreError: Results could not be written or read back.
    """
    measured = {world: _measured(world, quick=quick, runner=runner) for world in worlds.WORLDS}
    study = _Study(measured, out, worlds.decrement_delays_ms(quick=quick))
    study.is_quick = quick
    return study.write()


def _measured(world: World, *, quick: bool, runner: Runner) -> Measured:
    """Everything, in one world."""
    extent = worlds.QUICK if quick else worlds.FULL
    measured = Measured(extent, tunnel=world.tunnel)
    for part, cells in worlds.parts(world, quick=quick).items():
        measured.results[part] = runner.run(
            cells, extent.seeds, f"bonding-wire, {part}, {world.words}", series=True, tables=TABLES
        )
    return measured


class _Study(Output):
    """What is made of the results of both worlds."""

    def __init__(self, measured: dict[World, Measured], out: Path, delays_ms: Sequence[int]) -> None:
        seeds = measured[worlds.SIMULATED].extent.seeds
        super().__init__(
            out,
            TITLE,
            PAPER,
            {
                "kernel": f"Linux {os.uname().release}",
                "seeds": f"{seeds[0]}…{seeds[-1]}, the same in both worlds",
                "packets": f"{made.PACKET} octets on the line in both worlds",
                "reading": stated.words(worlds.READING),
                "intervals": "95 % of the mean over the seeds",
                "charts over time": f"seed {seeds[0]}",
            },
        )
        self.measured = measured
        self.corners = [(gain, delay) for gain in made.GAINS for delay in delays_ms]

    def write(self) -> StudyResult:
        self.introduce(
            [],
            "Figures 3 to 6 of the paper, measured on the wire: two daemons in namespaces, with the paper's "
            "scheduler, over a DSL and an LTE line that carry real packets in real time. Linux's UDP and TCP send "
            "and receive. Beside them the simulation of the same scenarios, and what was published. The daemon's "
            "headers are 17 octets longer, so its packets carry less, and the lines carry the same.",
        )
        self._ramp()
        self._flows()
        if "friendly" in self.measured[worlds.SIMULATED].results:
            self._friendly()
        self._machine()
        for world, measured in self.measured.items():
            for part, results in measured.results.items():
                stem = f"{world.words}-{part}".replace(" ", "-")
                self.keep({f"{stem}-{name}": table for name, table in results.tables.items()})
                self.keep({f"{stem}-series": results.series})
        return self.finish("bonding-wire")

    def _table(self, caption: str, name: str, rows: dict[str, Callable[[Measured], list[float]]]) -> None:
        """A line for each measure, a column for each world."""
        self.report.table(
            caption,
            [name, *(world.words for world in worlds.WORLDS)],
            [
                [label, *(text_of(mean_interval(value(self.measured[world]))) for world in worlds.WORLDS)]
                for label, value in rows.items()
            ],
        )

    # Figure 3.

    def _ramp(self) -> None:
        self.report.heading("Figure 3: one flow, rising and falling")
        delays = list(dict.fromkeys(delay for _, delay in self.corners))
        self.grid(
            "figure-3-courses",
            [[self._course(gain, delay) for delay in delays] for gain in made.GAINS],
            "Figure 3 on the wire: throughput of each line. The dashed line is what an ideal scheduler would leave "
            "on DSL: all of it up to 64 Mbit/s.",
        )
        self._losses_of_ramp()
        self.report.table(
            "Figure 3: loss in per cent",
            ["k", "T_dwd (ms)", *(world.words for world in worlds.WORLDS), "published"],
            [
                [
                    f"{gain:g}",
                    delay,
                    *(text_of(self._loss(world, gain, delay)) for world in worlds.WORLDS),
                    f"{made.PUBLISHED_LOSS[gain, delay]:g}",
                ]
                for gain, delay in self.corners
            ],
        )
        self.report.table(
            "Figure 3: LTE's swings at constant demand, 16 to 25 s (Mbit/s), and what it carries though DSL has "
            "room, 25 to 40 s (Mbit/s)",
            ["k", "T_dwd (ms)"]
            + [f"{what}, {world.words}" for what in ("swings", "surplus") for world in worlds.WORLDS],
            [
                [f"{gain:g}", delay]
                + [
                    text_of(mean_interval(value(self.measured[world], worlds.READING, gain, delay)))
                    for value in (stated.swings, stated.surpluses)
                    for world in worlds.WORLDS
                ]
                for gain, delay in self.corners
            ],
        )

    def _loss(self, world: World, gain: float, delay: int) -> Interval:
        return stated.ramp_loss(self.measured[world], worlds.READING, gain, delay)

    def _course(self, gain: float, delay: int) -> Chart:
        """A panel of figure 3, with its loss and the published one."""
        lost = text_of(self._loss(worlds.ON_THE_WIRE, gain, delay))
        title = (
            f"k {gain:g}, T_dwd {delay} ms\n{lost} % lost (published {made.PUBLISHED_LOSS[gain, delay]:g})"
        )
        where: Where = {"gain": gain, "decrement_ms": delay}
        return lines_chart(self.measured[worlds.ON_THE_WIRE], "figure-3", title, PART, where, ideal=True)

    def _losses_of_ramp(self) -> None:
        """The numbers of figure 3, published ones as marks."""
        places = [float(place) for place in range(len(self.corners))]
        self.add(
            Chart(
                "figure-3-loss",
                "Figure 3: loss by k and T_dwd, on the wire and simulated",
                "k, T_dwd (ms)",
                "loss (%)",
                [],
                caption="Marks are the published percentages.",
                categories=[f"{gain:g}, {delay}" for gain, delay in self.corners],
                bars=[
                    Bars.of(world.words, [self._loss(world, gain, delay) for gain, delay in self.corners])
                    for world in worlds.WORLDS
                ],
                points=[
                    Points("published", places, [made.PUBLISHED_LOSS[corner] for corner in self.corners])
                ],
            )
        )

    # Figures 4 and 5.

    def _flows(self) -> None:
        self.report.heading("Figures 4 and 5: flows that start and stop")
        self.report.text(
            "60 Mbit/s throughout, and 15, 30 and 45 Mbit/s more from 5 to 12, 20 to 40, and 50 to 65 s; k = 0.5, "
            "T_dwd = 250 ms."
        )
        self.grid(
            "figure-5-throughput",
            [
                [
                    lines_chart(self.measured[world], "figure-5", world.words.capitalize(), "flows", FLOWS)
                    for world in worlds.WORLDS
                ]
            ],
            "Figures 4 and 5: what is offered, and the throughput of each line, each 100 ms.",
        )
        self.add(
            Chart(
                "figure-5-weight",
                "Weight of LTE; DSL's is 50",
                "time (s)",
                "weight",
                [self._line(world, ["lte"], "weight") for world in worlds.WORLDS],
            )
        )
        self.add(
            Chart(
                "figure-5-losses",
                "Packets lost on LTE and DSL in each 100 ms",
                "time (s)",
                "packets lost",
                [self._line(world, ["dsl", "lte"], "lost") for world in worlds.WORLDS],
            )
        )
        starts = [start for _, start, _ in made.DEMAND[1:]]
        rows: dict[str, Callable[[Measured], list[float]]] = {}
        for place, start in enumerate(starts):
            rows[f"LTE carries nine tenths of the excess, s after {start} s"] = _moved(place)
            rows[f"packets lost in the second after {start} s"] = _burst(place)
            rows[f"packets lost from {start + 1} s to the flow's end"] = _later(place)
        rows["LTE carries less than 0.5 Mbit/s, s after 12 s"] = _handed_back
        rows["longest wait for order, ms"] = _longest_wait
        self._table("Figures 4 and 5 in numbers", "measure", rows)

    def _line(self, world: World, paths: Sequence[str], column: str) -> Line:
        """The first seed's course of a column, summed over paths."""
        samples = [first_samples(self.measured[world], "flows", path, FLOWS) for path in paths]
        columns = [rows[column].to_list() for rows in samples]
        return Line(
            world.words,
            samples[0]["time_s"].to_list(),
            [float(sum(values)) for values in zip(*columns, strict=True)],
            dashed=world is worlds.SIMULATED,
            markers=False,
        )

    # Figure 6.

    def _friendly(self) -> None:
        self.report.heading("Figure 6: TCP on the DSL line beside bonded UDP")
        self.report.text(
            "UDP of 41.5 Mbit/s from 10 to 68.7 s, of 63 Mbit/s from 88.7 to 165.1 s, by the bond; one TCP flow on "
            "DSL throughout; k = 1."
        )
        self.grid(
            "figure-6",
            [[self._beside(world, delay) for delay in made.FRIENDLY_DELAYS_MS] for world in worlds.WORLDS],
            "Figure 6 on the wire (above) and simulated (below): what UDP has on each line, and TCP on DSL.",
        )
        self.report.table(
            "Figure 6: TCP beside 63 Mbit/s of UDP (Mbit/s)",
            ["T_dwd (ms)"]
            + [
                f"{start:g} to {end:g} s, {world.words}"
                for start, end in STRETCHES_S
                for world in worlds.WORLDS
            ],
            [
                [delay]
                + [
                    text_of(
                        mean_interval(stated.tcp_of(self.measured[world], worlds.READING, delay, start, end))
                    )
                    for start, end in STRETCHES_S
                    for world in worlds.WORLDS
                ]
                for delay in made.FRIENDLY_DELAYS_MS
            ],
        )

    def _beside(self, world: World, delay: int) -> Chart:
        """A panel of figure 6."""
        measured = self.measured[world]
        where: Where = {"decrement_ms": delay, "reading": worlds.READING}
        title = f"T_dwd {delay} ms, {world.words}"
        chart = lines_chart(measured, "figure-6", title, "friendly", where, dsl="to-dslam")
        course = measured.throughputs("friendly", {**where, "connection": "tcp"})[0]
        chart.lines.append(Line("TCP on DSL", course.time_s, course.value, markers=False))
        return chart

    # The machine.

    def _machine(self) -> None:
        """Did it have the time that a wire needs?"""
        import polars as pl

        self.report.heading("What the machine had to spare")
        tables = [
            results.tables["processes"] for results in self.measured[worlds.ON_THE_WIRE].results.values()
        ]
        told = [table.select("name", "cpu_s", "waited_s") for table in tables if not table.is_empty()]
        rows = pl.concat(told).group_by("name", maintain_order=True).sum().rows() if told else []
        self.report.table(
            "Processor time of all runs on the wire, and how long it was waited for (s)",
            ["part", "had", "waited"],
            [[name, f"{had:.1f}", f"{waited:.1f}"] for name, had, waited in rows],
        )


def _moved(place: int) -> Callable[[Measured], list[float]]:
    return lambda measured: stated.moved_s(measured, worlds.READING)[place]


def _burst(place: int) -> Callable[[Measured], list[float]]:
    return lambda measured: stated.losses_of(measured, worlds.READING)[place][0]


def _later(place: int) -> Callable[[Measured], list[float]]:
    return lambda measured: stated.losses_of(measured, worlds.READING)[place][1]


def _handed_back(measured: Measured) -> list[float]:
    return stated.hand_back_s(measured, worlds.READING)


def _longest_wait(measured: Measured) -> list[float]:
    return measured.of_bond("flows", None, "added_delay_max_ms", **FLOWS)
