"""What `ropewalk.run` and `ropewalk.sweep` return. Tables are Polars frames, made on first use."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ropewalk import benefit as comparing
from ropewalk.flows import of_connections
from ropewalk.statistics import Interval, mean_interval
from ropewalk.store import Key, Table, read
from ropewalk.summary import combine

if TYPE_CHECKING:
    import tempfile
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import altair
    import polars as pl
    from matplotlib.figure import Figure

    from ropewalk import _core
    from ropewalk.benefit import Benefit
    from ropewalk.campaign import Campaign, Point
    from ropewalk.errors import RopewalkError
    from ropewalk.plan import Reference


class Tables(ABC):
    """The tables of runs as frames, made on first use. Those that a scenario does not have are empty."""

    @cached_property
    def connections(self) -> pl.DataFrame:
        """One row per seed and connection: goodput, completion, reordering buffer, head-of-line time."""
        return self._table("connections")

    @cached_property
    def subflows(self) -> pl.DataFrame:
        """One row per seed and subflow: throughput, retransmissions, timeouts, SRTT."""
        return self._table("subflows")

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per seed, link and direction: octets, drops by kind, utilisation."""
        return self._table("links")

    @cached_property
    def series(self) -> pl.DataFrame:
        """Time series, one row per sample and subflow; rows without a subflow are the connection's own."""
        return self._table("series")

    @cached_property
    def mptcp_series(self) -> pl.DataFrame:
        """Time series of Multipath TCP, one row per sample and open connection: DSNs, octets, subflows."""
        return self._table("mptcp_series")

    @cached_property
    def link_series(self) -> pl.DataFrame:
        """Time series of links, one row per sample and direction: queue, drops, throughput, utilisation."""
        return self._table("link_series")

    @cached_property
    def events(self) -> pl.DataFrame:
        """What happened and why, by time: the kinds that `events` of `[scenario]` names."""
        return self._table("events")

    @cached_property
    def bonds(self) -> pl.DataFrame:
        """One row per seed, bond and direction, and one per path of it: traffic, losses, resequencing."""
        return self._table("bonds")

    @cached_property
    def bond_series(self) -> pl.DataFrame:
        """Time series of bonds: rates, losses, weights; rows without a path are the whole direction's."""
        return self._table("bond_series")

    @cached_property
    def radios(self) -> pl.DataFrame:
        """One row per seed, station and channel: frames, retries, collisions, drops by reason, share of time busy."""
        return self._table("radios")

    @cached_property
    def hops(self) -> pl.DataFrame:
        """One row per seed, station, channel and station sent to: data frames, retries, signal-to-noise ratio."""
        return self._table("hops")

    @cached_property
    def broadcasts(self) -> pl.DataFrame:
        """One row per seed, broadcast, sending station and station in its range: datagrams sent and heard."""
        return self._table("broadcasts")

    @cached_property
    def frames(self) -> pl.DataFrame:
        """One row per seed and frame of voice or video that was sent: when it was whole at its receiver."""
        return self._table("frames")

    @cached_property
    def routes(self) -> pl.DataFrame:
        """One row per seed and wireless route: its way at the beginning, and how stable it was."""
        return self._table("routes")

    @cached_property
    def route_changes(self) -> pl.DataFrame:
        """One row per seed and way that a wireless route has taken, by time."""
        return self._table("route_changes")

    @cached_property
    def commands(self) -> pl.DataFrame:
        """One row per seed and program of a Linux host: its exit code and output."""
        return self._table("commands")

    @cached_property
    def sockets(self) -> pl.DataFrame:
        """One row per seed and TCP socket of a Linux host that is of no connection: what its kernel has counted."""
        return self._table("sockets")

    @cached_property
    def processes(self) -> pl.DataFrame:
        """One row per seed and part of an emulation: its processor time, and how long it waited for that."""
        return self._table("processes")

    @abstractmethod
    def _table(self, table: Table) -> pl.DataFrame:
        """One table of all runs."""


@dataclass(frozen=True)
class RunResult(Tables):
    """One scenario, run with one seed or several."""

    scenario: str
    """The scenario's name."""

    hash: str
    """The hash of the scenario with every default, which keys it in the store."""

    outcomes: list[_core.Outcome] = field(repr=False)
    """What each seed measured, in the order of `seeds`."""

    multipath: dict[str, list[str]] = field(repr=False)
    """The multipath connections as the scenario names them, each with the names of its copies in tables, and
    the bonds as `bonds.NAME`, each with the connections over it."""

    references: dict[Reference, list[float]] = field(repr=False)
    """Goodput of each multipath connection and bond on each single path, Mbit/s, in the order of `seeds`."""

    files: list[Path] = field(default_factory=list, repr=False)
    """What was written, if an output folder was given."""

    @cached_property
    def runs(self) -> list[dict[str, Any]]:
        """The summary of each seed, with the keys of `ropewalk run --json`."""
        return [summary_of(outcome) for outcome in self.outcomes]

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return [run["seed"] for run in self.runs]

    @property
    def combined(self) -> dict[str, Any]:
        """The runs as one summary: every figure a mean with its 95 % interval (`Interval`)."""
        return combine(self.runs)

    @property
    def summary(self) -> dict[str, Any]:
        """What `--json` prints: the one run, or of several `{runs, summary}` of `Interval`s; and `benefit`."""
        whole = self.runs[0] if len(self.runs) == 1 else {"runs": self.runs, "summary": self.combined}
        verdicts = [comparing.as_row(benefit) for benefit in self.benefit()]
        return {**whole, "benefit": verdicts} if verdicts else whole

    def benefit_frame(self) -> pl.DataFrame:
        """The verdicts of `benefit` as a frame: a row per connection or bond, with the columns of `--json`."""
        return as_frame(self.benefit())

    def plot(self, column: str, *, connection: str | None = None) -> Figure:
        """A column of `series` over time, a line per subflow or connection: `"cwnd"`, `"srtt"`, `"throughput"`, ….

        Args:
            column: The column's name, with or without its unit.
            connection: Of this one alone.

        Raises:
            InputError: The series has no such column, or no rows.
            UnsupportedError: matplotlib is not installed.
        """
        from ropewalk.extras import require
        from ropewalk.figures.series import over_time

        require("figures", "pictures")

        return over_time(self.series, column, connection)

    def chart(self, column: str, *, connection: str | None = None) -> altair.Chart:
        """The same as a chart of Altair, which notebooks zoom and save. It needs the extra `altair`.

        Raises:
            InputError: The series has no such column, or no rows.
            UnsupportedError: Altair is not installed.
        """
        from ropewalk.extras import require
        from ropewalk.figures.series import chart

        require("altair", "charts for notebooks")
        return chart(self.series, column, connection)

    def _repr_html_(self) -> str:
        """What a notebook shows: the connections, and the verdicts."""
        import html

        heading = f"{self.scenario}, seeds {self.seeds[0]} to {self.seeds[-1]}"
        hidden = ["scenario", "scenario_hash"]
        frames = [self.connections.drop(hidden), self.subflows.drop(hidden)]
        verdicts = "".join(f"<p>{html.escape(comparing.sentence(one))}</p>" for one in self.benefit())
        tables = "".join(frame._repr_html_() for frame in frames)
        return f"<h4>{html.escape(heading)}</h4>{tables}{verdicts}"

    def benefit(self) -> list[Benefit]:
        """Benefit or harm of each multipath connection and bond against its best single path, paired by seed.

        Empty if nothing was multipath, or if the run was told not to compare.
        """
        names = dict.fromkeys(connection for connection, _ in self.references)
        return [
            comparing.judge(
                name,
                [goodput(run, self.multipath[name]) for run in self.runs],
                {
                    path: values
                    for (connection, path), values in self.references.items()
                    if connection == name
                },
            )
            for name in names
        ]

    def _table(self, table: Table) -> pl.DataFrame:
        import polars as pl

        return pl.concat([pl.DataFrame(getattr(outcome, table)) for outcome in self.outcomes])


def as_frame(benefits: list[Benefit]) -> pl.DataFrame:
    """Verdicts as a frame."""
    import polars as pl

    rows = [dict(_plain_figures(comparing.as_row(benefit).items())) for benefit in benefits]
    return pl.DataFrame(rows, infer_schema_length=None)


def _plain_figures(items: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Columns: an interval is three of them, what is by path one (or three) for each."""
    for key, value in items:
        if isinstance(value, dict):
            yield from _plain_figures((f"{key}.{name}", figure) for name, figure in value.items())
        elif isinstance(value, Interval):
            yield from ((key, value.mean), (f"{key}_low", value.low), (f"{key}_high", value.high))
        else:
            yield key, value


def summary_of(outcome: _core.Outcome) -> dict[str, Any]:
    """A run's summary; of several connections with their `flows`, of a wireless network with its `routes`."""
    summary: dict[str, Any] = json.loads(outcome.summary())
    flows = of_connections(summary["connections"])
    if flows is not None:
        summary["flows"] = flows
    if len(outcome.routes):
        import polars as pl

        frame = pl.DataFrame(outcome.routes)
        summary["routes"] = frame.drop("scenario", "scenario_hash", "seed").to_dicts()
    return summary


def goodput(summary: dict[str, Any], names: list[str]) -> float:
    """Goodput in Mbit/s of a connection, all its copies together, by a run's summary."""
    found = [one["goodput_mbps"] for one in summary["connections"] if one["name"] in names]
    return math.fsum(found)


@dataclass(frozen=True, slots=True)
class Sample:
    """One point of a campaign's grid with what ran for it. All lists follow the order of the seeds."""

    point: Point
    scenario: str
    hash: str
    seeds: tuple[int, ...]
    keys: tuple[Key, ...]
    multipath: dict[str, list[str]]
    references: dict[Reference, tuple[Key, ...]]
    memory: tuple[str, int]
    """What its runs are called, and what one may need, in octets."""


@dataclass(frozen=True)
class SweepResult(Tables):
    """A campaign's results. They lie in the store; the frames read them.

    Each begins with a column for the point and one for each key of the grid; those of series are empty if the
    campaign keeps none.
    """

    campaign: Campaign
    """What was swept."""

    samples: list[Sample] = field(repr=False)
    """The points of the grid with their runs."""

    computed: int
    """How many runs this sweep carried out."""

    skipped: int
    """How many were in the store already."""

    failures: dict[Key, RopewalkError]
    """Runs that failed, and why; they are in no table."""

    left: frozenset[Key] = field(default=frozenset(), repr=False)
    """Runs that were left to the other shares of the campaign; they are in no table."""

    temporary: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)
    """The store, if no output folder was given: it lives as long as this object."""

    @cached_property
    def references(self) -> pl.DataFrame:
        """`connections` of the single-path runs, with the grid's columns and `reference_path`."""
        import polars as pl

        frames = [
            self._labelled(sample, read(self._ran(keys), "connections"))
            .filter(pl.col("name").is_in(sample.multipath[connection]))
            .with_columns(reference_path=pl.lit(path))
            for sample in self.samples
            for (connection, path), keys in sample.references.items()
            if self._ran(keys)
        ]
        return pl.concat(frames) if frames else pl.DataFrame()

    def goodputs(self) -> Iterator[tuple[Point, str, Interval]]:
        """Mean goodput in Mbit/s of every connection at every point."""
        values: dict[tuple[int, str], list[float]] = {}
        if not self.connections.is_empty():
            for index, name, goodput in self.connections.select("point", "name", "goodput_mbps").iter_rows():
                values.setdefault((index, name), []).append(goodput)
        points = {sample.point.index: sample.point for sample in self.samples}
        for (index, name), goodputs in values.items():
            yield points[index], name, mean_interval(goodputs)

    def benefit(self) -> list[Benefit]:
        """Benefit or harm of every multipath connection and bond at every point, over the seeds that all finished."""
        return [benefit for sample in self.samples for benefit in self._judge(sample)]

    def _judge(self, sample: Sample) -> Iterator[Benefit]:
        names = dict.fromkeys(connection for connection, _ in sample.references)
        for name in names:
            paths = {
                path: keys for (connection, path), keys in sample.references.items() if connection == name
            }
            columns = [sample.keys, *paths.values()]
            whole = [k for k in range(len(sample.seeds)) if all(self._has(column[k]) for column in columns)]
            if not whole:
                continue
            yield comparing.judge(
                name,
                [self._goodput(sample.keys[k], sample.multipath[name]) for k in whole],
                {
                    path: [self._goodput(keys[k], sample.multipath[name]) for k in whole]
                    for path, keys in paths.items()
                },
                sample.point.parameters,
                sample.point.index,
            )

    def _goodput(self, key: Key, names: list[str]) -> float:
        """Goodput of a connection in a run, all its copies together."""
        return math.fsum(self._goodputs[key, name] for name in names)

    @cached_property
    def _goodputs(self) -> Mapping[tuple[Key, str], float]:
        """Every connection's goodput in every run, references included."""
        keys = dict.fromkeys(
            key
            for sample in self.samples
            for column in (sample.keys, *sample.references.values())
            for key in column
        )
        found: dict[tuple[Key, str], float] = {}
        for key in keys:
            if self._has(key):
                frame = read([key], "connections").select("name", "goodput_mbps")
                found.update(((key, name), value) for name, value in frame.iter_rows())
        return found

    def _table(self, table: Table) -> pl.DataFrame:
        import polars as pl

        if table in {"series", "mptcp_series", "bond_series", "link_series"} and not self.campaign.series:
            return pl.DataFrame()
        frames = [
            self._labelled(sample, frame)
            for sample in self.samples
            if not (frame := read(self._ran(sample.keys), table)).is_empty()
        ]
        return pl.concat(frames) if frames else pl.DataFrame()

    def _ran(self, keys: tuple[Key, ...]) -> list[Key]:
        return [key for key in keys if self._has(key)]

    def _has(self, key: Key) -> bool:
        """Whether a run is in the store."""
        return key not in self.failures and key not in self.left

    def _labelled(self, sample: Sample, frame: pl.DataFrame) -> pl.DataFrame:
        import polars as pl

        labels = [pl.lit(sample.point.index, dtype=pl.UInt32).alias("point")]
        for axis, value in sample.point.parameters.items():
            labels.append(pl.lit(value if self._plain(axis) else str(value)).alias(axis))
        return frame.select(*labels, pl.all())

    def _plain(self, axis: str) -> bool:
        """Whether a grid key's values are of one simple type; others appear as text."""
        kinds = {type(value) for value in self.campaign.grid[axis]}
        return len(kinds) == 1 and kinds <= {int, float, str, bool}
