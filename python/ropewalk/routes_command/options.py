"""The options of `ropewalk routes`: their names, help and defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

SCATTER: Final = "Deployments"
SEARCH: Final = "Search"
CHANNELS: Final = "Over several channels"

NodesOption = Annotated[
    str, typer.Option("--nodes", metavar="N", help="How many nodes.", rich_help_panel=SCATTER)
]
SweepOption = Annotated[
    str,
    typer.Option(
        "--nodes",
        metavar="N,N,…|FROM:TO[:STEP]",
        help="How many nodes: several numbers.",
        rich_help_panel=SCATTER,
    ),
]
AreaOption = Annotated[
    str,
    typer.Option(
        "--area", metavar="M|MxM", help="Side, or width and height, in metres.", rich_help_panel=SCATTER
    ),
]
RangeOption = Annotated[
    float, typer.Option("--range", metavar="M", help="Closer nodes hear each other.", rich_help_panel=SCATTER)
]
SourceOption = Annotated[
    str,
    typer.Option(
        "--source", metavar="X,Y|NAME", help="The node nearest to a point, or named.", rich_help_panel=SCATTER
    ),
]
DestinationOption = Annotated[
    str, typer.Option("--destination", metavar="X,Y|NAME", help="Likewise.", rich_help_panel=SCATTER)
]
IntensityOption = Annotated[
    float | None,
    typer.Option(
        "--intensity",
        metavar="PER_M2",
        help="Instead of --nodes: a Poisson process with so many nodes per square metre.",
        rich_help_panel=SCATTER,
    ),
]
GridOption = Annotated[
    str | None,
    typer.Option(
        "--grid",
        metavar="CxR",
        help="Instead of --nodes: one node in each cell of a grid.",
        rich_help_panel=SCATTER,
    ),
]
JitterOption = Annotated[
    float,
    typer.Option(
        "--jitter", help="How far from the middle of its cell: 0 to 1, its border.", rich_help_panel=SCATTER
    ),
]
ConditionOption = Annotated[
    str,
    typer.Option(
        "--condition",
        help="any, connected, link-multipath, node-multipath, zone-multipath or all-multipath.",
        rich_help_panel=SEARCH,
    ),
]
TiesOption = Annotated[
    str,
    typer.Option(
        "--ties",
        help="Which of equally short routes: lowest-node, highest-node, fewest-metres or random.",
        rich_help_panel=SEARCH,
    ),
]
CountOption = Annotated[
    int, typer.Option("--count", min=1, help="How many deployments.", rich_help_panel=SEARCH)
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, max=2**64 - 1, help="The seed.", rich_help_panel=SEARCH)
]
DrawsOption = Annotated[
    int | None,
    typer.Option(
        "--draws",
        min=1,
        help="Give up after drawing so many.",
        show_default="10^8 up to 64 nodes, 5·10^8 through their number beyond",
        rich_help_panel=SEARCH,
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Threads.", show_default="one per CPU core", rich_help_panel=SEARCH
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
ParquetOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE.parquet", help="Write a row per deployment and algorithm."),
]

FileArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[FILE]", help="Positions or links from .csv, .json or .graphml instead of chance."
    ),
]
ShowRangeOption = Annotated[
    float | None,
    typer.Option(
        "--range",
        metavar="M",
        help="Closer nodes hear each other.",
        show_default="20, or what the file says",
        rich_help_panel=SCATTER,
    ),
]
ShowSourceOption = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="X,Y|NAME",
        help="The node nearest to a point, or named.",
        show_default="20,50, or what the file says",
        rich_help_panel=SCATTER,
    ),
]
ShowDestinationOption = Annotated[
    str | None,
    typer.Option(
        "--destination",
        metavar="X,Y|NAME",
        help="Likewise.",
        show_default="80,50, or what the file says",
        rich_help_panel=SCATTER,
    ),
]
NumberOption = Annotated[
    int, typer.Option("--number", min=1, help="Which of the deployments that meet the condition.")
]
AlgorithmOption = Annotated[
    list[str] | None,
    typer.Option(
        help="link, node, zone, optimal-link or optimal-node. Repeatable.", show_default="all of them"
    ),
]
GraphmlOption = Annotated[bool, typer.Option("--graphml", help="Print GraphML instead.")]
DeploymentPictureOption = Annotated[
    Path | None, typer.Option(metavar="FILE.png|svg", help="Draw nodes, links and routes.")
]
ChannelsOption = Annotated[
    int | None,
    typer.Option(min=1, help="Judge the routes over so many channels.", rich_help_panel=CHANNELS),
]
AssignOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOW|C,C,…",
        help="The channels of hops: per-route, alternate along the hops, by the stations' radios, or a list.",
        show_default="per-route",
        rich_help_panel=CHANNELS,
    ),
]
RadiosOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="With --assign radios: how many per node, on channels that are drawn.",
        show_default="2, or what the file says",
        rich_help_panel=CHANNELS,
    ),
]
MetricOption = Annotated[
    str | None,
    typer.Option(
        help="Choose routes by hops, ett, wcett or mic.", show_default="hops", rich_help_panel=CHANNELS
    ),
]
InterferenceOption = Annotated[
    float, typer.Option(help="Interference range over range.", rich_help_panel=CHANNELS)
]
BitRateOption = Annotated[
    float, typer.Option("--bit-rate", metavar="MBIT/S", help="For ETT.", rich_help_panel=CHANNELS)
]
FrameOption = Annotated[int, typer.Option(metavar="OCTETS", help="For ETT.", rich_help_panel=CHANNELS)]
DeliveryOption = Annotated[
    float, typer.Option(help="Probability per link and direction.", rich_help_panel=CHANNELS)
]
EdgeLossOption = Annotated[
    float,
    typer.Option(
        "--edge-loss",
        metavar="P",
        help="Loss per direction at the end of the range, less nearer by: P (distance / range)^exponent.",
        rich_help_panel=CHANNELS,
    ),
]
EdgeExponentOption = Annotated[
    float,
    typer.Option("--edge-exponent", metavar="K", help="That exponent.", rich_help_panel=CHANNELS),
]
BetaOption = Annotated[float, typer.Option(help="β of WCETT.", rich_help_panel=CHANNELS)]
SwitchCostOption = Annotated[
    float, typer.Option("--switch-cost", help="w1 of MIC; w2 is 1.", rich_help_panel=CHANNELS)
]
CurvesPictureOption = Annotated[
    Path | None, typer.Option(metavar="FILE.png|svg", help="Draw the cdfs of the routes' hops.")
]

JUDGING: Final = ("channels", "assign", "metric")
"""Options of which any makes `show` judge the routes."""

RADIO: Final = (
    "interference",
    "bit-rate",
    "frame",
    "delivery",
    "edge-loss",
    "edge-exponent",
    "beta",
    "switch-cost",
)
"""Options that say how."""

NODES: Final = "32"
AREA: Final = "100"
RANGE: Final = 20.0
SOURCE: Final = "20,50"
DESTINATION: Final = "80,50"
COUNT: Final = 1000

PRESENTATION: Final = frozenset({"workers", "json", "out", "picture"})
"""Options that change what is shown and where, but no figure."""

OPTIONS: Final = {
    "scatter": ("nodes", "area", "range", "source", "destination", "intensity", "grid", "jitter"),
    "search": ("condition", "ties", "draws"),
    "show": (
        "algorithm",
        "picture",
        *JUDGING,
        "radios",
        *RADIO,
    ),
}
"""What the core's errors may be about, under the same names."""
