"""The commands behind `ropewalk routes`: deployments and disjoint routes as tables, files and pictures."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from ropewalk.errors import InputError
from ropewalk.routes_command.deployment import channels_of, deployment_table
from ropewalk.routes_command.options import (
    AREA,
    COUNT,
    DESTINATION,
    JUDGING,
    NODES,
    OPTIONS,
    RANGE,
    SOURCE,
    AlgorithmOption,
    AreaOption,
    AssignOption,
    BetaOption,
    BitRateOption,
    ChannelsOption,
    ConditionOption,
    CountOption,
    CurvesPictureOption,
    DeliveryOption,
    DeploymentPictureOption,
    DestinationOption,
    DrawsOption,
    EdgeExponentOption,
    EdgeLossOption,
    FileArgument,
    FrameOption,
    GraphmlOption,
    GridOption,
    IntensityOption,
    InterferenceOption,
    JitterOption,
    JsonOption,
    MetricOption,
    NodesOption,
    NumberOption,
    ParquetOption,
    RadiosOption,
    RangeOption,
    SeedOption,
    ShowDestinationOption,
    ShowRangeOption,
    ShowSourceOption,
    SourceOption,
    SweepOption,
    SwitchCostOption,
    TiesOption,
    WorkersOption,
)
from ropewalk.routes_command.output import (
    curves_of,
    curves_table,
    draw_curves,
    rows_of,
    settings,
    statistics_table,
    write_table,
)
from ropewalk.routes_command.reading import expect_deployment, expect_parquet, expect_picture, whole
from ropewalk.routes_command.refusing import given_options, refuse_layout, refuse_unused
from ropewalk.routes_command.search import drawn, judged, loaded, measured

if TYPE_CHECKING:
    from collections.abc import Iterator

app = typer.Typer(
    name="routes",
    help="Scatter nodes, find link-, node- and zone-disjoint routes between two of them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@contextmanager
def _reporting() -> Iterator[None]:
    """Errors name the option that they are about."""
    from ropewalk.commands import reporting

    with reporting():
        try:
            yield
        except InputError as error:
            options = {option for parameters in OPTIONS.values() for option in parameters}
            if error.key in options and not str(error).startswith("--"):
                said = str(error).removeprefix(f"{error.key}: ")
                raise InputError(f"--{error.key}: {said}", key=error.key) from error
            raise


@app.command()
def statistics(  # noqa: PLR0913 - one argument per option
    context: typer.Context,
    *,
    nodes: SweepOption = "24:48:4",
    area: AreaOption = AREA,
    range_: RangeOption = RANGE,
    source: SourceOption = SOURCE,
    destination: DestinationOption = DESTINATION,
    intensity: IntensityOption = None,
    grid: GridOption = None,
    jitter: JitterOption = 0.0,
    condition: ConditionOption = "connected",
    ties: TiesOption = "lowest-node",
    count: CountOption = COUNT,
    seed: SeedOption = 1,
    draws: DrawsOption = None,
    workers: WorkersOption = None,
    json: JsonOption = False,
    out: ParquetOption = None,
) -> None:
    """How often there are two routes or more, how long they are, and how often greedy misses one, against N."""
    values, given = _values(locals()), given_options(context)
    with _reporting():
        refuse_layout(values, given)
        expect_parquet(out)
        found = measured(values, count)
        write_table(found, out)
        if json:
            from ropewalk.summary import to_json

            typer.echo(to_json({"settings": settings(values, count), "rows": rows_of(found)}))
            return
        typer.echo(statistics_table(found))
        if out is not None:
            typer.echo(f"\nwritten: {out}")


@app.command()
def cdf(  # noqa: PLR0913 - one argument per option
    context: typer.Context,
    *,
    nodes: NodesOption = NODES,
    area: AreaOption = AREA,
    range_: RangeOption = RANGE,
    source: SourceOption = SOURCE,
    destination: DestinationOption = DESTINATION,
    intensity: IntensityOption = None,
    grid: GridOption = None,
    jitter: JitterOption = 0.0,
    condition: ConditionOption = "all-multipath",
    ties: TiesOption = "lowest-node",
    count: CountOption = COUNT,
    seed: SeedOption = 1,
    draws: DrawsOption = None,
    workers: WorkersOption = None,
    json: JsonOption = False,
    out: ParquetOption = None,
    picture: CurvesPictureOption = None,
) -> None:
    """The cumulative distributions of the number of routes, and of the hops of the first and the second."""
    values, given = _values(locals()), given_options(context)
    with _reporting():
        refuse_layout(values, given)
        if picture is not None:
            expect_picture(picture)
        expect_parquet(out)
        whole("nodes", nodes)
        found = measured(values, count)
        write_table(found, out)
        (statistics,) = found.values()
        curves = curves_of(statistics)
        if picture is not None:
            draw_curves(curves, picture)
        if json:
            from ropewalk.summary import to_json

            tree = {
                column: {name: dict(zip(("x", "cdf"), xy, strict=True)) for name, xy in by.items()}
                for column, by in curves.items()
            }
            typer.echo(to_json({"settings": settings(values, count), **tree}))
            return
        typer.echo(curves_table(curves))


@app.command()
def show(  # noqa: PLR0913 - one argument per option
    context: typer.Context,
    file: FileArgument = None,
    *,
    nodes: NodesOption = NODES,
    area: AreaOption = AREA,
    range_: ShowRangeOption = None,
    source: ShowSourceOption = None,
    destination: ShowDestinationOption = None,
    intensity: IntensityOption = None,
    grid: GridOption = None,
    jitter: JitterOption = 0.0,
    condition: ConditionOption = "all-multipath",
    ties: TiesOption = "lowest-node",
    number: NumberOption = 1,
    seed: SeedOption = 1,
    draws: DrawsOption = None,
    workers: WorkersOption = None,
    algorithm: AlgorithmOption = None,
    json: JsonOption = False,
    graphml: GraphmlOption = False,
    picture: DeploymentPictureOption = None,
    channels: ChannelsOption = None,
    assign: AssignOption = None,
    radios: RadiosOption = None,
    metric: MetricOption = None,
    interference: InterferenceOption = 2.0,
    bit_rate: BitRateOption = 11.0,
    frame: FrameOption = 1500,
    delivery: DeliveryOption = 1.0,
    edge_loss: EdgeLossOption = 0.0,
    edge_exponent: EdgeExponentOption = 4.0,
    beta: BetaOption = 0.5,
    switch_cost: SwitchCostOption = 0.5,
) -> None:
    """One deployment and its routes: a table, JSON, GraphML or a picture."""
    values, given = _values(locals()), given_options(context)
    with _reporting():
        if picture is not None:
            expect_picture(picture)
        if file is not None:
            expect_deployment(file)
        if json and graphml:
            raise InputError("--graphml: choose one of --json and --graphml", key="graphml")
        refuse_unused(values, given)
        deployment = loaded(values) if file is not None else drawn(values, number)
        if any(values[key] is not None for key in JUDGING):
            deployment = judged(deployment, values, given)
        if picture is not None:
            from ropewalk.figures.deployment import save_deployment

            picture.parent.mkdir(parents=True, exist_ok=True)
            save_deployment(deployment, [picture], list(deployment.routes), channels_of(deployment))
        if json or graphml:
            typer.echo(deployment.json() if json else deployment.graphml())
        else:
            typer.echo(deployment_table(deployment))


def _values(arguments: dict[str, Any]) -> dict[str, Any]:
    """A command's arguments by the names of their options."""
    return {key.rstrip("_").replace("_", "-"): value for key, value in arguments.items() if key != "context"}
