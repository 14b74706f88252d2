"""The runs of a study: cells of parameters, each with the same seeds, and their tables in one frame."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ropewalk.executor import Job, LocalExecutor
from ropewalk.progress import Finishing
from ropewalk.statistics import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from ropewalk.progress import Progress
    from ropewalk.source import Source
    from ropewalk.statistics import Interval
    from ropewalk.store import Table


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
    """Whole tables, if the runner was asked for them: every column, and the parameters."""

    def goodput(self, **where: str | float) -> Interval:
        """Mean goodput of the runs with these parameters, with its interval over the seeds, in Mbit/s."""
        return _mean(self.connections, "goodput_mbps", where)

    def goodputs(self, **where: str | float) -> list[float]:
        """Goodput by seed, in Mbit/s."""
        return _select(self.connections, where).sort("seed")["goodput_mbps"].to_list()

    def throughput(self, path: str, **where: str | float) -> Interval:
        """Mean throughput of the subflow on a path, likewise."""
        return _mean(self.subflows, "throughput_mbps", {**where, "path": path})


def _select(frame: pl.DataFrame, where: dict[str, str | float]) -> pl.DataFrame:
    import polars as pl

    return frame.filter(*(pl.col(key) == value for key, value in where.items()))


def _mean(frame: pl.DataFrame, column: str, where: dict[str, str | float]) -> Interval:
    rows = _select(frame, where)
    if rows.is_empty():
        raise LookupError(f"no run with {where}")
    return mean_interval(rows[column].to_list())


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs cells: with which seeds, on how many cores, and where it says how far it is."""

    seeds: Sequence[int]
    workers: int | None
    progress: Progress

    def run(
        self, cells: Sequence[Cell], what: str, *, series: bool = False, tables: Sequence[Table] = ()
    ) -> Results:
        """Run every cell with every seed, and keep these tables whole.

        Raises:
            RunError: A run failed.
            ScenarioError: A cell's scenario is not valid.
        """
        import polars as pl

        jobs: dict[Job, Cell] = {
            Job(cell.source, seed, f"{what}, {cell.parameters}, seed {seed}", series=series, keep=True): cell
            for cell in cells
            for seed in self.seeds
        }
        connections: list[dict[str, Any]] = []
        subflows: list[dict[str, Any]] = []
        wanted: tuple[Table, ...] = (*tables, "series") if series else tuple(tables)
        frames: dict[Table, list[pl.DataFrame]] = {table: [] for table in wanted}
        with Finishing(self.progress), closing(LocalExecutor(self.workers).run(list(jobs))) as finished:
            self.progress.start(len(jobs), what)
            for end in finished:
                if end.error is not None:
                    raise end.error
                cell = jobs[end.job]
                if end.outcome is not None:
                    key = {**cell.parameters, "seed": end.job.seed}
                    _collect(json.loads(end.outcome.summary()), key, connections, subflows)
                    columns = [pl.lit(value).alias(name) for name, value in cell.parameters.items()]
                    for table, kept in frames.items():
                        kept.append(pl.DataFrame(getattr(end.outcome, table)).with_columns(*columns))
                self.progress.advance()
        order = [*cells[0].parameters, "seed"]
        whole = {
            table: pl.concat(kept, how="vertical_relaxed").sort(
                [*order, *(["time_s"] if "time_s" in kept[0].columns else [])], maintain_order=True
            )
            for table, kept in frames.items()
        }
        return Results(
            connections=pl.DataFrame(connections).sort(order, maintain_order=True),
            subflows=pl.DataFrame(subflows).sort(order, maintain_order=True),
            series=whole.pop("series", None),
            tables=whole,
        )


def _collect(
    summary: dict[str, Any],
    key: dict[str, Any],
    connections: list[dict[str, Any]],
    subflows: list[dict[str, Any]],
) -> None:
    for connection in summary["connections"]:
        figures = {name: value for name, value in connection.items() if name != "subflows"}
        connections.append({**key, **figures})
        subflows.extend(
            {**key, "connection": connection["name"], **subflow} for subflow in connection["subflows"]
        )
