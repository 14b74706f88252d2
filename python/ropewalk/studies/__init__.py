"""The papers' studies: one module per paper, imported only when asked for.

A study module has `TITLE`, `PAPER` and `run` (see `Study`). A new one is a module and its name in `names.py`.
"""

from __future__ import annotations

import difflib
import importlib
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, cast

from ropewalk import _core, holding
from ropewalk.build import build
from ropewalk.errors import InputError
from ropewalk.store import Store, store_error
from ropewalk.studies.names import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ropewalk.studies.cells import Runner

BY_NAME: Final[dict[str, str]] = {
    "linux": "ropewalk.studies.linux",
    "bonding-wire": "ropewalk.studies.bonding_wire",
}
"""Those that need root and the time that they last: `all` leaves them out."""


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

    def run(self, out: Path, quick: bool, runner: Runner) -> StudyResult:
        """Run everything the study needs and write figures, tables and report into `out`."""
        ...


class Kept:
    """Where a study's runs are until nobody needs them again, so that an interrupted study can go on.

    A run is found again by its scenario with every default, its seed, and the build of the engine.
    """

    def __init__(self, out: Path, quick: bool) -> None:
        """Use a folder below the study's own. Nothing is touched yet."""
        self._folder = out / "runs"
        self._extent = "quick" if quick else "full"
        self.store = Store(self._folder / f"{self._extent}-{build()}", _core.version())

    def forget(self) -> None:
        """Remove the runs of this extent, those of other builds too.

        Raises:
            StoreError: They cannot be removed.
        """
        try:
            for folder in self._folder.glob(f"{self._extent}-*"):
                shutil.rmtree(folder)
            if self._folder.exists() and not any(self._folder.iterdir()):
                self._folder.rmdir()
        except OSError as cause:
            raise store_error(self._folder, cause) from cause


@contextmanager
def held(out: Path, chosen: Sequence[str]) -> Iterator[None]:
    """Make the folders of these studies, and hold them: a second command would remove what the first still needs.

    Raises:
        StoreError: One cannot be made or written to, or another command fills it.
    """
    folders = [out / name for name in chosen]
    Store(out, _core.version()).prepare(folders)
    with holding.held(folders):
        yield


def names(requested: list[str]) -> list[str]:
    """The studies meant by command-line arguments: none or `all` means every one of `REGISTRY`.

    Raises:
        InputError: A name is not a study's.
    """
    if not requested or "all" in requested:
        return list(REGISTRY)
    every = REGISTRY | BY_NAME
    for name in requested:
        if name not in every:
            near = difflib.get_close_matches(name, every, 1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            known = ", ".join(every)
            raise InputError(
                f"there is no study `{name}`; known: {known}{hint}",
                key=name,
                expected=known,
                suggestion=near[0] if near else None,
            )
    return list(dict.fromkeys(requested))


def load(name: str) -> Study:
    """Import the study of this name."""
    return cast("Study", importlib.import_module((REGISTRY | BY_NAME)[name]))
