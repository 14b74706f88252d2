"""The runs of a study: cells of parameters, each with the same seeds, and their tables in one frame."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ropewalk.executor import carry_out, missing
from ropewalk.plan import Plan, Settings
from ropewalk.statistics import mean_interval
from ropewalk.store import read, write_parquet
from ropewalk.waiting import check

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from ropewalk.executor import Executor
    from ropewalk.plan import Case
    from ropewalk.progress import Progress
    from ropewalk.routes import Layout, Statistics
    from ropewalk.source import Source
    from ropewalk.statistics import Interval
    from ropewalk.store import Key, Store, Table


@dataclass(frozen=True, slots=True)
class Cell:
    """A scenario and what distinguishes it from its neighbours."""

    parameters: dict[str, str | float]
    source: Source


@dataclass(frozen=True, slots=True)
class Results:
    """What came out, one row per run and connection (or subflow), with the parameters as columns."""

    connections: pl.DataFrame
    subflows: pl.DataFrame
    series: pl.DataFrame | None
    tables: dict[Table, pl.DataFrame] = field(default_factory=dict)
    """Further tables, if the runner was asked for them."""

    def goodput(self, **where: str | float) -> Interval:
        """Mean goodput of the runs with these parameters, with its interval over the seeds, in Mbit/s."""
        return _mean(self.connections, "goodput_mbps", where)

    def goodputs(self, **where: str | float) -> list[float]:
        """Goodput by seed, in Mbit/s."""
        return self.connections.filter(**where).sort("seed")["goodput_mbps"].to_list()

    def throughput(self, path: str, **where: str | float) -> Interval:
        """Mean throughput of the subflow on a path, likewise."""
        return _mean(self.subflows, "throughput_mbps", {**where, "path": path})


def _mean(frame: pl.DataFrame, column: str, where: dict[str, str | float]) -> Interval:
    rows = frame.filter(**where)
    if rows.is_empty():
        raise LookupError(f"no run with {where}")
    return mean_interval(rows[column].to_list())


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs cells. A run that the store has is not run again, so that an interrupted study goes on from there."""

    executor: Executor
    """What carries the runs out."""

    progress: Progress
    """Where it says how far it has come."""

    store: Store
    """Where it keeps what it has run."""

    workers: int | None = None
    """On how many threads of this process routes are searched; by default one per CPU core."""

    own: set[Key] = field(default_factory=set)
    """What has run since the study began, as against what an interrupted one has left."""

    def run(
        self,
        cells: Sequence[Cell],
        seeds: Sequence[int],
        what: str,
        *,
        series: bool = False,
        tables: Sequence[Table] = (),
    ) -> Results:
        """Run every cell with every seed, and keep these tables too.

        Raises:
            RunError: A run failed.
            ScenarioError: A cell's scenario is not valid.
            StoreError: Results could not be written or read back.
        """
        plan = Plan(self.store, Settings(series=series))
        cases = [
            plan.add(cell.source, check(cell.source), seeds, f"{what}, {cell.parameters}") for cell in cells
        ]
        plan.prepare()
        todo = missing(plan.jobs, self.progress)
        listed = {job.key for job in plan.jobs if job.key is not None}
        found = listed - self.own - {job.key for job in todo}
        if found:
            self.progress.note(f"{what}: {len(found)} of {len(listed)} runs taken over")
        carry_out(todo, self.executor, self.progress, what)
        self.own.update(listed)

        wanted: tuple[Table, ...] = ("connections", "subflows", *tables)
        if series:
            wanted = (*wanted, "series")
        frames = {table: _together(cells, cases, table) for table in dict.fromkeys(wanted)}
        return Results(
            connections=frames["connections"],
            subflows=frames["subflows"],
            series=frames.get("series"),
            tables={table: frames[table] for table in tables},
        )

    def statistics(self, count: int, layout: Layout, **search: Any) -> Statistics:
        """The routes of many deployments, kept as runs are: `ropewalk.routes.statistics` with its arguments.

        Raises:
            InputError: The search has no such deployments.
            StoreError: Results could not be written.
        """
        from ropewalk import routes

        arguments = json.dumps({"count": count, "layout": asdict(layout), **search}, sort_keys=True)
        name = hashlib.sha256(arguments.encode()).hexdigest()
        file = self.store.root / "routes" / f"{name}.parquet"
        kept = _searched(file, arguments)
        if kept is not None:
            self.progress.note(f"routes of {count} deployments: taken over")
            return kept
        found = routes.statistics(count, layout, workers=self.workers, progress=self.progress, **search)
        about = {"arguments": arguments, "drawn": str(found.drawn), "connected": str(found.connected)}
        write_parquet(found.table, file, about)
        return found


def _together(cells: Sequence[Cell], cases: Sequence[Case], table: Table) -> pl.DataFrame:
    """One table of the cells that have it, with their parameters before its columns, sorted by them and by seed."""
    import polars as pl

    keys = dict.fromkeys(job.key for case in cases for job in case.jobs if job.key is not None)
    frame = read(keys, table)
    if frame.is_empty():
        return frame
    of = pl.DataFrame(
        [{**cell.parameters, HASH: case.info.hash} for cell, case in zip(cells, cases, strict=True)],
        infer_schema_length=None,
    )
    # How categories are numbered depends on what has been read before, and so would the files that hold them.
    frame = frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
    # Two cells may be the same scenario: its runs are the rows of both.
    frame = frame.with_columns(pl.col("scenario_hash").alias(HASH))
    whole = of.join(frame, on=HASH, maintain_order="left_right").drop(HASH)
    order = [*cells[0].parameters, "seed", *(["time_s"] if "time_s" in whole.columns else [])]
    return whole.sort(order, maintain_order=True)


HASH: Final = "hash of the cell"
"""A column that no parameter and no table has."""


def _searched(file: Path, arguments: str) -> Statistics | None:
    """The statistics kept in a file, if it is there, whole, and made with these arguments."""
    import polars as pl

    from ropewalk.routes import Statistics

    try:
        about = pl.read_parquet_metadata(file)
        if about.get("arguments") != arguments:
            return None
        return Statistics(pl.read_parquet(file), int(about["drawn"]), int(about["connected"]))
    except (pl.exceptions.PolarsError, OSError):
        return None
