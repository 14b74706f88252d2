from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ropewalk
from conftest import PATIENCE_S, TWO_PATHS
from ropewalk import simulated
from ropewalk.plan import Job
from ropewalk.progress import Bar, Plain, Silent, clock, for_terminal, remaining
from ropewalk.source import Source


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


class Counted(Silent):
    """Keeps what is begun, and each step."""

    def __init__(self) -> None:
        self.began: list[tuple[int, str]] = []
        self.steps: list[int] = []

    def start(self, total: int, what: str) -> None:
        self.began.append((total, what))

    def advance(self, steps: int = 1) -> None:
        self.steps.append(steps)


@pytest.mark.parametrize("max_memory", [None, 2**30])
def test_a_single_run_says_how_much_time_it_has_simulated(
    monkeypatch: pytest.MonkeyPatch, max_memory: int | None
) -> None:
    monkeypatch.setattr(simulated, "PATIENCE_S", 0.0)
    shown = Counted()
    long = TWO_PATHS.replace('"3 s"', '"2000 s"')
    ropewalk.run(long, compare=False, series=False, progress=shown, max_memory=max_memory)
    assert shown.began == [(2000, "two-paths, seconds simulated")]
    assert len(shown.steps) > 2
    assert 0 < sum(shown.steps) <= 2000


def test_several_runs_count_together_and_short_ones_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Counted()
    ropewalk.run(TWO_PATHS, compare=False, progress=shown)
    assert shown.began == []
    monkeypatch.setattr(simulated, "PATIENCE_S", 0.0)
    passed = simulated.SimulatedTime(shown, "short", 0.5, 4)
    job = Job(Source(TWO_PATHS), 1, "one")
    runs = [passed.begin(job) for _ in range(3)]
    runs[0].told_s = 0.25
    runs[1].told_s = 7.0
    passed.end(runs[2])
    passed.look()
    passed.look()
    assert shown.began == [(2000, "short, milliseconds simulated")]
    assert shown.steps == [250 + 500 + 500]


QUIET_S = 8
"""Longer than any command is silent that has something to show."""


def on_a_terminal(words: list[str | Path], term: str, folder: Path, ends: Callable[[str], bool]) -> str:
    """What a command shows on a terminal of this kind on standard error. It is stopped once that is enough."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "ropewalk", *words],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": term},
        cwd=folder,
    ) as process:
        os.close(theirs)
        seen = bytearray()
        deadline = time.monotonic() + PATIENCE_S
        while process.poll() is None and not ends(seen.decode(errors="replace")):
            assert time.monotonic() < deadline, seen
            if select.select([ours], [], [], 0.1)[0]:
                seen += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        # A terminal reads on. One that does not may keep the process from ending, as its last words find no room.
        while process.poll() is None:
            assert time.monotonic() < deadline + PATIENCE_S, seen
            with contextlib.suppress(OSError):  # it has closed its side
                if select.select([ours], [], [], 0.1)[0]:
                    seen += os.read(ours, 4096)
        assert process.returncode == 130, seen
    os.close(ours)
    return seen.decode(errors="replace")


@pytest.fixture
def heeded_interrupts() -> Iterator[None]:
    """Commands heed SIGINT, though these tests may run in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded_interrupts")
@pytest.mark.parametrize(("term", "has_bar"), [("xterm", True), ("dumb", False)])
def test_a_long_run_has_a_bar_or_lines(tmp_path: Path, term: str, has_bar: bool) -> None:
    file = tmp_path / "s.toml"
    file.write_text(TWO_PATHS.replace('"3 s"', '"100000 s"'), encoding="utf-8")
    shows = "two-paths, seconds simulated"
    seen = on_a_terminal(["run", file, "--no-compare"], term, tmp_path, lambda seen: shows in seen)
    assert ("\x1b[" in seen) == has_bar, seen
    until = time.monotonic() + QUIET_S
    words: list[str | Path] = ["run", file, "--no-compare", "--quiet"]
    quiet = on_a_terminal(words, term, tmp_path, lambda _: time.monotonic() > until)
    assert "simulated" not in quiet
