"""The bonding study: what its verdicts say about courses made by hand, and a small run from start to report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from ropewalk.benefit import clearly_above
from ropewalk.executor import LocalExecutor
from ropewalk.progress import Silent
from ropewalk.studies import (
    Kept,
    bonding_beyond_cells,
    bonding_cells,
    bonding_claims,
    load,
)
from ropewalk.studies.bonding_measures import DOWN, Course, Measured, over_readings
from ropewalk.studies.cells import Results, Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

EXTENT = bonding_cells.Extent((1, 2), 2, 12)


def test_the_ramp_rises_by_equal_factors_and_falls_fast_at_first() -> None:
    changes = bonding_cells.ramp()["application"]["changes"]
    line = [
        float(change["rate"].split()[0]) * bonding_cells.PACKET / bonding_cells.PAYLOAD for change in changes
    ]
    assert [line[74], line[-1]] == pytest.approx([105, 63], abs=0.4)
    assert line[10] / line[9] == pytest.approx(line[70] / line[69], rel=1e-6)
    assert line[75] - line[76] > line[-2] - line[-1]
    assert [changes[0]["at"], changes[75]["at"]] == ["0.2 s", "25.2 s"]


def measured(
    part: str, rows: list[dict[str, object]], series: Sequence[Mapping[str, object]] = ()
) -> Measured:
    """Results of one part that were not simulated."""
    none = pl.DataFrame()
    frames = {"bond_series": pl.DataFrame(rows)}
    found = Results(none, none, pl.DataFrame(list(series)) if series else None, frames)  # type: ignore[arg-type]
    return Measured(EXTENT, {part: found})


def course(
    value: Callable[[float], float], column: str, path: str | None, until_s: int = 75, **where: object
) -> list[dict[str, object]]:
    """Samples each 100 ms of both seeds, downwards."""
    columns = {"sent_mbps": 0.0, "received_mbps": 0.0, "lost": 0, "path": path, "direction": DOWN, **where}
    times = [k / 10 for k in range(1, 10 * until_s + 1)]
    return [
        {**columns, "seed": seed, "time_s": time, column: value(time)} for seed in (1, 2) for time in times
    ]


def flows(*lte: tuple[str, Callable[[float], float]]) -> Measured:
    """Figure 5 with what LTE carries in each reading, whatever the demand is."""
    rows = [
        row
        for demand in bonding_cells.DEMANDS
        for reading, value in lte
        for row in course(value, "received_mbps", "lte", reading=reading, demand=demand)
    ]
    return measured("flows", rows)


def drained_after(seconds: float) -> Callable[[float], float]:
    """LTE carries its excess, and after the first flow's end 10 Mbit/s for so long."""
    return lambda time: 10.0 if 5.2 < time <= 12 + seconds else 0.0


@pytest.mark.parametrize(
    ("printed_s", "slow_s", "verdict"),
    [
        (5, 4, "holds"),
        (1, 5, "not decidable from the text"),
        (1, 2.5, "contradicted"),
        (8, 9, "contradicted"),
    ],
)
def test_handing_back_is_judged_by_its_own_band(printed_s: float, slow_s: float, verdict: str) -> None:
    found = flows(
        (bonding_cells.AS_PRINTED, drained_after(printed_s)), (bonding_cells.LIKELIEST, drained_after(slow_s))
    )
    assert bonding_claims.hands_back(found).verdict == verdict


@pytest.mark.parametrize(
    ("late", "verdict"),
    [(lambda delay: delay / 100, "holds"), (lambda delay: min(delay, 500) / 100, "contradicted")],
)
def test_lasting_room_is_judged_by_the_end(late: Callable[[int], float], verdict: str) -> None:
    # Until 155 s the larger delay has far more in either case.
    series = [
        {
            "connection": "tcp",
            "subflow": None,
            "decrement_ms": delay,
            "reading": reading,
            "seed": seed,
            "time_s": time,
            "throughput_mbps": 0.01 * seed + (late(delay) if time > 155 else delay),
        }
        for reading in bonding_claims.PACES
        for delay in bonding_cells.FRIENDLY_DELAYS_MS
        for seed in (1, 2)
        for time in range(88, 170)
    ]
    found = measured("friendly", course(lambda _: 0.0, "lost", "lte"), series)
    assert bonding_claims.only_large_delay(found).verdict == verdict


def losses(starts: dict[float, int], at: float, lost: int) -> Measured:
    """Losses at the flows' starts, and some more at another time."""
    counts = {**starts, at: lost}
    rows = [
        row
        for reading in bonding_claims.PACES
        for path, factor in (("dsl", 1), ("lte", 0))
        for row in course(
            lambda time, f=factor: counts.get(time, 0) * f,  # type: ignore[misc]
            "lost",
            path,
            reading=reading,
            demand=bonding_cells.TAKEN,
        )
    ]
    return measured("flows", rows)


def test_losses_between_starts_are_found() -> None:
    starts = {5.2: 100, 20.2: 100, 50.3: 300}
    quiet, loud = losses(starts, 10.0, 5), losses(starts, 10.0, 400)
    assert bonding_claims.bursts_and_little_after(quiet).verdict == "holds"
    assert bonding_claims.bursts_and_little_after(loud).verdict == "contradicted"


def test_the_excess_has_moved_when_lte_carries_nine_tenths_of_it() -> None:
    at_once = flows(*((reading, lambda _: 50.0) for reading in bonding_claims.PACES))
    never = flows(*((reading, lambda _: 9.0) for reading in bonding_claims.PACES))
    assert bonding_claims.moves_at_once(at_once).verdict == "holds"
    assert bonding_claims.moves_at_once(never).verdict == "contradicted"
    assert bonding_claims.moved_s(never, bonding_cells.AS_PRINTED)[0] == [7, 7]


def test_a_verdict_over_readings() -> None:
    assert over_readings({"a": True, "b": True}) == "holds"
    assert over_readings({"a": True, "b": False}) == "not decidable from the text"
    assert over_readings({"a": False, "b": False}) == "contradicted"


def test_clearly_above_is_by_the_interval_of_the_paired_difference() -> None:
    assert clearly_above([2, 3, 4], [1, 2.1, 2.9])
    assert not clearly_above([2, 3, 4], [1, 3.5, 4])
    assert not clearly_above([1.005], [1])
    assert clearly_above([1.02], [1])


def test_a_course_is_cut_and_searched() -> None:
    samples = Course([1, 2, 3, 4], [0, 4, 2, 6])
    assert samples.between(1, 3) == [4, 2]
    assert (samples.mean(1, 3), samples.sum(0, 4), samples.spread(1, 3)) == (3, 12, 1)
    assert (samples.first(1, 4, at_least=5), samples.first(1, 4, below=3)) == (3, 2)
    assert samples.first(1, 3, at_least=9) == 2
    assert samples.mean(7, 9) == 0


def test_averaging_a_trace_keeps_what_each_window_carries() -> None:
    trace = [3, 3, 3, 3, 55, 60, 100, 130, 150]
    spread = bonding_beyond_cells.averaged(trace, 50)
    assert spread == [12, 25, 37, 50, 66, 83, 100, 125, 150]
    assert bonding_beyond_cells.averaged(spread, 50) == spread
    assert bonding_beyond_cells.averaged(trace, 1000) == [16, 33, 50, 66, 83, 100, 116, 133, 150]


def test_the_mean_rate_of_a_trace_counts_its_repetitions(tmp_path: Path) -> None:
    trace = tmp_path / "line.down"
    trace.write_text("10\n500\n1000\n", encoding="ascii")
    assert bonding_beyond_cells.mean_mbps(trace, 1) == pytest.approx(3 * 12e-3)
    assert bonding_beyond_cells.mean_mbps(trace, 2.5) == pytest.approx(8 * 12e-3 / 2.5)


def test_dsl_is_down_for_part_of_the_run() -> None:
    assert bonding_beyond_cells.dsl_seconds(bonding_beyond_cells.DEAD, 29) == 9
    assert bonding_beyond_cells.dsl_seconds(bonding_beyond_cells.DEAD, 9) == 5
    assert bonding_beyond_cells.dsl_seconds(bonding_beyond_cells.STEADY, 29) == 29


def recorded_lines(folder: Path) -> None:
    """Two made-up lines: 12 Mbit/s that stops for half of each second, and 6 Mbit/s; nothing for the third."""
    folder.mkdir()
    for direction in ("down", "up"):
        halting = range(1, 501)
        (folder / f"TMobile-LTE-short.{direction}").write_text(
            "\n".join(map(str, [*halting, 1000])) + "\n", encoding="ascii"
        )
        (folder / f"Verizon-LTE-short.{direction}").write_text("2\n", encoding="ascii")
    (folder / "ATT-LTE-driving-2016.down").write_text("2\n", encoding="ascii")


def test_bonding_makes_every_figure_and_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bonding_cells, "QUICK", bonding_cells.Extent((1,), 2, 12))
    recorded_lines(tmp_path / "recorded")
    monkeypatch.setenv("ROPEWALK_TRACES", str(tmp_path / "recorded"))
    runner = Runner(LocalExecutor(2), Silent(), Kept(tmp_path, quick=True).store)
    result = load("bonding").run(tmp_path, quick=True, runner=runner)
    names = {path.name for path in result.files}
    stems = (
        "figure-3-courses",
        "figure-4-demand",
        "figure-5-throughput",
        "figure-5-weight",
        "figure-6-dwd-1000",
        "beyond-tcp",
        "why-variation",
    )
    for stem in stems:
        assert {f"{stem}.png", f"{stem}.svg"} <= names
    assert {"ramp-slow-connections.parquet", "udp-bonds.parquet", "why-bonds.parquet"} <= names
    assert len(result.findings) == len(bonding_claims.CLAIMS)
    html = result.report.read_text(encoding="utf-8")
    for text in (
        "published 6.25",
        "DSL alone through the tunnel",
        ": benefit",
        ": harm",
        "averaged over 200 ms",
    ):
        assert text in html
    assert "LTE trace, AT&amp;T" not in html, "it has no direction up"
    assert "were not at hand" not in html

    # Nothing is recorded; what has run is taken over.
    monkeypatch.setenv("ROPEWALK_TRACES", str(tmp_path))
    html = load("bonding").run(tmp_path, quick=True, runner=runner).report.read_text(encoding="utf-8")
    assert "Recorded LTE lines were not at hand" in html
    assert "averaged over 200 ms" not in html


def test_no_scheduler_sends_less_by_lte_than_the_least_possible(tmp_path: Path) -> None:
    extent = bonding_cells.Extent((1,), 6, 12)
    cells = [
        cell
        for cell in bonding_beyond_cells.udp_cells(extent)
        if cell.parameters["condition"] == bonding_beyond_cells.STEADY
    ]
    runner = Runner(LocalExecutor(2), Silent(), Kept(tmp_path, quick=True).store)
    found = Measured(extent, {"udp": runner.run(cells, (1,), "bonding", tables=("bonds",))})
    for scheduler in bonding_beyond_cells.SCHEDULERS:
        share = found.lte_share("udp", scheduler=scheduler).mean
        assert share >= found.least_share("udp", 5, scheduler=scheduler).mean > 10
    assert pytest.approx(64 * 1444 / 1492) == Measured(EXTENT).room_mbps
