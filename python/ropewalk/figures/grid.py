"""Several charts as one picture, by Matplotlib: rows and columns with common axes and one legend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.figures.paper import STYLE, draw_lines, write
from ropewalk.figures.titles import set_title

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ropewalk.figures.chart import Chart

PANEL_IN: Final = (3.0, 2.1)
"""Width and height of a panel in inches."""


def save_grid(rows: Sequence[Sequence[Chart]], paths: Sequence[Path]) -> None:
    """Write the charts to each path, PNG or SVG by its ending. The first one's axes and curves name those of all."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    height, width = len(rows), len(rows[0])
    with mpl.rc_context({**STYLE, "font.size": 8, "axes.titlesize": 8, "lines.linewidth": 0.9}):
        figure, panels = plt.subplots(
            height,
            width,
            figsize=(PANEL_IN[0] * width, PANEL_IN[1] * height + 0.6),
            layout="constrained",
            sharex=True,
            sharey=True,
            squeeze=False,
        )
        for row, axes_of_row in zip(rows, panels, strict=True):
            for chart, axes in zip(row, axes_of_row, strict=True):
                draw_lines(chart, axes)
        first = rows[0][0]
        figure.supxlabel(first.x_label)
        figure.supylabel(first.y_label)
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
        for row, axes_of_row in zip(rows, panels, strict=True):
            for chart, axes in zip(row, axes_of_row, strict=True):
                set_title(axes, chart.title)
        write(figure, paths)
        plt.close(figure)
