"""What the bonding paper leaves for later: voice and video over the bond, both ways, and proxies for TCP beside it.

server ── (gateway) ══ DSL, LTE ══ (gateway) ── client         both ways at once
proxy  ────────────── the same two lines ────────── proxy      TCP, while UDP goes by the gateways
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.benefit import clearly_above
from ropewalk.report import Claim, Verdict
from ropewalk.statistics import mean_interval
from ropewalk.studies import bonding_cells as made
from ropewalk.studies import bonding_claims as stated
from ropewalk.studies import bonding_media_cells as calls
from ropewalk.studies import bonding_proxy_cells as proxies
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

        return Claim(
            claim="Bonding at layer 3 serves voice over UDP as well as TCP (§1)",
            published="said of the approach, and left for later to assess",
            measured=f"rating of a call beside TCP both ways, steady lines: {self._told(PAPERS)}",
            correct=f"other schedulers: {self._told([name for name in calls.VARIANTS if name not in PAPERS])}",
            verdict=over_readings({scheduler: satisfied(scheduler) for scheduler in PAPERS}),
            reason=(
                f"Judged over steady lines by a rating of {SATISFIED:g} both ways, from which on users are "
                "satisfied. The paper's scheduler knows by loss alone that a line is full. So voice waits in the "
                "queue before a line that TCP fills, and on a recorded LTE line that queue is long at times: there "
                "it is another matter, which the tables tell."
            ),
        )

    def _per_flow(self) -> Claim:
        def better(scheduler: str) -> bool:
            return all(
                clearly_above(self._ratings("flow-aware", way), self._ratings(scheduler, way)) for way in WAYS
            )

        return Claim(
            claim="By flow, small flows would be spared the delay of the mobile line (§5.3)",
            published="said, not run",
            measured=f"rating of a call beside TCP both ways, steady lines: {self._told(('flow-aware', *PAPERS))}",
            verdict=over_readings({scheduler: better(scheduler) for scheduler in PAPERS}),
            reason=(
                "Judged by flow-aware against the paper's scheduler, paired by seed, both ways. Its other difference "
                "is that it keeps queues before the lines short."
            ),
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
        return Claim(
            claim="With proxies for Multipath TCP beside it, TCP and other traffic can be bonded at once (outlook)",
            published="left for later",
            measured="; ".join(told(scheduler) for scheduler in PAPERS),
            correct="; ".join(told(scheduler) for scheduler in SCHEDULERS if scheduler not in PAPERS),
            verdict=over_readings(found) if any(found.values()) else Verdict.CONTRADICTED,
            reason=(
                "Judged over steady lines: TCP by proxies with linked increases delivers clearly more than by the "
                f"bond, and UDP loses no more than the {stated.LOW_LOSS:g} % that the paper calls low."
            ),
        )
