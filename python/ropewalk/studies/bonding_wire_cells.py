"""What the study `bonding-wire` runs: figures 3 to 6 of the bonding paper, simulated and by the daemon."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ropewalk.studies import bonding_cells as made

if TYPE_CHECKING:
    from ropewalk.studies.cells import Cell

READING: Final = made.LIKELIEST
"""The reading of the paper that both worlds have."""
DEMAND: Final = made.TAKEN
"""What figure 4 is taken for."""


@dataclass(frozen=True, slots=True)
class World:
    """Where the figures are measured."""

    words: str
    """What the report calls it."""

    stack: str
    """What its hosts run, and with them the gateways."""

    tunnel: int
    """Octets of the tunnel's headers. Packets are shorter by so much, so that all lines carry the same."""


SIMULATED: Final = World("simulated", "ropewalk", made.TUNNEL)
ON_THE_WIRE: Final = World("on the wire", "linux", made.SEALED)
WORLDS: Final = (ON_THE_WIRE, SIMULATED)

FULL: Final = made.Extent((1, 2, 3), 0, 0)
QUICK: Final = made.Extent((1,), 0, 0)
QUICK_DELAY_MS: Final = 250
"""The only T_dwd of figure 3 in a quick run, which has no figure 6."""


def decrement_delays_ms(*, quick: bool) -> tuple[int, ...]:
    """T_dwd of figure 3."""
    return (QUICK_DELAY_MS,) if quick else made.DECREMENT_DELAYS_MS


def parts(world: World, *, quick: bool) -> dict[str, list[Cell]]:
    """The cells of each part, by the names that `bonding_claims` knows. A wire takes as long as the runs last."""
    delays = decrement_delays_ms(quick=quick)
    chosen = {
        f"ramp {READING}": [
            cell
            for cell in made.ramp_cells(READING, tunnel=world.tunnel)
            if cell.parameters["decrement_ms"] in delays
        ],
        "flows": [
            cell
            for cell in made.flows_cells(world.tunnel)
            if cell.parameters == {"reading": READING, "demand": DEMAND}
        ],
    }
    if not quick:
        chosen["friendly"] = [
            cell for cell in made.friendly_cells(world.tunnel) if cell.parameters["reading"] == READING
        ]
    return {part: [_in(world, cell) for cell in cells] for part, cells in chosen.items()}


def _in(world: World, cell: Cell) -> Cell:
    return replace(cell, source=replace(cell.source, stack=world.stack))
