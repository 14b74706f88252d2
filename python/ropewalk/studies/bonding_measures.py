"""What the bonding study reads out of its runs: one value per seed, in the order of the seeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Final

from ropewalk.report import Verdict
from ropewalk.statistics import Interval, mean_interval
from ropewalk.studies import bonding_cells as made

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from ropewalk.store import Table
    from ropewalk.studies.cells import Results

DOWN: Final = "hub->cpe"

Where = dict[str, str | float]


def over_readings(held: Mapping[str, bool]) -> Verdict:
    """The verdict on what holds in some readings of the paper, or settings that it leaves open, and not in others."""
    if all(held.values()):
        return Verdict.HOLDS
    return Verdict.UNDECIDABLE if any(held.values()) else Verdict.CONTRADICTED


@dataclass(frozen=True, slots=True)
class Course:
    """Samples over time, of one run."""

    time_s: list[float]
    value: list[float]

    def between(self, start: float, end: float) -> list[float]:
        """The samples whose intervals end after `start` and not after `end`."""
        return [y for x, y in zip(self.time_s, self.value, strict=True) if start < x <= end]

    def mean(self, start: float, end: float) -> float:
        """Their mean; 0 if there are none, for runs shorter than the stretch."""
        return fmean(self.between(start, end) or [0.0])

    def sum(self, start: float, end: float) -> float:
        """Their sum."""
        return sum(self.between(start, end))

    def spread(self, start: float, end: float) -> float:
        """Their standard deviation."""
        return pstdev(self.between(start, end) or [0.0])

    def first(self, start: float, end: float, *, at_least: float = 0.0, below: float | None = None) -> float:
        """How long after `start` a sample is at least, or below, a value; the whole stretch if none is."""
        for x, y in zip(self.time_s, self.value, strict=True):
            if start < x <= end and (y >= at_least if below is None else y < below):
                return x - start
        return end - start


@dataclass(slots=True)
class Measured:
    """The results of the study's parts."""

    extent: made.Extent
    results: dict[str, Results] = field(default_factory=dict)
    tunnel: int = made.TUNNEL
    """Octets of the tunnel's headers."""

    @property
    def inner(self) -> float:
        """What is left of an octet on a line without the tunnel's headers, as the tables of bonds count."""
        return (made.PACKET - self.tunnel) / made.PACKET

    @property
    def room_mbps(self) -> float:
        """What DSL carries at most, without the tunnel's headers."""
        return made.DSL_MBPS * self.inner

    def rows(self, part: str, table: Table, **where: str | float) -> pl.DataFrame:
        """Rows of a table."""
        results = self.results[part]
        frame = results.connections if table == "connections" else results.tables[table]
        return frame.filter(**where)

    # Datagrams.

    def loss(self, part: str, **where: str | float) -> Interval:
        """Per cent of the datagrams that did not arrive."""
        return mean_interval(self.losses(part, **where))

    def losses(self, part: str, **where: str | float) -> list[float]:
        """The same by seed."""
        import polars as pl

        rows = self.rows(part, "connections", protocol="udp", **where).group_by("seed", maintain_order=True)
        lost = rows.agg(value=100 * (1 - pl.col("datagrams_received").sum() / pl.col("datagrams_sent").sum()))
        return lost["value"].to_list()

    def per_mille_reordered(self, part: str, **where: str | float) -> Interval:
        """Of the datagrams that arrived."""
        import polars as pl

        rows = self.rows(part, "connections", **where)
        reordered = rows.select(value=1000 * pl.col("datagrams_reordered") / pl.col("datagrams_received"))
        return mean_interval(reordered["value"].to_list())

    def column(self, part: str, column: str, **where: str | float) -> Interval:
        """The mean of a column of connections."""
        rows = self.rows(part, "connections", **where)
        return mean_interval([0.0 if value is None else value for value in rows[column].to_list()])

    def goodputs(self, part: str, **where: str | float) -> list[float]:
        """The goodput of all TCP connections together, by seed, Mbit/s."""
        import polars as pl

        rows = self.rows(part, "connections", **where).filter(pl.col("protocol") != "udp")
        return (
            rows.group_by("seed", maintain_order=True)
            .agg(pl.col("goodput_mbps").sum())["goodput_mbps"]
            .to_list()
        )

    # Bonds.

    def of_bond(self, part: str, path: str | None, column: str, **where: str | float) -> list[float]:
        """A column of the table `bonds` by seed, of a path or of the whole."""
        import polars as pl

        rows = self.rows(part, "bonds", direction=DOWN, **where)
        rows = rows.filter(pl.col("path").is_null() if path is None else pl.col("path") == path)
        return rows.sort("seed")[column].to_list()

    def lte_share(self, part: str, **where: str | float) -> Interval:
        """Octets sent by LTE for a hundred octets that the bond delivered."""
        sent = self.of_bond(part, "lte", "sent_bytes", **where)
        delivered = self.of_bond(part, None, "received_bytes", **where)
        return mean_interval(100 * a / b for a, b in zip(sent, delivered, strict=True))

    def least_share(self, part: str, dsl_s: float, **where: str | float) -> Interval:
        """Of a hundred octets that the bond delivered, those that DSL could not have brought.

        A bound of `lte_share` from below: DSL was up for `dsl_s` seconds with traffic, and had a queue then.
        """
        room = self.room_mbps * 1e6 / 8 * dsl_s + made.QUEUE_PACKETS * (made.PACKET - self.tunnel)
        delivered = self.of_bond(part, None, "received_bytes", **where)
        return mean_interval(100 * max(0.0, 1 - room / octets) for octets in delivered)

    # Over time.

    def bond_series(self, part: str, path: str | None, where: Where) -> pl.DataFrame:
        """Samples of a path, or of the whole, downwards."""
        import polars as pl

        rows = self.results[part].tables["bond_series"].filter(direction=DOWN, **where)
        return rows.filter(pl.col("path").is_null() if path is None else pl.col("path") == path)

    def courses(self, part: str, path: str | None, column: str, where: Where) -> list[Course]:
        """A column of the table `bond_series`, a course for each seed."""
        return _courses(self.bond_series(part, path, where), column)

    def throughputs(self, part: str, where: Where) -> list[Course]:
        """The throughput of connections, a course for each seed."""
        import polars as pl

        series = self.results[part].series
        assert series is not None  # noqa: S101 - the runner was asked for it
        return _courses(series.filter(**where).filter(pl.col("subflow").is_null()), "throughput_mbps")


def _courses(frame: pl.DataFrame, column: str) -> list[Course]:
    return [
        Course(run["time_s"].to_list(), [float(value or 0) for value in run[column].to_list()])
        for run in frame.sort("seed", "time_s").partition_by("seed", maintain_order=True)
    ]
