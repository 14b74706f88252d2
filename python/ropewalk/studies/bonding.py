"""Fill the DSL line, send the excess over LTE: how well does a bond at layer 3 do it, and what does it cost?

                       DSL: 64 Mbit/s, 13 ms RTT
server ── (gateway) ═══════════════════════════════ (gateway) ── client
                       LTE: 60 Mbit/s, 25 to 45 ms
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.figures import Bars, Chart, Level, Line, Points
from ropewalk.figures.chart import step
from ropewalk.statistics import mean_interval
from ropewalk.studies import bonding_beyond_cells as wider
from ropewalk.studies import bonding_cells as made
from ropewalk.studies import bonding_claims as stated
from ropewalk.studies.bonding_beyond import Beyond
from ropewalk.studies.bonding_charts import first_samples, lines_chart
from ropewalk.studies.bonding_measures import Measured
from ropewalk.studies.output import Output
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

    from ropewalk.statistics import Interval
    from ropewalk.store import Table
    from ropewalk.studies import StudyResult
    from ropewalk.studies.bonding_measures import Where
    from ropewalk.studies.cells import Runner

TITLE: Final = "Bonding DSL and LTE at layer 3"
PAPER: Final = (
    "M. Bednarek, G. Barrenetxea Kobas, M. Kühlewind, B. Trammell: Multipath bonding at Layer 3, "
    "Applied Networking Research Workshop 2016"
)

TABLES: Final[tuple[Table, ...]] = ("connections", "bonds")
SAMPLED: Final[tuple[Table, ...]] = (*TABLES, "bond_series")
PAPERS: Final = made.LIKELIEST
"""The reading that is drawn."""


def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
    """Run the study and write figures, data and report into `out`."""
    extent = made.QUICK if quick else made.FULL
    seeds = extent.seeds
    measured = Measured(extent)
    results = measured.results
    for reading, (*_, words) in made.READINGS.items():
        sampled = reading in stated.PACES
        results[f"ramp {reading}"] = runner.run(
            made.ramp_cells(reading),
            seeds,
            f"bonding, one rising flow, {words}",
            series=sampled,
            tables=SAMPLED if sampled else TABLES,
        )
    for packets in (50, 200):
        results[f"queue {packets}"] = runner.run(
            made.ramp_cells(PAPERS, packets), seeds, f"bonding, a DSL queue of {packets}", tables=TABLES
        )
    results["flows"] = runner.run(
        made.flows_cells(), seeds, "bonding, several flows", series=True, tables=SAMPLED
    )
    results["friendly"] = runner.run(
        made.friendly_cells(), seeds, "bonding, TCP beside it", series=True, tables=SAMPLED
    )
    results["crossing"] = runner.run(
        made.crossing_cells(extent), seeds, "bonding, one and two TCP flows", tables=TABLES
    )
    results["udp"] = runner.run(wider.udp_cells(extent), seeds, "bonding, schedulers with UDP", tables=TABLES)
    results["tcp"] = runner.run(wider.tcp_cells(extent), seeds, "bonding, schedulers with TCP", tables=TABLES)
    if wider.recorded():
        results["why"] = runner.run(
            wider.why_cells(extent, out / "traces"), seeds, "bonding, recorded lines averaged", tables=TABLES
        )
    study = _Study(measured, out)
    study.is_quick = quick
    return study.write()


class _Study(Output):
    """What is made of the results."""

    def __init__(self, measured: Measured, out: Path) -> None:
        self.measured = measured
        seeds = measured.extent.seeds
        super().__init__(
            out,
            TITLE,
            PAPER,
            {
                "seeds": f"{seeds[0]}…{seeds[-1]}",
                "packets": f"{made.PACKET} octets on the line",
                "LTE delay": "each way 12.5 ms and up to 10 ms more: a new target each second, reached linearly",
                "intervals": "95 % of the mean over the seeds",
                "charts over time": f"seed {seeds[0]}",
            },
        )

    def write(self) -> StudyResult:
        self.introduce(
            stated.all_claims(self.measured),
            "Two gateways bond a DSL line and an LTE line. The paper's scheduler gives the DSL line a constant "
            "weight and lets that of LTE follow the loss that the other gateway reports. First its experiments, with "
            "its parameters; then what it could not show: other schedulers, recorded and bad lines, a line that "
            "dies.",
        )
        self._ramp()
        self._flows()
        self._friendly()
        self._crossing()
        Beyond(self.measured, self.report, self.add).write()
        self._data()
        return self.finish("bonding")

    # The paper's figure 3.

    def _ramp(self) -> None:
        self.report.heading("Figure 3: one flow, rising and falling")
        self.grid(
            "figure-3-courses",
            [[self._course(gain, delay) for delay in made.DECREMENT_DELAYS_MS] for gain in made.GAINS],
            f"Figure 3: throughput of each line, {stated.words(PAPERS)}. The dashed line is what an ideal scheduler "
            "would leave on DSL: all of it up to 64 Mbit/s.",
        )
        measured = self.measured
        self._losses_of_ramp()

        def lost_in(part: str) -> Callable[[float, int], str]:
            return lambda gain, delay: text_of(measured.loss(part, gain=gain, decrement_ms=delay))

        def beside(gain: float, delay: int) -> str:
            loss = stated.ramp_loss(measured, PAPERS, gain, delay)
            return f"{text_of(loss)} (published {made.PUBLISHED_LOSS[gain, delay]:g})"

        self._grid(
            f"Loss in per cent, {stated.words(PAPERS)}, DSL queue of {made.QUEUE_PACKETS} packets", beside
        )
        others = {f"ramp {name}": words for name, (*_, words) in made.READINGS.items() if name != PAPERS}
        others |= {f"queue {packets}": f"DSL queue of {packets} packets" for packets in (50, 200)}
        for part, words in others.items():
            self._grid(f"Loss in per cent, {words}", lost_in(part))
        self._grid(
            f"Octets sent by LTE for 100 delivered, {stated.words(PAPERS)}",
            lambda gain, delay: text_of(measured.lte_share(f"ramp {PAPERS}", gain=gain, decrement_ms=delay)),
        )
        for reading in stated.PACES:
            self._swings(reading)

    def _losses_of_ramp(self) -> None:
        """The numbers of figure 3, published ones as marks."""
        corners = [(gain, delay) for gain in made.GAINS for delay in made.DECREMENT_DELAYS_MS]
        self.add(
            Chart(
                "figure-3-loss",
                "Figure 3: loss by k and T_dwd",
                "k, T_dwd (ms)",
                "loss (%)",
                [],
                caption="The two readings of the hand-back. Marks are the published percentages.",
                categories=[f"{gain:g}, {delay}" for gain, delay in corners],
                bars=[
                    Bars.of(
                        stated.words(reading),
                        [stated.ramp_loss(self.measured, reading, gain, delay) for gain, delay in corners],
                    )
                    for reading in (PAPERS, made.AS_PRINTED)
                ],
                points=[
                    Points(
                        "published",
                        [float(place) for place in range(len(corners))],
                        [made.PUBLISHED_LOSS[corner] for corner in corners],
                    )
                ],
            )
        )

    def _course(self, gain: float, delay: int) -> Chart:
        """A panel of figure 3, with its loss and the published one."""
        where: Where = {"gain": gain, "decrement_ms": delay}
        lost = text_of(stated.ramp_loss(self.measured, PAPERS, gain, delay))
        published = made.PUBLISHED_LOSS[gain, delay]
        title = f"k {gain:g}, T_dwd {delay} ms\n{lost} % lost (published {published:g})"
        return lines_chart(self.measured, "figure-3", title, f"ramp {PAPERS}", where, ideal=True)

    def _swings(self, reading: str) -> None:
        """What the claims about figure 3's courses are judged by, of every k and T_dwd."""
        self._grid(
            "Swings at constant demand, 16 to 25 s: standard deviation of LTE's throughput in Mbit/s, "
            + stated.words(reading),
            lambda gain, delay: _mean(stated.swings(self.measured, reading, gain, delay)),
        )
        self._grid(
            f"On LTE though DSL had room, 25 to 40 s: Mbit/s, {stated.words(reading)}",
            lambda gain, delay: _mean(stated.surpluses(self.measured, reading, gain, delay)),
        )

    def _grid(self, caption: str, value: Callable[[float, int], str]) -> None:
        """A table of every k and T_dwd."""
        delays = made.DECREMENT_DELAYS_MS
        self.report.table(
            caption,
            ["k", *(f"T_dwd {delay} ms" for delay in delays)],
            [[f"{gain:g}", *(value(gain, delay) for delay in delays)] for gain in made.GAINS],
        )

    def _samples(self, part: str, path: str | None, where: Where) -> pl.DataFrame:
        return first_samples(self.measured, part, path, where)

    # Figures 4 and 5.

    def _flows(self) -> None:
        self.report.heading("Figures 4 and 5: flows that start and stop")
        self.report.text(
            "The numbers of figure 4 are lost; its text tells when flows start (5, 20 and 50 s) and that the first "
            "excess was 11 Mbit/s. We take 60 Mbit/s throughout, and 15, 30 and 45 Mbit/s more from 5 to 12, "
            "20 to 40, and 50 to 65 s."
        )
        self._demand()
        took = ", ".join(_mean(times) for times in stated.moved_s(self.measured, PAPERS))
        back = _mean(stated.hand_back_s(self.measured, PAPERS))
        self.add(
            lines_chart(
                self.measured,
                "figure-5-throughput",
                "Throughput of each line, several flows, each 100 ms",
                "flows",
                {"reading": PAPERS, "demand": made.TAKEN},
                caption=f"LTE carries nine tenths of the excess after {took} s, and none {back} s after the first "
                "flow's end (means over the seeds).",
            )
        )
        self._order()
        self._losses()
        self._weights()

    def _demand(self) -> None:
        """Figure 4: what is offered."""
        end = max(stop for *_, stop in made.DEMAND)
        lines = [
            step(
                f"flow {k}",
                [float(start), float(stop), float(end)],
                [float(rate), 0.0, 0.0],
                begin=0.0,
            )
            for k, (rate, start, stop) in enumerate(made.DEMAND, 1)
        ]
        edges = sorted({float(edge) for _, start, stop in made.DEMAND for edge in (start, stop)})
        together = [
            float(sum(rate for rate, start, stop in made.DEMAND if start <= edge < stop)) for edge in edges
        ]
        lines.append(step("together", edges, together, dashed=True))
        self.add(
            Chart(
                "figure-4-demand",
                "Demand of each flow",
                "time (s)",
                "on the line, all headers included (Mbit/s)",
                lines,
                caption=f"DSL carries {made.DSL_MBPS:g} Mbit/s of it.",
            )
        )

    def _order(self) -> None:
        where: Where = {"reading": PAPERS, "demand": made.TAKEN}
        whole, dsl, lte = (self._samples("flows", path, where) for path in (None, "dsl", "lte"))
        time = whole["time_s"].to_list()
        arrived = (dsl["received_mbps"] + lte["received_mbps"]).to_list()
        longest = max(
            self.measured.of_bond("flows", None, "added_delay_max_ms", reading=PAPERS, demand=made.TAKEN)
        )
        self.add(
            Chart(
                "figure-5-order",
                "What came by both lines, and what left the bond in order",
                "time (s)",
                "without tunnel headers (Mbit/s)",
                [
                    Line("arrived", time, arrived, markers=False),
                    Line(
                        "delivered in order",
                        time,
                        whole["received_mbps"].to_list(),
                        dashed=True,
                        markers=False,
                    ),
                ],
                caption=f"They differ while packets wait for others: {longest:.0f} ms at most in any seed.",
            )
        )

    def _losses(self) -> None:
        where: Where = {"reading": PAPERS, "demand": made.TAKEN}
        lines = [
            Line(
                label,
                (rows := self._samples("flows", path, where))["time_s"].to_list(),
                [float(n) for n in rows["lost"].to_list()],
                markers=False,
            )
            for label, path in (("DSL", "dsl"), ("LTE", "lte"))
        ]
        by_start = stated.losses_of(self.measured, PAPERS)
        counted = ", ".join(f"{_mean(burst)} and {_mean(later)}" for burst, later in by_start)
        self.add(
            Chart(
                "figure-5-losses",
                "Packets lost in each 100 ms",
                "time (s)",
                "packets lost",
                lines,
                caption="In the second after each start, and from then to the flow's end, means over the seeds: "
                f"{counted}. The scheduler learns of the excess by loss, and again whenever the weight has fallen "
                "too far.",
            )
        )

    def _weights(self) -> None:
        lines = [
            Line(
                label,
                (rows := self._samples("flows", "lte", {"reading": reading, "demand": made.TAKEN}))[
                    "time_s"
                ].to_list(),
                rows["weight"].to_list(),
                dashed=reading != PAPERS,
                markers=False,
            )
            for reading, label in ((PAPERS, "falls by one per T_dwd"), (made.AS_PRINTED, "by one per report"))
        ]
        self.add(
            Chart(
                "figure-5-weight",
                "Weight of LTE; DSL's is 50",
                "time (s)",
                "weight",
                lines,
                caption="It rises by the lost packets at first, then by the loss ratio. It falls, T_dwd = 250 ms "
                "after the last loss, by one per report of 50 ms as printed, by one per T_dwd in the other reading.",
            )
        )

    # Figure 6 and §5.4.

    def _friendly(self) -> None:
        self.report.heading("Figure 6: TCP on the DSL line beside bonded UDP")
        series = self.measured.results["friendly"].series
        assert series is not None  # noqa: S101 - the runner was asked for it
        import polars as pl

        first = self.measured.extent.seeds[0]
        for delay in made.FRIENDLY_DELAYS_MS:
            where: Where = {"decrement_ms": delay, "reading": PAPERS}
            chart = lines_chart(
                self.measured,
                f"figure-6-dwd-{delay}",
                f"UDP on each line and TCP on DSL: k = 1, T_dwd = {delay} ms",
                "friendly",
                where,
                caption="UDP of 41.5 Mbit/s from 10 to 68.7 s, of 63 Mbit/s from 88.7 to 165.1 s; TCP throughout.",
                dsl="to-dslam",
            )
            rows = series.filter(connection="tcp", seed=first, **where)
            tcp = rows.filter(pl.col("subflow").is_null())
            chart.lines.append(
                Line("TCP on DSL", tcp["time_s"].to_list(), tcp["throughput_mbps"].to_list(), markers=False)
            )
            self.add(chart)
        stretches = ((95, 140), stated.LAST_THIRD_S, stated.LAST_S)
        self.report.table(
            "TCP beside 63 Mbit/s of UDP (Mbit/s)",
            ["T_dwd (ms)"]
            + [
                f"{start:g} to {end:g} s, {stated.words(reading)}"
                for reading in stated.PACES
                for start, end in stretches
            ],
            [
                [delay]
                + [
                    _mean(stated.tcp_of(self.measured, reading, delay, start, end))
                    for reading in stated.PACES
                    for start, end in stretches
                ]
                for delay in made.FRIENDLY_DELAYS_MS
            ],
        )

    def _crossing(self) -> None:
        self.report.heading("One or two TCP flows beside 62 Mbit/s of UDP (§5.4)")
        measured = self.measured

        def loss(flows: int, gain: float) -> Interval:
            return measured.loss("crossing", flows=flows, gain=gain, reading=PAPERS, queue=made.TAIL_DROP)

        rows = [
            [
                f"{gain:g}",
                flows,
                text_of(stated.tcp_sum(measured, flows, gain, PAPERS)),
                text_of(stated.tcp_sum(measured, flows, gain, made.AS_PRINTED)),
                f"{stated.PUBLISHED_TCP[flows]:.2f}" if gain == 1 else "-",
                text_of(loss(flows, gain)),
            ]
            for gain in (0.5, 1.0)
            for flows in stated.PUBLISHED_TCP
        ]
        settings = {
            "tail drop": made.TAIL_DROP,
            "tail drop, late UDP sender": made.JITTERY,
            "early drop": made.EARLY_DROP,
        }
        self.add(
            Chart(
                "crossing",
                "One and two TCP flows beside 62 Mbit/s of UDP (§5.4)",
                "before DSL",
                "TCP together (Mbit/s)",
                [],
                caption="k = 1, T_dwd = 500 ms, the weight falls by one per T_dwd. "
                "The late sender is so by half a millisecond on "
                "average.",
                categories=list(settings),
                bars=[
                    Bars.of(
                        f"{flows} TCP flow{'s' if flows > 1 else ''}",
                        [stated.tcp_sum(measured, flows, 1.0, PAPERS, queue) for queue in settings.values()],
                    )
                    for flows in stated.PUBLISHED_TCP
                ],
                levels=[
                    Level(f"{flows} TCP, published", rate) for flows, rate in stated.PUBLISHED_TCP.items()
                ],
            )
        )
        self.report.table(
            f"{measured.extent.cross_s} s, T_dwd 500 ms (the published runs lasted 88 s)",
            ["k", "TCP flows", "TCP together (Mbit/s)", "as printed (Mbit/s)", "published", "UDP loss (%)"],
            rows,
        )

    def _data(self) -> None:
        for part, results in self.measured.results.items():
            stem = part.replace(" ", "-")
            self.keep({f"{stem}-{name}": table for name, table in results.tables.items()})
            self.keep({f"{stem}-series": results.series})


def _mean(values: list[float]) -> str:
    return text_of(mean_interval(values))
