from __future__ import annotations

import pytest

from ropewalk.progress import Bar, Plain, clock, for_terminal, remaining


def test_plain_lines_estimate_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Plain(interval_s=0)
    progress.start(4, "sweep")
    progress.advance()
    progress.advance(3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "sweep: 4 to do"
    assert lines[1].startswith("sweep: 1 of 4 done, about ")
    assert lines[2] == "sweep: 4 of 4 done, about 0:00 left"


def test_plain_lines_are_few(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Plain(interval_s=3600)
    progress.start(1000, "sweep")
    for _ in range(999):
        progress.advance()
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_no_terminal_means_plain_lines() -> None:
    assert isinstance(for_terminal(), Plain)


def test_the_bar_counts_and_notes(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar()
    bar.start(2, "sweep")
    bar.advance()
    bar.note("[bold] is not markup here")
    bar.advance()
    bar.finish()
    bar.finish()
    bar.note("after the bar")
    shown = capsys.readouterr().err
    assert "[bold] is not markup here" in shown
    assert "2/2" in shown
    assert "after the bar" in shown


def test_time_left() -> None:
    assert remaining(10, 2, 6) == 20
    assert remaining(10, 0, 6) == 0
    assert clock(61) == "1:01"
    assert clock(3_661) == "1:01:01"
