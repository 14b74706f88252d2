"""The diamond with the access to the channel that ns-3 has: a frame queued as a reception ends takes no backoff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ropewalk.studies import diamond_cells as made
from ropewalk.studies.cells import Cell
from ropewalk.studies.diamond_causes import RERUN, reaches
from ropewalk.studies.wireless import TCP, mbps, papers, transport

if TYPE_CHECKING:
    from ropewalk.report import Report
    from ropewalk.studies.cells import Results

IMMEDIATE: Final[dict[str, object]] = {"wifi.access_after_reception": "immediate"}
AS_PAPER: Final = "as in the paper"
"""What there is for TCP, which has none of the causes."""


def cells(extent: made.Extent) -> list[Cell]:
    """What the published simulator was run again for, under the causes together, with that access."""
    brief: dict[str, object] = {"scenario.sample_interval": "2 s", "scenario.duration": "400 s"}
    return [
        Cell(
            {"cause": cause, "setup": setup, "control": control},
            made.source(extent.causes_size, keys, IMMEDIATE, brief),
        )
        for setup, control in RERUN
        for cause, keys in _variants(setup, control).items()
    ]


def _variants(setup: str, control: str) -> dict[str, dict[str, object]]:
    if setup == TCP:
        return {AS_PAPER: papers(TCP)}
    return {cause: {**transport(setup, control), **made.CAUSES[cause]} for cause in made.TOGETHERS}


def show(results: Results, report: Report) -> None:
    """Add its table: what comes near the published simulator."""
    report.text(
        "ns-3 of today sends a frame that is queued in the very instant in which a reception ends after "
        "DIFS, without a backoff. If the published simulator, which is an ns-3.13, does so too, what it "
        "had is to be compared with this:"
    )
    rows = []
    for (setup, control), theirs in RERUN.items():
        rates = {
            cause: results.goodput(cause=cause, setup=setup, control=control)
            for cause in _variants(setup, control)
        }
        near = [cause for cause, rate in rates.items() if reaches(rate, theirs)]
        told = [mbps(rate) for rate in rates.values()]
        told *= 1 if len(told) == len(made.TOGETHERS) else len(made.TOGETHERS)
        rows.append([setup, control, f"{theirs:.2f}", *told, "; ".join(near) or "none"])
    report.table(
        "Goodput in Mbit/s with the access of ns-3, no frame errors",
        ["setup", "congestion control", "published simulator", *made.TOGETHERS, "near it"],
        rows,
    )
