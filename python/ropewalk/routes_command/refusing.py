"""Options that would change nothing are refused, since they are mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ropewalk.errors import InputError
from ropewalk.routes_command.options import JUDGING, RADIO

if TYPE_CHECKING:
    from collections.abc import Iterable

    import typer


def given_options(context: typer.Context) -> set[str]:
    """The options that were written on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    written = (
        name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"
    )
    return {name.rstrip("_").replace("_", "-") for name in written}


def refuse(given: set[str], options: Iterable[str], why: str) -> None:
    """Refuse these options, if they are given."""
    for option in options:
        if option in given:
            raise InputError(f"--{option}: {why}", key=option)


def refuse_layout(values: dict[str, Any], given: set[str]) -> None:
    """Refuse what another option of the layout makes useless."""
    for law in ("intensity", "grid"):
        if values[law] is not None:
            refuse(given, ["nodes"], f"--{law} says how many nodes there are")
    if values["grid"] is None:
        refuse(given, ["jitter"], "it belongs to --grid")


def refuse_unused(values: dict[str, Any], given: set[str]) -> None:
    """Refuse what `routes show` would not look at."""
    from ropewalk.routes import METRICS, SUMS

    if values["file"] is not None:
        drawing = ("nodes", "area", "intensity", "grid", "jitter", "condition", "number", "draws", "workers")
        refuse(given, drawing, "a deployment from a file is not drawn")
        if values["ties"] != "random" and values["assign"] != "radios":
            refuse(given, ["seed"], "nothing is random here; --ties random and --assign radios are")
    else:
        refuse_layout(values, given)
    if all(values[key] is None for key in JUDGING):
        missing = "say over which --channels, by which --assign or --metric the routes are judged"
        refuse(given, ("radios", *RADIO), missing)
    if values["assign"] != "radios":
        refuse(given, ["radios"], "it belongs to --assign radios")
    optimal = [name for name in values["algorithm"] or () if name.startswith("optimal-")]
    metric = values["metric"] or "hops"
    if optimal and metric in METRICS and metric not in SUMS:
        why = f"there is none by {metric}, which is no sum over links; --metric {' and '.join(SUMS)} are"
        raise InputError(f"--algorithm {optimal[0]}: {why}", key="algorithm")
    if values["edge-loss"] == 0:
        refuse(given, ["edge-exponent"], "it belongs to --edge-loss")
