"""The papers' studies: one module per paper, imported only when asked for.

A study module has `TITLE`, `PAPER` and `run` (see `Study`). A new one is a module and its name in `REGISTRY`.
"""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, cast

from ropewalk.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.progress import Progress

REGISTRY: Final[dict[str, str]] = {
    "degraded-path": "ropewalk.studies.degraded_path",
    "reordering": "ropewalk.studies.reordering",
    "mesh-routing": "ropewalk.studies.mesh_routing",
    "diamond": "ropewalk.studies.diamond",
    "mesh-transport": "ropewalk.studies.mesh_transport",
    "bonding": "ropewalk.studies.bonding",
}
"""Name on the command line to module, in the order in which `all` runs them."""


@dataclass(frozen=True, slots=True)
class StudyResult:
    """What a study leaves behind."""

    report: Path
    """The self-contained HTML report."""

    files: tuple[Path, ...] = ()
    """Every other file written: figures and Parquet tables."""

    findings: tuple[str, ...] = field(default=())
    """One sentence per published claim: whether it holds, and why if not."""


class Study(Protocol):
    """What a study module offers."""

    TITLE: str
    """One line for lists and headings."""

    PAPER: str
    """The citation of the paper whose figures are made."""

    def run(self, out: Path, quick: bool, workers: int, progress: Progress) -> StudyResult:
        """Run everything the study needs and write figures, tables and report into `out`."""
        ...


def names(requested: list[str]) -> list[str]:
    """The studies meant by command-line arguments: none or `all` means every one.

    Raises:
        InputError: A name is not a study's.
    """
    if not requested or "all" in requested:
        return list(REGISTRY)
    for name in requested:
        if name not in REGISTRY:
            near = difflib.get_close_matches(name, REGISTRY, 1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            known = ", ".join(REGISTRY)
            raise InputError(
                f"there is no study `{name}`; known: {known}{hint}",
                key=name,
                expected=known,
                suggestion=near[0] if near else None,
            )
    return list(dict.fromkeys(requested))


def load(name: str) -> Study:
    """Import the study of this name."""
    return cast("Study", importlib.import_module(REGISTRY[name]))
