"""The commands behind `ropewalk routes`: deployments and disjoint routes as tables, files and pictures."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import typer

from ropewalk.errors import InputError
from ropewalk.routes_options import (
    AREA,
    COUNT,
    DESTINATION,
    JUDGING,
    NODES,
    OPTIONS,
    PRESENTATION,
    RADIO,
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ropewalk.progress import Progress
    from ropewalk.routes import Deployment, Layout, Place, Statistics
    from ropewalk.statistics import Interval
    from ropewalk.tables import Cell

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


def _progress() -> Progress:
    from ropewalk.progress import Silent, for_terminal

    return for_terminal() if sys.stderr.isatty() else Silent()


def _wrong(option: str, text: str, expected: str) -> InputError:
    return InputError(f"--{option} {text}: expected {expected}", key=option, expected=expected)


def whole(option: str, text: str, expected: str = "a whole number") -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError as error:
        raise _wrong(option, text, expected) from error


def numbers(text: str) -> list[int]:
    """Numbers of nodes: `20,24,32` or `16:48:4`."""
    if ":" not in text:
        return [_nodes(part) for part in text.split(",")]
    parts = text.split(":")
    if len(parts) not in (2, 3):
        raise _wrong("nodes", text, "FROM:TO or FROM:TO:STEP")
    first, last, *rest = (_nodes(part) for part in parts)
    step = rest[0] if rest else 1
    if step < 1 or last < first:
        raise _wrong("nodes", text, "FROM:TO:STEP with TO not below FROM and STEP at least 1")
    return list(range(first, last + 1, step))


def _nodes(text: str) -> int:
    number = whole("nodes", text.strip(), "numbers such as 32, or 20,24,32, or 16:48:4")
    if number < 0:
        raise _wrong("nodes", text, "numbers that are not negative")
    return number


def area(text: str) -> float | tuple[float, float]:
    """Metres: `100` or `100x60`."""
    try:
        sides = [float(part) for part in text.lower().split("x")]
    except ValueError:
        sides = []
    match sides:
        case [side]:
            return side
        case [width, height]:
            return (width, height)
    raise _wrong("area", text, "metres, as 100 or 100x60")


def grid(text: str) -> tuple[int, int]:
    """Columns and rows: `6x5`."""
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.strip().isdigit() for part in parts):  # noqa: PLR2004 - two sides
        raise _wrong("grid", text, "columns and rows, as 6x5")
    return (int(parts[0]), int(parts[1]))


def place(text: str) -> Place:
    """A point `X,Y`, or else a name."""
    parts = text.split(",")
    try:
        x, y = (float(part) for part in parts)
    except ValueError:
        return text
    return (x, y)


def _drawn_place(option: str, text: str) -> Place:
    """The same of nodes that are drawn, whose names are their numbers."""
    found = place(text)
    if isinstance(found, str) and not found.strip().isdigit():
        raise _wrong(option, text, "a point in metres, as 20,50, or a node's number")
    return found


def _layout(values: dict[str, Any], nodes: int | None) -> Layout:
    from ropewalk.routes import Layout

    if values["intensity"] is not None and values["grid"] is not None:
        raise InputError("--grid: give either --intensity or --grid", key="grid")
    return Layout(
        nodes=nodes,
        area_m=area(values["area"]),
        range_m=values["range"],
        source=_drawn_place("source", values["source"]),
        destination=_drawn_place("destination", values["destination"]),
        intensity=values["intensity"],
        grid=None if values["grid"] is None else grid(values["grid"]),
        jitter=values["jitter"],
    )


def _layouts(values: dict[str, Any]) -> dict[str, Layout]:
    """What is asked for, by what its row is called."""
    if values["intensity"] is not None:
        return {f"Poisson {values['intensity']:g}/m²": _layout(values, None)}
    if values["grid"] is not None:
        return {f"grid {values['grid']}": _layout(values, None)}
    return {str(number): _layout(values, number) for number in numbers(values["nodes"])}


def _effort(values: dict[str, Any]) -> dict[str, Any]:
    keys = ("condition", "ties", "seed", "draws", "workers")
    return {key: values[key] for key in keys}


def _measured(values: dict[str, Any], count: int) -> dict[str, Statistics]:
    from ropewalk import routes

    progress = _progress()
    try:
        return {
            name: routes.statistics(count, layout, progress=progress, **_effort(values))
            for name, layout in _layouts(values).items()
        }
    finally:
        progress.finish()


def _write_table(found: dict[str, Statistics], path: Path | None) -> None:
    if path is None:
        return
    import polars as pl

    from ropewalk.store import write_parquet

    parts = [
        statistics.table.select(pl.lit(name).alias("layout"), pl.all()) for name, statistics in found.items()
    ]
    write_parquet(pl.concat(parts), path)


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
    values, given = _values(locals()), _given(context)
    with _reporting():
        _refuse_layout(values, given)
        _parquet(out)
        found = _measured(values, count)
        _write_table(found, out)
        if json:
            from ropewalk.summary import to_json

            typer.echo(to_json({"settings": _settings(values, count), "rows": _rows(found)}))
            return
        typer.echo(_statistics_table(found))
        if out is not None:
            typer.echo(f"\nwritten: {out}")


def _settings(values: dict[str, Any], count: int) -> dict[str, Any]:
    """What the figures depend on."""
    unused = {"nodes"} if values["intensity"] is not None or values["grid"] is not None else set()
    units = {"area": "area_m", "range": "range_m", "intensity": "intensity_per_m2"}
    left = PRESENTATION | unused
    kept = {key: value for key, value in values.items() if key not in left and value is not None}
    return {"count": count, **{units.get(key, key): value for key, value in kept.items()}}


def _rows(found: dict[str, Statistics]) -> list[dict[str, Any]]:
    from ropewalk.routes import ALGORITHMS, GREEDY

    rows = []
    for name, statistics in found.items():
        row: dict[str, Any] = {
            "layout": name,
            "deployments": statistics.count,
            "drawn": statistics.drawn,
            "connected": statistics.connected,
        }
        for algorithm in ALGORITHMS:
            row[algorithm] = {
                "multipath": statistics.multipath(algorithm),
                "routes": _mean(statistics, algorithm, "routes"),
                "first_hops": _mean(statistics, algorithm, "first_hops"),
                "second_hops": _mean(statistics, algorithm, "second_hops"),
            }
        row["missed"] = {
            disjoint: {
                "any": statistics.missed(disjoint, pair=False),
                "second": statistics.missed(disjoint, pair=True),
            }
            for disjoint in GREEDY[:2]
        }
        rows.append(row)
    return rows


def _mean(statistics: Statistics, algorithm: str, column: str) -> Interval:
    from ropewalk.statistics import mean_interval

    values = statistics.of(algorithm)[column].drop_nulls().cast(float)
    return mean_interval(values.to_list())


def _percent(interval: Interval) -> str:
    from ropewalk.tables import cell

    if interval.n == 0:
        return cell(interval)
    return f"{100 * interval.mean:.1f} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _statistics_table(found: dict[str, Statistics]) -> str:
    from ropewalk.tables import render

    head = ["N", "drawn", "1 connected in", "LD %", "ND %", "ZD %", "LD missed %", "ND missed %"]
    rows = [
        [
            name,
            f"{statistics.drawn:,}",
            f"{statistics.drawn / statistics.connected:,.1f}" if statistics.connected else "-",
            *(_percent(statistics.multipath(algorithm)) for algorithm in ("link", "node", "zone")),
            *(_percent(statistics.missed(disjoint, pair=True)) for disjoint in ("link", "node")),
        ]
        for name, statistics in found.items()
    ]
    hops: list[list[Cell]] = [
        [
            name,
            *(
                _mean(statistics, algorithm, column)
                for algorithm in ("link", "node", "zone")
                for column in ("routes", "second_hops")
            ),
            _mean(statistics, "link", "first_hops"),
        ]
        for name, statistics in found.items()
    ]
    hops_head = ["N", *(f"{name} {what}" for name in ("LD", "ND", "ZD") for what in ("routes", "2nd hops"))]
    first = "Two routes or more, and the pairs that greedy misses; 95 % intervals"
    second = (
        "Routes, hops of the second, hops of the first (alike for all); means ± half of the 95 % interval"
    )
    return f"{first}\n\n{render(head, rows)}\n\n{second}\n\n{render([*hops_head, '1st hops'], hops)}"


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
    values, given = _values(locals()), _given(context)
    with _reporting():
        _refuse_layout(values, given)
        if picture is not None:
            _ending(picture)
        _parquet(out)
        whole("nodes", nodes)
        found = _measured(values, count)
        _write_table(found, out)
        (statistics,) = found.values()
        curves = _curves(statistics)
        if picture is not None:
            _draw_curves(curves, picture)
        if json:
            from ropewalk.summary import to_json

            tree = {
                column: {name: dict(zip(("x", "cdf"), xy, strict=True)) for name, xy in by.items()}
                for column, by in curves.items()
            }
            typer.echo(to_json({"settings": _settings(values, count), **tree}))
            return
        typer.echo(_curves_table(curves))


COLUMNS: Final = {
    "routes": "number of routes",
    "first_hops": "hops of the first route",
    "second_hops": "hops of the second route",
}

Curves = dict[str, dict[str, tuple[list[float], list[float]]]]


def _curves(statistics: Statistics) -> Curves:
    from ropewalk.routes import ALGORITHMS
    from ropewalk.routes import cdf as of

    return {
        column: {
            algorithm: of(statistics.of(algorithm)[column].drop_nulls().to_list()) for algorithm in ALGORITHMS
        }
        for column in COLUMNS
    }


def _curves_table(curves: Curves) -> str:
    from ropewalk.tables import render

    parts = []
    for column, by in curves.items():
        values = sorted({x for xs, _ in by.values() for x in xs})
        rows = [[f"{x:g}", *(f"{_at(curve, x):.3f}" for curve in by.values())] for x in values]
        parts.append(f"P({COLUMNS[column]} ≤ x)\n\n{render(['x', *by], rows)}")
    return "\n\n".join(parts)


def _at(curve: tuple[list[float], list[float]], x: float) -> float:
    """The value of a step function."""
    below = [y for at, y in zip(*curve, strict=True) if at <= x]
    return below[-1] if below else 0.0


def _draw_curves(curves: Curves, path: Path) -> None:
    from ropewalk.figures import Chart, save
    from ropewalk.figures.chart import step

    lines = [
        step(
            f"{name}, {'first' if column == 'first_hops' else 'second'}",
            *curve,
            dashed=column == "first_hops",
        )
        for column, by in curves.items()
        if column != "routes"
        for name, curve in by.items()
        if name in ("link", "node", "zone")
    ]
    chart = Chart(path.stem, "Hops of the two preferred routes", "hops", "cdf", lines)
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)
    save(chart, folder, (path.suffix,))


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
    values, given = _values(locals()), _given(context)
    with _reporting():
        if picture is not None:
            _ending(picture)
        if file is not None:
            _readable(file)
        if json and graphml:
            raise InputError("--graphml: choose one of --json and --graphml", key="graphml")
        _refuse_unused(values, given)
        deployment = _loaded(values) if file is not None else _drawn(values, number)
        if any(values[key] is not None for key in JUDGING):
            deployment = _judged(deployment, values, given)
        if picture is not None:
            from ropewalk.figures.deployment import save_deployment

            picture.parent.mkdir(parents=True, exist_ok=True)
            save_deployment(deployment, [picture], list(deployment.routes))
        if json or graphml:
            typer.echo(deployment.json() if json else deployment.graphml())
        else:
            typer.echo(_deployment_table(deployment))


def _judged(deployment: Deployment, values: dict[str, Any], given: set[str]) -> Deployment:
    from ropewalk.routes import ASSIGNMENTS

    assign: str | list[int] = values["assign"] or "per-route"
    if assign not in ASSIGNMENTS:
        try:
            assign = [int(channel) for channel in str(assign).split(",")]
        except ValueError as error:
            raise _wrong(
                "assign", str(assign), f"{', '.join(ASSIGNMENTS)}, or channels such as 0,1,0"
            ) from error
    if deployment.channels and assign == "radios":
        _refuse(given, ("channels", "radios"), "the file says which radios the nodes have")
    elif values["channels"] is None and assign in ("alternate", "radios"):
        raise InputError(f"--assign {assign}: over how many --channels?", key="assign")
    return deployment.judged(
        seed=values["seed"],
        channels=values["channels"],
        assign=assign,
        radios=values["radios"],
        metric=values["metric"] or "hops",
        interference=values["interference"],
        bit_rate=values["bit-rate"] * 1e6,
        frame_octets=_octets(values["frame"]),
        delivery=values["delivery"],
        edge_loss=values["edge-loss"],
        edge_exponent=values["edge-exponent"],
        beta=values["beta"],
        switch_cost=values["switch-cost"],
    )


def _given(context: typer.Context) -> set[str]:
    """The options that were written on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    written = (
        name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"
    )
    return {name.rstrip("_").replace("_", "-") for name in written}


def _refuse(given: set[str], options: Iterable[str], why: str) -> None:
    """Options that change nothing are mistakes."""
    for option in options:
        if option in given:
            raise InputError(f"--{option}: {why}", key=option)


def _refuse_layout(values: dict[str, Any], given: set[str]) -> None:
    for law in ("intensity", "grid"):
        if values[law] is not None:
            _refuse(given, ["nodes"], f"--{law} says how many nodes there are")
    if values["grid"] is None:
        _refuse(given, ["jitter"], "it belongs to --grid")


def _refuse_unused(values: dict[str, Any], given: set[str]) -> None:
    from ropewalk.routes import METRICS, SUMS

    if values["file"] is not None:
        drawing = ("nodes", "area", "intensity", "grid", "jitter", "condition", "number", "draws", "workers")
        _refuse(given, drawing, "a deployment from a file is not drawn")
        if values["ties"] != "random" and values["assign"] != "radios":
            _refuse(given, ["seed"], "nothing is random here; --ties random and --assign radios are")
    else:
        _refuse_layout(values, given)
    if all(values[key] is None for key in JUDGING):
        missing = "say over which --channels, by which --assign or --metric the routes are judged"
        _refuse(given, ("radios", *RADIO), missing)
    if values["assign"] != "radios":
        _refuse(given, ["radios"], "it belongs to --assign radios")
    optimal = [name for name in values["algorithm"] or () if name.startswith("optimal-")]
    metric = values["metric"] or "hops"
    if optimal and metric in METRICS and metric not in SUMS:
        why = f"there is none by {metric}, which is no sum over links; --metric {' and '.join(SUMS)} are"
        raise InputError(f"--algorithm {optimal[0]}: {why}", key="algorithm")
    if values["edge-loss"] == 0:
        _refuse(given, ["edge-exponent"], "it belongs to --edge-loss")


def _octets(frame: int) -> int:
    if not 0 < frame < 2**16:
        raise _wrong("frame", str(frame), "1 to 65535 octets")
    return frame


def _algorithms(values: dict[str, Any]) -> list[str]:
    from ropewalk.routes import ALGORITHMS

    return values["algorithm"] or list(ALGORITHMS)


def _loaded(values: dict[str, Any]) -> Deployment:
    from ropewalk import routes

    def end(text: str | None) -> Place | None:
        return None if text is None else place(text)

    return routes.load(
        values["file"],
        range_m=values["range"],
        source=end(values["source"]),
        destination=end(values["destination"]),
        ties=values["ties"],
        seed=values["seed"],
        algorithms=_algorithms(values),
    )


def _drawn(values: dict[str, Any], number: int) -> Deployment:
    from ropewalk import routes

    defaults = {"range": RANGE, "source": SOURCE, "destination": DESTINATION}
    given = {**values, **{key: default for key, default in defaults.items() if values[key] is None}}
    (layout,) = _layouts({**given, "nodes": str(whole("nodes", given["nodes"]))}).values()
    progress = _progress()
    try:
        found = routes.search(
            number, layout, algorithms=_algorithms(values), progress=progress, **_effort(values)
        )
    finally:
        progress.finish()
    return found.deployments[-1]


def _deployment_table(deployment: Deployment) -> str:
    from ropewalk.tables import render

    names = deployment.names
    sets = (deployment.radio or {}).get("sets", {})
    rows = []
    for algorithm, found in deployment.routes.items():
        for index, route in enumerate(found):
            row = [algorithm, str(index + 1), str(len(route) - 1), " → ".join(names[node] for node in route)]
            if sets:
                judged = sets[algorithm]["routes"][index]
                row += [
                    _channels(judged["channels"]),
                    f"{judged['etx']:.3g}",
                    f"{1e3 * judged['ett_s']:.3f}",
                    f"{1e3 * judged['wcett_s']:.3f}",
                    f"{judged['mic']:.3f}",
                ]
            rows.append(row)
    head = ["algorithm", "route", "hops", "nodes"]
    head += ["channels", "ETX", "ETT ms", "WCETT ms", "MIC"] if sets else []
    title = (
        f"{len(names)} nodes, {len(deployment.links)} links, from {names[deployment.source]} "
        f"to {names[deployment.destination]}, draw {deployment.draw}, ties: {deployment.ties}"
    )
    conflicts = [
        f"{algorithm}: {sets[algorithm]['conflicts_within_routes']} pairs of links conflict within a route, "
        f"{sets[algorithm]['conflicts_between_routes']} between routes"
        for algorithm in deployment.routes
        if sets
    ]
    parts = [title, render(head, rows) if rows else _no_route(deployment)]
    return "\n\n".join([*parts, *(["\n".join(conflicts)] if conflicts and rows else [])])


def _channels(channels: list[int]) -> str:
    """One per hop, or one that all hops use."""
    return " ".join(str(channel) for channel in (channels if len(set(channels)) > 1 else channels[:1]))


def _no_route(deployment: Deployment) -> str:
    """Why there is none."""
    ends = (deployment.source, deployment.destination)
    source, destination = (deployment.names[end] for end in ends)
    said = f"no route from {source} to {destination}: "
    reached = [_reached(deployment, end) for end in ends]
    if deployment.destination in reached[0]:
        return said + "the nodes between have no radios on common channels"
    return (
        said + f"{source} is among {_nodes_said(reached[0])}, {destination} among {_nodes_said(reached[1])}"
    )


def _nodes_said(nodes: set[int]) -> str:
    return "1 node that hears no other" if len(nodes) == 1 else f"{len(nodes)} that hear one another"


def _reached(deployment: Deployment, start: int) -> set[int]:
    """The nodes of its component."""
    neighbours: dict[int, list[int]] = {}
    for a, b in deployment.links:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    reached, ahead = {start}, [start]
    while ahead:
        for node in neighbours.get(ahead.pop(), []):
            if node not in reached:
                reached.add(node)
                ahead.append(node)
    return reached


def _parquet(out: Path | None) -> None:
    if out is not None and out.suffix != ".parquet":
        raise _wrong("out", str(out), "a name that ends in .parquet")


def _readable(file: Path) -> None:
    if file.suffix.lower() not in (".csv", ".json", ".graphml"):
        expected = "a name that ends in .csv, .json or .graphml (a point is written X,Y, without blanks)"
        raise InputError(f"FILE {file}: expected {expected}", file=str(file), expected=expected)


def _ending(picture: Path) -> None:
    if picture.suffix not in (".png", ".svg"):
        raise _wrong("picture", str(picture), "a name that ends in .png or .svg")


def _values(arguments: dict[str, Any]) -> dict[str, Any]:
    """A command's arguments by the names of their options."""
    return {key.rstrip("_").replace("_", "-"): value for key, value in arguments.items() if key != "context"}
