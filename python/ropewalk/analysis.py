"""What captures show: TCP and Multipath TCP connections, octet by octet, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ropewalk import _core, waiting
from ropewalk.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from ropewalk.figures.chart import Chart

TABLES: Final = ("connections", "streams", "subflows", "gaps", "events", "series")
"""The tables of an analysis."""

INTERVAL_S: Final = 0.1
"""Length of one sample of the series."""

GAP_S: Final = 0.2
"""Shortest time without new data that counts as a gap."""


@dataclass(frozen=True)
class Analysis:
    """What one capture shows, as seen where it was taken. Times are seconds from its first packet."""

    file: str
    start_s: float
    """The first packet's time since the epoch."""

    duration_s: float
    packets: int
    other_packets: int
    """Packets that are not TCP, or too short to tell."""

    truncated: bool
    """The file ends within a packet."""

    interval_s: float
    connections: pl.DataFrame
    streams: pl.DataFrame
    subflows: pl.DataFrame
    gaps: pl.DataFrame
    events: pl.DataFrame
    series: pl.DataFrame

    def summary(self) -> dict[str, Any]:
        """Everything but the series as plain values, in the keys of `ropewalk analyse --json`."""
        head = ("file", "start_s", "duration_s", "packets", "other_packets", "truncated")
        tables = {name: getattr(self, name).to_dicts() for name in TABLES if name != "series"}
        return {key: getattr(self, key) for key in head} | tables

    def charts(self) -> list[Chart]:
        """New data over time by subflow: a chart for each direction of each connection that carried data."""
        keys = ["connection", "direction"]
        busy = self.streams.filter(self.streams["bytes"] > 0).select(keys)
        return [self._chart(connection, direction) for connection, direction in busy.iter_rows()]

    def _chart(self, connection: int, direction: str) -> Chart:
        from ropewalk.figures.chart import Chart

        way = {"connection": connection, "direction": direction}
        subflows = self.subflows.filter(**way).filter(self.subflows.filter(**way)["fresh_bytes"] > 0)
        lines = [
            self._line(
                f"{row['client']} to {row['server']}", self.series.filter(**way, subflow=row["subflow"])
            )
            for row in subflows.iter_rows(named=True)
        ]
        return Chart(
            stem=f"connection-{connection}-{direction}",
            title=f"Connection {connection}, {direction.replace('-', ' ')}",
            x_label="time since the first packet (s)",
            y_label="goodput (Mbit/s)",
            lines=lines,
            caption=(
                f"Data seen for the first time in each {self.interval_s * 1000:g} ms, by the subflow that "
                "carried them."
            ),
        )

    def _line(self, label: str, series: pl.DataFrame) -> Any:
        """A curve that is 0 where an interval has no data."""
        from ropewalk.figures.chart import Line

        taken = {
            round(time / self.interval_s): octets for time, octets in series["time_s", "bytes"].iter_rows()
        }
        first, last = min(taken), max(taken)
        x = [place * self.interval_s for place in range(first, last + 1)]
        y = [taken.get(place, 0) * 8 / self.interval_s / 1e6 for place in range(first, last + 1)]
        return Line(label, x, y, markers=False)


def analyse(file: str | Path, *, interval_s: float = INTERVAL_S, gap_s: float = GAP_S) -> Analysis:
    """What a pcap or pcapng file shows of TCP and Multipath TCP connections.

    Args:
        file: The capture.
        interval_s: Length of one sample of the series, in seconds.
        gap_s: Shortest time without new data that counts as a gap, in seconds.

    Raises:
        InputError: It cannot be read, or is no capture; or a time is not positive.
    """
    import polars as pl

    for key, value in (("interval", interval_s), ("gap", gap_s)):
        if not value > 0:
            raise InputError(
                f"{key}: {value:g} s: expected a time above 0", key=key, expected="a time above 0"
            )
    core = waiting.waited(
        lambda interrupt: _core.analyse(str(file), interval_s, gap_s, interrupt), look=lambda: None
    )
    tables = {name: pl.DataFrame(getattr(core, name)) for name in TABLES}
    return Analysis(
        file=str(file),
        start_s=core.start_s,
        duration_s=core.duration_s,
        packets=core.packets,
        other_packets=core.other_packets,
        truncated=core.truncated,
        interval_s=interval_s,
        **tables,
    )


def write(analyses: Sequence[Analysis], folder: Path) -> list[Path]:
    """Write tables, figures and a page of each capture into the folder; returns the files.

    Raises:
        StoreError: They cannot be written.
    """
    from ropewalk.store import store_error, write_parquet

    files: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise store_error(folder, cause) from cause
    for analysis, stem in zip(analyses, _stems(analyses), strict=True):
        files += [
            write_parquet(getattr(analysis, name), folder / f"{stem}.{name}.parquet") for name in TABLES
        ]
        files.append(_page(analysis, folder / f"{stem}.html"))
    return files


def _stems(analyses: Sequence[Analysis]) -> list[str]:
    """A name for the files of each capture: its own, with a number where two have the same."""
    names = [Path(analysis.file).stem for analysis in analyses]
    return [name if names.count(name) == 1 else f"{name}-{place}" for place, name in enumerate(names)]


def _page(analysis: Analysis, path: Path) -> Path:
    from ropewalk.analysis_tables import parts
    from ropewalk.report.page import Report

    provenance = {
        "capture": analysis.file,
        "packets": f"{analysis.packets:,}",
        "duration": f"{analysis.duration_s:.3f} s",
        "engine": f"ropewalk {_core.version()}",
    }
    report = Report(title=f"What {Path(analysis.file).name} shows", paper="", provenance=provenance)
    for chart in analysis.charts():
        report.chart(chart)
    for caption, head, rows in parts(analysis):
        report.table(caption, head, rows)
    return report.write(path)
