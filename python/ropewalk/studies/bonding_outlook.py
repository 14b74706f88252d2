"""What the bonding paper leaves for later: voice and video over the bond, both ways, and proxies for TCP beside it.

server ── (gateway) ══ DSL, LTE ══ (gateway) ── client         both ways at once
proxy  ────────────── the same two lines ────────── proxy      TCP, while UDP goes by the gateways
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.benefit import clearly_above
from ropewalk.report import Verdict
from ropewalk.statistics import mean_interval
from ropewalk.studies import bonding_cells as made
from ropewalk.studies import bonding_claims as stated
from ropewalk.studies import bonding_media_cells as calls
from ropewalk.studies import bonding_proxy_cells as proxies
from ropewalk.studies import bonding_statements as said
from ropewalk.studies.bonding import PAPER
from ropewalk.studies.bonding_beyond_cells import SCHEDULERS, STEADY
from ropewalk.studies.bonding_measures import Measured, over_readings
from ropewalk.studies.bonding_media import SATISFIED, WAYS, Media, short
from ropewalk.studies.bonding_proxy import Proxies
from ropewalk.studies.bonding_small_gain import SmallGain
from ropewalk.studies.output import Output
from ropewalk.tables import cell as text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ropewalk.report import Claim
    from ropewalk.store import Table
    from ropewalk.studies import StudyResult
    from ropewalk.studies.cells import Runner

__all__ = ["PAPER", "TITLE", "run"]

TITLE: Final = "Bonding DSL and LTE: calls, and proxies beside it"
FULL: Final = made.Extent(tuple(range(1, 21)), 30, 88)
QUICK: Final = made.Extent((1, 2), 10, 30)
TABLES: Final[tuple[Table, ...]] = ("connections", "bonds")
PAPERS: Final = ("weighted round robin, as printed", "weighted round robin, one per T_dwd")
"""The paper's scheduler, in both readings."""


def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
    """Run the study and write figures, data and report into `out`."""
    extent = QUICK if quick else FULL
    seeds = extent.seeds
    measured = Measured(extent)
    measured.results["media"] = runner.run(
        calls.media_cells(extent),
        seeds,
        "bonding-outlook, voice and video both ways",
        tables=(*TABLES, "frames"),
    )
    measured.results["proxy"] = runner.run(
        proxies.proxy_cells(extent), seeds, "bonding-outlook, TCP by proxies", tables=TABLES
    )
    measured.results["small gain"] = runner.run(
        made.small_gain_cells(), seeds, "bonding-outlook, one rising flow, k = 0.1", tables=TABLES
    )
    study = _Study(measured, out)
    study.is_quick = quick
    return study.write()


class _Study(Output):
    """What is made of the results."""

    def __init__(self, measured: Measured, out: Path) -> None:
        seeds = measured.extent.seeds
        super().__init__(
            out,
            TITLE,
            PAPER,
            {"seeds": f"{seeds[0]}…{seeds[-1]}", "intervals": "95 % of the mean over the seeds"},
        )
        self.measured = measured
        self.media = Media(measured, self.report, self.add)
        self.proxies = Proxies(measured, self.report)

    def write(self) -> StudyResult:
        self.introduce(
            [self._voice(), self._per_flow(), self._proxies()],
            "The paper has one direction and flows of UDP that do not care. It leaves for later what real "
            "applications have of the bond, and how it lives with proxies for Multipath TCP. Here are calls with "
            "voice and video both ways, and TCP by proxies on the same lines. Last, what may be behind the losses "
            "with k = 0.1.",
        )
        self.media.write()
        self.proxies.write()
        SmallGain(self.measured, self.report).write()
        for part, results in self.measured.results.items():
            stem = part.replace(" ", "-")
            self.keep({f"{stem}-{name}": table for name, table in results.tables.items()})
        return self.finish("bonding-outlook")

    # Claims.

    def _ratings(self, scheduler: str, way: str) -> list[float]:
        return self.media.ratings(calls.LOADED, STEADY, scheduler, way)

    def _told(self, schedulers: Sequence[str]) -> str:
        def both(scheduler: str) -> str:
            ratings = {word: mean_interval(self._ratings(scheduler, way)) for way, word in WAYS.items()}
            return ", ".join(f"{short(rating)} {word}" for word, rating in ratings.items())

        return "; ".join(f"{scheduler}: {both(scheduler)}" for scheduler in schedulers)

    def _voice(self) -> Claim:
        def satisfied(scheduler: str) -> bool:
            found = [mean_interval(self._ratings(scheduler, way)) for way in WAYS]
            return all((one.low if one.known else one.mean) >= SATISFIED for one in found)

        return said.VOICE.judged(
            over_readings({scheduler: satisfied(scheduler) for scheduler in PAPERS}),
            papers=self._told(PAPERS),
            others=self._told([name for name in calls.VARIANTS if name not in PAPERS]),
            satisfied=SATISFIED,
        )

    def _per_flow(self) -> Claim:
        def better(scheduler: str) -> bool:
            return all(
                clearly_above(self._ratings("flow-aware", way), self._ratings(scheduler, way)) for way in WAYS
            )

        return said.PER_FLOW.judged(
            over_readings({scheduler: better(scheduler) for scheduler in PAPERS}),
            ratings=self._told(("flow-aware", *PAPERS)),
        )

    def _proxies(self) -> Claim:
        def both(scheduler: str) -> bool:
            of = self.proxies
            tcp, alone = (of.goodputs(STEADY, scheduler, way) for way in (proxies.LINKED, proxies.BY_BOND))
            lost = mean_interval(of.losses(STEADY, scheduler, proxies.LINKED))
            worst = lost.high if lost.known else lost.mean
            return clearly_above(tcp, alone) and worst <= stated.LOW_LOSS

        def told(scheduler: str) -> str:
            of = self.proxies
            rates = ", ".join(
                f"{text_of(mean_interval(of.goodputs(STEADY, scheduler, way)))} Mbit/s {way}"
                for way in proxies.WAYS
            )
            lost = text_of(mean_interval(of.losses(STEADY, scheduler, proxies.LINKED)))
            return f"{scheduler}: {rates}; UDP loses {lost} % beside linked increases"

        found = {scheduler: both(scheduler) for scheduler in PAPERS}
        return said.PROXIES.judged(
            over_readings(found) if any(found.values()) else Verdict.CONTRADICTED,
            papers="; ".join(told(scheduler) for scheduler in PAPERS),
            others="; ".join(told(scheduler) for scheduler in SCHEDULERS if scheduler not in PAPERS),
            low=stated.LOW_LOSS,
        )
