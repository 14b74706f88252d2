"""The store: a folder of Parquet files, named by what produced them, so that nothing is computed twice.

    <root>/<scenario name>/<hash>-<seed>-<engine version>.{connections,subflows,links,series,…}.parquet
    <root>/<scenario name>/references/…        the same scenario with one connection as TCP on one path

There is no index beside the names: what a file name says, and the provenance inside confirms, is there.
"""

from __future__ import annotations

import json
import re
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ropewalk import partial
from ropewalk.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from ropewalk import _core

Table = Literal[
    "connections",
    "subflows",
    "links",
    "series",
    "mptcp_series",
    "link_series",
    "events",
    "bonds",
    "bond_series",
    "radios",
    "hops",
    "broadcasts",
    "frames",
    "routes",
    "route_changes",
    "commands",
    "sockets",
    "processes",
]

TABLES: Final[tuple[Table, ...]] = ("connections", "subflows", "links", "series")
"""The tables that every run has, in the order in which they are checked. The others belong to special scenarios."""


@dataclass(frozen=True, slots=True)
class Key:
    """What identifies a run in the store."""

    folder: Path
    hash: str
    seed: int
    version: str

    @property
    def stem(self) -> str:
        """What the names of its files begin with."""
        return f"{self.hash}-{self.seed}-{self.version}"

    def file(self, table: Table) -> Path:
        """Where one of its tables is."""
        return self.folder / f"{self.stem}.{table}.parquet"


class Store:
    """A folder of results."""

    def __init__(self, root: Path, version: str) -> None:
        """Use this folder, for results of this engine version. Nothing is touched yet."""
        self.root = root
        self.version = version

    def folder(self, info: _core.Info) -> Path:
        """Where the runs of a scenario are, or would be."""
        return self.root / file_name(info.name)

    def key(self, info: _core.Info, seed: int, *, reference: bool = False) -> Key:
        """Where a run of a scenario is, or would be."""
        folder = self.folder(info)
        return Key(folder / "references" if reference else folder, info.hash, seed, self.version)

    def prepare(self, folders: Iterable[Path]) -> None:
        """Make the folders, and make sure now, before hours of work, that they take files.

        Raises:
            StoreError: One cannot be made or written to.
        """
        for folder in sorted(set(folders)):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=folder) as probe:
                    probe.write(b"\0")
            except OSError as cause:
                raise store_error(folder, cause) from cause


def damage(key: Key, tables: Iterable[Table] = TABLES) -> str | None:
    """What is wrong with a stored run, or None if all of it is there and readable.

    Raises:
        FileNotFoundError: The run is not, or not wholly, in the store.
    """
    files = [key.file(table) for table in tables]
    for file in files:
        file.stat()
    for file in files:
        reason = _damage_of_file(file, key)
        if reason is not None:
            return f"{file}: {reason}"
    return None


def _damage_of_file(file: Path, key: Key) -> str | None:
    import polars as pl

    try:
        provenance = pl.read_parquet_metadata(file)
        pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        return f"not a readable Parquet file ({str(error).splitlines()[0]})"
    wanted = {"scenario_hash": key.hash, "seed": str(key.seed), "engine_version": key.version}
    for name, value in wanted.items():
        if provenance.get(name) != value:
            return f"its {name} is {provenance.get(name)}, not {value}"
    return None


def read(keys: Iterable[Key], table: Table) -> pl.DataFrame:
    """One table of many runs, in the order of the keys.

    Raises:
        StoreError: A file is missing or damaged.
    """
    import polars as pl

    files = [key.file(table) for key in keys]
    if table not in TABLES:
        files = [file for file in files if file.exists()]
    if not files:
        return pl.DataFrame()
    try:
        return pl.read_parquet(files, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as cause:
        raise unreadable(files, cause) from cause


def unreadable(files: Sequence[Path], cause: Exception) -> StoreError:
    """The message for results that could not be read: the first file that cannot be, and why."""
    import polars as pl

    for file in files:
        try:
            pl.read_parquet(file, glob=False, hive_partitioning=False)
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).splitlines()[0]
            return StoreError(
                f"{file}: not a readable Parquet file ({reason}); remove it, and its run is made anew"
            )
    reason = str(cause).splitlines()[0]
    return StoreError(
        f"cannot read {files[0].name} and {len(files) - 1} more below {files[0].parent}: {reason}"
    )


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """Where to write a file: beside its place. It is moved there when it is whole, so it is never there in parts.

    Raises:
        StoreError: It cannot be written.
    """
    beside = partial.beside(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.touch()
        with partial.locked(beside):
            yield beside
            beside.replace(file)
    except OSError as cause:
        raise store_error(file.parent, cause) from cause
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write_text(file: Path, text: str) -> None:
    """Write a text file, whole or not at all.

    Raises:
        StoreError: It cannot be written.
    """
    with whole(file) as beside:
        beside.write_text(text, encoding="utf-8")


def write_json(file: Path, tree: object) -> Path:
    """Write plain data, whole or not at all.

    Raises:
        StoreError: It cannot be written.
    """
    write_text(file, json.dumps(tree, ensure_ascii=False, indent=1) + "\n")
    return file


def write_parquet(table: pl.DataFrame, file: Path, metadata: dict[str, str] | None = None) -> Path:
    """Write a table and what is to be known of it, whole or not at all.

    Raises:
        StoreError: It cannot be written.
    """
    with whole(file) as beside:
        table.write_parquet(beside, metadata=metadata)
    return file


def file_name(name: str) -> str:
    """A scenario's name as one path component."""
    return re.sub(r"[^\w.-]+", "_", name).lstrip(".") or "scenario"


def store_error(folder: Path | None, cause: OSError) -> StoreError:
    """The message for results that could not be written."""
    why = cause.strerror or str(cause)
    error = StoreError(f"cannot write results to {folder}: {why}")
    error.errno = cause.errno
    error.__cause__ = cause
    return error
