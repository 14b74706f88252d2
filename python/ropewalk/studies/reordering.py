"""Do DSACK, Eifel and F-RTO help Multipath TCP, under four congestion controls, over two and three paths?

two:   client ══ 5 Mbit/s, 100 ms; 2 Mbit/s, 100 ms ══ server
three: client ══ 5 Mbit/s, 100 ms; 2 Mbit/s, 10 ms; 7 Mbit/s, 50 ms ══ server
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.figures import Chart, Line
from ropewalk.report import Claim, Verdict
from ropewalk.source import Source, inline
from ropewalk.statistics import Interval, paired_difference
from ropewalk.studies.cells import Cell, Results, Runner
from ropewalk.studies.output import Output
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ropewalk.studies import StudyResult


TITLE: Final = "Responses to reordering"
PAPER: Final = (
    "T. Arabi, K. A. Bozed, A. R. Zerek: Performance Evaluation and Computer Simulation of Multipath "
    "Transmission Control Protocol"
)

HEAD: Final = """
[scenario]
name = "reordering"
duration = "60 s"
seed = 1
sample_interval = "200 ms"

# SACK and timestamps for every response, so that they differ in nothing but the response itself.
[tcp]
preset = "classic"
sack = true
timestamps = true
report_duplicates = true
loss_recovery = "sack"

[tcp.delayed_ack]
segments = 1
timeout = "200 ms"

[hosts.client]
[hosts.server]
"""

CONNECTION: Final = """
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
application = { kind = "bulk", bytes = "10 MB" }
"""

PATHS: Final = {
    "two paths": (("5 Mbit/s", "100 ms"), ("2 Mbit/s", "100 ms")),
    "three paths": (("5 Mbit/s", "100 ms"), ("2 Mbit/s", "10 ms"), ("7 Mbit/s", "50 ms")),
}
RESPONSES: Final[dict[str, list[str]]] = {
    "none": [],
    "DSACK": ["dsack"],
    "Eifel": ["eifel"],
    "F-RTO": ["frto"],
}
CONTROLS: Final = ("uncoupled", "linked-increases", "rtt-compensator", "fully-coupled")
FIXED: Final = "fixed delays"
JITTER: Final = "reordering within paths"


def scenario(paths: str, *, jitter: bool) -> str:
    """The text of one of the two topologies, its delays fixed or varying enough to reorder packets."""
    links = []
    for index, (rate, delay) in enumerate(PATHS[paths]):
        links.append(
            f"[links.path{index}]\n"
            f'between = ["client", "server"]\nrate = "{rate}"\ndelay = "{delay}"\n'
            'queue = { discipline = "drop-tail", limit = "100 packets" }\n'
        )
        if jitter:
            links.append('jitter = { distribution = "exponential", mean = "5 ms" }\nreorder = true\n')
    names = ", ".join(f'"path{index}"' for index in range(len(PATHS[paths])))
    return HEAD + "\n".join(links) + CONNECTION + f"paths = [{names}]\n"


def cells(kind: str) -> list[Cell]:
    """Every topology, congestion control and response."""
    return [
        Cell(
            {"paths": paths, "control": control, "response": response},
            Source(
                scenario(paths, jitter=kind == JITTER),
                None,
                (
                    ("tcp.spurious", inline(detectors, "tcp.spurious")),
                    ("mptcp.congestion_control", inline(control, "mptcp.congestion_control")),
                ),
            ),
        )
        for paths in PATHS
        for control in CONTROLS
        for response, detectors in RESPONSES.items()
    ]


def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
    """Run the study and write figures, data and report into `out`."""
    seeds = tuple(range(1, 4 if quick else 11))
    # Without random loss or jitter the seeds differ in keys and sequence numbers only: one is enough.
    fixed = runner.run(cells(FIXED), (1,), "reordering, fixed delays", series=True)
    jittered = runner.run(cells(JITTER), seeds, "reordering, varying delays")
    study = _Study(out, seeds, fixed, jittered)
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
    return ", ".join(f"{name} {100 * part:+.0f} %" for name, part in parts.items())


class _Study(Output):
    """The results, and what is made of them."""

    def __init__(self, out: Path, seeds: tuple[int, ...], fixed: Results, jittered: Results) -> None:
        self.fixed = fixed
        self.jittered = jittered
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

    def _spurious(self, results: Results) -> int:
        return int(results.subflows["spurious_retransmissions"].sum())

    def _window_peak(self, paths: str, control: str, response: str) -> float:
        return max(self._over_time(paths, control, response, "window")[1])

    def _best(self) -> Claim:
        peaks = {r: self._window_peak("three paths", "uncoupled", r) for r in RESPONSES}
        goodputs = {r: self._goodput("three paths", "uncoupled", r) for r in RESPONSES}
        alike = _alike(goodputs.values()) and _alike(peaks.values())
        return Claim(
            claim="Three subflows do best with DSACK and uncoupled control, at about 10 Mbit/s (Fig. 9)",
            published="about 10 Mbit/s of “global throughput”, DSACK above the others",
            rerun="DSACK: window estimate 10.0 at its peak, goodput 7.2 Mbit/s",
            measured="window estimate at its peak "
            + _listed(peaks)
            + " Mbit/s; goodput "
            + _listed(goodputs)
            + " Mbit/s",
            verdict=Verdict.CONTRADICTED if alike else Verdict.UNDECIDABLE,
            reason=(
                "With fixed delays each path keeps its order, so there is little for any detector to "
                f"undo. The runs have {self._spurious(self.fixed)} spurious retransmissions in all. "
                "What the paper calls global "
                "throughput is very likely the sum of window over round-trip time. That estimate counts "
                "what is queued and lost too, so it is compared with the estimate here and not with goodput."
            ),
        )

    def _below_none(self) -> Claim:
        differences = self._against_none("three paths", "uncoupled")
        below = [response for response in ("Eifel", "F-RTO") if differences[response] < -NOISE]
        return Claim(
            claim="Eifel and F-RTO are 40 less than no response (three subflows, uncoupled; Fig. 9)",
            published="“40 less than” none: per cent, by the simulator's numbers",
            measured=f"goodput {_signed(differences)} against none",
            verdict=Verdict.HOLDS if len(below) == 2 else Verdict.CONTRADICTED,  # noqa: PLR2004 - both of them
            reason=(
                "By RFC 3522 and RFC 5682 neither acts without evidence that the original arrived. The "
                "paper's simulator undoes true losses under the name of Eifel, and switches fast "
                "retransmit off under the name of F-RTO. Neither defect is modelled here."
            ),
        )

    def _linked_increases(self) -> Claim:
        differences = self._against_none("two paths", "linked-increases")
        uncoupled = self._goodput("two paths", "uncoupled", "DSACK")
        ours = self._goodput("two paths", "linked-increases", "DSACK")
        as_uncoupled = abs(ours / uncoupled - 1) <= NOISE
        below = all(differences[name] < -NOISE for name in ("Eifel", "F-RTO"))
        return Claim(
            claim="Two subflows, linked increases: DSACK is as under uncoupled, Eifel and F-RTO are lower (Fig. 8)",
            published="DSACK and none as under uncoupled; Eifel and F-RTO lower once something spurious was detected",
            measured=f"DSACK {ours:.2f} Mbit/s, under uncoupled {uncoupled:.2f}; against none {_signed(differences)}",
            verdict=Verdict.HOLDS if as_uncoupled and below else Verdict.CONTRADICTED,
            reason=(
                "Nothing is retransmitted needlessly over fixed delays, so Eifel and F-RTO have nothing "
                "to detect. The part about DSACK " + ("holds." if as_uncoupled else "does not hold either.")
            ),
        )

    def _compensator(self) -> Claim:
        values = {r: self._goodput("two paths", "rtt-compensator", r) for r in RESPONSES}
        best = max(values.values())
        return Claim(
            claim="Two subflows, RTT compensator: DSACK is good, but not the best (conclusion)",
            published="good, not the best",
            measured=f"{_listed(values)} Mbit/s",
            verdict=Verdict.HOLDS if values["DSACK"] < (1 - NOISE) * best else Verdict.CONTRADICTED,
            reason="The four responses do not differ over fixed delays, so none of them is the best.",
        )

    def _eifel(self) -> Claim:
        controls = ("uncoupled", "linked-increases", "rtt-compensator")
        two = {control: self._against_none("two paths", control)["Eifel"] for control in controls}
        three = {control: self._against_none("three paths", control)["Eifel"] for control in controls}
        only_two = min(two.values()) > NOISE and max(three.values()) <= NOISE
        return Claim(
            claim="Eifel improves throughput with two subflows only (conclusion)",
            published="better than none with two subflows, not with three",
            measured=f"against none, two subflows: {_signed(two)}; three: {_signed(three)}",
            correct="over delays that reorder packets, three subflows, uncoupled: "
            + self._jitter_words("three paths"),
            verdict=Verdict.HOLDS if only_two else Verdict.CONTRADICTED,
            reason=(
                "Eifel acts when a timestamp shows that the original arrived. Over fixed delays that "
                "does not happen, with two subflows or three. Over delays that reorder packets it helps with both."
            ),
        )

    def _frto(self) -> Claim:
        rows = self.fixed.subflows.filter(response="F-RTO")
        spurious, timeouts = (int(rows[name].sum()) for name in ("spurious_retransmissions", "timeouts"))
        return Claim(
            claim="F-RTO rises exponentially, falls at a spurious retransmission and stays in recovery (conclusion)",
            published="as said",
            measured=f"{timeouts} timeouts and {spurious} spurious retransmissions in all runs with F-RTO",
            verdict=Verdict.CONTRADICTED if spurious == 0 else Verdict.OPEN,
            reason=(
                "F-RTO examines timeouts, and no retransmission is spurious in these runs. In the "
                "paper's simulator F-RTO switches fast retransmit off and drops ACKs at a rate taken from the "
                "wall clock."
            ),
        )

    def _none_optimal(self) -> Claim:
        best = {
            f"{paths}, {control}": max(
                list(RESPONSES)[1:], key=lambda r: self._interval(self.jittered, paths, control, r).mean
            )
            for paths in PATHS
            for control in CONTROLS
        }
        winners = sorted(set(best.values()))
        return Claim(
            claim="None of the three responses is the optimal solution (conclusion)",
            published="none is best in every case",
            measured="over fixed delays the responses do not differ",
            correct="best over delays that reorder packets: "
            + "; ".join(f"{where}: {name}" for where, name in best.items()),
            verdict=Verdict.HOLDS if len(winners) > 1 else Verdict.UNDECIDABLE,
            reason=(
                "Over the paper's fixed delays there is nothing to tell the responses apart. Over delays "
                "that reorder packets "
                + (f"{winners[0]} is best in every case." if len(winners) == 1 else "no one is best in all.")
            ),
        )

    def _against_none(self, paths: str, control: str) -> dict[str, float]:
        """By which part each response differs from none."""
        none = self._goodput(paths, control, "none")
        return {r: self._goodput(paths, control, r) / none - 1 for r in list(RESPONSES)[1:]}

    def _jitter_words(self, paths: str) -> str:
        values = {r: self._interval(self.jittered, paths, "uncoupled", r).mean for r in RESPONSES}
        return f"{_listed(values)} Mbit/s"

    def _over_time(
        self, paths: str, control: str, response: str, what: str
    ) -> tuple[list[float], list[float]]:
        """Time in s against goodput, or against the sum of cwnd / SRTT, in Mbit/s."""
        import polars as pl

        series = self.fixed.series
        assert series is not None  # noqa: S101 - the runner was asked for it
        rows = series.filter(
            pl.col("paths") == paths, pl.col("control") == control, pl.col("response") == response
        )
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

    def _chart(self, stem: str, paths: str, control: str, what: str, caption: str) -> Chart:
        lines = []
        for index, response in enumerate(RESPONSES):
            x, y = self._over_time(paths, control, response, what)
            lines.append(Line(response, x, y, markers=False, dashed=index % 2 == 1))
        y_label = "goodput, mean of 1 s (Mbit/s)" if what == "goodput" else "Σ cwnd / SRTT (Mbit/s)"
        title = f"{'Goodput' if what == 'goodput' else 'Window estimate'} over time: {paths}, {control}"
        return Chart(stem, title, "time (s)", y_label, lines, caption=caption)

    def _figures(self) -> None:
        same = "Curves lie on each other where the responses have nothing to respond to."
        estimate = (
            "What the paper's figures very likely show: an estimate from the windows, not octets delivered."
        )
        self.report.heading("The paper's figures, over fixed delays")
        for figure, control in (("figure-8", "linked-increases"), ("figure-9", "uncoupled")):
            for paths in PATHS:
                stem = f"{figure}-{control}-{paths.replace(' ', '-')}"
                self.add(self._chart(stem, paths, control, "goodput", same))
                self.add(self._chart(f"{stem}-windows", paths, control, "window", estimate))
        self.report.heading("The other congestion controls")
        for control in ("rtt-compensator", "fully-coupled"):
            for paths in PATHS:
                self.add(self._chart(f"{control}-{paths.replace(' ', '-')}", paths, control, "goodput", same))

    def _tables(self) -> None:
        self.report.heading("Tables")
        for kind, results in ((FIXED, self.fixed), (JITTER, self.jittered)):
            for paths in PATHS:
                rows = [
                    [
                        control,
                        *(
                            text_of(self._interval(results, paths, control, response))
                            for response in RESPONSES
                        ),
                        self._verdict(results, paths, control),
                    ]
                    for control in CONTROLS
                ]
                self.report.table(
                    f"Goodput in Mbit/s, {paths}, {kind} "
                    f"({self._spurious(results)} spurious retransmissions in all runs)",
                    ["congestion control", *RESPONSES, "differs from none"],
                    rows,
                )

    @staticmethod
    def _interval(results: Results, paths: str, control: str, response: str) -> Interval:
        return results.goodput(paths=paths, control=control, response=response)

    @staticmethod
    def _verdict(results: Results, paths: str, control: str) -> str:
        """Which responses differ from none by more than the interval of the paired difference."""
        none = results.goodputs(paths=paths, control=control, response="none")
        found = []
        for response in list(RESPONSES)[1:]:
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
            }
        )
