"""Do DSACK, Eifel and F-RTO help Multipath TCP, under four congestion controls, over two and three paths?

two:   client ══ 5 Mbit/s, 100 ms; 2 Mbit/s, 100 ms ══ server
three: client ══ 5 Mbit/s, 100 ms; 2 Mbit/s, 10 ms; 7 Mbit/s, 50 ms ══ server
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ropewalk.benefit import clearly_above
from ropewalk.figures import Bars, Chart, Level, Line, Points
from ropewalk.report import Verdict
from ropewalk.statistics import Interval, paired_difference
from ropewalk.studies import reordering_cells as made
from ropewalk.studies import reordering_statements as told
from ropewalk.studies.output import Output
from ropewalk.studies.reordering_cells import COMPARED, CONTROLS, FIXED, JITTER, PATHS, RESPONSES, THEIRS
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ropewalk.report import Claim
    from ropewalk.studies import StudyResult
    from ropewalk.studies.cells import Results, Runner


TITLE: Final = "Responses to reordering"
PAPER: Final = (
    "T. Arabi, K. A. Bozed, A. R. Zerek: Performance Evaluation and Computer Simulation of Multipath "
    "Transmission Control Protocol"
)


def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
    """Run the study and write figures, data and report into `out`."""
    seeds = tuple(range(1, 4 if quick else 11))
    # Without random loss or jitter the seeds differ in keys and sequence numbers only: one is enough.
    fixed = runner.run(made.cells(FIXED), (1,), "reordering, fixed delays", series=True)
    jittered = runner.run(made.cells(JITTER), seeds, "reordering, varying delays")
    theirs = runner.run(made.their_cells(), (1,), "reordering, the paper's simulator", series=True)
    receiver = runner.run(made.receiver_cells(), (1,), "reordering, the paper's receiver", series=True)
    level = runner.run(made.level_cells(), (1,), "reordering, what was tried for the level", series=True)
    dropping = runner.run(made.dropping_cells(), seeds, "reordering, F-RTO that drops ACKs")
    door = runner.run(made.door_cells(), seeds, "reordering, periods of TCP-DOOR")
    topologies = runner.run(made.topology_cells(), seeds, "reordering, topologies")
    study = _Study(out, seeds, Ran(fixed, jittered, theirs, receiver, level, dropping, door, topologies))
    study.is_quick = quick
    return study.write()


NOISE: Final = 0.02
"""Goodputs that differ by less than this part are alike."""


def _alike(values: Iterable[float]) -> bool:
    known = list(values)
    return max(known) - min(known) < NOISE * max(known)


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())


def _signed(parts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {round(100 * part):+d} %" for name, part in parts.items())


def _only(some: Mapping[str, float], others: Mapping[str, float]) -> bool:
    """Whether all of these gains are clear, and none of the others."""
    return min(some.values()) > NOISE and max(others.values()) <= NOISE


FIGURES: Final = {8: ("two paths", "linked-increases"), 9: ("three paths", "uncoupled")}
"""The paper's, by their numbers."""
PUBLISHED_PEAK: Final = 10.0
"""Mbit/s of "global throughput", three paths, DSACK, uncoupled."""
RERUN_PEAK: Final = 10.0
RERUN_GOODPUT: Final = 7.2
"""Mbit/s: window estimate and goodput of the paper's simulator, run again: three paths, DSACK, uncoupled."""
RERUN: Final = (Points("DSACK, the paper's simulator run again", [0.0], [RERUN_GOODPUT]),)
"""At the first congestion control, uncoupled."""
LESS: Final = 0.4
"""What the paper says Eifel and F-RTO are less than none."""
NEAR: Final = 0.15
"""A peak is near it within this part."""


def over_time(results: Results, what: str, **where: str) -> tuple[list[float], list[float]]:
    """Time in s against goodput, or against the sum of cwnd / SRTT, in Mbit/s, of the run with these parameters."""
    import polars as pl

    series = results.series
    assert series is not None  # noqa: S101 - the runner was asked for it
    rows = series.filter(**where)
    delivered = rows.filter(pl.col("subflow").is_null(), pl.col("throughput_mbps") > 0)
    end = delivered["time_s"].max()
    rows = rows.filter(pl.col("time_s") <= end)  # the rest of the run is idle
    if what == "goodput":
        found = rows.filter(pl.col("subflow").is_null()).select(
            "time_s", value=pl.col("throughput_mbps").rolling_mean(5, min_samples=1)
        )
    else:
        rate = pl.col("cwnd_bytes") * 8e-3 / pl.col("srtt_ms")
        found = (
            rows.filter(pl.col("subflow").is_not_null())
            .group_by("time_s")
            .agg(value=rate.sum())
            .sort("time_s")
        )
    return found["time_s"].to_list(), found["value"].to_list()


@dataclass(frozen=True, slots=True)
class Ran:
    """What was run."""

    fixed: Results
    """Over fixed delays, as the paper has it."""

    jittered: Results
    """Over delays that reorder packets."""

    theirs: Results
    """Over fixed delays, all as the paper's simulator has it."""

    receiver: Results
    """Over fixed delays, correct but for the receiver and the first timeout of the paper's simulator."""

    level: Results
    """As in the paper's simulator, with other settings where it has its greatest throughput."""

    dropping: Results
    """As in the paper's simulator, F-RTO with ACKs dropped."""

    door: Results
    """Over delays that reorder packets, TCP-DOOR with other periods."""

    topologies: Results
    """Over delays that reorder packets, three paths in three topologies."""


class _Study(Output):
    """The results, and what is made of them."""

    def __init__(self, out: Path, seeds: tuple[int, ...], ran: Ran) -> None:
        self.fixed = ran.fixed
        self.jittered = ran.jittered
        self.theirs = ran.theirs
        self.receiver = ran.receiver
        self.level = ran.level
        self.dropping = ran.dropping
        self.door = ran.door
        self.topologies = ran.topologies
        super().__init__(
            out,
            TITLE,
            PAPER,
            {
                "seeds where delays vary": f"{seeds[0]}…{seeds[-1]}",
                "transfer": "10 MB",
                "intervals": "95 % of the mean over the seeds",
            },
        )

    def write(self) -> StudyResult:
        claims = [
            self._best(),
            self._below_none(),
            self._linked_increases(),
            self._compensator(),
            self._eifel(),
            self._frto(),
            self._none_optimal(),
        ]
        self.introduce(
            claims,
            "A connection of two or three paths carries 10 MB. Each of three detectors of spurious "
            "retransmissions, and none, runs under each of four congestion controls: first as the paper "
            "has it, over fixed delays without random loss; then over delays that vary enough to reorder "
            "packets within a path, which is what the detectors are for.",
        )
        self._figures()
        self._tables()
        self._data()
        return self.finish("reordering")

    def _goodput(self, paths: str, control: str, response: str) -> float:
        return self.fixed.goodput(paths=paths, control=control, response=response).mean

    def _spurious(self, results: Results, **where: str) -> int:
        return int(results.subflows.filter(**where)["spurious_retransmissions"].sum())

    def _window_peak(self, results: Results, paths: str, control: str, response: str) -> float:
        return max(over_time(results, "window", paths=paths, control=control, response=response)[1])

    def _tried(self, what: str) -> tuple[float, float]:
        """Goodput and window estimate at its peak with one of the settings that were tried for the level."""
        return self.level.goodput(tried=what).mean, max(over_time(self.level, "window", tried=what)[1])

    def _their_goodput(self, paths: str, control: str, response: str) -> float:
        return self.theirs.goodput(paths=paths, control=control, response=response).mean

    def _best(self) -> Claim:
        where = ("three paths", "uncoupled")
        peaks = {r: self._window_peak(self.fixed, *where, r) for r in RESPONSES}
        goodputs = {r: self._goodput(*where, r) for r in RESPONSES}
        their_peaks = {r: self._window_peak(self.theirs, *where, r) for r in THEIRS}
        their_goodputs = {r: self._their_goodput(*where, r) for r in THEIRS}
        alike = _alike(goodputs.values()) and _alike(peaks.values())
        best = all(their_goodputs["DSACK"] > (1 + NOISE) * their_goodputs[r] for r in THEIRS if r != "DSACK")
        free_goodput, free_peak = self._tried(made.NOT_WAITING)
        near = abs(their_peaks["DSACK"] / RERUN_PEAK - 1) <= NEAR
        verdict = (
            Verdict.HOLDS
            if not alike
            else Verdict.CONTRADICTED
            if not best
            else Verdict.DEFECT
            if near
            else Verdict.OPEN
        )
        return told.BEST.judged(
            verdict,
            peaks=_listed(peaks),
            goodputs=_listed(goodputs),
            their_peaks=_listed(their_peaks),
            their_goodputs=_listed(their_goodputs),
            best=best,
            near=near,
            free_peak=free_peak,
            free_goodput=free_goodput,
            free_ratio=free_peak / free_goodput,
            rerun_ratio=RERUN_PEAK / RERUN_GOODPUT,
            spurious=self._spurious(self.fixed),
        )

    def _below_none(self) -> Claim:
        where = ("three paths", "uncoupled")
        both = ("Eifel", "F-RTO")
        correct = self._against_none(*where)
        eifel = self._theirs_against_none(*where)["Eifel"]
        enough = self._enough_dropped("three paths")
        verdict = (
            Verdict.HOLDS
            if all(correct[r] < -NOISE for r in both)
            else Verdict.DEFECT
            if eifel <= -LESS and enough is not None
            else Verdict.CONTRADICTED
        )
        return told.BELOW_NONE.judged(
            verdict,
            eifel=_signed({"Eifel": eifel}),
            dropped=self._dropped_words("three paths"),
            correct=_signed(correct),
            enough=enough is not None,
            part=enough,
        )

    def _linked_increases(self) -> Claim:
        ours = self._goodput("two paths", "linked-increases", "DSACK")
        uncoupled = self._goodput("two paths", "uncoupled", "DSACK")
        differences = self._against_none("two paths", "linked-increases")
        as_uncoupled = _alike((ours, uncoupled))
        below = max(differences["Eifel"], differences["F-RTO"]) < -NOISE
        theirs = {
            control: {r: self._their_goodput("two paths", control, r) for r in THEIRS}
            for control in ("linked-increases", "uncoupled")
        }
        linked, free = theirs.values()
        with_defects = (
            _alike((linked["DSACK"], free["DSACK"]))
            and _alike((linked["none"], free["none"]))
            and linked["Eifel"] < (1 - NOISE) * linked["none"]
        )
        verdict = (
            Verdict.HOLDS
            if as_uncoupled and below
            else Verdict.DEFECT
            if with_defects
            else Verdict.CONTRADICTED
        )
        return told.LINKED.judged(
            verdict,
            theirs="; ".join(f"{control} {_listed(values)}" for control, values in theirs.items()),
            linked=ours,
            uncoupled=uncoupled,
            differences=_signed(differences),
            as_uncoupled=as_uncoupled,
        )

    def _compensator(self) -> Claim:
        values = {r: self._goodput("two paths", "rtt-compensator", r) for r in RESPONSES}
        theirs = {r: self._their_goodput("two paths", "rtt-compensator", r) for r in THEIRS}
        best = max(values.values())
        less = theirs["DSACK"] < (1 - NOISE) * max(theirs.values())
        verdict = (
            Verdict.HOLDS
            if values["DSACK"] < (1 - NOISE) * best
            else Verdict.DEFECT
            if less
            else Verdict.CONTRADICTED
        )
        return told.COMPENSATOR.judged(verdict, theirs=_listed(theirs), values=_listed(values), less=less)

    def _eifel(self) -> Claim:
        controls = ("uncoupled", "linked-increases", "rtt-compensator")
        two = {control: self._against_none("two paths", control)["Eifel"] for control in controls}
        three = {control: self._against_none("three paths", control)["Eifel"] for control in controls}
        their_two = {
            control: self._theirs_against_none("two paths", control)["Eifel"] for control in controls
        }
        their_three = {
            control: self._theirs_against_none("three paths", control)["Eifel"] for control in controls
        }
        verdict = (
            Verdict.HOLDS
            if _only(two, three)
            else Verdict.DEFECT
            if _only(their_two, their_three)
            else Verdict.CONTRADICTED
        )
        return told.EIFEL.judged(
            verdict,
            their_two=_signed(their_two),
            their_three=_signed(their_three),
            two=_signed(two),
            three=_signed(three),
            jittered=self._jitter_words("three paths"),
        )

    def _frto(self) -> Claim:
        rows = self.fixed.subflows.filter(response="F-RTO")
        spurious, timeouts = (int(rows[name].sum()) for name in ("spurious_retransmissions", "timeouts"))
        enough = [part for paths in PATHS if (part := self._enough_dropped(paths)) is not None]
        stays = len(enough) == len(PATHS)
        return told.FRTO.judged(
            Verdict.OPEN if spurious else Verdict.DEFECT if stays else Verdict.CONTRADICTED,
            dropped="; ".join(f"{paths} {self._dropped_words(paths)}" for paths in PATHS),
            timeouts=timeouts,
            spurious=spurious,
            stays=stays,
            part=max(enough, default=None),
        )

    def _none_optimal(self) -> Claim:
        answers = list(RESPONSES)[1:]
        best = {
            (paths, control): max(
                answers, key=lambda r: self._interval(self.jittered, paths, control, r).mean
            )
            for paths in PATHS
            for control in CONTROLS
        }
        # Two that are each clearly best somewhere.
        clear = {
            name
            for where, name in best.items()
            if all(self._clearly_better(name, other, *where) for other in set(best.values()) - {name})
        }
        winners = sorted(set(best.values()))
        theirs = {
            f"{paths}, {control}": {r: self._their_goodput(paths, control, r) for r in THEIRS}
            for paths in PATHS
            for control in CONTROLS
        }
        their_best = {where: max(values, key=lambda r: values[r]) for where, values in theirs.items()}
        differs = len(set(their_best.values())) > 1
        return told.NONE_OPTIMAL.judged(
            Verdict.HOLDS if len(clear) > 1 else Verdict.DEFECT if differs else Verdict.UNDECIDABLE,
            theirs="; ".join(
                f"{where}: {name} ({theirs[where][name]:.2f} Mbit/s)" for where, name in their_best.items()
            ),
            best="; ".join(f"{paths}, {control}: {name}" for (paths, control), name in best.items()),
            several=len(clear) > 1,
            winners=" and ".join(winners),
        )

    def _clearly_better(self, one: str, other: str, paths: str, control: str) -> bool:
        """Over delays that reorder packets, paired by seed."""
        values, others = (
            self.jittered.goodputs(paths=paths, control=control, response=response)
            for response in (one, other)
        )
        return clearly_above(values, others)

    def _against_none(self, paths: str, control: str) -> dict[str, float]:
        """By which part each response differs from none."""
        none = self._goodput(paths, control, "none")
        return {r: self._goodput(paths, control, r) / none - 1 for r in list(RESPONSES)[1:]}

    def _theirs_against_none(self, paths: str, control: str) -> dict[str, float]:
        """The same as the paper's simulator has them."""
        none = self._their_goodput(paths, control, "none")
        return {r: self._their_goodput(paths, control, r) / none - 1 for r in list(THEIRS)[1:]}

    def _dropped(self, paths: str) -> dict[int, float]:
        """By which part its F-RTO differs from none, by per cent of the ACKs that it drops; uncoupled."""
        none = self._their_goodput(paths, "uncoupled", "none")
        return {
            part: self.dropping.goodput(paths=paths, dropped=part).mean / none - 1 for part in made.DROPPED
        }

    def _dropped_words(self, paths: str) -> str:
        return _signed({f"{part} %": less for part, less in self._dropped(paths).items()})

    def _enough_dropped(self, paths: str) -> int | None:
        """The least part of the ACKs, in per cent, that makes its F-RTO two fifths less than none."""
        return next((part for part, less in self._dropped(paths).items() if less <= -LESS), None)

    def _jitter_words(self, paths: str) -> str:
        values = {r: self._interval(self.jittered, paths, "uncoupled", r).mean for r in RESPONSES}
        return f"{_listed(values)} Mbit/s"

    def _chart(  # noqa: PLR0913, PLR0917 - what is drawn, and what is said of it
        self, stem: str, paths: str, control: str, what: str, caption: str, figure: str = ""
    ) -> Chart:
        lines = []
        for index, response in enumerate(RESPONSES):
            x, y = over_time(self.fixed, what, paths=paths, control=control, response=response)
            lines.append(Line(response, x, y, markers=False, dashed=index % 2 == 1))
        y_label = "goodput, mean of 1 s (Mbit/s)" if what == "goodput" else "Σ cwnd / SRTT (Mbit/s)"
        measure = "goodput" if what == "goodput" else "window estimate"
        title = figure + f"{measure} over time, {paths}, {control}"
        title = title[0].upper() + title[1:]
        published = what == "window" and (paths, control) == ("three paths", "uncoupled")
        levels = [Level("DSACK, published: about 10 at its peak", PUBLISHED_PEAK)] if published else []
        return Chart(stem, title, "time (s)", y_label, lines, levels, caption)

    def _figures(self) -> None:
        same = "Curves lie on each other where the responses have nothing to respond to."
        estimate = (
            "What the paper's figures very likely show: an estimate from the windows, not octets delivered."
        )
        self.report.heading("The paper's figures, over fixed delays")
        for number, (paths, control) in FIGURES.items():
            stem = f"figure-{number}-{control}-{paths.replace(' ', '-')}"
            self.add(self._chart(f"{stem}-windows", paths, control, "window", estimate, f"Figure {number}: "))
            self.add(self._chart(stem, paths, control, "goodput", same, f"Figure {number}, what arrives: "))
        self.report.heading("Over delays that reorder packets")
        for paths in PATHS:
            self.add(
                Chart(
                    f"jitter-{paths.replace(' ', '-')}",
                    f"Goodput over delays that reorder packets, {paths}",
                    "congestion control",
                    "goodput (Mbit/s)",
                    [],
                    caption="Exponential jitter of 5 ms on each path: here detectors have something to detect.",
                    categories=list(CONTROLS),
                    bars=[
                        Bars.of(r, [self._interval(self.jittered, paths, control, r) for control in CONTROLS])
                        for r in COMPARED
                    ],
                )
            )
        self.report.heading("As the paper's simulator has them, and with its receiver alone")
        for stem, results, responses, title in (
            ("simulator", self.theirs, tuple(THEIRS), "as the paper's simulator has the responses"),
            (
                "receiver",
                self.receiver,
                COMPARED,
                "correct responses, the paper's receiver and first timeout",
            ),
        ):
            for paths in PATHS:
                self.add(
                    Chart(
                        f"{stem}-{paths.replace(' ', '-')}",
                        f"Goodput, {paths}: {title}",
                        "congestion control",
                        "goodput (Mbit/s)",
                        [],
                        caption="Over fixed delays, one run each.",
                        points=list(RERUN) if (stem, paths) == ("simulator", "three paths") else [],
                        categories=list(CONTROLS),
                        bars=[
                            Bars.of(r, [self._interval(results, paths, control, r) for control in CONTROLS])
                            for r in responses
                        ],
                    )
                )
        self.report.heading("The other numbers of paths and congestion controls")
        for paths in PATHS:
            for control in CONTROLS:
                if (paths, control) not in FIGURES.values():
                    stem = f"{control}-{paths.replace(' ', '-')}"
                    self.add(self._chart(stem, paths, control, "goodput", same))

    def _tables(self) -> None:
        self.report.heading("Tables")
        for kind, results in ((FIXED, self.fixed), (JITTER, self.jittered)):
            for paths in PATHS:
                rows = [
                    [
                        control,
                        *(
                            text_of(self._interval(results, paths, control, response))
                            for response in COMPARED
                        ),
                        self._verdict(results, paths, control),
                    ]
                    for control in CONTROLS
                ]
                self.report.table(
                    f"Goodput in Mbit/s, {paths}, {kind} "
                    f"({self._spurious(results, paths=paths)} spurious retransmissions in all runs)",
                    ["congestion control", *COMPARED, "differs from none"],
                    rows,
                )

        self._their_tables()
        self._door_table()
        self.report.table(
            "Goodput in Mbit/s, three subflows in three topologies whose bottlenecks reorder; the shared one has "
            f"{made.SHARED[0]} and {made.SHARED[1]}",
            ["topology", "congestion control", *COMPARED],
            [
                [
                    kind,
                    control,
                    *(
                        text_of(self.topologies.goodput(topology=kind, control=control, response=response))
                        for response in COMPARED
                    ),
                ]
                for kind in made.TOPOLOGIES
                for control in ("uncoupled", "linked-increases")
            ],
        )

    def _their_tables(self) -> None:
        where = [(paths, control) for paths in PATHS for control in CONTROLS]
        self.report.table(
            "Goodput and greatest window estimate in Mbit/s as the paper's simulator has the responses, fixed "
            "delays: ssthresh of two segments after each loss, no fast recovery, a first timeout of 0.2 s, subflow "
            "ACKs in the order of data; with DSACK an extra ACK for what is early, which counts as a duplicate for "
            "the subflow that blocks; Eifel by RFC 3522",
            ["paths", "congestion control", *(name for r in THEIRS for name in (r, "estimate"))],
            [[paths, control, *self._their_values(paths, control)] for paths, control in where],
        )
        rows = [("the paper's simulator, run again", RERUN_GOODPUT, RERUN_PEAK)]
        rows += [(name, *self._tried(name)) for name in made.TRIED]
        self.report.table(
            "What was tried for the level of DSACK with three paths, uncoupled, one thing at a time: goodput and "
            "greatest window estimate in Mbit/s",
            ["setting", "goodput", "estimate", "estimate to goodput"],
            [
                [name, f"{goodput:.2f}", f"{peak:.2f}", f"{peak / goodput:.2f}"]
                for name, goodput, peak in rows
            ],
        )
        self.report.table(
            "Goodput in Mbit/s of correct responses with the receiver of the paper's simulator and its first "
            "timeout, fixed delays",
            ["paths", "congestion control", *COMPARED],
            [
                [
                    paths,
                    control,
                    *(f"{self._interval(self.receiver, paths, control, r).mean:.2f}" for r in COMPARED),
                ]
                for paths, control in where
            ],
        )
        self.report.table(
            "Goodput in Mbit/s of the F-RTO of the paper's simulator by the part of the ACKs that it drops, "
            "uncoupled",
            ["paths", "none", *(f"{part} %" for part in made.DROPPED)],
            [
                [
                    paths,
                    f"{self._their_goodput(paths, 'uncoupled', 'none'):.2f}",
                    *(text_of(self.dropping.goodput(paths=paths, dropped=part)) for part in made.DROPPED),
                ]
                for paths in PATHS
            ],
        )

    def _their_values(self, paths: str, control: str) -> list[str]:
        found = []
        for response in THEIRS:
            found.append(f"{self._their_goodput(paths, control, response):.2f}")
            found.append(f"{self._window_peak(self.theirs, paths, control, response):.1f}")
        return found

    def _door_table(self) -> None:
        self.report.table(
            "Goodput in Mbit/s of TCP-DOOR by its T1 and T2, over delays that reorder packets",
            ["paths", "congestion control", "T1", *(f"T2 {t2}" for t2 in made.PERIODS)],
            [
                [
                    paths,
                    control,
                    t1,
                    *(
                        text_of(self.door.goodput(paths=paths, control=control, t1=t1, t2=t2))
                        for t2 in made.PERIODS
                    ),
                ]
                for paths in PATHS
                for control in made.DOOR_CONTROLS
                for t1 in made.PERIODS
            ],
        )

    @staticmethod
    def _interval(results: Results, paths: str, control: str, response: str) -> Interval:
        return results.goodput(paths=paths, control=control, response=response)

    @staticmethod
    def _verdict(results: Results, paths: str, control: str) -> str:
        """Which responses differ from none by more than the interval of the paired difference."""
        none = results.goodputs(paths=paths, control=control, response="none")
        found = []
        for response in COMPARED[1:]:
            values = results.goodputs(paths=paths, control=control, response=response)
            difference = paired_difference(values, none)
            if difference.known and (difference.low > 0 or difference.high < 0):
                found.append(f"{response} {difference.mean:+.2f}")
        return ", ".join(found) or ("none" if len(none) > 1 else "one run each")

    def _data(self) -> None:
        self.keep(
            {
                "fixed-connections": self.fixed.connections,
                "fixed-subflows": self.fixed.subflows,
                "fixed-series": self.fixed.series,
                "varying-connections": self.jittered.connections,
                "varying-subflows": self.jittered.subflows,
                "simulator-connections": self.theirs.connections,
                "simulator-subflows": self.theirs.subflows,
                "level-connections": self.level.connections,
                "receiver-connections": self.receiver.connections,
                "receiver-subflows": self.receiver.subflows,
                "dropping-connections": self.dropping.connections,
                "door-connections": self.door.connections,
                "topologies-connections": self.topologies.connections,
            }
        )
