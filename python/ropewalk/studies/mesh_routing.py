"""Link-, node- and zone-disjoint routes over random wireless meshes: how many there are, and how long.

N nodes, uniform in 100 m by 100 m, hear each other closer than 20 m. The source is the node nearest to (20, 50), the
destination the one nearest to (80, 50). Disconnected deployments are drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from ropewalk import routes
from ropewalk.errors import InputError
from ropewalk.figures import Chart, Line, Points
from ropewalk.figures.chart import step
from ropewalk.report import Verdict
from ropewalk.routes import GREEDY, TIES, Deployment, Layout, Statistics, cdf
from ropewalk.statistics import Interval, mean_interval, paired_difference, proportion_interval
from ropewalk.studies import mesh_mobility
from ropewalk.studies import mesh_routing_statements as told
from ropewalk.studies.authors import PICTURE, deployments
from ropewalk.studies.mesh_mobility import Moving
from ropewalk.studies.output import Output

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.report import Claim
    from ropewalk.studies import StudyResult
    from ropewalk.studies.cells import Runner

TITLE: Final = "Disjoint routes over random wireless meshes"
PAPER: Final = (
    "D. Gómez, C. Rabadán, P. Garrido, R. Agüero: Multipath Algorithms and Strategies to Improve TCP "
    "Performance over Wireless Mesh Networks (Figures 2 to 5); D. Gómez, P. Garrido, C. Rabadán, R. Agüero, "
    "L. Muñoz: TCP Performance Enhancement over Wireless Mesh Networks by means of the Combination of "
    "Multi-RAT Devices and the MPTCP Protocol, 2014 (Figures 6 to 9)"
)

SHORT: Final = {"link": "LD", "node": "ND", "zone": "ZD"}
NODES: Final = 32
"""The N of everything but the feasibility curve."""

EXAMPLE_NODES: Final = 16
EXAMPLE_HOPS: Final = (3, 4)
"""The papers' example: first route 8-13-15-3, second 8-11-10-12-3, for all three algorithms."""

PUBLISHED_ZONE: Final = (42, 1000)
"""ZD finds two routes in 4.2 % of 1000 runs."""

SEED: Final = 1
N_LABEL: Final = "number of nodes N"


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is drawn."""

    nodes: tuple[int, ...]
    """The N of the feasibility curve."""

    count: int
    """Connected deployments for each."""

    conditioned: int
    """Deployments in which all three find two routes."""

    zone: int
    """Connected deployments of 32 nodes for ZD's probability and the tie rules."""

    example_draws: int
    """Draws of 16 nodes among which the example is looked for."""


FULL: Final = Extent((16, 20, 24, 28, 32, 36, 40, 48, 56, 64), 1000, 1000, 100_000, 400_000_000)
QUICK: Final = Extent((20, 24, 28, 32, 40, 48), 200, 200, 5000, 100_000_000)


def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
    """Draw everything and write figures, data and report into `out`."""
    extent = QUICK if quick else FULL
    moving = Moving(mesh_mobility.QUICK if quick else mesh_mobility.FULL, runner)
    study = _Study(extent, out, runner, moving)
    study.is_quick = quick
    return study.write()


def percent(interval: Interval, digits: int = 1) -> str:
    """A proportion and its interval."""
    low, high = (f"{100 * end:.{digits}f}" for end in (interval.low, interval.high))
    return f"{100 * interval.mean:.{digits}f} % [{low}, {high}]"


def alike(deployment: Deployment) -> bool:
    """Whether all three algorithms find the same routes."""
    first, *others = (deployment.routes[name] for name in GREEDY)
    return all(other == first for other in others)


def hops(deployment: Deployment) -> tuple[int, ...]:
    """The hops of the link-disjoint routes."""
    return tuple(len(route) - 1 for route in deployment.routes["link"])


class _Study(Output):
    """The results, and what is made of them."""

    def __init__(self, extent: Extent, out: Path, runner: Runner, moving: Moving) -> None:
        self.extent = extent
        self.moving = moving
        self.runner = runner
        self.against_n = {
            nodes: runner.statistics(extent.count, Layout(nodes), seed=SEED, draws=10**10)
            for nodes in extent.nodes
        }
        self.conditioned = runner.statistics(
            extent.conditioned, Layout(NODES), seed=SEED, condition="all-multipath"
        )
        self.by_rule = {
            rule: runner.statistics(extent.zone, Layout(NODES), seed=SEED, ties=rule, optimal=rule == TIES[0])
            for rule in TIES
        }
        self.example = self._example()
        super().__init__(
            out,
            TITLE,
            PAPER,
            {
                "seed": str(SEED),
                "connected deployments": f"{extent.count} for each N, {extent.zone} for N = {NODES}",
                "conditioned deployments": str(extent.conditioned),
                "ties": f"{TIES[0]}, unless another rule is named",
                "intervals": "95 %, of proportions Wilson's",
            },
        )

    def _example(self) -> Deployment | None:
        """A deployment like the papers': the first in which all three find one route of 3 and one of 4 hops.

        None, if it is not among so many draws.
        """
        progress = self.runner.progress
        first, last = 0, self.extent.example_draws
        progress.start(last, "draws for the example, at most")
        while first < last:
            try:
                found = routes.search(
                    1,
                    nodes=EXAMPLE_NODES,
                    condition="all-multipath",
                    algorithms=GREEDY,
                    first=first,
                    draws=last - first,
                    workers=self.runner.workers,
                    seed=SEED,
                )
            except InputError:
                return None
            progress.advance(found.drawn)
            (deployment,) = found.deployments
            if alike(deployment) and hops(deployment) == EXAMPLE_HOPS:
                return deployment
            first = deployment.draw + 1
        return None

    def write(self) -> StudyResult:
        claims = [self._order(), self._zone(), self._numbers(), self._lengths(), self._picture_claim()]
        self.introduce(
            claims,
            "How many routes are there between two nodes of a random mesh, if they may share no link (LD), "
            "no node (ND), or not even a neighbourhood (ZD)? The papers' algorithms are greedy: take the "
            "shortest route by hops, prune what later routes may not use, repeat. Below, their figures are "
            "drawn again, and then what they left open: how many routes a greedy algorithm misses that an "
            "optimal one finds, how much the choice among equally short routes matters, and how long routes last "
            "over stations that move.",
        )
        self._papers_figures()
        self._beyond()
        self.moving.show(self)
        self._tables()
        self._data()
        return self.finish("mesh-routing")

    # The claims.

    def _order(self) -> Claim:
        curves = {
            nodes: [statistics.multipath(name).mean for name in GREEDY]
            for nodes, statistics in self.against_n.items()
        }
        ordered = all(link >= node >= zone for link, node, zone in curves.values())
        far = all(zone < node / 2 for _, node, zone in curves.values() if node > 0)
        close = [nodes for nodes, (link, node, zone) in curves.items() if link - node < node - zone]
        at = self.against_n[NODES]
        return told.ORDER.judged(
            Verdict.HOLDS if ordered and far and len(close) == len(curves) else Verdict.UNDECIDABLE,
            nodes=NODES,
            rates=", ".join(f"{SHORT[name]} {percent(at.multipath(name))}" for name in GREEDY),
            ordered=ordered,
            far=far,
            close=", ".join(map(str, close)) or "none",
        )

    def _zone(self) -> Claim:
        ours = self.by_rule[TIES[0]].multipath("zone")
        published = proportion_interval(*PUBLISHED_ZONE)
        inside = published.low <= ours.mean <= published.high
        rules = {rule: statistics.multipath("zone").mean for rule, statistics in self.by_rule.items()}
        return told.ZONE.judged(
            Verdict.HOLDS if inside else Verdict.CONTRADICTED,
            nodes=NODES,
            low=100 * published.low,
            high=100 * published.high,
            ours=percent(ours, 2),
            number=ours.n,
            inside=inside,
            rules=", ".join(f"{rule} {100 * mean:.2f} %" for rule, mean in rules.items()),
        )

    def _share(self, name: str, least: int) -> Interval:
        found = self.conditioned.hops(name, "routes")
        return proportion_interval(sum(number >= least for number in found), len(found))

    def _numbers(self) -> Claim:
        three = {name: self._share(name, 3) for name in GREEDY}
        most = {name: max(self.conditioned.hops(name, "routes")) for name in GREEDY}
        means = [mean_interval(map(float, self.conditioned.hops(name, "routes"))).mean for name in GREEDY]
        holds = means[0] > means[1] > means[2] and three["zone"].mean < 0.01 < three["node"].mean  # noqa: PLR2004
        return told.NUMBERS.judged(
            Verdict.HOLDS if holds else Verdict.CONTRADICTED,
            three=", ".join(f"{SHORT[name]} {percent(three[name])}, at most {most[name]}" for name in GREEDY),
        )

    def _lengths(self) -> Claim:
        second = {
            name: mean_interval(map(float, self.conditioned.hops(name, "second_hops"))) for name in GREEDY
        }
        first = {name: self.conditioned.of(name)["first_hops"] for name in GREEDY}
        same = all(first[name].equals(first["link"]) for name in GREEDY)
        by = [self.conditioned.of(name)["second_hops"] for name in GREEDY]
        ordered = bool((by[0] <= by[1]).all() and (by[1] <= by[2]).all())
        return told.LENGTHS.judged(
            Verdict.HOLDS if same and ordered else Verdict.CONTRADICTED,
            first=mean_interval(map(float, first["link"])).mean,
            same=same,
            second=", ".join(
                f"{SHORT[name]} {second[name].mean:.2f} ± {second[name].half_width:.2f}" for name in GREEDY
            ),
            ordered=ordered,
        )

    def _picture_claim(self) -> Claim:
        found = self.example
        wanted = " and ".join(str(number) for number in EXAMPLE_HOPS)
        example = (
            "not among the draws"
            if found is None
            else f"draw {found.draw}: "
            + ", ".join("-".join(found.names[node] for node in route) for route in found.routes["link"])
        )
        return told.PICTURE.judged(
            Verdict.HOLDS if found is not None else Verdict.CONTRADICTED,
            nodes=EXAMPLE_NODES,
            hops=wanted,
            example=example,
            found=found is not None,
            draws=self.extent.example_draws,
        )

    # The figures.

    def _curve(self, label: str, of: str, *, dashed: bool = False) -> Line:
        values = [statistics.multipath(of) for statistics in self.against_n.values()]
        return Line.of(label, list(self.against_n), values, dashed=dashed)

    def _papers_figures(self) -> None:
        report = self.report
        report.heading("The papers' figures")
        self.picture(
            "figure-2-authors",
            next(each for each in deployments() if each.name == PICTURE),
            GREEDY,
            "Figure 2 (003: Figure 6): the authors' own 16 nodes and the routes that their tool "
            "found, links of up to 25 m.",
        )
        if self.example is not None:
            self.picture(
                "figure-2-example",
                self.example,
                GREEDY,
                f"{EXAMPLE_NODES} nodes of our own that hear each other up to 20 m; all three "
                "algorithms find the same two "
                "routes.",
            )
        published = Points(
            f"ZD at N = {NODES}, published", [float(NODES)], [PUBLISHED_ZONE[0] / PUBLISHED_ZONE[1]]
        )
        self.add(
            Chart(
                stem="figure-3-feasibility",
                title="Figure 3: probability of two or more routes",
                x_label=N_LABEL,
                y_label="P(two or more routes)",
                lines=[self._curve(SHORT[name], name) for name in GREEDY],
                points=[published],
                caption=(
                    "Figure 3 (003: Figure 7), over connected deployments. The more nodes, the more ways "
                    "round; ZD needs the most."
                ),
            )
        )
        self.add(
            Chart(
                stem="figure-4-number-of-routes",
                title=f"Figure 4: cdf of the number of routes, N = {NODES}",
                x_label="number of routes",
                y_label="cdf",
                lines=[
                    step(SHORT[name], *cdf(self.conditioned.hops(name, "routes")), begin=1.0)
                    for name in GREEDY
                ],
                caption="Figure 4 (003: Figure 8). Deployments in which all three algorithms find two "
                "routes.",
            )
        )
        first = step("first route, all three", *cdf(self.conditioned.hops("link", "first_hops")), dashed=True)
        self.add(
            Chart(
                stem="figure-5-hops",
                title=f"Figure 5: cdf of the hops of the two preferred routes, N = {NODES}",
                x_label="hops",
                y_label="cdf",
                lines=[
                    first,
                    *(
                        step(f"second route, {SHORT[name]}", *cdf(self.conditioned.hops(name, "second_hops")))
                        for name in GREEDY
                    ),
                ],
                caption="Figure 5 (003: Figure 9). The same deployments: the stricter, the longer the "
                "second route.",
            )
        )

    def _beyond(self) -> None:
        report = self.report
        report.heading("Greedy against optimal")
        report.text(
            "A greedy algorithm takes the shortest route even where that stands in the way of a second one. "
            "The greatest set of disjoint routes with the fewest hops in total is a minimum-cost flow (with "
            "two routes: Suurballe's algorithm). The chart says how often greedy finds one route where "
            "there are two. For zone-disjoint routes the question is NP-complete, and left alone."
        )
        lines = [
            Line.of(
                f"{SHORT[name]}: no second route found, though there is one",
                list(self.against_n),
                [statistics.missed(name, pair=True) for statistics in self.against_n.values()],
            )
            for name in ("link", "node")
        ]
        self.add(
            Chart(
                stem="optimal-missed",
                title="How often greedy misses the second route",
                x_label=N_LABEL,
                y_label="part of the connected deployments",
                lines=lines,
                caption="Rare where there is hardly a second route or plenty of them; in between, greedy "
                "misses the most.",
            )
        )
        pairs = [
            step("LD, optimal", *self._pair_cdf("optimal-link")),
            step("ND, optimal", *self._pair_cdf("optimal-node")),
            step("LD, greedy", *self._pair_cdf("link"), dashed=True),
            step("ND, greedy", *self._pair_cdf("node"), dashed=True),
        ]
        self.add(
            Chart(
                stem="optimal-hops",
                title=f"Hops of the pair of routes together, N = {NODES}, conditioned",
                x_label="hops of both routes",
                y_label="cdf",
                lines=pairs,
                caption="Where greedy finds two routes, an optimal pair is seldom shorter.",
            )
        )

    def _pair_cdf(self, name: str) -> tuple[list[float], list[float]]:
        rows = self.conditioned.of(name)
        return cdf((rows["first_hops"] + rows["second_hops"]).drop_nulls().to_list())

    # The tables.

    def _tables(self) -> None:
        report = self.report
        report.heading("Tables")
        report.table(
            "Two routes or more, in per cent of the connected deployments, with 95 % intervals; the pairs "
            "that greedy misses; and how many deployments were drawn for one that is connected",
            ["N", *SHORT.values(), "LD misses a pair", "ND misses a pair", "drawn per connected"],
            [self._row(nodes, statistics) for nodes, statistics in self.against_n.items()],
        )
        report.table(
            f"The rule for ties, over the same {self.extent.zone} connected deployments of {NODES} nodes: "
            "two routes or more, mean hops of the second route where there is one, and ZD's difference to "
            "the first rule, paired",
            [
                "rule",
                *SHORT.values(),
                "2nd hops LD",
                "2nd hops ND",
                "2nd hops ZD",
                "ZD, difference in points",
            ],
            [self._rule_row(rule) for rule in TIES],
        )
        report.table(
            f"Greedy against optimal over {self.extent.zone} connected deployments of {NODES} nodes",
            ["", "LD", "ND"],
            self._optimal_rows(),
        )

    def _row(self, nodes: int, statistics: Statistics) -> list[str]:
        cells = [percent(statistics.multipath(name)) for name in GREEDY]
        cells += [percent(statistics.missed(name, pair=True)) for name in ("link", "node")]
        return [str(nodes), *cells, f"{statistics.drawn / statistics.connected:,.1f}"]

    def _rule_row(self, rule: str) -> list[str]:
        statistics, base = self.by_rule[rule], self.by_rule[TIES[0]]
        cells = [percent(statistics.multipath(name), 2) for name in GREEDY]
        for name in GREEDY:
            second = mean_interval(map(float, statistics.hops(name, "second_hops")))
            cells.append(f"{second.mean:.3f} ± {second.half_width:.3f}")
        several = [(s.of("zone")["routes"] >= 2).cast(pl.Float64) * 100 for s in (statistics, base)]  # noqa: PLR2004
        difference = paired_difference(several[0].to_list(), several[1].to_list())
        return [
            rule,
            *cells,
            f"{difference.mean:+.2f} ± {difference.half_width:.2f}" if rule != TIES[0] else "",
        ]

    def _optimal_rows(self) -> list[list[str]]:
        base = self.by_rule[TIES[0]]
        both = ("link", "node")
        rows = [
            ["greedy finds two or more", *(percent(base.multipath(name), 2) for name in both)],
            ["there are two or more", *(percent(base.multipath(f"optimal-{name}"), 2) for name in both)],
            ["greedy misses the second", *(percent(base.missed(name, pair=True), 2) for name in both)],
            ["greedy misses any", *(percent(base.missed(name, pair=False), 2) for name in both)],
        ]
        longer = []
        for name in both:
            pair = pl.col("first_hops") + pl.col("second_hops")
            greedy = base.of(name).select("draw", pair.alias("greedy"))
            best = base.of(f"optimal-{name}").select("draw", pair.alias("best"))
            joined = greedy.join(best, on="draw").drop_nulls()
            excess = (joined["greedy"] - joined["best"]).cast(pl.Float64).to_list()
            mean = mean_interval(excess)
            longer.append(f"{mean.mean:.3f} ± {mean.half_width:.3f}")
        return [*rows, ["where greedy finds a pair: its hops above the optimum's", *longer]]

    def _data(self) -> None:
        tables = {
            "feasibility": pl.concat(statistics.table for statistics in self.against_n.values()),
            "conditioned": self.conditioned.table,
            "ties": pl.concat(
                statistics.table.select(pl.lit(rule).alias("ties"), pl.all())
                for rule, statistics in self.by_rule.items()
            ),
            "moving-routes": self.moving.table,
        }
        self.keep(tables)
