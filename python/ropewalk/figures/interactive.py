"""Charts for the report, by Plotly: zoom, read values, switch curves off. Works without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk.figures.chart import COLOURS
from ropewalk.figures.paper import MOST_BANDS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ropewalk.figures.chart import Chart, Line


def fragment(chart: Chart, *, with_library: bool) -> str:
    """A `<div>` with the chart; the first one on a page carries the library itself."""
    import plotly.graph_objects as go
    import plotly.io as pio

    figure = go.Figure()
    for index, line in enumerate(chart.lines):
        banded = len(chart.lines) <= MOST_BANDS
        _add_line(figure, line, COLOURS[index % len(COLOURS)], banded=banded)
    for index, level in enumerate(chart.levels):
        colour = COLOURS[(len(chart.lines) + index) % len(COLOURS)]
        figure.add_hline(y=level.y, line_dash="dot", line_color=colour, annotation_text=level.label)
        if level.low is not None and level.high is not None:
            figure.add_hrect(y0=level.low, y1=level.high, fillcolor=colour, opacity=0.1, line_width=0)
    figure.update_layout(
        template="simple_white",
        title=chart.title,
        xaxis_title=chart.x_label,
        yaxis_title=chart.y_label,
        height=460,
        margin={"l": 60, "r": 20, "t": 50, "b": 50},
        hovermode="x unified",
    )
    if chart.log_x:
        figure.update_xaxes(type="log")
    if chart.from_zero:
        figure.update_yaxes(rangemode="tozero")
    text: str = pio.to_html(
        figure,
        include_plotlyjs=with_library,
        full_html=False,
        div_id=f"chart-{chart.stem}",
        config={"displaylogo": False},
    )
    return text


def _add_line(figure: go.Figure, line: Line, colour: str, *, banded: bool) -> None:
    import plotly.graph_objects as go

    if line.low is not None and line.high is not None and banded:
        red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
        figure.add_trace(
            go.Scatter(
                x=[*line.x, *reversed(line.x)],
                y=[*line.high, *reversed(line.low)],
                mode="lines",
                fill="toself",
                fillcolor=f"rgba({red},{green},{blue},0.15)",
                line={"width": 0},
                legendgroup=line.label,
                showlegend=False,
                hoverinfo="skip",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=line.x,
            y=line.y,
            name=line.label,
            legendgroup=line.label,
            mode="lines+markers" if line.markers else "lines",
            line={"color": colour, "dash": "dash" if line.dashed else "solid"},
            error_y=None if banded else _bars(line, colour),
        )
    )


def _bars(line: Line, colour: str) -> dict[str, object] | None:
    """The intervals as bars, where bands would hide each other."""
    if line.low is None or line.high is None:
        return None
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - y for high, y in zip(line.high, line.y, strict=True)],
        "arrayminus": [y - low for low, y in zip(line.low, line.y, strict=True)],
        "color": colour,
        "thickness": 0.8,
        "width": 2,
    }
