"""The options of a command as searches of `ropewalk.routes`, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ropewalk.errors import InputError
from ropewalk.progress import bar_or_silent
from ropewalk.routes_command.options import DESTINATION, RANGE, SOURCE
from ropewalk.routes_command.reading import area, drawn_place, grid, numbers, octets, place, whole, wrong
from ropewalk.routes_command.refusing import refuse

if TYPE_CHECKING:
    from ropewalk.routes import Deployment, Layout, Place, Statistics


def _layout(values: dict[str, Any], nodes: int | None) -> Layout:
    from ropewalk.routes import Layout

    if values["intensity"] is not None and values["grid"] is not None:
        raise InputError("--grid: give either --intensity or --grid", key="grid")
    return Layout(
        nodes=nodes,
        area_m=area(values["area"]),
        range_m=values["range"],
        source=drawn_place("source", values["source"]),
        destination=drawn_place("destination", values["destination"]),
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


def measured(values: dict[str, Any], count: int) -> dict[str, Statistics]:
    """Statistics of so many deployments of each layout that the options ask for."""
    from ropewalk import routes

    progress = bar_or_silent()
    try:
        return {
            name: routes.statistics(count, layout, progress=progress, **_effort(values))
            for name, layout in _layouts(values).items()
        }
    finally:
        progress.finish()


def loaded(values: dict[str, Any]) -> Deployment:
    """The deployment in a file, with its routes."""
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


def drawn(values: dict[str, Any], number: int) -> Deployment:
    """The deployment of this number among those that meet the condition, counted from 1."""
    from ropewalk import routes

    defaults = {"range": RANGE, "source": SOURCE, "destination": DESTINATION}
    given = {**values, **{key: default for key, default in defaults.items() if values[key] is None}}
    (layout,) = _layouts({**given, "nodes": str(whole("nodes", given["nodes"]))}).values()
    progress = bar_or_silent()
    try:
        found = routes.search(
            number, layout, algorithms=_algorithms(values), progress=progress, **_effort(values)
        )
    finally:
        progress.finish()
    return found.deployments[-1]


def _algorithms(values: dict[str, Any]) -> list[str]:
    from ropewalk.routes import ALGORITHMS

    return values["algorithm"] or list(ALGORITHMS)


def judged(deployment: Deployment, values: dict[str, Any], given: set[str]) -> Deployment:
    """A deployment whose routes are judged over channels."""
    from ropewalk.routes import ASSIGNMENTS

    assign: str | list[int] = values["assign"] or "per-route"
    if assign not in ASSIGNMENTS:
        try:
            assign = [int(channel) for channel in str(assign).split(",")]
        except ValueError as error:
            raise wrong(
                "assign", str(assign), f"{', '.join(ASSIGNMENTS)}, or channels such as 0,1,0"
            ) from error
    if deployment.channels and assign == "radios":
        refuse(given, ("channels", "radios"), "the file says which radios the nodes have")
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
        frame_octets=octets(values["frame"]),
        delivery=values["delivery"],
        edge_loss=values["edge-loss"],
        edge_exponent=values["edge-exponent"],
        beta=values["beta"],
        switch_cost=values["switch-cost"],
    )
