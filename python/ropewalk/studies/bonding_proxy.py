"""TCP by proxies and UDP by the bond, against both by the bond: the part of the bonding study's report about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.benefit import verdict
from ropewalk.statistics import mean_interval, paired_difference
from ropewalk.studies import bonding_beyond_cells as wider
from ropewalk.studies import bonding_proxy_cells as made
from ropewalk.studies.bonding_media import short

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ropewalk.report import Report
    from ropewalk.studies.bonding_measures import Measured

PART: Final = "proxy"


class Proxies:
    """That part of the report."""

    def __init__(self, measured: Measured, report: Report) -> None:
        """Of these results, for this report."""
        self.measured = measured
        self.report = report
        self.conditions = made.conditions()

    def goodputs(self, condition: str, scheduler: str, way: str) -> list[float]:
        """Of the TCP flow, by seed, Mbit/s."""
        return self.measured.goodputs(PART, condition=condition, scheduler=scheduler, way=way)

    def losses(self, condition: str, scheduler: str, way: str) -> list[float]:
        """Of UDP, by seed, per cent."""
        return self.measured.losses(PART, condition=condition, scheduler=scheduler, way=way)

    def delays(self, condition: str, scheduler: str, way: str) -> list[float]:
        """The 99th percentile of UDP's one-way delays, by seed, ms."""
        rows = self.measured.rows(
            PART, "connections", condition=condition, scheduler=scheduler, way=way, protocol="udp"
        )
        return rows.sort("seed")["delay_p99_ms"].to_list()

    def write(self) -> None:
        """Add it."""
        self.report.heading("TCP by proxies for Multipath TCP, UDP by the bond")
        self.report.text(
            f"{made.UDP_MBPS:g} Mbit/s of UDP go by the bond. Beside them one greedy TCP flow goes by the bond too, "
            "or between two proxies, by Multipath TCP with a subflow on each of the same lines. The links to the "
            "proxies limit nothing, so what is between the proxies stands for the whole flow."
        )
        for what, of in (
            ("TCP goodput (Mbit/s)", self.goodputs),
            ("UDP loss (%)", self.losses),
            ("UDP's 99th percentile of delay (ms)", self.delays),
        ):
            self._values(f"TCP by bond or proxies: {what}", of)
        self._differences("TCP by proxies against TCP by the bond (Mbit/s)", self.goodputs)

    def _values(self, caption: str, of: Callable[[str, str, str], list[float]]) -> None:
        rows = [
            [scheduler, way, *(short(mean_interval(of(at, scheduler, way))) for at in self.conditions)]
            for scheduler in wider.SCHEDULERS
            for way in made.WAYS
        ]
        self.report.table(caption, ["scheduler of the bond", "TCP", *self.conditions], rows)

    def _differences(self, caption: str, of: Callable[[str, str, str], list[float]]) -> None:
        rows = [
            [scheduler, way, *(self._difference(of, at, scheduler, way) for at in self.conditions)]
            for scheduler in wider.SCHEDULERS
            for way in made.COUPLING
        ]
        self.report.table(caption, ["scheduler of the bond", "TCP", *self.conditions], rows)

    def _difference(
        self, of: Callable[[str, str, str], list[float]], condition: str, scheduler: str, way: str
    ) -> str:
        bonded: Sequence[float] = of(condition, scheduler, made.BY_BOND)
        found = paired_difference(of(condition, scheduler, way), bonded)
        spread = f" ± {found.half_width:.1f}" if found.known else ""
        return f"{found.mean:+.1f}{spread}: {verdict(found, mean_interval(bonded).mean)}"
