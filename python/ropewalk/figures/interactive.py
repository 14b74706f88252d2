"""Charts for the report, by Plotly: zoom, read values, switch curves off. Works without a network."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from ropewalk.figures.chart import COLOURS
from ropewalk.figures.paper import BAR_GROUP, MOST_BANDS, MOST_WITHIN, bar_places

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ropewalk.figures.chart import Bars, Chart, Level, Line, Points


def fragment(chart: Chart, *, with_library: bool) -> str:
    """A `<div>` with the chart; the first one on a page carries the library itself."""
    import plotly.graph_objects as go
    import plotly.io as pio

    figure = go.Figure()
    curves = len(chart.lines) + len(chart.bars)
    named = curves + len(chart.levels) + len(chart.points)
    for index, line in enumerate(chart.lines):
        banded = len(chart.lines) <= MOST_BANDS
        _add_line(figure, line, COLOURS[index % len(COLOURS)], banded=banded)
    for index, bars in enumerate(chart.bars):
        _add_bars(figure, chart, bars, index)
    for index, level in enumerate(chart.levels):
        _add_level(figure, chart, level, COLOURS[(curves + index) % len(COLOURS)])
    for index, points in enumerate(chart.points):
        _add_points(figure, points, SYMBOLS[index % len(SYMBOLS)])
    figure.update_layout(
        template="simple_white",
        xaxis_title=_broken(chart.x_label),
        yaxis_title=chart.y_label,
        height=460 + ROW_PX * (max(0, named - MOST_WITHIN) + _broken(chart.x_label).count(BREAK)),
        margin={"l": 60, "r": 20, "t": 30, "b": 50},
        hovermode="x unified",
        # Below the axes: beside them it leaves a telephone no room for curves, and within it covers them.
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        showlegend=named > 1,
    )
    figure.update_xaxes(title_standoff=6)
    if chart.log_x:
        figure.update_xaxes(type="log")
    if chart.categories:
        figure.update_xaxes(
            tickvals=list(range(len(chart.categories))),
            ticktext=[name.replace("\n", "<br>") for name in chart.categories],
            # Sloping down to their place: the last one is not cut off, and so left out, on a narrow screen.
            autotickangles=[0, -30, -90],
        )
    if chart.from_zero:
        figure.update_yaxes(rangemode="tozero")
    text: str = pio.to_html(
        figure,
        include_plotlyjs=False,
        full_html=False,
        div_id=f"chart-{chart.stem}",
        config={"displaylogo": False, "displayModeBar": False, "responsive": True},
    )
    return f"<script>{library()}</script>\n{text}" if with_library else text


def _broken(title: str) -> str:
    """The title of an axis in lines that a narrow screen has room for."""
    return BREAK.join(wrap(title, MOST_LETTERS))


BREAK: Final = "<br>"
MOST_LETTERS: Final = 38
"""In a line of an axis's title: a telephone has 300 pixels for it."""
SYMBOLS: Final = ("x", "star", "triangle-up", "cross")
ROW_PX: Final = 20
"""Of a legend's entry."""


def library() -> str:
    """Plotly's basic build, which draws lines, points and bars."""
    return files("ropewalk.figures").joinpath("vendor/plotly-basic.min.js").read_text(encoding="utf-8")


def _add_level(figure: go.Figure, chart: Chart, level: Level, colour: str) -> None:
    """As a curve, so that it stands in the legend and can be read: the template gives shapes no width."""
    import plotly.graph_objects as go

    places = [x for line in chart.lines for x in line.x] or [-0.5, max(len(chart.categories), 2) - 0.5]
    ends = [min(places), max(places)]
    if level.low is not None and level.high is not None:
        figure.add_trace(Band(level.label, ends, [level.low] * 2, [level.high] * 2).trace(colour, 0.1))
    figure.add_trace(
        go.Scatter(
            x=ends,
            y=[level.y, level.y],
            name=level.label,
            legendgroup=level.label,
            mode="lines",
            line={"color": colour, "dash": "dot", "width": 2},
        )
    )


def _add_bars(figure: go.Figure, chart: Chart, bars: Bars, index: int) -> None:
    """Side by side around the place of their category."""
    import plotly.graph_objects as go

    figure.add_trace(
        go.Bar(
            x=bar_places(chart, index),
            y=bars.y,
            width=BAR_GROUP / len(chart.bars),
            name=bars.label,
            marker={"color": COLOURS[index % len(COLOURS)]},
            error_y=_ends(bars.y, bars.low, bars.high, "#000000"),
        )
    )


def _add_points(figure: go.Figure, points: Points, symbol: str) -> None:
    """Values from elsewhere: large marks without a line."""
    import plotly.graph_objects as go

    figure.add_trace(
        go.Scatter(
            x=points.x,
            y=points.y,
            name=points.label,
            mode="markers",
            marker={
                "symbol": symbol,
                "size": 11,
                "color": "#000000",
                "line": {"width": 1, "color": "#ffffff"},
            },
        )
    )


@dataclass(frozen=True, slots=True)
class Band:
    """Between which values a curve's mean may lie."""

    label: str
    x: list[float]
    low: list[float]
    high: list[float]

    def trace(self, colour: str, opacity: float) -> go.Scatter:
        """It as a coloured area, which goes with its curve when that is switched off."""
        import plotly.graph_objects as go

        red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
        return go.Scatter(
            x=[*self.x, *reversed(self.x)],
            y=[*self.high, *reversed(self.low)],
            mode="lines",
            fill="toself",
            fillcolor=f"rgba({red},{green},{blue},{opacity})",
            line={"width": 0},
            legendgroup=self.label,
            showlegend=False,
            hoverinfo="skip",
        )


def _add_line(figure: go.Figure, line: Line, colour: str, *, banded: bool) -> None:
    import plotly.graph_objects as go

    if line.low is not None and line.high is not None and banded:
        figure.add_trace(Band(line.label, line.x, line.low, line.high).trace(colour, 0.15))
    figure.add_trace(
        go.Scatter(
            x=line.x,
            y=line.y,
            name=line.label,
            legendgroup=line.label,
            mode="lines+markers" if line.markers else "lines",
            line={"color": colour, "dash": "dash" if line.dashed else "solid"},
            error_y=None if banded else _ends(line.y, line.low, line.high, colour),
        )
    )


def _ends(
    means: list[float], lows: list[float] | None, highs: list[float] | None, colour: str
) -> dict[str, object] | None:
    """The intervals as strokes, where bands would hide each other."""
    if lows is None or highs is None:
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - y for high, y in zip(highs, means, strict=True)],
        "arrayminus": [y - low for low, y in zip(lows, means, strict=True)],
        "color": colour,
        "thickness": 0.8,
        "width": 2,
    }
