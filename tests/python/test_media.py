"""Calls: the E-model against published values, what is shown of a video, calls over lines that arithmetic knows."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from ropewalk.executor import LocalExecutor
from ropewalk.progress import Silent
from ropewalk.studies import (
    Kept,
    bonding_beyond_cells,
    bonding_cells,
    bonding_media,
    bonding_media_cells,
    bonding_outlook,
    emodel,
    load,
)
from ropewalk.studies.bonding_measures import Measured
from ropewalk.studies.bonding_media import Frame, Media, freezes, shown
from ropewalk.studies.cells import Runner

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.figures import Chart


def test_all_defaults_give_the_published_rating() -> None:
    assert emodel.rating(0, 0) == pytest.approx(93.2, abs=0.05)


@pytest.mark.parametrize("delay_ms", [50, 100, 150, 177, 200, 250, 300])
def test_delay_costs_what_cole_and_rosenbluth_fitted(delay_ms: float) -> None:
    # R. Cole, J. Rosenbluth, Voice over IP performance monitoring, CCR 2001: a fit to G.107 with its default values
    # for delays below 400 ms, of two straight lines where the model is curved.
    fitted = 0.024 * delay_ms + 0.11 * max(0.0, delay_ms - 177.3)
    assert emodel.delay_impairment(delay_ms) == pytest.approx(fitted, abs=2.5)


def test_loss_costs_about_four_of_rating_per_cent_with_concealment() -> None:
    assert emodel.loss_impairment(0) == 0
    assert emodel.loss_impairment(0.01) == pytest.approx(95 / 26.1)
    # G.107 §7.5: bursts do more harm than the same loss at random.
    assert emodel.loss_impairment(0.05, 2) > emodel.loss_impairment(0.05) == pytest.approx(95 * 5 / 30.1)
    assert emodel.rating(100, 1) < 20


def test_the_burst_ratio_of_independent_losses_is_one() -> None:
    draw = random.Random(1)  # noqa: S311 - a test's losses
    independent = [draw.random() < 0.1 for _ in range(100_000)]
    assert emodel.burst_ratio(independent) == pytest.approx(1, abs=0.02)
    pairs = [place % 20 in {3, 4} for place in range(100_000)]
    assert emodel.burst_ratio(pairs) == pytest.approx(2 * 0.9)
    assert emodel.burst_ratio([False] * 9) == emodel.burst_ratio([True] * 9) == 1


def test_the_jitter_buffer_trades_delay_for_loss() -> None:
    steady = [30.0] * 1000
    assert emodel.best_rating(steady) == pytest.approx(emodel.rating(50, 0))
    # One packet of a thousand 500 ms late: nobody waits for it. Half of them: everybody does.
    rare = [*steady[1:], 530.0]
    assert emodel.best_rating(rare) == pytest.approx(emodel.rating(50, 0.001))
    often = [30.0, 230.0] * 500
    assert emodel.best_rating(often) == pytest.approx(emodel.rating(250, 0))
    assert emodel.best_rating([None] * 5) == 0
    # However many delays there are, the longest is tried.
    many = [30.0 + place / 10 for place in range(1000)]
    assert emodel.best_rating(many) == pytest.approx(emodel.rating(150, 0), abs=3)


def test_a_frame_needs_those_before_it_from_the_last_key_frame_on() -> None:
    late, lost = 200.0, None
    delays = [10.0, lost, 10.0, 10.0, late, 10.0, 10.0]
    frames = [
        Frame(100.0 * place, None if delay is None else 100.0 * place + delay, key=place in {0, 3})
        for place, delay in enumerate(delays)
    ]
    # The second is lost, and the third builds on it. The fifth is late; the sixth is good at 600 ms, when it came.
    assert shown(frames, 150) == [True, False, False, True, False, True, True]
    assert shown(frames, 95) == [True, False, False, True, False, False, True]


def test_a_freeze_is_as_long_as_browsers_say() -> None:
    picture = [True] * 10
    assert freezes(picture) == 0
    # 40 ms a frame: 190 ms are reached by four frames in a row.
    assert freezes([*picture, *[False] * 3, *picture]) == 0
    assert freezes([*picture, *[False] * 4, *picture, *[False] * 9]) == 2
    assert freezes([False] * 100) == 1


def calls(extent: bonding_cells.Extent, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Measured:
    """The study's calls, without recorded lines."""
    monkeypatch.setenv("ROPEWALK_TRACES", str(folder))
    runner = Runner(LocalExecutor(2), Silent(), Kept(folder, quick=True).store)
    cells = bonding_media_cells.media_cells(extent)
    results = runner.run(cells, extent.seeds, "calls", tables=("bonds", "frames"))
    return Measured(extent, {"media": results})


def test_calls_over_each_line_alone_are_as_long_and_as_good_as_the_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ropewalk.report import Report

    report = Report("A study", "A paper")
    charts: list[Chart] = []
    media = Media(calls(bonding_cells.Extent((1, 2), 4, 12), tmp_path, monkeypatch), report, charts.append)
    idle, steady = bonding_media_cells.IDLE, bonding_beyond_cells.STEADY
    for way in bonding_media.WAYS:
        # 6.5 ms and what a packet takes: a buffer of 7 ms. LTE has 12.5 to 22.5 ms.
        dsl = media.ratings(idle, steady, "DSL alone", way)
        assert dsl == pytest.approx([emodel.rating(27, 0)] * 2, abs=0.1)
        lte = media.ratings(idle, steady, "LTE alone", way)
        assert all(emodel.rating(45, 0) - 0.1 <= rating < min(dsl) for rating in lte)
        assert media.in_time(idle, steady, "DSL alone", way) == [100, 100]
        # A line of 2 Mbit/s has no room for 4 of video.
        bad = media.in_time(idle, bonding_beyond_cells.BAD, "LTE alone", way)
        assert max(bad) < 50
    media.write()
    assert [chart.stem for chart in charts] == ["media-voice"]
    captions = [table["caption"] for table in report.tables()]
    assert len(captions) == len(set(captions)) == 4 + 8 + 2 + 6


def test_the_outlook_makes_its_figure_and_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bonding_outlook, "QUICK", bonding_cells.Extent((1, 2), 3, 12))
    monkeypatch.setattr(bonding_cells, "DECREMENT_DELAYS_MS", (250,))
    monkeypatch.setenv("ROPEWALK_TRACES", str(tmp_path))
    runner = Runner(LocalExecutor(2), Silent(), Kept(tmp_path, quick=True).store)
    result = load("bonding-outlook").run(tmp_path, quick=True, runner=runner)
    names = {path.name for path in result.files}
    assert {"media-voice.png", "media-frames.parquet", "proxy-connections.parquet"} <= names
    assert {"small-gain-connections.parquet"} <= names
    assert len(result.findings) == 3
    html = result.report.read_text(encoding="utf-8")
    for text in ("rate-aware, voice of low delay", "by proxies, linked increases", "late by 4 ms", "4.72"):
        assert text in html
