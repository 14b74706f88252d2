"""The bonding study beyond its paper: every scheduler on the same traffic, judged against the best line alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.benefit import judge
from ropewalk.figures import Chart, Level, Line
from ropewalk.statistics import mean_interval
from ropewalk.studies import bonding_beyond_cells as made
from ropewalk.studies.bonding_cells import DSL_MBPS
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ropewalk.benefit import Benefit
    from ropewalk.report import Report
    from ropewalk.statistics import Interval
    from ropewalk.studies.bonding_measures import Measured

UDP_HEAD: Final = [
    "scheduler",
    "octets sent by LTE for 100 delivered",
    "least possible for those",
    "loss (%)",
    "out of order (‰)",
    "median delay (ms)",
    "99th percentile (ms)",
]
WHY_HEAD: Final = [
    "LTE line, and what else differs",
    "TCP (Mbit/s)",
    "brought by LTE (Mbit/s)",
    "lost on LTE",
    "lost on DSL",
    "too late for its order",
    "found no room",
]
LTE_STEADY_MBPS: Final = 60.0
LTE_BAD_MBPS: Final = 2.0


class Beyond:
    """The part of the report that the paper has no counterpart of."""

    def __init__(self, measured: Measured, report: Report, add: Callable[[Chart], None]) -> None:
        """Of these results, for this report; charts are handed to `add`."""
        self.measured = measured
        self.report = report
        self.add = add
        self.conditions = list(made.conditions())

    def write(self) -> None:
        """Add it."""
        self._udp()
        self._tcp()
        if made.recorded():
            self._why()

    # Datagrams.

    def _udp(self) -> None:
        self.report.heading(f"Every scheduler on the same traffic: {made.OFFERED_MBPS:g} Mbit/s of UDP")
        self.report.text(
            f"{made.OFFERED_MBPS:g} Mbit/s are offered, as they are on the line. For a hundred octets that the bond "
            "delivered, so many were sent by LTE; so many of the hundred DSL could not have brought, had it been "
            "full all the time it was up: no scheduler can send less by LTE. Weighted round robin has k = 0.5, "
            "T_dwd = 250 ms, a greatest weight of 50, rounded weights, and keeps the order of all packets; it is run "
            "in both readings, with a weight that falls by one per report as printed, and by one per T_dwd as in the "
            "figures above."
        )
        for condition in self.conditions:
            least = self._least_loss(condition)
            self.report.table(
                f"UDP, {condition}" + (f": at least {least:.1f} % must be lost" if least > 0 else ""),
                UDP_HEAD,
                [self._udp_row(condition, scheduler) for scheduler in made.SCHEDULERS],
            )
        if not made.recorded():
            self.report.text(
                "Recorded LTE lines were not at hand: the folder in ROPEWALK_TRACES (or ../shared/traces) holds none."
            )

    def _least_loss(self, condition: str) -> float:
        """Per cent of what is offered that the lines together cannot carry."""
        end = self.measured.extent.beyond_s - 1.0
        lte = {made.BAD: LTE_BAD_MBPS}.get(condition, LTE_STEADY_MBPS)
        pair = made.recorded().get(condition)
        if pair is not None:
            lte = made.mean_mbps(pair.down, end)
        up = made.dsl_seconds(condition, end)
        offered = made.OFFERED_MBPS
        carried = up * min(offered, DSL_MBPS + lte) + (end - up) * min(offered, lte)
        return 100 * (1 - carried / (offered * end))

    def _udp_row(self, condition: str, scheduler: str) -> list[object]:
        measured = self.measured
        where: dict[str, str | float] = {"condition": condition, "scheduler": scheduler}
        dsl_s = made.dsl_seconds(condition, measured.extent.beyond_s - 1)
        return [
            scheduler,
            text_of(measured.lte_share("udp", **where)),
            text_of(measured.least_share("udp", dsl_s, **where)),
            text_of(measured.loss("udp", **where)),
            text_of(measured.per_mille_reordered("udp", **where)),
            text_of(measured.column("udp", "delay_median_ms", name="flow", **where)),
            text_of(measured.column("udp", "delay_p99_ms", name="flow", **where)),
        ]

    # One TCP flow.

    def goodputs(self, variant: str, condition: str) -> list[float]:
        """Of the one flow, by seed."""
        return self.measured.goodputs("tcp", variant=variant, condition=condition)

    def benefit(self, variant: str, condition: str, singles: Iterable[str]) -> Benefit:
        """A variant against the best of others."""
        return judge(
            variant,
            self.goodputs(variant, condition),
            {single: self.goodputs(single, condition) for single in singles},
        )

    def _tcp(self) -> None:
        self.report.heading(
            "One TCP flow: through the bond, on each line alone, and Multipath TCP end to end"
        )
        rows = [
            [variant, *(text_of(mean_interval(self.goodputs(variant, at))) for at in self.conditions)]
            for variant in made.VARIANTS
        ]
        head = ["goodput (Mbit/s)", *self.conditions]
        self.report.table("TCP as Linux has it (CUBIC, SACK, RACK-TLP)", head, rows)
        self.report.text(
            "Several lines must never be worse than the best of them. Benefit and harm: the 95 % interval of the "
            "difference, paired by seed, excludes zero. The best line alone has no tunnel, whose headers are "
            f"{100 * (1 - self.measured.inner):.1f} % of a packet; the best line through the tunnel, a bond of "
            "that one path, tells what of a harm is theirs."
        )
        self._verdicts("against the best line alone (Mbit/s)", made.BONDED, made.ALONE.values())
        self._verdicts(
            "against the best line through the tunnel (Mbit/s)", made.SCHEDULERS, made.TUNNELLED.values()
        )
        self.report.text(self._harms())
        self._tcp_chart()

    def _verdicts(self, what: str, variants: Iterable[str], singles: Iterable[str]) -> None:
        lines = list(singles)
        best = [self.benefit(lines[0], at, lines) for at in self.conditions]
        rows: list[list[str]] = [["the line to beat", *(one.best_path for one in best)]]
        for variant in variants:
            found = [self.benefit(variant, at, lines) for at in self.conditions]
            rows.append([variant, *(f"{signed(one.difference)}: {one.verdict}" for one in found)])
        self.report.table(f"One TCP flow {what}", ["difference", *self.conditions], rows)

    def harmed(self, singles: Iterable[str]) -> list[str]:
        """What is worse than the best of the single lines, and where."""
        lines = list(singles)
        told = []
        for variant in made.SCHEDULERS:
            found = {at: self.benefit(variant, at, lines) for at in self.conditions}
            where = [f"{at} ({signed(one.difference)})" for at, one in found.items() if one.verdict == "harm"]
            if where:
                told.append(f"{variant}: {', '.join(where)}")
        return told

    def _harms(self) -> str:
        alone, through = (self.harmed(singles.values()) for singles in (made.ALONE, made.TUNNELLED))
        return (
            f"Harm against the best line alone, Mbit/s: {'; '.join(alone) or 'none'}. "
            f"Harm against the best line through the tunnel, Mbit/s: {'; '.join(through) or 'none'}."
        )

    def _tcp_chart(self) -> None:
        x = [float(index + 1) for index in range(len(self.conditions))]
        lines = [
            Line.of(v, x, [mean_interval(self.goodputs(v, at)) for at in self.conditions])
            for v in (*made.BONDED, *made.ALONE.values())
        ]
        named = "; ".join(f"{index + 1}: {condition}" for index, condition in enumerate(self.conditions))
        ceiling = Level("both lines, TCP payload", (DSL_MBPS + LTE_STEADY_MBPS) * 1400 / 1500)
        self.add(
            Chart(
                "beyond-tcp",
                "One TCP flow over two lines",
                "condition (see caption)",
                "goodput (Mbit/s)",
                lines,
                levels=[ceiling],
                caption=f"Conditions: {named}. Points are joined only to make them easier to follow.",
            )
        )

    # Why recorded lines are little used.

    def _why(self) -> None:
        self.report.heading(
            "What one TCP flow makes of a recorded LTE line, rate-aware, and what it costs it"
        )
        self.report.text(
            "Each recorded line again, its opportunities spread evenly over windows of growing length: the variation "
            "within a window is gone and nothing else; mean, buffer and delay are the same. What averaging brings is "
            "what the variation within the window costs. Then several flows; and a resequencer that waits longer, "
            "or none."
        )
        for condition in made.recorded():
            self.report.table(
                f"{condition}: {self._mean_rate(condition):.1f} Mbit/s on average",
                WHY_HEAD,
                [self._why_row(condition, variant) for variant in self._variants(condition)],
            )
        self.report.text(" ".join(self._closed(condition) for condition in made.recorded()))
        self._why_chart()

    def _mean_rate(self, condition: str) -> float:
        return made.mean_mbps(made.recorded()[condition].down, self.measured.extent.beyond_s)

    def _variants(self, condition: str) -> list[str]:
        rows = self.measured.rows("why", "connections", condition=condition)
        return [name for name in made.WHY if name in set(rows["variant"].to_list())]

    def _why_row(self, condition: str, variant: str) -> list[object]:
        where: dict[str, str | float] = {"condition": condition, "variant": variant}

        def count(path: str | None, column: str) -> str:
            return text_of(mean_interval(map(float, self.measured.of_bond("why", path, column, **where))))

        return [
            variant,
            text_of(mean_interval(self.measured.goodputs("why", **where))),
            text_of(self.brought(condition, variant)),
            count("lte", "lost"),
            count("dsl", "lost"),
            count(None, "late"),
            count(None, "unsent"),
        ]

    def brought(self, condition: str, variant: str) -> Interval:
        """What LTE brought, Mbit/s, without the tunnel's headers."""
        octets = self.measured.of_bond("why", "lte", "received_bytes", condition=condition, variant=variant)
        seconds = self.measured.extent.beyond_s
        return mean_interval(8e-6 * value / seconds for value in octets)

    def _closed(self, condition: str) -> str:
        """How much of what variation costs each window's averaging brings."""
        at = {
            name: mean_interval(self.measured.goodputs("why", condition=condition, variant=name)).mean
            for name in (made.AS_RECORDED, *map(made.averaged_over, made.WINDOWS_MS), made.WHOLE)
        }
        gap = at[made.WHOLE] - at[made.AS_RECORDED]
        parts = ", ".join(
            f"{at[made.averaged_over(window)] - at[made.AS_RECORDED]:+.1f} Mbit/s over {window} ms"
            for window in made.WINDOWS_MS
        )
        return (
            f"{condition}: {at[made.AS_RECORDED]:.1f} Mbit/s as recorded; averaged {parts}, "
            f"{gap:+.1f} Mbit/s over the whole run."
        )

    def _why_chart(self) -> None:
        length = 1000.0 * self.measured.extent.beyond_s
        x = [1.0, *map(float, made.WINDOWS_MS), length]
        names = (made.AS_RECORDED, *map(made.averaged_over, made.WINDOWS_MS), made.WHOLE)
        lines = [
            Line.of(condition, x, [self.brought(condition, name) for name in names])
            for condition in made.recorded()
        ]
        self.add(
            Chart(
                "why-variation",
                "What LTE brings one TCP flow, rate-aware, its variation averaged out",
                "window of the average (ms)",
                "brought by LTE (Mbit/s)",
                lines,
                caption="First point: as recorded, whose times are whole ms; last: the whole run.",
                log_x=True,
            )
        )


def signed(difference: Interval) -> str:
    """A difference with its sign and interval."""
    spread = f" ± {difference.half_width:.2f}" if difference.known else ""
    return f"{difference.mean:+.2f}{spread}"
