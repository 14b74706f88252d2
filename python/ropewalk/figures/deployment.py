"""A deployment as a picture: nodes where they are, links, and the routes in colour, one panel per algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ropewalk.errors import InputError
from ropewalk.figures.chart import COLOURS
from ropewalk.figures.paper import STYLE, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

NAMES: Final = {
    "link": "link-disjoint (LD)",
    "node": "node-disjoint (ND)",
    "zone": "zone-disjoint (ZD)",
    "optimal-link": "link-disjoint, optimal",
    "optimal-node": "node-disjoint, optimal",
}
LINK_COLOUR: Final = "#d9d9d9"
NODE_COLOUR: Final = "#ffffff"
PANEL_IN: Final = 3.6
"""Width of a panel in inches."""
ROUTE_STYLES: Final = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), "-.")
"""Colours alone would not do in print."""


class Drawn(Protocol):
    """What can be drawn: a `ropewalk.routes.Deployment`, or another that has as much."""

    @property
    def names(self) -> Sequence[str]:
        """Of the nodes."""
        ...

    @property
    def positions(self) -> Sequence[tuple[float, float]]:
        """In metres, in the order of the names."""
        ...

    @property
    def links(self) -> Sequence[tuple[int, int]]:
        """Pairs of places in `names`."""
        ...

    @property
    def source(self) -> int:
        """Its place."""
        ...

    @property
    def destination(self) -> int:
        """Its place."""
        ...

    @property
    def routes(self) -> Mapping[str, Sequence[Sequence[int]]]:
        """By algorithm: lists of places."""
        ...


def save_deployment(
    deployment: Drawn,
    paths: Sequence[Path],
    algorithms: Sequence[str],
    channels: Mapping[str, Sequence[Sequence[int]]] | None = None,
) -> None:
    """Write the picture to each path, PNG or SVG by its ending.

    `channels`, by algorithm and route one for each hop, stand beside the hops and in the legend.

    Raises:
        InputError: The nodes' positions are unknown.
    """
    if not deployment.positions:
        raise InputError("a picture needs the nodes' positions", key="picture")
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    shown = [name for name in algorithms if name in deployment.routes] or [""]
    with mpl.rc_context({**STYLE, "axes.grid": False}):
        figure, panels = plt.subplots(
            1,
            len(shown),
            figsize=(PANEL_IN * len(shown) + 0.3, PANEL_IN + 0.5),
            layout="constrained",
            squeeze=False,
            sharey=True,
        )
        for place, (axes, algorithm) in enumerate(zip(panels[0], shown, strict=True)):
            used = (channels or {}).get(algorithm, [])
            _panel(axes, deployment, algorithm, used)
            _channels(axes, deployment, algorithm, used)
            if place == 0:
                axes.set_ylabel("y (m)")
        # Legends of many routes reach beyond what the layout leaves them.
        write(figure, paths, bbox_inches="tight")
        plt.close(figure)


def _channels(axes: Axes, deployment: Drawn, algorithm: str, channels: Sequence[Sequence[int]]) -> None:
    """Write the channel of each hop at its middle, in its route's colour: below each other where routes share it."""
    at = deployment.positions
    for index, (route, used) in enumerate(zip(deployment.routes.get(algorithm, []), channels, strict=False)):
        for a, b, channel in zip(route[:-1], route[1:], used, strict=True):
            axes.annotate(
                f"ch {channel}",
                ((at[a][0] + at[b][0]) / 2, (at[a][1] + at[b][1]) / 2),
                xytext=(0, 6 - 6 * index),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=5,
                color=COLOURS[index % len(COLOURS)],
                bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
                zorder=5,
            )


def _panel(axes: Axes, deployment: Drawn, algorithm: str, channels: Sequence[Sequence[int]]) -> None:
    at = deployment.positions
    for a, b in deployment.links:
        axes.plot(*zip(at[a], at[b], strict=True), color=LINK_COLOUR, linewidth=0.7, zorder=1)
    routes = deployment.routes.get(algorithm, [])
    for index, route in enumerate(routes):
        hops = len(route) - 1
        by = f", channels {' '.join(map(str, channels[index]))}" if channels else ""
        axes.plot(
            *zip(*(at[node] for node in route), strict=True),
            color=COLOURS[index % len(COLOURS)],
            linestyle=ROUTE_STYLES[index % len(ROUTE_STYLES)],
            linewidth=2.4,
            zorder=2,
            label=f"route {index + 1}: {hops} hop{'s' if hops > 1 else ''}{by}",
        )
    ends = {
        deployment.source: ("s", "#ffe08a", "source"),
        deployment.destination: ("D", "#a8dcc5", "destination"),
    }
    for node, (x, y) in enumerate(at):
        marker, colour, label = ends.get(node, ("o", NODE_COLOUR, None))
        axes.plot(
            x,
            y,
            marker=marker,
            linestyle="",
            label=label,
            markersize=11 if label else 9,
            markerfacecolor=colour,
            markeredgecolor="black",
            markeredgewidth=0.7,
            zorder=3,
        )
        axes.annotate(
            deployment.names[node], (x, y), ha="center", va="center", fontsize=5.5, zorder=4, clip_on=False
        )
    source, destination = (deployment.names[end] for end in (deployment.source, deployment.destination))
    axes.set_title(NAMES.get(algorithm, "links"))
    axes.set_xlabel(f"x (m); from {source} to {destination}")
    axes.set_aspect("equal")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=1 if channels else 2)
