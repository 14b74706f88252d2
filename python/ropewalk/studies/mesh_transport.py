"""TCP and Multipath TCP over the disjoint routes of random 802.11b meshes, with one radio and with two.

32 nodes in 100 m by 100 m hear each other up to 20 m; deployments in which the link-, the node- and the zone-disjoint
algorithm find two routes each.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import polars as pl

from ropewalk.figures import Bars, Chart, Line, Points
from ropewalk.report import Verdict
from ropewalk.routes import GREEDY, Deployment
from ropewalk.statistics import Interval, mean_interval, paired_difference
from ropewalk.studies import StudyResult
from ropewalk.studies import mesh_transport_cells as cells
from ropewalk.studies import mesh_transport_statements as told
from ropewalk.studies.mesh_transport_cells import FULL, QUICK, Extent
from ropewalk.studies.output import Output
from ropewalk.studies.wireless import (
    ONE,
    PAPER_000,
    PAPER_003,
    SCHEDULERS,
    SETUPS,
    TCP,
    TWO,
    gain,
    mbps,
    signed,
    text_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.report import Claim
    from ropewalk.studies.cells import Results, Runner


TITLE: Final = "TCP and Multipath TCP over random wireless meshes"
PAPER: Final = f"{PAPER_000} (Figure 6); {PAPER_003} (Figure 10)"

SHORT: Final = {"link": "LD", "node": "ND", "zone": "ZD"}
SEED: Final = 1
HOPS_LABEL: Final = "hops of the first route"
RATE_LABEL: Final = "goodput (Mbit/s)"
PAYLOAD: Final = 1412
"""Octets of a full segment of the papers' Multipath TCP."""
PUBLISHED_HOPS: Final = 2
"""Where the papers say +50 %."""
PUBLISHED_GAIN: Final = 0.5


def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
    """Run the study and write figures, data and report into `out`."""
    extent = QUICK if quick else FULL
    chosen = cells.deployments(extent, SEED, runner.workers)
    fewer = cells.first_of_each(chosen, extent.beyond_per_hops)
    results = {
        "papers": runner.run(cells.papers_cells(chosen, extent.transfer), (SEED,), "meshes"),
        "air": runner.run(cells.air_cells(fewer, extent.transfer), (SEED,), "meshes, settings"),
        "modern": runner.run(cells.modern_cells(fewer, extent.transfer), (SEED,), "meshes, modern stacks"),
        "authors": runner.run(cells.authors_cells(extent), (SEED,), "meshes, the authors' deployments"),
        "moving": runner.run(
            cells.moving_cells(extent), tuple(range(1, extent.moving_seeds + 1)), "meshes that move"
        ),
    }
    study = _Study(out, extent, chosen, results)
    study.is_quick = quick
    return study.write()


def _deployments(extent: Extent, count: int) -> str:
    """Which deployments are run, as words."""
    each = "all" if extent.per_hops is None else f"the first {extent.per_hops} for each number of hops"
    return (
        f"{count}: of {extent.drawn} drawn, {each}; beyond the papers' settings the first {extent.beyond_per_hops} "
        "for each number of hops of the first route"
    )


def _extremes(label: str, groups: list[list[float]]) -> Bars:
    """Mean, least and greatest of each group."""
    means = [math.fsum(values) / len(values) for values in groups]
    return Bars(label, means, [min(values) for values in groups], [max(values) for values in groups])


def _differ(deployment: Deployment) -> bool:
    """Whether each algorithm has a second route of its own."""
    return len({tuple(deployment.routes[name][1]) for name in GREEDY}) == len(GREEDY)


def _by_hops(gains: dict[int, Interval]) -> str:
    return ", ".join(f"{hops}: {value.mean:+.0f}" for hops, value in gains.items())


class _Study(Output):
    """The results, and what is made of them."""

    def __init__(
        self, out: Path, extent: Extent, chosen: list[Deployment], results: dict[str, Results]
    ) -> None:
        self.extent = extent
        self.chosen = chosen
        self.results = results
        self.routes = pl.DataFrame(
            [
                {
                    "draw": deployment.draw,
                    "first_hops": cells.first_hops(deployment),
                    **{f"second_hops_{name}": len(deployment.routes[name][1]) - 1 for name in GREEDY},
                    **{
                        f"shared_relays_{name}": len(
                            set(deployment.routes[name][0][1:-1]) & set(deployment.routes[name][1][1:-1])
                        )
                        for name in GREEDY
                    },
                }
                for deployment in chosen
            ]
        )
        self.hops: list[int] = sorted(self.routes["first_hops"].unique().to_list())
        super().__init__(
            out,
            TITLE,
            PAPER,
            {
                "deployments": _deployments(extent, len(chosen)),
                "run": f"{extent.transfer}, seed {SEED}",
                "intervals": "95 % of the mean over the deployments, gains paired by deployment",
            },
        )

    def write(self) -> StudyResult:
        claims = [self._two_radios(), self._below(), self._one_radio(), self._best_routes()]
        self.introduce(
            claims,
            "Deployments of 32 nodes in which all three algorithms find two routes or more. TCP takes the "
            "first route; Multipath TCP (linked increases, the papers' choice) the first two: with one radio "
            "both on one channel, with two radios on a channel each. 802.11b and transport are those of the "
            "diamond: 11 Mbit/s, ACKs at 1 Mbit/s, four transmissions, an ACK per packet for Multipath TCP "
            "and delayed ACKs for TCP. Frames are lost by collision only, and a station two hops away is "
            "hidden; a frame that overlaps with an earlier one is lost, the earlier one is not, as in the "
            "papers' simulator. There stations receive up to 25 m, where routes are computed for 20 "
            "m, and signals take "
            "their time: so here.",
            f"{self.extent.transfer} go over each of {len(self.chosen)} deployments (published: 20 MB, 1000). Most "
            "first routes have four to six hops, and hardly one in a hundred has two.",
        )
        self._figures()
        self._tables()
        self._data()
        return self.finish("mesh-transport")

    # What was measured.

    def _rates(self, of: str = "papers", hops: int | None = None, **where: str) -> pl.DataFrame:
        """Goodput by draw, and the routes' hops."""
        rows = self.results[of].connections.filter(**where)
        rows = rows.select("draw", "goodput_mbps").join(self.routes, on="draw").sort("draw")
        return rows if hops is None else rows.filter(pl.col("first_hops") == hops)

    def _values(self, of: str = "papers", hops: int | None = None, **where: str) -> list[float]:
        return self._rates(of, hops, **where)["goodput_mbps"].to_list()

    def _tcp(self, hops: int | None = None) -> list[float]:
        return self._values(hops=hops, setup=TCP)

    def _gain(self, setup: str, algorithm: str = "link", hops: int | None = None) -> Interval:
        return gain(self._values(hops=hops, setup=setup, algorithm=algorithm), self._tcp(hops))

    # The claims.

    def _two_radios(self) -> Claim:
        at = PUBLISHED_HOPS if PUBLISHED_HOPS in self.hops else self.hops[0]
        ours = self._gain(TWO, hops=at)
        by = {hops: self._gain(TWO, hops=hops) for hops in self.hops}
        fair = cells.DELAYED
        correct = gain(*(self._values("air", at, air=fair, setup=setup) for setup in (TWO, TCP)))
        near = abs(ours.mean - 50) <= 15  # noqa: PLR2004 - points
        return told.TWO_RADIOS.judged(
            Verdict.HOLDS if near else Verdict.UNDECIDABLE,
            published_hops=PUBLISHED_HOPS,
            ours=signed(ours),
            hops=at,
            number=ours.n,
            by_hops=_by_hops(by),
            by_authors=", ".join(
                f"{hops:g}: {self._authors_gain(TWO, hops).mean:+.0f}" for hops in self._authors_hops()
            ),
            correct=signed(correct),
        )

    def _below(self) -> Claim:
        two = self._rates(setup=TWO, algorithm="link")
        extra = pl.col("second_hops_link") - pl.col("first_hops")
        joined = two.with_columns(tcp=pl.Series(self._tcp()), extra=extra)
        below = joined.filter(pl.col("goodput_mbps") < pl.col("tcp"))
        above = joined.filter(pl.col("goodput_mbps") >= pl.col("tcp"))
        low, high = (mean_interval(part["extra"].cast(pl.Float64).to_list()) for part in (below, above))
        few = 0 < below.height <= 0.25 * joined.height
        longer = below.height > 0 and low.mean > high.mean
        defective, tcp = (self._values("air", air=cells.DEFECTS, setup=setup) for setup in (TWO, TCP))
        verdict = (
            Verdict.HOLDS
            if few and longer
            else Verdict.CONTRADICTED
            if not below.height
            else Verdict.UNDECIDABLE
        )
        return told.BELOW.judged(
            verdict,
            below=below.height,
            all=joined.height,
            some_below=below.height > 0,
            extra_below=low.mean,
            extra_above=high.mean,
            defective_below=sum(a < b for a, b in zip(defective, tcp, strict=True)),
            defective=len(tcp),
            defective_gain=signed(gain(defective, tcp)),
        )

    def _one_radio(self) -> Claim:
        ours = {name: self._gain(ONE, name) for name in GREEDY}
        by = {hops: self._gain(ONE, hops=hops) for hops in self.hops}
        values, tcp = self._values(setup=ONE, algorithm="link"), self._tcp()
        below = sum(a < b for a, b in zip(values, tcp, strict=True))
        other = {air: self._air_gain(air, ONE) for air in cells.AIRS}
        turned = [f"{signed(value)} if {air}" for air, value in other.items() if value.low < 0]
        holds = ours["link"].high < 0
        return told.ONE_RADIO.judged(
            Verdict.HOLDS if holds else Verdict.UNDECIDABLE if turned else Verdict.CONTRADICTED,
            ours=", ".join(f"{SHORT[name]} {signed(value)}" for name, value in ours.items()),
            below=below,
            all=len(tcp),
            by_hops=_by_hops(by),
            authors=signed(self._authors_gain(ONE)),
            sent_again=self._sent_again(),
            any_turned=bool(turned),
            turned="; ".join(turned),
        )

    def _sent_again(self) -> str:
        """How much is retransmitted, as words."""
        parts = []
        for setup in (TCP, ONE):
            rows = self.results["papers"].subflows.filter(setup=setup, algorithm="link")
            again = 1000 * sum(rows["retransmissions"].to_list()) / (sum(rows["bytes"].to_list()) / PAYLOAD)
            parts.append(f"{setup} sends {again:.1f} of 1000 segments again")
        return ", ".join(parts)

    def _air_gain(self, air: str, setup: str) -> Interval:
        return gain(self._values("air", air=air, setup=setup), self._values("air", air=air, setup=TCP))

    def _best_routes(self) -> Claim:
        said, best = [], []
        for setup in (TWO, ONE):
            base = self._values(setup=setup, algorithm="link")
            differences = {name: gain(self._values(setup=setup, algorithm=name), base) for name in GREEDY[1:]}
            best.append(all(difference.mean < 1 for difference in differences.values()))
            said.append(
                f"{setup}: LD {mbps(mean_interval(base))} Mbit/s, "
                + ", ".join(f"{SHORT[name]} {signed(value)} to LD" for name, value in differences.items())
            )
        return told.BEST_ROUTES.judged(
            Verdict.HOLDS if all(best) else Verdict.UNDECIDABLE if any(best) else Verdict.CONTRADICTED,
            rates="; ".join(said),
        )

    # The figures.

    def _extremes(self, label: str, **where: str) -> Bars:
        """Mean, least and greatest by hops."""
        return _extremes(label, [self._values(hops=hops, **where) for hops in self.hops])

    def _published(self) -> list[Points]:
        """What the papers say in words, drawn where it belongs."""
        if PUBLISHED_HOPS not in self.hops:
            return []
        place = float(self.hops.index(PUBLISHED_HOPS))
        rate = (1 + PUBLISHED_GAIN) * mean_interval(self._tcp(PUBLISHED_HOPS)).mean
        return [Points("two radios, published: half as much again as TCP", [place + 0.27], [rate])]

    def _figures(self) -> None:
        report = self.report
        report.heading("The papers' figure")
        self.add(
            Chart(
                "figure-6-throughput",
                "Figure 6 (003: Figure 10): goodput against the hops of the first route, LD",
                f"{HOPS_LABEL}, and deployments that have so many",
                RATE_LABEL,
                [],
                caption="Mean, and from the least to the greatest over the deployments.",
                categories=[f"{hops}\n({len(self._tcp(hops))})" for hops in self.hops],
                bars=[self._extremes(setup, setup=setup, algorithm="link") for setup in SETUPS],
                points=self._published(),
            )
        )
        self._authors_figure()
        example = next((found for found in self.chosen if _differ(found)), self.chosen[0])
        self.picture(
            "example", example, GREEDY, f"One of the deployments, draw {example.draw}, and its routes."
        )
        report.heading("Node- and zone-disjoint routes")
        lines = [
            Line.of(
                f"{SHORT[name]}, {setup.removeprefix('MPTCP, ')}",
                self.hops,
                [mean_interval(self._values(hops=hops, setup=setup, algorithm=name)) for hops in self.hops],
                dashed=setup == ONE,
            )
            for setup in (TWO, ONE)
            for name in GREEDY
        ]
        tcp = Line.of(TCP, self.hops, [mean_interval(self._tcp(hops)) for hops in self.hops])
        self.add(
            Chart(
                "algorithms",
                "Goodput over the routes of the three algorithms",
                HOPS_LABEL,
                RATE_LABEL,
                [*lines, tcp],
                caption="Means with 95 % intervals over the deployments. The papers measured ND and ZD, but "
                "did not print them.",
            )
        )

    # The authors' deployments, and meshes that move.

    def _of_authors(self, setup: str, hops: float | None = None) -> list[float]:
        rows = self.results["authors"].connections.filter(setup=setup).sort("draw")
        return (rows if hops is None else rows.filter(hops=hops))["goodput_mbps"].to_list()

    def _authors_gain(self, setup: str, hops: float | None = None) -> Interval:
        return gain(self._of_authors(setup, hops), self._of_authors(TCP, hops))

    def _authors_hops(self) -> list[float]:
        return sorted(self.results["authors"].connections["hops"].unique().to_list())

    def _authors_figure(self) -> None:
        bars = [
            _extremes(setup, [self._of_authors(setup, hops) for hops in self._authors_hops()])
            for setup in SETUPS
        ]
        self.add(
            Chart(
                "figure-6-authors",
                "The same over the authors' own deployments and routes",
                f"{HOPS_LABEL}, and deployments that have so many",
                RATE_LABEL,
                [],
                caption=f"{len(self._of_authors(TCP))} deployments; mean, and from the least to the greatest.",
                categories=[
                    f"{hops:g}\n({len(self._of_authors(TCP, hops))})" for hops in self._authors_hops()
                ],
                bars=bars,
            )
        )
        self.report.table(
            "Gain over TCP over the authors' own deployments and routes, by hops of the first route",
            ["hops", "deployments", ONE, TWO],
            [
                [
                    f"{hops:g}",
                    str(len(self._of_authors(TCP, hops))),
                    *(signed(self._authors_gain(setup, hops)) for setup in (ONE, TWO)),
                ]
                for hops in self._authors_hops()
            ],
        )

    def _moving(self) -> None:
        results, report = self.results["moving"], self.report
        report.heading("Meshes that move")
        report.text(
            "The last question of 003 is what happens when stations move. 32 of them walk by random "
            "waypoint, routes are "
            "looked for every second, the stacks are those of today. A route that breaks loses what is on its way."
        )
        rows = []
        for speed in self.extent.speeds:
            tcp = results.goodputs(speed=speed, setup=TCP)
            row = [f"{speed:g}", mbps(mean_interval(tcp))]
            for setup in (ONE, TWO):
                values = results.goodputs(speed=speed, setup=setup)
                row += [mbps(mean_interval(values)), text_of(paired_difference(values, tcp))]
            rows.append(row)
        report.table(
            f"Goodput in Mbit/s over 60 s and {self.extent.moving_seeds} deployments, and over TCP, "
            "paired by deployment",
            ["greatest speed (m/s)", TCP, ONE, "over TCP", TWO, "over TCP"],
            rows,
        )

    # The tables.

    def _tables(self) -> None:
        report = self.report
        report.table(
            "Goodput in Mbit/s and gain over TCP, LD, by hops of the first route",
            ["hops", "deployments", TCP, ONE, "over TCP", TWO, "over TCP"],
            [self._hops_row(hops) for hops in self.hops],
        )
        report.table(
            "Gain of two radios over TCP, by how much longer the second route is",
            ["more hops", *(f"{SHORT[name]}" for name in GREEDY)],
            self._extra_rows(),
        )
        report.heading("Stations, air and transport")
        report.text(
            "What the levels depend on, over the same deployments and LD routes. Stations that sense no "
            "further than they receive are hidden from each other two hops away. If the first of two frames "
            "always survives, as in the papers' simulator, that is milder than if both are lost; with RTS/CTS "
            "the data frames are protected; and with carrier sense over twice the range there are hardly any "
            "hidden stations."
        )
        report.table(
            "Goodput in Mbit/s over all deployments, and gain over TCP",
            ["setting", TCP, ONE, "over TCP", TWO, "over TCP"],
            [self._air_row(air) for air in cells.AIRS],
        )
        report.heading("Couplings and schedulers of today")
        for kind, order in (("coupling", (*cells.CONTROLS, ONE)), ("scheduler", SCHEDULERS)):
            tcp = self._values("modern", kind="TCP", variant=TCP)
            rows = [["TCP over the first route, CUBIC", mbps(mean_interval(tcp)), "", ""]]
            for variant in order:
                values = self._values("modern", kind=kind, variant=variant)
                below = sum(a < 0.95 * b for a, b in zip(values, tcp, strict=True))
                label = "one channel, LIA" if variant == ONE else variant
                rows.append([label, mbps(mean_interval(values)), signed(gain(values, tcp)), str(below)])
            what = "Couplings" if kind == "coupling" else "Schedulers, under LIA"
            report.table(
                f"{what}: two channels and LD routes, preset `linux`, short preambles, ACKs at 11 Mbit/s, queues "
                f"of 100 packets; goodput in Mbit/s over {len(tcp)} deployments",
                ["", "goodput", "over TCP", "deployments 5 % below TCP"],
                rows,
            )

        self._moving()

    def _hops_row(self, hops: int) -> list[str]:
        row = [str(hops), str(len(self._tcp(hops))), mbps(mean_interval(self._tcp(hops)))]
        for setup in (ONE, TWO):
            values = self._values(hops=hops, setup=setup, algorithm="link")
            row += [mbps(mean_interval(values)), signed(gain(values, self._tcp(hops)))]
        return row

    def _extra_rows(self) -> list[list[str]]:
        tcp = self._rates(setup=TCP).select("draw", tcp="goodput_mbps")
        groups: dict[str, dict[int, Interval]] = {}
        for name in GREEDY:
            joined = self._rates(setup=TWO, algorithm=name).join(tcp, on="draw")
            joined = joined.with_columns(extra=pl.col(f"second_hops_{name}") - pl.col("first_hops"))
            groups[name] = {
                int(extra): gain(part["goodput_mbps"].to_list(), part["tcp"].to_list())
                for (extra,), part in joined.sort("extra").group_by("extra", maintain_order=True)
            }
        extras = sorted({extra for group in groups.values() for extra in group})
        return [
            [
                str(extra),
                *(
                    f"{signed(groups[name][extra])} ({groups[name][extra].n})"
                    if extra in groups[name]
                    else "-"
                    for name in GREEDY
                ),
            ]
            for extra in extras
        ]

    def _air_row(self, air: str) -> list[str]:
        tcp = self._values("air", air=air, setup=TCP)
        row = [air, mbps(mean_interval(tcp))]
        for setup in (ONE, TWO):
            values = self._values("air", air=air, setup=setup)
            row += [mbps(mean_interval(values)), signed(gain(values, tcp))]
        return row

    def _data(self) -> None:
        frames = {"routes": self.routes}
        for name, results in self.results.items():
            frames[f"{name}-connections"] = results.connections
            frames[f"{name}-subflows"] = results.subflows
        self.keep(frames)
