"""Charts for papers, by Matplotlib. The same data give the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ropewalk.figures.chart import COLOURS
from ropewalk.figures.titles import set_title
from ropewalk.store import whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ropewalk.figures.chart import Chart

STYLE: Final[Any] = {
    "figure.figsize": (6.4, 4.0),
    "figure.dpi": 160,
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.5,
    "svg.hashsalt": "ropewalk",
    "svg.fonttype": "none",
}
MARKERS: Final = "osD^vP*Xh"
MOST_BANDS: Final = 3
"""More curves than this would hide each other's bands: their intervals are drawn as bars."""
MOST_WITHIN: Final = 4
"""A legend of more entries is set in columns."""
POINT_MARKS: Final = "x*^+"


def save(chart: Chart, folder: Path, endings: Sequence[str] = (".png", ".svg")) -> list[Path]:
    """Write `<stem>.png` and `<stem>.svg` into the folder, or one of them."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(layout="constrained")
        _draw(chart, axes)
        paths = [folder / f"{chart.stem}{ending}" for ending in endings]
        write(figure, paths)
        plt.close(figure)
    return paths


def write(figure: Figure, paths: Sequence[Path], **options: Any) -> None:
    """Write a figure to each path, PNG or SVG by its ending."""
    for path in paths:
        # No date and no version in the file, so that equal results are equal files.
        metadata: dict[str, Any] = (
            {"Date": None, "Creator": None} if path.suffix == ".svg" else {"Software": None}
        )
        with whole(path) as beside:
            figure.savefig(beside, format=path.suffix[1:], metadata=metadata, **options)


def draw_lines(chart: Chart, axes: Axes) -> None:
    """Draw the curves of a chart, and their intervals."""
    for index, line in enumerate(chart.lines):
        colour = COLOURS[index % len(COLOURS)]
        axes.plot(
            line.x,
            line.y,
            label=line.label,
            color=colour,
            linestyle="--" if line.dashed else "-",
            marker=MARKERS[index % len(MARKERS)] if line.markers else None,
        )
        if line.low is not None and line.high is not None:
            if len(chart.lines) <= MOST_BANDS:
                axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.18, linewidth=0)
            else:
                axes.vlines(line.x, line.low, line.high, color=colour, alpha=0.45, linewidth=0.9)


def _draw(chart: Chart, axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    draw_lines(chart, axes)
    _draw_bars(chart, axes)
    curves = len(chart.lines) + len(chart.bars)
    for index, level in enumerate(chart.levels):
        colour = COLOURS[(curves + index) % len(COLOURS)]
        axes.axhline(level.y, label=level.label, color=colour, linestyle=":")
        if level.low is not None and level.high is not None:
            axes.axhspan(level.low, level.high, color=colour, alpha=0.1, linewidth=0)
    for index, points in enumerate(chart.points):
        mark = POINT_MARKS[index % len(POINT_MARKS)]
        axes.plot(
            points.x, points.y, label=points.label, color="black", linestyle="", marker=mark, markersize=7
        )
    if chart.categories:
        axes.set_xticks(range(len(chart.categories)), chart.categories)
        axes.grid(visible=False, axis="x")
    elif chart.log_x:
        axes.set_xscale("log")
    elif all(float(x).is_integer() for line in chart.lines for x in line.x):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if chart.from_zero:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    _legend(curves + len(chart.levels) + len(chart.points), axes)
    set_title(axes, chart.title)


BAR_GROUP: Final = 0.8
"""Of the width of a category, what its bars take."""


def bar_places(chart: Chart, index: int) -> list[float]:
    """Where the bars of one kind stand: side by side around the place of their category."""
    width = BAR_GROUP / len(chart.bars)
    return [place + (index - (len(chart.bars) - 1) / 2) * width for place in range(len(chart.categories))]


def _draw_bars(chart: Chart, axes: Axes) -> None:
    for index, bars in enumerate(chart.bars):
        places = bar_places(chart, index)
        colour = COLOURS[index % len(COLOURS)]
        axes.bar(places, bars.y, BAR_GROUP / len(chart.bars), label=bars.label, color=colour, alpha=0.85)
        if bars.low is not None and bars.high is not None:
            axes.vlines(places, bars.low, bars.high, color="black", linewidth=1.0)


def _legend(named: int, axes: Axes) -> None:
    """Below the axes: within them it would cover curves."""
    if named > 1:
        columns = 1 if named <= MOST_WITHIN // 2 else 2
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=columns)
