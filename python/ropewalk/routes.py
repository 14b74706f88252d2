"""Random wireless deployments and the disjoint routes across them.

>>> from ropewalk import routes
>>> found = routes.search(3, nodes=32, condition="all-multipath")
>>> [len(deployment.routes["node"]) >= 2 for deployment in found.deployments]
[True, True, True]
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ropewalk import _core
from ropewalk.errors import InputError, UnsupportedError
from ropewalk.progress import Progress, Silent
from ropewalk.source import read_text
from ropewalk.statistics import Interval, proportion_interval
from ropewalk.waiting import Drawing, waited

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

Place = tuple[float, float] | str
"""A reference point in metres, which stands for the node nearest to it, or a node's name."""

Result = TypeVar("Result")

_NAMES: Final = _core.route_names()
CONDITIONS: Final = tuple(_NAMES[0])
"""What a deployment can be required to be."""

TIES: Final = tuple(_NAMES[1])
"""Which of several shortest routes is taken."""

ALGORITHMS: Final = tuple(_NAMES[2])
"""The greedy algorithms, then the optimal ones."""

GREEDY: Final = ("link", "node", "zone")
"""The papers' algorithms: LD, ND, ZD."""

METRICS: Final = tuple(_NAMES[3])
"""By what `Deployment.judged` can choose routes."""

SUMS: Final = ("hops", "ett")
"""Those of them that are sums over links, so that there are optimal sets by them."""

ASSIGNMENTS: Final = ("per-route", "alternate", "radios")
"""How `Deployment.judged` can give channels to hops, beside a list of channels."""

SOURCE: Final = (20.0, 50.0)
DESTINATION: Final = (80.0, 50.0)


@dataclass(frozen=True, slots=True)
class Effort:
    """How long is searched, and with what."""

    workers: int
    """Threads."""

    draws: int | None
    """Give up after so many; `None`: after what takes about a minute on a core."""

    first: int
    """The draw to begin with."""

    interrupt: _core.Interrupt
    """Stops the search."""

    progress: _core.RouteProgress
    """Says how far it is."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How nodes are scattered, who hears whom, and which two want to talk."""

    nodes: int | None = 32
    """How many, independent and uniform; `None` for the other two laws."""

    area_m: float | tuple[float, float] = 100.0
    """Side of the square, or width and height, in metres."""

    range_m: float = 20.0
    """Nodes closer than this hear each other."""

    source: Place = SOURCE
    destination: Place = DESTINATION
    intensity: float | None = None
    """Instead of a number: the mean number of nodes per square metre of a Poisson process."""

    grid: tuple[int, int] | None = None
    """Instead of a number: columns and rows of a grid with a node in each cell."""

    jitter: float = 0.0
    """How far a node of the grid may be from the middle of its cell, from 0 to 1 (the cell's border)."""

    @property
    def size_m(self) -> tuple[float, float]:
        """Width and height, as the core reads them."""
        return self.area_m if isinstance(self.area_m, tuple) else (self.area_m, self.area_m)


@dataclass(frozen=True, slots=True)
class Deployment:
    """Nodes, links, two ends, and the routes between them."""

    names: tuple[str, ...]
    positions: tuple[tuple[float, float], ...]
    """Metres, in the order of the names; empty when not known."""

    links: tuple[tuple[int, int], ...]
    """Pairs of places in `names`."""

    channels: tuple[tuple[int, ...], ...]
    """The channels on which each node has a radio; empty when not known."""

    quality: dict[tuple[int, int], dict[str, float]]
    """What a file says of links: `etx` and `rate_mbps`."""

    range_m: float | None
    source: int
    destination: int
    routes: dict[str, list[list[int]]]
    """By algorithm: routes, each a list of places in `names`, from the source to the destination."""

    draw: int
    """Which draw of its search it was."""

    ties: str
    radio: dict[str, Any] | None
    """What the routes are worth over several channels, if that was asked for: see `judged`."""

    report: _core.RouteReport
    """The same, as the core has it."""

    @classmethod
    def of(cls, report: _core.RouteReport) -> Deployment:
        """Read what the core says."""
        tree = json.loads(report.json())
        names = tuple(node["name"] for node in tree["nodes"])
        places = {name: place for place, name in enumerate(names)}
        positions = tuple((node["x_m"], node["y_m"]) for node in tree["nodes"] if "x_m" in node)
        return cls(
            names=names,
            positions=positions,
            channels=tuple(tuple(node["channels"]) for node in tree["nodes"] if "channels" in node),
            links=tuple((places[a], places[b]) for a, b in map(_ends, tree["links"])),
            quality={
                (places[link["source"]], places[link["target"]]): {
                    key: link[key] for key in ("etx", "rate_mbps") if key in link
                }
                for link in tree["links"]
                if isinstance(link, dict)
            },
            range_m=tree.get("range_m"),
            source=places[tree["source"]],
            destination=places[tree["destination"]],
            routes={
                algorithm: [[places[name] for name in route] for route in tree["routes"][algorithm]]
                for algorithm in ALGORITHMS
                if algorithm in tree["routes"]
            },
            draw=tree["draw"],
            ties=tree["ties"],
            radio=tree.get("radio"),
            report=report,
        )

    def json(self) -> str:
        """One JSON object, which `load` reads back."""
        return self.report.json()

    def graphml(self) -> str:
        """GraphML, which `load` and NetworkX read back."""
        return self.report.graphml()

    def judged(
        self,
        *,
        seed: int = 1,
        channels: int | None = None,
        assign: str | Sequence[int] = "per-route",
        radios: int | None = None,
        metric: str = "hops",
        **radio: Any,
    ) -> Deployment:
        """The same with `radio`: ETX, ETT, WCETT and MIC of each route, and which of their links conflict.

        Args:
            seed: The seed of the search, for random ties and drawn radios.
            channels: How many there are. By default one, or as many as the list in `assign` has.
            assign: The channels of hops. `"per-route"`: one for all hops of a route, route by route in turn.
                `"alternate"`: in turn along the hops. A list: of the first hop, the second and so on; it begins again
                at its end. `"radios"`: one on which both ends of the hop have a radio, the best for the route.
            radios: With `"radios"`: how many each node has, on channels that are drawn. By default two, or one when
                there is one channel. Where the deployment has `channels`, those are taken.
            metric: By what the greedy algorithms choose routes: `"hops"`, `"ett"`, `"wcett"` or `"mic"`. Optimal sets
                have the least sum of hops or ETT. WCETT and MIC are no sums over links, and have no optimal sets.
            radio: What links have in common. `interference` (2.0 ranges), `bit_rate` (11e6 bit/s), `frame_octets`
                (1500), `delivery` (1.0, per link and direction). `edge_loss` (0.0) is the loss of frames in each
                direction at the end of the range; nearer it is less by (distance / range) to the power of
                `edge_exponent` (4.0). `beta` (0.5) is WCETT's, `switch_cost` (0.5) and `stay_cost` (1.0) are MIC's.

        Raises:
            InputError: A value makes no sense.
        """
        listed = assign if isinstance(assign, str) else ",".join(str(channel) for channel in assign)
        if channels is None:
            channels = 1 if isinstance(assign, str) else max(assign, default=0) + 1
        algorithms = [name for name in self.routes if metric in SUMS or name in GREEDY]
        report = self.report.judged(
            self.ties,
            seed,
            algorithms,
            channels=channels,
            assign=listed,
            radios=min(2, max(1, channels)) if radios is None else radios,
            metric=metric,
            **radio,
        )
        return Deployment.of(report)


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    deployments: list[Deployment]
    drawn: int
    """How many were drawn, up to the last one found."""

    connected: int
    """How many of those were connected."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """How many routes there are, and how long, over many deployments."""

    table: pl.DataFrame
    """One row per deployment and algorithm: `draw`, `nodes`, `links`, `algorithm`, `routes`, `first_hops`,
    `second_hops`, `total_hops`. Of optimal algorithms, first and second are the pair with the fewest hops."""

    drawn: int
    connected: int

    @property
    def count(self) -> int:
        """How many deployments."""
        return int(self.table["draw"].n_unique())

    def of(self, algorithm: str) -> pl.DataFrame:
        """The rows of an algorithm, in the order of the draws."""
        return self.table.filter(algorithm=algorithm)

    def multipath(self, algorithm: str) -> Interval:
        """P(two routes or more), with Wilson's 95 % interval."""
        routes = self.of(algorithm)["routes"]
        return proportion_interval(int((routes >= 2).sum()), len(routes))  # noqa: PLR2004 - two make a multipath

    def missed(self, disjoint: str, *, pair: bool) -> Interval:
        """P(the greedy algorithm finds fewer routes than there are), or, for a `pair`, P(it finds one, not two)."""
        greedy, best = self.of(disjoint)["routes"], self.of(f"optimal-{disjoint}")["routes"]
        missed = (greedy < 2) & (best >= 2) if pair else greedy < best  # noqa: PLR2004
        return proportion_interval(int(missed.sum()), len(greedy))

    def hops(self, algorithm: str, column: str) -> list[int]:
        """The numbers of a column (`routes`, `first_hops`, …) of an algorithm, where there is one."""
        return [int(value) for value in self.of(algorithm)[column].drop_nulls()]


def cdf(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """The distinct values, ascending, and the part of the values that is not above each."""
    ordered = sorted(values)
    steps = {value: (place + 1) / len(ordered) for place, value in enumerate(ordered)}
    return list(steps), list(steps.values())


def search(  # noqa: PLR0913 - one argument per choice
    count: int,
    layout: Layout | None = None,
    *,
    condition: str = "connected",
    ties: str = "lowest-node",
    seed: int = 1,
    algorithms: Sequence[str] = ALGORITHMS,
    workers: int | None = None,
    first: int = 0,
    draws: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Found:
    """Draw until so many deployments meet the condition; the same ones for any number of workers.

    Args:
        count: How many.
        layout: How nodes are scattered, unless `settings` say it (see `Layout`).
        condition: One of `CONDITIONS`.
        ties: One of `TIES`.
        seed: The seed of everything random.
        algorithms: Which of `ALGORITHMS` to run on each.
        workers: Threads, one per CPU core unless told otherwise.
        first: The draw to begin with: one more than the last of an earlier search goes on where that ended.
        draws: Give up after so many; unless told otherwise after what takes about a minute on a core.
        progress: Where to say how far it is.
        settings: The attributes of `Layout`.

    Raises:
        InputError: A setting makes no sense, or such deployments are too rare.
    """
    drawn = _search(layout or Layout(**settings), condition, ties, seed)
    wanted = list(algorithms)

    def call(interrupt: _core.Interrupt, how_far: _core.RouteProgress) -> _core.RouteDeployments:
        effort = Effort(_workers(workers), draws, first, interrupt, how_far)
        return drawn.deployments(count, effort, wanted)

    found = _watched(call, count, progress, f"{condition} deployments")
    return Found([Deployment.of(report) for report in found.reports], found.drawn, found.connected)


def conditioned(
    count: int, nodes: int = 32, area_m: float = 100.0, range_m: float = 20.0, seed: int = 1, **options: Any
) -> list[Deployment]:
    """Deployments in which all three greedy algorithms find two routes: the papers' second set."""
    layout = Layout(nodes, area_m, range_m)
    return search(count, layout, condition="all-multipath", seed=seed, **options).deployments


def statistics(  # noqa: PLR0913 - one argument per choice
    count: int,
    layout: Layout | None = None,
    *,
    condition: str = "connected",
    ties: str = "lowest-node",
    seed: int = 1,
    optimal: bool = True,
    workers: int | None = None,
    draws: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Statistics:
    """As `search`, but keep the number of routes and their lengths only; `optimal` looks for the best sets too."""
    import polars as pl

    drawn = _search(layout or Layout(**settings), condition, ties, seed)

    def call(interrupt: _core.Interrupt, how_far: _core.RouteProgress) -> _core.RouteStatistics:
        effort = Effort(_workers(workers), draws, 0, interrupt, how_far)
        return drawn.statistics(count, effort, optimal=optimal)

    found = _watched(call, count, progress, f"{condition} deployments")
    return Statistics(pl.DataFrame(found.table), found.drawn, found.connected)


def load(  # noqa: PLR0913 - one argument per choice
    path: str | os.PathLike[str],
    *,
    range_m: float | None = None,
    source: Place | None = None,
    destination: Place | None = None,
    ties: str = "lowest-node",
    seed: int = 1,
    algorithms: Sequence[str] = ALGORITHMS,
) -> Deployment:
    """A deployment from CSV, JSON or GraphML, by the file's ending, with its routes.

    A given range goes before the file's links; a given end goes before the file's.

    Raises:
        InputError: The file cannot be read, or something is missing or makes no sense.
    """
    text = read_text(Path(path), InputError)
    report = _core.read_routes(
        text,
        str(path),
        range_m=range_m,
        source=source,
        destination=destination,
        ties=ties,
        seed=seed,
        algorithms=list(algorithms),
    )
    return Deployment.of(report)


def to_networkx(deployment: Deployment) -> Any:
    """The deployment as a NetworkX graph: nodes with `x_m` and `y_m`, edges with `routes`, the ends as its own data.

    Raises:
        UnsupportedError: NetworkX is not installed.
    """
    graph = _networkx().Graph(
        source=deployment.names[deployment.source], destination=deployment.names[deployment.destination]
    )
    if deployment.range_m is not None:
        graph.graph["range_m"] = deployment.range_m
    for place, name in enumerate(deployment.names):
        at = deployment.positions[place] if deployment.positions else None
        graph.add_node(name, **({"x_m": at[0], "y_m": at[1]} if at else {}))
    graph.add_edges_from(
        (deployment.names[a], deployment.names[b], {"routes": [], **deployment.quality.get((a, b), {})})
        for a, b in deployment.links
    )
    for algorithm, found in deployment.routes.items():
        for index, route in enumerate(found):
            for a, b in pairwise(route):
                over = graph.edges[deployment.names[a], deployment.names[b]]["routes"]
                over.append((algorithm, index))
    return graph


def from_networkx(graph: Any, **options: Any) -> Deployment:
    """The routes over a NetworkX graph.

    Nodes may have `x_m` and `y_m` (or `x` and `y`, or `pos`), edges `etx` or `loss`, and `rate_mbps`.

    Args:
        graph: An undirected graph. Its own data may say `source`, `destination` and `range_m`.
        options: `range_m`, `source`, `destination`, `ties`, `seed` and `algorithms`, as for `load`.

    Raises:
        InputError: Something is missing or makes no sense.
        UnsupportedError: NetworkX is not installed.
    """
    _networkx()
    names = {node: str(node) for node in graph.nodes}
    own = {key: graph.graph[key] for key in ("range_m", "source", "destination") if key in graph.graph}
    tree = {
        "nodes": [{"name": names[node], **_position(data)} for node, data in graph.nodes(data=True)],
        "links": [
            {"source": names[a], "target": names[b], **_quality(data)}
            for a, b, data in graph.edges(data=True)
            if a != b
        ],
        "directed": graph.is_directed(),
        "graph": {key: value if key == "range_m" else str(value) for key, value in own.items()},
    }
    options = {"algorithms": ALGORITHMS, **options}
    options["algorithms"] = list(options["algorithms"])
    return Deployment.of(_core.read_routes(json.dumps(tree), "the graph", "json", **options))


def _quality(data: dict[str, Any]) -> dict[str, float]:
    return {key: float(data[key]) for key in ("etx", "loss", "rate_mbps") if data.get(key) is not None}


def _ends(link: dict[str, str] | list[str]) -> tuple[str, str]:
    a, b = (link["source"], link["target"]) if isinstance(link, dict) else link
    return a, b


def _position(data: dict[str, Any]) -> dict[str, Any]:
    at = data.get("pos")
    x, y = (data.get("x_m", data.get("x")), data.get("y_m", data.get("y"))) if at is None else at
    return {key: float(value) for key, value in (("x_m", x), ("y_m", y)) if value is not None}


def _networkx() -> Any:
    try:
        import networkx as nx
    except ImportError as error:
        raise UnsupportedError("NetworkX is not installed: pip install 'ropewalk[networkx]'") from error
    return nx


def _search(layout: Layout, condition: str, ties: str, seed: int) -> _core.RouteSearch:
    return _core.RouteSearch(layout, condition, ties, seed)


def _workers(workers: int | None) -> int:
    return workers if workers is not None else len(os.sched_getaffinity(0))


def _watched(
    call: Callable[[_core.Interrupt, _core.RouteProgress], Result],
    count: int,
    progress: Progress | None,
    what: str,
) -> Result:
    """Search on another thread, so that Ctrl-C is answered, and say how far it is.

    Until the first is found, that is how many have been drawn.
    """
    shown, how_far = progress or Silent(), _core.RouteProgress()
    drawing = Drawing(shown, how_far)
    said = 0

    def look() -> None:
        nonlocal said
        if how_far.found == 0:
            drawing.look()
            return
        if said == 0:
            shown.start(count, what)
        if how_far.found > said:
            shown.advance(how_far.found - said)
            said = how_far.found

    outcome = waited(lambda interrupt: call(interrupt, how_far), look)
    if said == 0:
        shown.start(count, what)
    if said < count:
        shown.advance(count - said)
    return outcome
