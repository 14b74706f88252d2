"""The studies of the papers by name."""

from __future__ import annotations

from typing import Final

REGISTRY: Final[dict[str, str]] = {
    "degraded-path": "ropewalk.studies.degraded_path",
    "reordering": "ropewalk.studies.reordering",
    "mesh-routing": "ropewalk.studies.mesh_routing",
    "diamond": "ropewalk.studies.diamond",
    "mesh-transport": "ropewalk.studies.mesh_transport",
    "bonding": "ropewalk.studies.bonding",
    "bonding-outlook": "ropewalk.studies.bonding_outlook",
}
"""Name on the command line to module, in the order in which `all` runs them."""
