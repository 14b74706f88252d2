r"""TCP and Multipath TCP over a two-path diamond of 802.11b stations, on one radio channel and on two.

            ___ (r1) ___
[s] ~~~~~~~/            \~~~~~~~ [d]     s hears d, but only the relays forward
    ~~~~~~~\___ (r2) ___/~~~~~~~
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from ropewalk.figures import Bars, Chart, Level, Line, Points
from ropewalk.report import Verdict
from ropewalk.statistics import Interval, mean_interval
from ropewalk.studies import StudyResult, diamond_access
from ropewalk.studies import diamond_cells as cells
from ropewalk.studies import diamond_statements as told
from ropewalk.studies.diamond_causes import (
    LITTLE_LOSS,
    PUBLISHED,
    RERUN_COUPLED,
    WINDOW_S,
    Causes,
    listed,
    over_time,
    percents,
    starved,
)
from ropewalk.studies.diamond_causes import RERUN as RERUN_RATES
from ropewalk.studies.diamond_cells import FULL, QUICK, Extent
from ropewalk.studies.output import Output
from ropewalk.studies.wireless import ONE, PAPER_003, SCHEDULERS, SETUPS, TCP, TWO, gain, mbps, signed

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.report import Claim
    from ropewalk.studies.cells import Results, Runner


TITLE: Final = "Congestion controls over a wireless diamond"
PAPER: Final = f"{PAPER_003} (Figures 3 to 5)"

PATHS: Final = {"a": "subflow over r1", "b": "subflow over r2"}
SHOWN: Final = 5.0
"""Points of gain from which a single cause is named."""
PERCENT_LABEL: Final = "frame error rate (%)"
RATE_LABEL: Final = "throughput (Mbit/s)"


RERUN: Final = {TCP: 2.62, ONE: 2.02, TWO: 3.89}
"""Goodput without frame errors, uncoupled, in the authors' simulator run again, Mbit/s."""


LABELS: Final = {
    (TCP, "newreno"): "TCP",
    (ONE, "uncoupled"): "one channel",
    (TWO, "uncoupled"): "two channels,\nuncoupled",
    (TWO, "rtt-compensator"): "two, RTT\ncompensator",
    (TWO, "fully-coupled"): "two, fully\ncoupled",
}


def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
    """Run the study and write figures, data and report into `out`."""
    extent = QUICK if quick else FULL
    seeds, lossy, beyond = extent.seeds, extent.lossy_seeds, extent.beyond_seeds
    results = {
        "ideal": runner.run(cells.ideal_cells(extent), seeds, "diamond, no frame errors", series=True),
        "lossy": runner.run(cells.lossy_cells(extent), lossy, "diamond, both links lossy"),
        "asymmetric": runner.run(cells.asymmetric_cells(extent), lossy, "diamond, one link lossy"),
        "causes": runner.run(cells.cause_cells(extent), seeds, "diamond, causes"),
        "couplings": runner.run(
            cells.coupling_cells(extent),
            extent.coupling_seeds,
            "diamond, couplings under the causes",
            series=True,
        ),
        "caused-lossy": runner.run(
            cells.caused_lossy_cells(extent), seeds, "diamond, both links lossy under the causes"
        ),
        "caused-asymmetric": runner.run(
            cells.caused_asymmetric_cells(extent), seeds, "diamond, one link lossy under the causes"
        ),
        "access": runner.run(
            diamond_access.cells(extent), extent.coupling_seeds, "diamond, the access of ns-3"
        ),
        "air": runner.run(cells.air_cells(extent), beyond, "diamond, preambles and ACK rates"),
        "channels": runner.run(cells.channel_cells(extent), beyond, "diamond, bursts"),
        "measured": runner.run(cells.measured_cells(extent), beyond, "diamond, measured channels"),
        "modern": runner.run(cells.modern_cells(extent), beyond, "diamond, modern stacks"),
    }
    study = _Study(out, extent, results)
    study.is_quick = quick
    return study.write()


class _Study(Output):
    """The results, and what is made of them."""

    def __init__(self, out: Path, extent: Extent, results: dict[str, Results]) -> None:
        self.extent = extent
        self.results = results
        self.causes = Causes(
            results["causes"],
            results["couplings"],
            results["caused-lossy"],
            results["caused-asymmetric"],
            extent,
        )
        seeds, lossy = extent.seeds, extent.lossy_seeds
        super().__init__(
            out,
            TITLE,
            PAPER,
            {
                "seeds": f"{seeds[0]}…{seeds[-1]}; the paper's lossy figures {lossy[0]}…{lossy[-1]}; couplings under "
                f"the causes {extent.coupling_seeds[0]}…{extent.coupling_seeds[-1]}; what the paper did not have "
                f"{extent.beyond_seeds[0]}…{extent.beyond_seeds[-1]}",
                "transfer": f"{extent.ideal_size} in the figures over time, {extent.causes_size} under the causes, "
                f"{extent.size} elsewhere",
                "intervals": "95 % of the mean over the seeds",
            },
        )

    def write(self) -> StudyResult:
        claims = [
            self._level(),
            self._one_channel(),
            self._two_channels(),
            self._fairness(),
            self._flappiness(),
            self._ranking(),
            self._coupled_under_loss(),
            self._takes_over(),
        ]
        self.introduce(
            claims,
            "s sends to d over two relays; all hear one another, so that nobody is hidden. 802.11b at 11 "
            "Mbit/s, long preambles, ACKs at 1 Mbit/s, four transmissions of a frame. TCP NewReno "
            "acknowledges every second segment; the paper's Multipath TCP every one, and carries 1412 octets "
            "of data in a packet where TCP carries 1460. These are the settings of the paper's simulator, "
            "under correct protocols.",
        )
        self._ideal_figures()
        self._lossy_figures()
        self._causes()
        self._bursts()
        self._measured_channels()
        self._today()
        self._data()
        return self.finish("diamond")

    # The claims.

    def _ideal(self, setup: str, control: str = "uncoupled") -> Interval:
        return self.results["ideal"].goodput(setup=setup, control=control)

    def _tcp(self) -> Interval:
        return self._ideal(TCP, "newreno")

    def _gain(self, of: str, setup: str, baseline: dict[str, str | float], **where: str | float) -> Interval:
        results = self.results[of]
        return gain(results.goodputs(setup=setup, **where), results.goodputs(setup=TCP, **baseline))

    def _level(self) -> Claim:
        tcp = self._tcp()
        return told.LEVEL.judged(
            Verdict.HOLDS if abs(tcp.mean - 2.5) < 0.15 else Verdict.CONTRADICTED,  # noqa: PLR2004
            tcp=mbps(tcp),
            explained=self.causes.said(TCP, "newreno"),
        )

    def _one_channel(self) -> Claim:
        rates = {control: self._ideal(ONE, control) for control in cells.CONTROLS}
        tcp = self._tcp().mean
        correct = self.causes.rate(cells.NONE, ONE)
        above = [control for control, rate in rates.items() if rate.mean > tcp]
        depends = not above and correct.mean > tcp
        return told.ONE_CHANNEL.judged(
            Verdict.CONTRADICTED if above else Verdict.UNDECIDABLE if depends else Verdict.HOLDS,
            rates="; ".join(f"{control} {mbps(rate)}" for control, rate in rates.items()),
            tcp=mbps(self._tcp()),
            correct=mbps(correct),
            costs=correct.mean > max(rate.mean for rate in rates.values()),
            explained=self.causes.said(ONE, "uncoupled"),
        )

    def _two_channels(self) -> Claim:
        causes = self.causes
        ours = {control: self._of_tcp(control) for control in cells.CONTROLS[:3]}
        correct, with_settings = causes.over_tcp(cells.NONE), causes.over_tcp(cells.PAPERS)
        near = abs(ours["uncoupled"].mean - 48) <= 10  # noqa: PLR2004 - points
        depends = correct.mean - with_settings.mean > 10  # noqa: PLR2004
        alone = [
            f"{signed(causes.over_tcp(cause))} with “{cause}” alone"
            for cause in cells.KNOWN
            if abs(causes.over_tcp(cause).mean - correct.mean) > SHOWN
        ]
        return told.TWO_CHANNELS.judged(
            Verdict.UNDECIDABLE if depends else (Verdict.HOLDS if near else Verdict.CONTRADICTED),
            gains=", ".join(f"{control} {signed(value)}" for control, value in ours.items()),
            correct=signed(correct),
            some_alone=bool(alone),
            alone=listed(alone) if alone else "",
            shown=SHOWN,
            interplay=causes.interplay(),
            uncoupled=causes.said(TWO, "uncoupled"),
            compensator=causes.said(TWO, "rtt-compensator"),
        )

    def _of_tcp(self, control: str) -> Interval:
        return self._gain("ideal", TWO, {"control": "newreno"}, control=control)

    def _fairness(self) -> Claim:
        results = self.results["ideal"]
        shares = {
            control: [results.throughput(path, setup=TWO, control=control).mean for path in PATHS]
            for control in cells.CONTROLS[:3]
        }
        tcp = self._tcp().mean
        fair = all(min(pair) > 0.9 * max(pair) for pair in shares.values())
        bounded = all(max(pair) <= 1.02 * tcp for pair in shares.values())
        return told.FAIRNESS.judged(
            Verdict.HOLDS if fair and bounded else Verdict.CONTRADICTED,
            shares="; ".join(f"{control} {a:.2f} and {b:.2f}" for control, (a, b) in shares.items()),
            tcp=tcp,
        )

    def _starving(self, setup: str, control: str) -> Interval:
        """Per cent of the time, over the seeds."""
        return starved(self.results["ideal"], self.extent.seeds, setup=setup, control=control)

    def _flappiness(self) -> Claim:
        results, causes = self.results["ideal"], self.causes
        rows = []
        for setup in (TWO, cells.QUEUED, cells.LOSSY):
            pair = [
                results.goodputs(setup=setup, control=control) for control in ("fully-coupled", "uncoupled")
            ]
            rows.append((setup, gain(pair[0], pair[1]), self._starving(setup, "fully-coupled")))
        lower = rows[0][1].high < 0 and rows[0][1].mean < -10  # noqa: PLR2004 - per cent
        again = results.subflows.filter(setup=TWO, control="fully-coupled")["retransmissions"].to_list()
        theirs = [cause for cause in cells.TOGETHERS if self._as_published(causes.coupled(cause))]
        under_causes = "; ".join(
            f"{cause}: {signed(causes.coupled(cause))}, starving {causes.starved(cause, 'fully-coupled').mean:.0f} % "
            f"of the time, {causes.timeouts(cause, 'fully-coupled'):.1f} timeouts"
            for cause in cells.TOGETHERS
        )
        lossy = rows[-1][1]
        return told.FLAPPINESS.judged(
            Verdict.UNDECIDABLE if lower else Verdict.DEFECT if theirs else Verdict.CONTRADICTED,
            rows="; ".join(
                f"{setup}: {signed(difference)}, one subflow below a tenth for {share.mean:.0f} % of the time"
                for setup, difference, share in rows
            ),
            again=sum(again) / len(again),
            rerun=RERUN_COUPLED,
            found=bool(theirs),
            theirs=listed(theirs) if theirs else "",
            under_causes=under_causes,
            lossy=signed(lossy),
            clear=lossy.high < 0,
        )

    def _as_published(self, difference: Interval) -> bool:
        """Whether an effect is there, and as large as in the published simulator."""
        return difference.high < 0 and difference.low <= RERUN_COUPLED <= difference.high

    def _ranking(self) -> Claim:
        results, errors = self.results["lossy"], self.extent.frame_errors
        curves = {setup: [results.goodput(setup=setup, fer=error) for error in errors] for setup in SETUPS}
        top = [
            two.mean > max(tcp.mean, one.mean)
            for tcp, one, two in zip(*(curves[setup] for setup in SETUPS), strict=True)
        ]
        lowest = [one.mean < tcp.mean for tcp, one in zip(curves[TCP], curves[ONE], strict=True)]
        verdict = (
            Verdict.HOLDS
            if all(top) and all(lowest)
            else Verdict.UNDECIDABLE
            if all(top) and len(self.causes.above_tcp(cells.ALL)) < len(self.causes.above_tcp(cells.PAPERS))
            else Verdict.CONTRADICTED
        )
        return told.RANKING.judged(
            verdict,
            rates="; ".join(
                f"FER {percents([error])}: "
                + ", ".join(f"{curves[setup][place].mean:.2f}" for setup in SETUPS)
                for place, error in enumerate(errors)
            ),
            best=self._where(top),
            lowest=self._where(lowest),
            order=self.causes.order(),
        )

    def _where(self, holds: list[bool]) -> str:
        """The frame error rates at which something holds."""
        found = [error for error, is_so in zip(self.extent.frame_errors, holds, strict=True) if is_so]
        return "at every rate" if all(holds) else f"at {percents(found)} only" if found else "at no rate"

    def _coupled_under_loss(self) -> Claim:
        results, causes = self.results["asymmetric"], self.causes
        few = [error for error in self.extent.frame_errors if error <= LITTLE_LOSS]
        said, lower, wider = [], 0, 0
        for error in few:
            coupled, other = (
                results.goodput(control=control, fer=error)
                for control in ("fully-coupled", "rtt-compensator")
            )
            said.append(f"FER {percents([error])}: {mbps(coupled)} against {mbps(other)}")
            lower += coupled.mean < 0.98 * other.mean
            wider += coupled.half_width > other.half_width
        here = lower == wider == len(few)
        theirs = [
            cause
            for cause in cells.TOGETHERS
            if all(len(found) == len(few) for found in causes.lower_and_wider(cause))
        ]
        return told.COUPLED_UNDER_LOSS.judged(
            Verdict.HOLDS if here else Verdict.DEFECT if theirs else Verdict.CONTRADICTED,
            rates="; ".join(said),
            lower=lower,
            number=len(few),
            wider=wider,
            seldom=1 / LITTLE_LOSS**4,
            under_causes=causes.coupled_under_loss(),
        )

    def _takes_over(self) -> Claim:
        results = self.results["asymmetric"]
        level = self.results["lossy"].goodput(setup=TCP, fer=0.0).mean
        said, rises, bounded, theirs = [], True, True, []
        for control in ("fully-coupled", "rtt-compensator"):
            first = [
                results.throughput("a", control=control, fer=error).mean for error in self.extent.frame_errors
            ]
            said.append(f"{control} {first[0]:.2f} → {first[-1]:.2f}")
            rises &= first[-1] > 1.02 * first[0]
            bounded &= max(first) <= 1.02 * level
            theirs += [f"{cause}, {control}" for cause in self.causes.rising(control)]
        return told.TAKES_OVER.judged(
            Verdict.HOLDS if rises and bounded else Verdict.DEFECT if theirs else Verdict.CONTRADICTED,
            rates=", ".join(said),
            tcp=level,
            bounded=bounded,
            rises=rises,
            some=bool(theirs),
            theirs=listed(theirs) if theirs else "",
        )

    # The figures.

    def _time_chart(self, stem: str, title: str, setup: str, control: str, caption: str) -> None:
        series = self.results["ideal"].series
        assert series is not None  # noqa: S101 - the runner was asked for it
        seed = self.extent.seeds[0]
        x, subflows = over_time(series, seed, {"setup": setup, "control": control}, smooth=4)
        if len(subflows) == 1:
            lines = [Line("TCP", x, subflows[0], markers=False)]
        else:
            lines = [
                Line(label, x, y, markers=False) for label, y in zip(PATHS.values(), subflows, strict=True)
            ]
            both = [a + b for a, b in zip(*subflows, strict=True)]
            lines.append(Line("sum", x, both, markers=False))
        levels = [] if setup == TCP else [Level("TCP, mean", self._tcp().mean)]
        self.add(Chart(stem, title, "time (s)", RATE_LABEL, lines, levels, caption))

    def _ideal_figures(self) -> None:
        self._summary()
        self.report.heading("Figure 3: no frame errors, one run each")
        what = "Acknowledged payload, mean of 2 s."
        for stem, title, setup, control in (
            ("figure-3a-tcp", "Figure 3a: TCP", TCP, "newreno"),
            ("figure-3b-one-channel", "Figure 3b: MPTCP, one channel, uncoupled", ONE, "uncoupled"),
            ("figure-3c-two-channels", "Figure 3c: MPTCP, two channels, uncoupled", TWO, "uncoupled"),
            (
                "figure-3d-fully-coupled",
                "Figure 3d: MPTCP, two channels, fully coupled",
                TWO,
                "fully-coupled",
            ),
        ):
            self._time_chart(stem, title, setup, control, what)
        self.report.heading("Fully coupled windows where there are losses")
        self._time_chart(
            "flappiness-lossy",
            "Two channels, fully coupled, half of the frames from s fail",
            cells.LOSSY,
            "fully-coupled",
            "Either path loses one segment in 16, and each loss takes half of both windows from its path.",
        )
        self._time_chart(
            "flappiness-queues",
            "Two channels, fully coupled, queues of 50 packets, wide windows",
            cells.QUEUED,
            "fully-coupled",
            "Losses of their own making: the queues overflow.",
        )
        self.report.table(
            "Goodput in Mbit/s; gain over TCP without frame errors; per cent of the time in which one subflow "
            f"has less than a tenth (stretches of {WINDOW_S:g} s)",
            ["setup", "congestion control", "goodput (Mbit/s)", "over TCP", "starving (%)"],
            [self._ideal_row(setup, control) for setup, control in self._ideal_keys()],
        )

    def _summary(self) -> None:
        """Figure 3 in one picture: what was published, what the authors' simulator gave, and what there is here."""
        keys = list(RERUN_RATES)
        shown = {
            "correct, delayed ACKs": cells.NONE,
            "the paper's settings": cells.PAPERS,
            "its simulator's defects too": cells.ALL,
        }
        places = {key: float(place) for place, key in enumerate(keys)}
        self.report.heading("Figure 3 in one picture")
        self.add(
            Chart(
                "figure-3-summary",
                "Goodput without frame errors, published, run again and here",
                "",
                RATE_LABEL,
                [],
                caption="The paper says that one channel is not above TCP; so it has no mark there.",
                categories=[LABELS[key] for key in keys],
                bars=[
                    Bars.of(label, [self.causes.rate(cause, *key) for key in keys])
                    for label, cause in shown.items()
                ],
                points=[
                    Points("published", [places[key] for key in PUBLISHED], list(PUBLISHED.values())),
                    Points(
                        "the authors' simulator, run again", list(places.values()), list(RERUN_RATES.values())
                    ),
                ],
            )
        )

    def _ideal_keys(self) -> list[tuple[str, str]]:
        return [
            (str(cell.parameters["setup"]), str(cell.parameters["control"]))
            for cell in cells.ideal_cells(self.extent)
        ]

    def _ideal_row(self, setup: str, control: str) -> list[str]:
        over = self._gain("ideal", setup, {"control": "newreno"}, control=control)
        alone = setup == TCP
        return [
            setup,
            control,
            mbps(self._ideal(setup, control)),
            "" if alone else signed(over),
            "" if alone else f"{self._starving(setup, control).mean:.1f}",
        ]

    def _lossy_figures(self) -> None:
        errors = self.extent.frame_errors
        percents = [100 * error for error in errors]
        self.report.heading("Figures 4 and 5: lossy links")
        results = self.results["lossy"]
        self.add(
            Chart(
                "figure-4-lossy-links",
                "Figure 4: throughput against the frame error rate of the source's links",
                f"{PERCENT_LABEL}; beyond 30 % not in the paper",
                RATE_LABEL,
                [
                    Line.of(setup, percents, [results.goodput(setup=setup, fer=error) for error in errors])
                    for setup in SETUPS
                ],
                caption=f"Uncoupled; means of {len(self.extent.lossy_seeds)} runs. A segment is lost when four "
                "transmissions fail. The paper's text names no error rate beyond 30 %; what lies beyond is ours.",
                points=[
                    Points(f"{setup}, the authors' simulator run again", [0.0], [rate])
                    for setup, rate in RERUN.items()
                ],
            )
        )
        results = self.results["asymmetric"]
        level = Level.of("TCP, no frame errors", self.results["lossy"].goodput(setup=TCP, fer=0.0))
        for stem, control, name in (
            ("figure-5a-fully-coupled", "fully-coupled", "Figure 5a: fully coupled"),
            ("figure-5b-rtt-compensator", "rtt-compensator", "Figure 5b: RTT compensator"),
        ):
            lines = [
                Line.of(
                    label,
                    percents,
                    [results.throughput(path, control=control, fer=error) for error in errors],
                )
                for path, label in PATHS.items()
            ]
            total = [results.goodput(control=control, fer=error) for error in errors]
            lines.append(Line.of("sum", percents, total))
            title = f"{name}; only the link to r2 fails"
            self.add(Chart(stem, title, PERCENT_LABEL, RATE_LABEL, lines, [level], "Two channels."))

    # What the paper did not have.

    def _causes(self) -> None:
        report, results = self.report, self.results["causes"]
        report.heading("Where the gain of the second channel went")
        report.text(
            "TCP is as in the paper in every row, with delayed ACKs. Multipath TCP begins as a correct one "
            "that delays its ACKs too and fills its packets; each known difference of the paper's simulator is "
            "switched on alone, then all together, then all but one. " + self.causes.interplay()
        )
        tcp = results.goodput(cause=cells.NONE, setup=TCP)
        rows = []
        for cause in cells.CAUSES:
            two = results.subflows.filter(cause=cause, setup=TWO)
            again, late = (
                float(two[name].sum()) / len(self.extent.seeds) for name in ("retransmissions", "timeouts")
            )
            rows.append(
                [
                    cause,
                    mbps(results.goodput(cause=cause, setup=ONE)),
                    mbps(results.goodput(cause=cause, setup=TWO)),
                    signed(self.causes.over_tcp(cause)),
                    f"{again:.1f}",
                    f"{late:.1f}",
                ]
            )
        report.table(
            f"Goodput in Mbit/s, uncoupled, no frame errors; TCP has {mbps(tcp)} with delayed ACKs and "
            f"{mbps(results.goodput(cause=cells.EVERY_PACKET, setup=TCP))} with an ACK per packet, over which two "
            f"channels with an ACK per packet gain {signed(self._alike())}",
            ["cause", ONE, TWO, "two channels over TCP", "sent again per run", "timeouts per run"],
            rows,
        )
        self.causes.tables(report)
        diamond_access.show(self.results["access"], report)
        report.heading("Short preambles and higher ACK rates")
        results = self.results["air"]
        report.table(
            "Goodput in Mbit/s, correct protocols with delayed ACKs, uncoupled, no frame errors",
            ["802.11b", *SETUPS, "two channels over TCP"],
            [
                [
                    air,
                    *(mbps(results.goodput(air=air, setup=setup)) for setup in SETUPS),
                    signed(self._gain("air", TWO, {"air": air}, air=air)),
                ]
                for air in cells.AIRS
            ],
        )

    def _alike(self) -> Interval:
        return self._gain("causes", TWO, {"cause": cells.EVERY_PACKET}, cause=cells.EVERY_PACKET)

    def _bursts(self) -> None:
        results, errors = self.results["channels"], self.extent.burst_errors
        percents = [100 * error for error in errors]
        self.report.heading("A channel with a memory")
        self.report.text(
            "At equal mean loss, attempts that fail independently are not attempts that fail together: four "
            "transmissions nearly always outlive the former, and hardly ever a burst that lasts longer than "
            "they do. Bursts of 8 attempts wait for attempts, so that a sender which sends more seldom meets "
            "the same burst longer; bursts of 20 ms pass by themselves."
        )
        lines = [
            Line.of(
                f"{setup}, {channel}",
                percents,
                [results.goodput(setup=setup, channel=channel, fer=error) for error in errors],
                dashed=channel != cells.BERNOULLI,
            )
            for setup in (TCP, TWO)
            for channel in cells.CHANNELS
        ]
        caption = "Both links from s; the paper's settings, uncoupled."
        title = "Bernoulli against bursts at equal mean loss"
        self.add(Chart("bursts", title, "mean " + PERCENT_LABEL, RATE_LABEL, lines, caption=caption))
        rows = []
        for channel in cells.CHANNELS:
            for error in errors:
                where: dict[str, str | float] = {"channel": channel, "fer": error}
                subflows = results.subflows.filter(setup=TWO, channel=channel, fer=error)
                rows.append(
                    [
                        channel,
                        f"{100 * error:g}",
                        *(mbps(results.goodput(setup=setup, **where)) for setup in SETUPS),
                        signed(self._gain("channels", TWO, where, **where)),
                        f"{subflows['timeouts'].sum() / len(self.extent.beyond_seeds):.1f}",
                    ]
                )
        self.report.table(
            "Goodput in Mbit/s",
            ["channel", "mean loss (%)", *SETUPS, "two channels over TCP", "timeouts per run, two channels"],
            rows,
        )

    def _measured_channels(self) -> None:
        results = self.results["measured"]
        self.report.heading("The authors' measured channels")
        self.report.text(
            "The future work of the paper: Figure 4 over realistic channels. Both links from s are as the authors "
            "measured a channel, a chain of four states that changes with each attempt, and then "
            "fail independently with "
            "the same mean. The measured channels stay bad for longer than four transmissions."
        )
        rows = []
        for name, mean in cells.MEANS.items():
            for kind in (cells.MEASURED, cells.INDEPENDENT):
                where: dict[str, str | float] = {"channel": name, "kind": kind}
                rows.append(
                    [
                        name,
                        f"{100 * mean:g}",
                        kind,
                        *(mbps(results.goodput(setup=setup, **where)) for setup in SETUPS),
                        *(signed(self._gain("measured", setup, where, **where)) for setup in (ONE, TWO)),
                    ]
                )
        self.report.table(
            "Goodput in Mbit/s and gain over TCP",
            ["channel", "mean loss (%)", "errors", *SETUPS, "one channel over TCP", "two over TCP"],
            rows,
        )

    def _today(self) -> None:
        report, results = self.report, self.results["modern"]
        report.heading("Today's stacks")
        report.text(
            "The preset `linux` (SACK, RACK, initial window 10, CUBIC for TCP) with short preambles, ACKs at "
            "11 Mbit/s and queues of 100 packets, over two channels. Couplings run under the preset's "
            "scheduler, schedulers under LIA. In the last two columns 30 % of the frames from s to r2 fail."
        )
        for kind, caption in (("coupling", "Couplings"), ("scheduler", "Schedulers, under LIA")):
            names = results.connections.filter(kind=kind)["variant"].unique(maintain_order=True).to_list()
            rows = [["TCP over r1, CUBIC", *self._today_row(TCP)]]
            order = cells.MODERN_CONTROLS if kind == "coupling" else SCHEDULERS
            rows += [[name, *self._today_row(name, kind)] for name in order if name in names]
            report.table(
                f"{caption}: goodput in Mbit/s and gain over TCP on the lossless path",
                ["", "no frame errors", "over TCP", "r2 lossy", "over TCP"],
                rows,
            )

    def _today_row(self, variant: str, kind: str = "TCP") -> list[str]:
        results, row = self.results["modern"], []
        for error in (0.0, 0.3):
            values = results.goodputs(variant=variant, kind=kind, fer=error)
            tcp = results.goodputs(variant=TCP, kind="TCP", fer=error)
            row += [mbps(mean_interval(values)), "" if variant == TCP else signed(gain(values, tcp))]
        return row

    def _data(self) -> None:
        for name, results in self.results.items():
            self.keep({f"{name}-connections": results.connections, f"{name}-subflows": results.subflows})
            if results.series is not None:
                self.keep({f"{name}-series": results.series.filter(pl.col("throughput_mbps") > 0)})
