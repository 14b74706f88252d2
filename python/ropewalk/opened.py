"""A folder of results, opened again: `ropewalk.open`, `ropewalk export`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from ropewalk.errors import InputError, StoreError
from ropewalk.parquet import octets, place
from ropewalk.results import Tables
from ropewalk.store import Table, file_name, store_error, unreadable

if TYPE_CHECKING:
    import polars as pl

FORMATS: Final = ("parquet", "csv")
"""What `export` writes."""


@dataclass(frozen=True)
class StoredResults(Tables):
    """The runs of a folder that `run --out` or `sweep` has filled, or of one campaign in it.

    Of a campaign, each frame begins with a column for the point and one for each key of its grid.
    """

    folder: Path
    """The folder."""

    campaign: str | None = None
    """The campaign whose runs these are; all runs of the folder otherwise."""

    @property
    def campaigns(self) -> list[str]:
        """The names of the campaigns in the folder."""
        return sorted(self._manifests())

    def of(self, campaign: str) -> StoredResults:
        """The runs of one campaign.

        Raises:
            InputError: The folder has none of this name.
        """
        known = self.campaigns
        if campaign not in known:
            expected = ", ".join(known) or "none: no sweep has filled this folder"
            raise InputError(f"{self.folder} has no campaign `{campaign}`; it has {expected}", key=campaign)
        return StoredResults(self.folder, campaign)

    def _manifests(self) -> dict[str, dict[str, Any]]:
        found = {}
        for file in sorted(self.folder.glob("*.campaign.json")):
            try:
                tree = json.loads(file.read_text(encoding="utf-8"))
                found[str(tree["campaign"])] = tree
            except (OSError, ValueError, KeyError, TypeError) as cause:
                raise StoreError(f"cannot read {file}: {cause}") from cause
        return found

    def _table(self, table: Table) -> pl.DataFrame:
        import polars as pl

        manifest = self._manifests()[self.campaign] if self.campaign else None
        files = sorted(file for file in self.folder.rglob(f"*.{table}.parquet") if _is_own(file))
        if manifest:
            stems = [
                f"{point['scenario_hash']}-{seed}-{manifest['version']}"
                for point in manifest["points"]
                for seed in manifest["seeds"]
            ]
            wanted = {f"{stem}.{table}.parquet" for stem in stems}
            files = [file for file in files if file.name in wanted]
        if not files:
            return pl.DataFrame()
        try:
            frame = pl.concat(
                [pl.read_parquet(file, glob=False, hive_partitioning=False) for file in files],
                how="diagonal_relaxed",
            )
        except (pl.exceptions.PolarsError, OSError) as cause:
            raise unreadable(files, cause) from cause
        return _labelled(frame, manifest["points"]) if manifest else frame


def _is_own(file: Path) -> bool:
    """No reference of a verdict, and nothing that is still being written."""
    return file.parent.name != "references" and not file.name.startswith(".")


def _labelled(frame: pl.DataFrame, points: list[dict[str, Any]]) -> pl.DataFrame:
    """With the number and the values of each row's point in front."""
    import polars as pl

    axes = list(points[0]["parameters"])
    columns: dict[str, list[Any]] = {"scenario_hash": [], "point": []}
    columns |= {axis: [] for axis in axes}
    for point in points:
        columns["scenario_hash"].append(point["scenario_hash"])
        columns["point"].append(point["point"])
        for axis in axes:
            columns[axis].append(point["parameters"][axis])
    plain = {axis: values for axis, values in columns.items() if axis not in axes or _is_plain(values)}
    texts = {axis: [_text(value) for value in columns[axis]] for axis in axes if axis not in plain}
    labels = pl.DataFrame({**plain, **texts}, strict=False).with_columns(
        pl.col("point").cast(pl.UInt32), pl.col("scenario_hash").cast(frame.schema["scenario_hash"])
    )
    joined = labels.join(frame, on="scenario_hash", how="inner", maintain_order="left_right")
    return joined.select("point", *axes, *frame.columns)


def _is_plain(values: list[Any]) -> bool:
    kinds = {type(value) for value in values}
    return len(kinds) == 1 and kinds <= {int, float, str, bool}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def open_folder(folder: str | Path) -> StoredResults:
    """Open a folder of results: its tables as frames.

    Raises:
        InputError: It is no folder, or nothing in it is a result.
    """
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path} is no folder", file=str(path))
    opened = StoredResults(path)
    if not opened.campaigns and next(path.rglob("*.connections.parquet"), None) is None:
        raise InputError(
            f"{path} holds no results: `run --out` and `sweep` fill such a folder", file=str(path)
        )
    return opened


def export(
    folder: str | Path,
    tables: list[Table] | None = None,
    kind: str = "parquet",
    out: str | Path | None = None,
) -> list[Path]:
    """Write the tables of each campaign of a folder, or of all its runs if it has none, as one file each.

    Args:
        folder: What `sweep` or `run --out` has filled.
        tables: Which; by default all except the time series.
        kind: `parquet` or `csv`.
        out: Where to; by default the folder `export` in it.

    Raises:
        InputError: There are no results, or no such table or format.
        StoreError: A file cannot be read or written.
    """
    known = get_args(Table)
    for table in tables or []:
        if table not in known:
            raise InputError(f"there is no table `{table}`; expected one of {', '.join(known)}", key=table)
    if kind not in FORMATS:
        raise InputError(f"there is no format `{kind}`; expected one of {', '.join(FORMATS)}", key=kind)
    opened = open_folder(folder)
    target = Path(out) if out is not None else opened.folder / "export"
    chosen = tables or [table for table in known if not table.endswith("series")]
    written = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for results in [opened.of(name) for name in opened.campaigns] or [opened]:
            stem = file_name(results.campaign or "runs")
            for table in chosen:
                frame = getattr(results, table)
                if not frame.is_empty():
                    file = target / f"{stem}.{table}.{kind}"
                    place(octets(frame) if kind == "parquet" else frame.write_csv().encode(), file)
                    written.append(file)
    except StoreError:
        raise
    except OSError as cause:
        raise store_error(target, cause) from cause
    return written
