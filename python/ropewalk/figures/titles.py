"""Titles of charts: as many lines as their width asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM: Final = 0.94
"""Of the width of the axes, what a line of the title may take: an SVG's reader may have a wider font."""


def set_title(axes: Axes, text: str) -> None:
    """Give axes a title, broken between words where it would be wider than they are.

    Everything else has to be drawn already: labels and legends take from the width of the axes.
    """
    figure = axes.get_figure(root=True)
    if figure is None or not text:
        return
    figure.draw_without_rendering()
    room = ROOM * axes.get_window_extent().width
    title = axes.set_title("")

    def is_too_wide(line: str) -> bool:
        title.set_text(line)
        return title.get_window_extent().width > room

    lines: list[str] = []
    for part in text.split("\n"):
        line = ""
        for word in part.split():
            longer = f"{line} {word}".lstrip()
            if line and is_too_wide(longer):
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    title.set_text("\n".join(lines))
