"""A comparison of two worlds as text, as charts, and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ropewalk import _core
from ropewalk.comparison import MEASURES
from ropewalk.figures import Chart, Line, save
from ropewalk.report.page import Report
from ropewalk.store import file_name, store_error, write_text
from ropewalk.summary import to_json
from ropewalk.tables import PERCENT, Cell, cell, number, of_processes, render, scaled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from ropewalk.comparison import Comparison, World


class Curve(NamedTuple):
    """A column of the series, and how it is drawn."""

    column: str
    stem: str
    label: str
    scale: float = 1.0
    of_subflows: bool = True


CURVES: Final = (
    Curve("cwnd_bytes", "cwnd", "congestion window (kB)", 1e-3),
    Curve("srtt_ms", "rtt", "smoothed round-trip time (ms)"),
    Curve("throughput_mbps", "goodput", "goodput (Mbit/s)", of_subflows=False),
)
"""What is drawn over time."""


def heading(comparison: Comparison) -> str:
    """What ran, where, and how often."""
    seeds = comparison.seeds
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]}…{seeds[-1]}, means ± 95 % CI"
    where = " and ".join(comparison.names)
    engine = ", ".join([f"ropewalk {_core.version()}", *(f"Linux {name}" for name in comparison.kernels)])
    return f"{comparison.scenario}: {where}, {number(comparison.duration_s)} s, {which} ({engine})"


def warnings(comparison: Comparison) -> list[str]:
    """Why it is not the same experiment, and what went wrong; a line each."""
    lines = [
        f"not the same experiment: {key}: {message}: {expected}"
        for key, message, expected in comparison.departures
    ]
    lines += [
        f"{one['connection']} failed: {one['world']}, seed {one['seed']}: {one['error']}"
        for one in comparison.errors
    ]
    return lines


def lateness(comparison: Comparison) -> list[str]:
    """How late the packets of the worst run were; none if nothing ran on a kernel."""
    if not (runs := comparison.lateness):
        return []
    worst = {key: max(run[key] for run in runs) for key in ("mean_ms", "p99_ms", "worst_ms")}
    times = f"{worst['mean_ms']:.3f} ms on average, {worst['p99_ms']:.3f} ms at the 99th percentile"
    late = f"late: at most {times}, {worst['worst_ms']:.3f} ms at worst"
    return ["\n".join([late, *of_processes(comparison.processes, comparison.duration_s)])]


def head(comparison: Comparison) -> list[str]:
    """The head of the table."""
    return ["connection", "path", "measure", *comparison.names, "difference", "difference %"]


def rows(comparison: Comparison) -> list[list[Cell]]:
    """A row for each measure."""
    return [
        [
            one.connection,
            one.path or "all",
            MEASURES[one.measure],
            one.first,
            one.second,
            one.difference,
            scaled(one.part, PERCENT),
        ]
        for one in comparison.differences()
    ]


def text(comparison: Comparison) -> str:
    """Everything as text."""
    parts = [
        *warnings(comparison),
        heading(comparison),
        render(head(comparison), rows(comparison)),
        *lateness(comparison),
    ]
    return "\n\n".join(parts)


def charts(comparison: Comparison) -> Iterator[Chart]:
    """Windows, round-trip times and goodput over time in both worlds, with the first seed."""
    seed = comparison.seeds[0]
    series = {
        world.name: frame.filter(frame["seed"] == seed)
        for world in comparison.worlds
        if not (frame := world.table("series")).is_empty()
    }
    names = dict.fromkeys(name for frame in series.values() for name in frame["connection"].to_list())
    for name in names:
        for curve in CURVES:
            lines = [
                line
                for place, world in enumerate(comparison.worlds)
                if world.name in series
                for line in _lines(world, series[world.name].filter(connection=name), curve, dashed=place > 0)
            ]
            if lines:
                yield Chart(
                    stem=f"{file_name(name)}-{curve.stem}",
                    title=f"{name}: {curve.stem}",
                    x_label="time (s)",
                    y_label=curve.label,
                    lines=lines,
                    caption=f"Solid: {comparison.names[0]}; dashed: {comparison.names[1]}. Seed {seed}.",
                )


def _lines(world: World, frame: pl.DataFrame, curve: Curve, *, dashed: bool) -> Iterator[Line]:
    """A line for each subflow, or one for the connection."""
    of_subflow = frame["subflow"].is_not_null()
    frame = frame.filter(of_subflow if curve.of_subflows else ~of_subflow).drop_nulls(curve.column)
    for (_, path), group in frame.group_by(["subflow", "path"], maintain_order=True):
        label = f"{world.name}, {path}" if path is not None else world.name
        values = [curve.scale * value for value in group[curve.column].to_list()]
        yield Line(label, group["time_s"].to_list(), values, dashed=dashed, markers=False)


def write(comparison: Comparison, folder: Path) -> list[Path]:
    """Write figures, the page and the JSON into a folder; returns the files.

    Raises:
        StoreError: They cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise store_error(folder, cause) from cause
    report = Report(f"{comparison.scenario} in two worlds", "", {"what": heading(comparison)})
    report.text(*warnings(comparison), *lateness(comparison))
    body = [[cell(value) for value in row] for row in rows(comparison)]
    report.table("Means ± half of the 95 % interval; differences paired by seed", head(comparison), body)
    files: list[Path] = []
    for chart in charts(comparison):
        files += save(chart, folder)
        report.chart(chart)
    json = folder / "comparison.json"
    write_text(json, to_json(comparison.as_json()) + "\n")
    return [*files, json, report.write(folder / "comparison.html")]
