"""The runs that a page shows: one of a result, or one that a store has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from ropewalk.errors import InputError
from ropewalk.store import Key, Table, read

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from ropewalk.results import RunResult

PROVENANCE: Final = ("scenario", "scenario_hash", "seed")


@dataclass(frozen=True, slots=True)
class Shown:
    """One run with its tables."""

    name: str
    hash: str
    seed: int
    tables: dict[str, pl.DataFrame]
    """By name, without the columns of provenance; a table that the run does not have is empty."""


def of_result(result: RunResult) -> Shown:
    """The first run of a result."""
    import polars as pl

    outcome = result.outcomes[0]
    tables = {table: pl.DataFrame(getattr(outcome, table)) for table in get_args(Table)}
    return _shown(tables)


def of_store(place: Path, seed: int | None = None) -> Shown:
    """A run of a store: by one of its files, or the only one in a folder.

    Raises:
        InputError: There is none, or there are several.
        StoreError: A file is damaged.
    """
    keys = _keys(place)
    if seed is not None:
        keys = [key for key in keys if key.seed == seed]
    if not keys:
        expected = "a scenario (.toml), a folder with a run's Parquet files, or one of these files"
        raise InputError(f"{place}: there is no run", file=str(place), expected=expected)
    if len(keys) > 1:
        some = ", ".join(sorted({str(key.seed) for key in keys})[:8])
        expected = "one of its files, or --seed"
        raise InputError(
            f"{place}: there are {len(keys)} runs (seeds {some}); give {expected}",
            file=str(place),
            expected=expected,
        )
    return _shown({table: read(keys, table) for table in get_args(Table) if _has(keys[0], table)})


def _has(key: Key, table: Table) -> bool:
    return key.file(table).exists()


def _keys(place: Path) -> list[Key]:
    """The runs in a folder and the folders in it, references left out; or that of a file."""
    if place.is_file():
        return _key_of(place)
    files = [*place.glob("*.connections.parquet"), *place.glob("*/*.connections.parquet")]
    return [key for file in sorted(files) if file.parent.name != "references" for key in _key_of(file)]


def _key_of(file: Path) -> list[Key]:
    stem = file.name.removesuffix(".parquet").rpartition(".")[0]
    digest, _, rest = stem.partition("-")
    seed, _, version = rest.partition("-")
    if not (digest and seed.isdecimal() and version):
        return []
    return [Key(file.parent, digest, int(seed), version)]


def _shown(tables: dict[str, pl.DataFrame]) -> Shown:
    import polars as pl

    name, digest, seed = tables["connections"].select(PROVENANCE).row(0)
    kept = {table: frame.drop(PROVENANCE, strict=False) for table, frame in tables.items()}
    every = {table: kept.get(table, pl.DataFrame()) for table in get_args(Table)}
    return Shown(str(name), str(digest), int(seed), every)
