"""When does a lossy second path make Multipath TCP worse than TCP on the good one?

client ══ A: 10 Mbit/s, 10 ms, loss 0.5 % ══ server
══ B:  2 Mbit/s, 10 ms, loss P     ══
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ropewalk.figures import Chart, Level, Line, Points
from ropewalk.report import Verdict
from ropewalk.source import Source, inline
from ropewalk.statistics import Interval, mean_interval, paired_difference
from ropewalk.studies import degraded_path_statements as told
from ropewalk.studies.cells import Cell, Results, Runner
from ropewalk.studies.degraded_wireless import WIRELESS, recorded
from ropewalk.studies.output import Output
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ropewalk.report import Claim
    from ropewalk.studies import StudyResult

TITLE: Final = "A degraded path beside a good one"
PAPER: Final = (
    "M. A. Amorim, C. J. G. Bozza, E. P. Ribeiro: Análise do impacto de um caminho degradado no "
    "desempenho da transmissão MPTCP"
)

SCENARIO: Final = """
[scenario]
name = "degraded-path"
duration = "60 s"
seed = 1

[tcp]
preset = "classic"

[hosts.client]
[hosts.server]

[links.a]
between = ["client", "server"]
rate = "10 Mbit/s"
delay = "10 ms"
loss = "0.5 %"
queue = { discipline = "drop-tail", limit = "50 packets" }

[links.b]
between = ["client", "server"]
rate = "2 Mbit/s"
delay = "10 ms"
queue = { discipline = "drop-tail", limit = "50 packets" }

[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
paths = ["a", "b"]
application = { kind = "bulk" }
"""

LOSSES: Final = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
"""P in per cent."""

SCHEDULERS: Final = (
    "round-robin",
    "lowest-rtt",
    "linux",
    "weighted-round-robin",
    "redundant",
    "blest",
    "ecf",
    "goodput-guard",
)
BUFFERS_KB: Final = (64, 128, 256, 512, 1000, 4000)
PUBLISHED_AT_ONE_PER_CENT: Final = 4.4
"""The paper's reading of its formula, in Mbit/s."""
PRINTED_TO: Final = 0.05
"""Half of its last digit."""
X_LABEL: Final = "loss P on path B (%)"
RERUN_DELAYED: Final = 5.70
"""TCP on A with delayed ACKs in the authors' simulator, Mbit/s."""
GOODPUT: Final = "goodput (Mbit/s)"


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is run."""

    losses: tuple[float, ...]
    seeds: tuple[int, ...]
    duration: str
    buffers_kb: tuple[int, ...]


FULL: Final = Extent(LOSSES, tuple(range(1, 11)), "60 s", BUFFERS_KB)
QUICK: Final = Extent((0.5, 2.0, 3.0, 5.0, 7.0), (1, 2, 3), "30 s", (64, 512, 4000))


def _source(extent: Extent, **overrides: object) -> Source:
    pairs = {"scenario.duration": extent.duration, **{_dotted(key): v for key, v in overrides.items()}}
    return Source(SCENARIO, None, tuple((key, inline(value, key)) for key, value in pairs.items()))


def _dotted(key: str) -> str:
    """`links__b__loss` as `links.b.loss`: dots cannot stand in a keyword."""
    return key.replace("__", ".")


def _percent(value: float) -> str:
    return f"{value:g} %"


def _multipath(extent: Extent, variant: str, **overrides: object) -> list[Cell]:
    return [
        Cell({"variant": variant, "loss": loss}, _source(extent, links__b__loss=_percent(loss), **overrides))
        for loss in extent.losses
    ]


def _alone(extent: Extent, variant: str, **overrides: object) -> Cell:
    """TCP on path A."""
    single = {"connections__bulk__protocol": "tcp", "connections__bulk__paths": ["a"]}
    return Cell({"variant": variant, "loss": 0.0}, _source(extent, **single, **overrides))


EVERY_PACKET: Final = {"segments": 1, "timeout": "200 ms"}
EVERY_SECOND: Final = {"segments": 2, "timeout": "200 ms"}
CLASSIC: Final = {"mptcp__scheduler": "round-robin", "tcp__preset": "classic"}
LINUX: Final = {"tcp__preset": "linux"}
CLASSIC_TCP: Final = "TCP on A, classic, delayed ACKs"
CLASSIC_TCP_EVERY: Final = "TCP on A, classic, an ACK per packet"
LINUX_TCP: Final = "TCP on A, linux, CUBIC"
LINUX_RENO: Final = "TCP on A, linux, NewReno"
CLASSIC_MPTCP: Final = "MPTCP, classic"
CLASSIC_LIA: Final = "MPTCP, classic, LIA with RFC 6356's cap"
CLASSIC_SACK: Final = "MPTCP, classic with SACK"
CLASSIC_WAITING: Final = "MPTCP, classic, subflow ACKs wait for the order of data"
LINUX_MPTCP: Final = "MPTCP, linux"
LINUX_LIA: Final = "MPTCP, linux, LIA"
LINUX_NO_SACK: Final = "MPTCP, linux without SACK"
WIFI_ALONE: Final = "TCP CUBIC by 802.11 alone"
CELL_ALONE: Final = "TCP CUBIC by the recorded line alone"
GUARD: Final = "MPTCP, linux, goodput guard"
TODAY: Final[dict[str, object]] = {"tcp.preset": "linux"}


def published_cells(extent: Extent) -> list[Cell]:
    """What the paper ran: the sweep over P, and its reference."""
    ack = {"tcp__delayed_ack": EVERY_PACKET}
    coupled = {"mptcp__congestion_control": "linked-increases"}
    return [
        *_multipath(extent, CLASSIC_MPTCP, **CLASSIC, **ack, **coupled),
        _alone(extent, CLASSIC_TCP, **CLASSIC, tcp__delayed_ack=EVERY_SECOND),
        _alone(extent, CLASSIC_TCP_EVERY, **CLASSIC, **ack),
    ]


def modern_cells(extent: Extent) -> list[Cell]:
    """The same with what senders do today, and with one setting changed at a time."""
    ack = {"tcp__delayed_ack": EVERY_PACKET}
    newreno = {"tcp__sack": False, "tcp__loss_recovery": "newreno"}
    return [
        *_multipath(extent, CLASSIC_LIA, **CLASSIC, **ack, mptcp__congestion_control="lia"),
        *_multipath(
            extent,
            CLASSIC_SACK,
            **CLASSIC,
            **ack,
            mptcp__congestion_control="linked-increases",
            tcp__sack=True,
            tcp__loss_recovery="sack",
        ),
        *_multipath(
            extent,
            CLASSIC_WAITING,
            **CLASSIC,
            **ack,
            mptcp__congestion_control="linked-increases",
            tcp__quirks={"subflow_acks": "in-data-order"},
        ),
        *_multipath(extent, LINUX_MPTCP, **LINUX),
        *_multipath(
            extent, LINUX_LIA, **LINUX, mptcp__scheduler="lowest-rtt", mptcp__congestion_control="lia"
        ),
        *_multipath(extent, LINUX_NO_SACK, **LINUX, **newreno),
        _alone(extent, LINUX_TCP, **LINUX),
        _alone(extent, LINUX_RENO, **LINUX, tcp__congestion_control="newreno"),
    ]


def scheduler_cells(extent: Extent) -> list[Cell]:
    """Each scheduler with the Linux preset, LIA, and a receive buffer that makes choices matter."""
    common: dict[str, object] = {
        **LINUX,
        "mptcp__congestion_control": "lia",
        "mptcp__receive_buffer": "128 kB",
    }
    cells = []
    for scheduler in SCHEDULERS:
        cells += _multipath(extent, scheduler, **common, mptcp__scheduler=scheduler)
    reno = {"tcp__congestion_control": "newreno"}
    cells.append(_alone(extent, "TCP", **LINUX, **reno, tcp__receive_buffer="128 kB"))
    return cells


def buffer_cells(extent: Extent) -> list[Cell]:
    """The Linux scheduler and goodput guard with receive buffers from tiny to ample."""
    cells = []
    for kilobytes in extent.buffers_kb:
        size = {"mptcp__receive_buffer": f"{kilobytes} kB"}
        for scheduler in ("linux", "goodput-guard"):
            cells += _multipath(
                extent, f"{scheduler}, {kilobytes} kB", **LINUX, **size, mptcp__scheduler=scheduler
            )
        cells.append(_alone(extent, f"TCP, {kilobytes} kB", **LINUX, tcp__receive_buffer=f"{kilobytes} kB"))
    return cells


ONE_WAY: Final = "as on Linux"
ONE_WAY_RENO: Final = "as on Linux, Reno"
"""Loss towards the receiver alone, packets of 1400 octets: the links under the kernel's stack, when "
"it was measured."""
MEASURED_LINUX: Final = {1.0: "9.23 ± 0.08", 3.0: "8.97 ± 0.12", 6.0: "8.06 ± 0.88"}
"""MPTCP with Reno on Linux 6.18 over these links, Mbit/s by P."""


def wireless_cells(extent: Extent) -> list[Cell]:
    """A download by 802.11 and a recorded line: each alone, and together."""
    variants: dict[str, dict[str, object]] = {
        WIFI_ALONE: {"connections.bulk.protocol": "tcp", "connections.bulk.paths": ["a"], **TODAY},
        CELL_ALONE: {"connections.bulk.protocol": "tcp", "connections.bulk.paths": ["b"], **TODAY},
        CLASSIC_MPTCP: {
            "tcp": {"preset": "classic", "delayed_ack": EVERY_PACKET},
            "mptcp": {"scheduler": "round-robin", "congestion_control": "linked-increases"},
        },
        LINUX_MPTCP: TODAY,
        LINUX_LIA: {**TODAY, "mptcp.scheduler": "lowest-rtt", "mptcp.congestion_control": "lia"},
        GUARD: {**TODAY, "mptcp.scheduler": "goodput-guard"},
    }
    return [
        Cell(
            {"line": line, "variant": variant},
            Source(WIRELESS).with_overrides(
                {
                    "scenario.duration": extent.duration,
                    "links.b.forward": {"trace": str(up)},
                    "links.b.backward": {"trace": str(down)},
                    **keys,
                }
            ),
        )
        for line, (down, up) in recorded().items()
        for variant, keys in variants.items()
    ]


def kernel_cells(extent: Extent) -> list[Cell]:
    """The links under which Linux was measured: CUBIC over path A, and over both."""

    def links(loss: float) -> dict[str, object]:
        lossy = {"links__a__forward": {"loss": "0.5 %"}, "links__b__forward": {"loss": _percent(loss)}}
        return {"links__a__loss": "0 %", "links__a__mtu": 1400, "links__b__mtu": 1400, **lossy}

    reno = {"mptcp__congestion_control": "uncoupled"}
    sweep = [
        Cell({"variant": variant, "loss": loss}, _source(extent, **LINUX, **keys, **links(loss)))
        for variant, keys in ((ONE_WAY, {}), (ONE_WAY_RENO, reno))
        for loss in extent.losses
    ]
    return [*sweep, _alone(extent, LINUX_TCP, **LINUX, **links(0.0))]


def formula_cells(extent: Extent) -> list[Cell]:
    """Single flows at the losses of the formula's curve, on a link that the formula's assumptions fit."""
    return [
        Cell(
            {"variant": preset, "loss": loss},
            _source(
                extent,
                connections__bulk__protocol="tcp",
                connections__bulk__paths=["a"],
                links__a__loss=_percent(loss),
                tcp__preset=preset,
                tcp__congestion_control="newreno",
            ),
        )
        for preset in ("classic", "linux")
        for loss in (0.1, 0.3, 1.0, 3.0, 10.0)
    ]


def rfc3819_mbps(loss: float, rtt_s: float = 0.02, mss: int = 1400) -> float:
    """RFC 3819 §8.3's throughput in Mbit/s (the paper's eq. 1) at a loss probability, with RTO = 5 RTT."""
    triple = rtt_s * math.sqrt(1.33 * loss)
    timeouts = 5 * rtt_s * loss * (1 + 32 * loss**2) * min(1.0, 3 * math.sqrt(0.75 * loss))
    return mss * 8e-6 / (triple + timeouts)


def crossing(losses: Sequence[float], multipath: Sequence[float], single: float) -> float | None:
    """The P at which the multipath curve first falls below the single path's line, interpolated."""
    previous: tuple[float, float] | None = None
    for loss, value in zip(losses, multipath, strict=True):
        if value < single:
            if previous is None:
                return loss
            before, above = previous
            return before + (loss - before) * (above - single) / (above - value)
        previous = loss, value
    return None


def _rises_and_falls(curve: Sequence[Interval]) -> bool:
    """Whether the highest mean lies between the ends, above both by more than their intervals."""
    best = max(curve, key=lambda interval: interval.mean)
    return all(best.known and end.known and best.low > end.high for end in (curve[0], curve[-1]))


def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
    """Run the study and write figures, data and report into `out`."""
    extent = QUICK if quick else FULL
    study = _Study(extent, out)
    study.is_quick = quick
    parts = {
        "published": published_cells(extent),
        "modern": modern_cells(extent),
        "schedulers": scheduler_cells(extent),
        "buffers": buffer_cells(extent),
        "formula": formula_cells(extent),
        "kernel": kernel_cells(extent),
    }
    if recorded():
        parts["wireless"] = wireless_cells(extent)
    for name, cells in parts.items():
        study.results[name] = runner.run(cells, extent.seeds, f"degraded-path, {name}")
    return study.write()


class _Study(Output):
    """The results, and what is made of them."""

    def __init__(self, extent: Extent, out: Path) -> None:
        self.extent = extent
        self.results: dict[str, Results] = {}
        seeds = extent.seeds
        super().__init__(
            out,
            TITLE,
            PAPER,
            {
                "seeds": f"{seeds[0]}…{seeds[-1]}",
                "simulated time of each run": extent.duration,
                "intervals": "95 % of the mean over the seeds",
            },
        )

    def write(self) -> StudyResult:
        claims = [self._threshold(), self._always_below(), self._rise_and_fall(), self._formula()]
        self.introduce(
            claims,
            "A connection has a good path A (10 Mbit/s, 10 ms, loss 0.5 %) and a path B (2 Mbit/s, 10 "
            "ms) whose loss P grows. From which P on would it be better off without B? First with the "
            "settings of the paper's simulator (preset classic), then with those of a current sender (preset linux).",
        )
        self._figures()
        self._tables()
        self._wireless_table()
        for name, results in self.results.items():
            self.keep({f"{name}-connections": results.connections, f"{name}-subflows": results.subflows})
        return self.finish("degraded-path")

    def _curve(self, part: str, variant: str) -> list[Interval]:
        return [self.results[part].goodput(variant=variant, loss=loss) for loss in self.extent.losses]

    def _subflow(self, part: str, variant: str, path: str) -> list[Interval]:
        return [
            self.results[part].throughput(path, variant=variant, loss=loss) for loss in self.extent.losses
        ]

    def _single(self, part: str, variant: str) -> Interval:
        return self.results[part].goodput(variant=variant, loss=0.0)

    def _crossing(self, part: str, variant: str, reference: Interval) -> str:
        means = [interval.mean for interval in self._curve(part, variant)]
        found = crossing(self.extent.losses, means, reference.mean)
        return (
            f"no crossing up to {self.extent.losses[-1]:g} %"
            if found is None
            else f"crossing at P = {found:.1f} %"
        )

    def _threshold(self) -> Claim:
        delayed = self._single("published", CLASSIC_TCP)
        every = self._single("published", CLASSIC_TCP_EVERY)
        linux = self._single("modern", LINUX_TCP)
        kernel = self._single("kernel", LINUX_TCP)
        found = {
            "over_delayed": self._crossing("published", CLASSIC_MPTCP, delayed),
            "over_every": self._crossing("published", CLASSIC_MPTCP, every),
            "over_linux": self._crossing("modern", LINUX_MPTCP, linux),
            "over_kernel": self._crossing("kernel", ONE_WAY, kernel),
        }
        crossings = list(found.values())
        inside = [c for c in crossings if c.startswith(("crossing at P = 5", "crossing at P = 6.0"))]
        verdict = Verdict.HOLDS if len(inside) == len(crossings) else Verdict.UNDECIDABLE
        if all(c.startswith("no") for c in crossings):
            verdict = Verdict.CONTRADICTED
        return told.THRESHOLD.judged(
            verdict,
            delayed=text_of(delayed),
            every=text_of(every),
            linux=text_of(linux),
            kernel=text_of(kernel),
            **found,
        )

    def _always_below(self) -> Claim:
        a = self._subflow("published", CLASSIC_MPTCP, "a")
        delayed, every = (
            self.results["published"].throughput("a", variant=variant, loss=0.0).mean
            for variant in (CLASSIC_TCP, CLASSIC_TCP_EVERY)
        )
        low, high = min(i.mean for i in a), max(i.mean for i in a)
        verdicts = {high < delayed, high < every}
        verdict = (
            Verdict.HOLDS
            if verdicts == {True}
            else Verdict.CONTRADICTED
            if verdicts == {False}
            else Verdict.UNDECIDABLE
        )
        return told.ALWAYS_BELOW.judged(
            verdict,
            low=low,
            high=high,
            delayed=delayed,
            every=every,
            below_delayed=high < delayed,
            below_every=high < every,
        )

    def _rise_and_fall(self) -> Claim:
        a = self._subflow("published", CLASSIC_MPTCP, "a")
        losses = self.extent.losses
        at_three = a[losses.index(3.0)]
        rises = at_three.mean > a[0].mean
        falls = a[-1].mean < at_three.mean - at_three.half_width
        waiting = self._subflow("modern", CLASSIC_WAITING, "a")
        held = ", ".join(f"{rate.mean:.2f} at {loss:g} %" for loss, rate in zip(losses, waiting, strict=True))
        verdict = (
            Verdict.HOLDS
            if rises and falls
            else Verdict.DEFECT
            if _rises_and_falls(waiting)
            else Verdict.CONTRADICTED
        )
        return told.RISE_AND_FALL.judged(
            verdict,
            first=a[0].mean,
            least=losses[0],
            at_three=at_three.mean,
            last=a[-1].mean,
            most=losses[-1],
            held=held,
        )

    def _formula(self) -> Claim:
        value = rfc3819_mbps(0.01)
        about = abs(value - PUBLISHED_AT_ONE_PER_CENT) <= PRINTED_TO
        nothing = rfc3819_mbps(0.1) < value / 5
        ours = self.results["formula"].goodput(variant="classic", loss=1.0)
        linux = self.results["formula"].goodput(variant="linux", loss=1.0)
        return told.FORMULA.judged(
            Verdict.HOLDS if about and nothing else Verdict.CONTRADICTED,
            value=value,
            little=rfc3819_mbps(0.1),
            classic=text_of(ours),
            linux=text_of(linux),
        )

    def _lines(self, part: str, variants: Iterable[str]) -> list[Line]:
        return [Line.of(name, self.extent.losses, self._curve(part, name)) for name in variants]

    def _figures(self) -> None:
        self.report.heading("The paper's figures")
        self.add(self._figure1())
        self.add(self._figure4())
        self.add(self._figure5())
        self.report.heading("What the paper could not show")
        self.add(self._waiting())
        self.add(self._settings())
        self.add(self._schedulers())
        self.add(self._buffers())

    def _figure1(self) -> Chart:
        grid = [0.001 * 10 ** (k / 30) for k in range(61)]
        lines = [
            Line("RFC 3819 formula", [100 * p for p in grid], [rfc3819_mbps(p) for p in grid], markers=False)
        ]
        for preset in ("classic", "linux"):
            losses = (0.1, 0.3, 1.0, 3.0, 10.0)
            values = [self.results["formula"].goodput(variant=preset, loss=loss) for loss in losses]
            lines.append(Line.of(f"simulated, NewReno, {preset}", losses, values, dashed=True))
        return Chart(
            stem="figure-1-formula",
            title="Figure 1: TCP throughput against loss, RTT 20 ms",
            x_label="loss P (%)",
            y_label="throughput (Mbit/s)",
            lines=lines,
            caption="The link's 10 Mbit/s bound the simulated flows, not the formula.",
            log_x=True,
            points=[Points("published reading at 1 %", [1.0], [PUBLISHED_AT_ONE_PER_CENT])],
        )

    def _figure4(self) -> Chart:
        return Chart(
            stem="figure-4-threshold",
            title="Figure 4: MPTCP goodput against P, TCP on path A as a line",
            x_label=X_LABEL,
            y_label=GOODPUT,
            lines=self._lines("published", [CLASSIC_MPTCP]),
            levels=[
                Level.of(name, self._single("published", name)) for name in (CLASSIC_TCP, CLASSIC_TCP_EVERY)
            ],
            points=[
                Points("MPTCP, the authors' simulator run again", [0.5, 3.0, 7.0], [7.71, 6.99, 5.99]),
                Points("published crossing: between 5 and 6 %", [5.5], [RERUN_DELAYED]),
            ],
            caption="Where the curve lies below a line, the second path does harm against that TCP. The paper's own "
            "curves are lost with its figure; it says between which P they cross.",
        )

    def _figure5(self) -> Chart:
        lines = [
            Line.of(
                f"subflow {path.upper()}", self.extent.losses, self._subflow("published", CLASSIC_MPTCP, path)
            )
            for path in ("a", "b")
        ]
        levels = [
            Level.of(name, self.results["published"].throughput("a", variant=name, loss=0.0))
            for name in (CLASSIC_TCP, CLASSIC_TCP_EVERY)
        ]
        return Chart(
            stem="figure-5-subflows",
            title="Figure 5: throughput of each subflow, and of TCP on path A",
            x_label=X_LABEL,
            y_label="throughput (Mbit/s)",
            lines=lines,
            levels=levels,
            caption="As B loses more, linked increases shift the growth to A.",
        )

    def _waiting(self) -> Chart:
        lines = [
            Line.of(
                "acknowledgements of its own",
                self.extent.losses,
                self._subflow("published", CLASSIC_MPTCP, "a"),
            ),
            Line.of(
                "acknowledgements that wait for the order of data",
                self.extent.losses,
                self._subflow("modern", CLASSIC_WAITING, "a"),
                dashed=True,
            ),
        ]
        return Chart(
            stem="waiting-acks",
            title="Subflow A, and the defect that makes it rise and fall",
            x_label=X_LABEL,
            y_label="throughput (Mbit/s)",
            lines=lines,
            caption="A receiver that holds A's acknowledgements back until B's data have come makes A rise and then "
            "fall, as published, though at a lower level and from an earlier P on.",
        )

    def _settings(self) -> Chart:
        names = [CLASSIC_LIA, CLASSIC_SACK, LINUX_MPTCP, LINUX_LIA, LINUX_NO_SACK]
        lines = [*self._lines("published", [CLASSIC_MPTCP]), *self._lines("modern", names)]
        return Chart(
            stem="settings",
            title="One setting at a time: presets, LIA's cap, SACK",
            x_label=X_LABEL,
            y_label=GOODPUT,
            lines=lines,
            levels=[Level.of(name, self._single("modern", name)) for name in (LINUX_TCP, LINUX_RENO)],
            caption="SACK and octet counting decide more than the loss of the second path does.",
        )

    def _schedulers(self) -> Chart:
        return Chart(
            stem="schedulers",
            title="Schedulers, linux preset, LIA, receive buffer 128 kB",
            x_label=X_LABEL,
            y_label=GOODPUT,
            lines=self._lines("schedulers", SCHEDULERS),
            levels=[Level.of("TCP on A, NewReno", self._single("schedulers", "TCP"))],
            caption="With a small receive buffer, what a scheduler puts on the lossy path blocks the good one.",
        )

    def _buffers(self) -> Chart:
        buffers = self.extent.buffers_kb
        worst = self.extent.losses[-1]
        results = self.results["buffers"]
        lines = []
        for scheduler in ("linux", "goodput-guard"):
            for loss in (self.extent.losses[0], 3.0, worst):
                values = [results.goodput(variant=f"{scheduler}, {size} kB", loss=loss) for size in buffers]
                lines.append(
                    Line.of(f"{scheduler}, P = {loss:g} %", buffers, values, dashed=scheduler != "linux")
                )
        alone = [results.goodput(variant=f"TCP, {size} kB", loss=0.0) for size in buffers]
        lines.append(Line.of("TCP on A", buffers, alone))
        return Chart(
            stem="buffers",
            title="Receive buffer of 64 kB to 4 MB, linux preset",
            x_label="receive buffer (kB)",
            y_label=GOODPUT,
            lines=lines,
            caption="Below the paths' joint bandwidth-delay product the buffer, not the loss, sets the goodput.",
            log_x=True,
        )

    def _tables(self) -> None:
        report = self.report
        report.heading("Tables")
        head = ["P (%)", "MPTCP", "subflow A", "subflow B"]
        curves = (
            self._curve("published", CLASSIC_MPTCP),
            self._subflow("published", CLASSIC_MPTCP, "a"),
            self._subflow("published", CLASSIC_MPTCP, "b"),
        )
        rows = [
            [f"{loss:g}", *(text_of(interval) for interval in values)]
            for loss, *values in zip(self.extent.losses, *curves, strict=True)
        ]
        rows += [
            [name, text_of(self._single("published", name)), "", ""]
            for name in (CLASSIC_TCP, CLASSIC_TCP_EVERY)
        ]
        report.table(
            "Settings of the paper's simulator, Mbit/s, mean ± half of the 95 % interval", head, rows
        )
        self._kernel_table()
        losses = [f"{loss:g} %" for loss in self.extent.losses]
        report.table(
            "Schedulers against TCP on path A (linux preset, LIA, receive buffer 128 kB): goodput in "
            "Mbit/s. Below TCP: the two 95 % intervals are apart. A mapping costs each Multipath TCP "
            "segment 24 octets, 1.7 % of the goodput, before any scheduler has decided anything.",
            ["scheduler", *losses, "below TCP at", "mean difference, paired by seed"],
            [self._scheduler_row(name) for name in SCHEDULERS],
        )

    def _kernel_table(self) -> None:
        curves = [self._curve("kernel", variant) for variant in (ONE_WAY, ONE_WAY_RENO)]
        rows = [
            [f"{loss:g}", text_of(cubic), text_of(reno), MEASURED_LINUX.get(loss, "")]
            for loss, cubic, reno in zip(self.extent.losses, *curves, strict=True)
        ]
        alone = text_of(self._single("kernel", LINUX_TCP))
        self.report.table(
            "Preset linux, uncoupled, loss towards the receiver alone, packets of 1400 octets: Multipath "
            "TCP's goodput in Mbit/s",
            ["P (%)", "CUBIC", "Reno", "Linux 6.18, Reno"],
            [*rows, ["TCP CUBIC on A", alone, "", "CUBIC 7.53 ± 0.07"]],
        )

    def _wireless_table(self) -> None:
        results = self.results.get("wireless")
        if results is None:
            return
        report = self.report
        report.heading("Wi-Fi and a recorded line")
        report.text(
            "What the paper has in mind: path A is a hop of 802.11b, a fifth of whose frames fail, "
            "path B a recorded cellular "
            "line. A download of "
            f"{self.extent.duration}. The last column is the difference to the best line alone, paired by seed.",
        )
        rows = []
        for line in recorded():
            alone = {name: results.goodputs(line=line, variant=name) for name in (WIFI_ALONE, CELL_ALONE)}
            best = max(alone.values(), key=sum)
            for variant in (WIFI_ALONE, CELL_ALONE, CLASSIC_MPTCP, LINUX_MPTCP, LINUX_LIA, GUARD):
                values = results.goodputs(line=line, variant=variant)
                difference = "" if variant in alone else text_of(paired_difference(values, best))
                rows.append([line, variant, text_of(mean_interval(values)), difference])
        report.table("Goodput in Mbit/s", ["path B", "", "goodput", "over the best line alone"], rows)

    def _scheduler_row(self, name: str) -> list[str]:
        results = self.results["schedulers"]
        alone = self._single("schedulers", "TCP")
        curve = self._curve("schedulers", name)
        below = [
            f"{loss:g} %"
            for loss, interval in zip(self.extent.losses, curve, strict=True)
            if interval.high < alone.low
        ]
        by_seed = results.goodputs(variant="TCP", loss=0.0)
        differences = [
            paired_difference(results.goodputs(variant=name, loss=loss), by_seed).mean
            for loss in self.extent.losses
        ]
        worst, best = min(differences), max(differences)
        values = [text_of(interval) for interval in curve]
        return [name, *values, ", ".join(below) or "none", f"{worst:+.2f} to {best:+.2f}"]
