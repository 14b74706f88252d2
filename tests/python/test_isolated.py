"""Runs in processes of their own: the same results, a bound on memory, and failures that stay alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ropewalk
from conftest import PATIENCE_S, TWO_PATHS, files
from ropewalk import InputError, RunError, _core, memory
from ropewalk.commands import app
from ropewalk.executor import Finished
from ropewalk.isolated import Child, IsolatedExecutor
from ropewalk.plan import Job
from ropewalk.progress import Silent
from ropewalk.source import Source

ENOUGH = 2**30

# A series with a million samples does not fit.
TOO_MUCH = TWO_PATHS.replace("seed = 7", 'seed = 7\nsample_interval = "60 us"').replace('"3 s"', '"60 s"')


def test_a_process_of_its_own_gives_the_same_result(tmp_path: Path) -> None:
    there = ropewalk.run(TWO_PATHS, replications=2, out=tmp_path / "there", max_memory=ENOUGH)
    here = ropewalk.run(TWO_PATHS, replications=2, out=tmp_path / "here")
    assert there.summary == here.summary
    assert there.series.equals(here.series)
    assert there.radios.is_empty()
    assert files(tmp_path / "there") == files(tmp_path / "here")


def test_a_point_that_needs_too_much_fails_alone_and_is_named(tmp_path: Path) -> None:
    grid = {"scenario.sample_interval": ["100 ms", "10 us"]}
    campaign: dict[str, Any] = {"scenario": TWO_PATHS, "grid": grid, "compare": False}
    swept = ropewalk.sweep(campaign, out=tmp_path, workers=2, max_memory=128 * 2**20)
    (error,) = swept.failures.values()
    assert swept.computed == 1
    assert "sample_interval = 10 us), seed 7: it needs more memory than the 134 MB of --max-memory" in str(
        error
    )
    assert swept.connections["scenario.sample_interval"].to_list() == ["100 ms"]
    assert not list(tmp_path.rglob("*.partial"))


def test_the_command_says_it_before_and_ends_with_one(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(TOO_MUCH, encoding="utf-8")
    words = ["run", str(file), "--no-compare", "--out", str(tmp_path / "out"), "--max-memory", "128MiB"]
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert "may have 134 MB (--max-memory)\n" in done.stderr
    assert done.stderr.splitlines()[-1].endswith("it needs more memory than the 134 MB of --max-memory")


def test_a_child_that_is_killed_costs_its_run_only(tmp_path: Path) -> None:
    long = TWO_PATHS.replace('"3 s"', '"100000 s"')
    child = Child(ENOUGH)
    ended: list[Finished] = []
    interrupt = _core.Interrupt()
    job = Job(Source(long), 1, "long, seed 1", series=False)
    thread = threading.Thread(target=lambda: ended.append(child.perform(job, interrupt)))
    thread.start()
    deadline = time.monotonic() + PATIENCE_S
    while child._process is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(child._process.pid, signal.SIGKILL)
    thread.join(PATIENCE_S)
    assert "long, seed 1: it was killed, as the system does when memory runs out" in str(ended[0].error)
    after = child.perform(Job(Source(TWO_PATHS), 1, "after", keep=True), interrupt)
    assert after.error is None
    assert after.outcome is not None
    child.close()


def test_a_stop_ends_the_child(tmp_path: Path) -> None:
    long = TWO_PATHS.replace('"3 s"', '"100000 s"')
    jobs = [Job(Source(long), seed, "long", series=False) for seed in (1, 2)]
    running = IsolatedExecutor(ENOUGH, 2).run(jobs)
    # Who started the tests may have had the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            next(running)
    finally:
        signal.signal(signal.SIGINT, before)
    running.close()
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    commands = [Path(f"/proc/{child}/cmdline").read_bytes() for child in children]
    assert not [command for command in commands if b"ropewalk.worker" in command]


def test_a_panic_is_a_failure_of_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def panics(*_: object, **__: object) -> None:
        raise BaseException("index out of bounds")  # noqa: TRY002 - as a panic of the core arrives

    monkeypatch.setattr(_core, "run", panics)
    with pytest.raises(RunError, match="two-paths, seed 7: the simulator failed: index out of bounds"):
        ropewalk.run(TWO_PATHS, compare=False)


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2 * 10**9), ("512 MiB", 2**29), ("1.5GiB", 3 * 2**29), (" 100 MB ", 10**8)]
)
def test_sizes(text: str, size: int) -> None:
    assert memory.octets(text) == size


@pytest.mark.parametrize("text", ["2", "2 Gbit", "much", "1kB", "-1GB"])
def test_what_is_no_size_says_what_was_expected(text: str, two_paths: Path) -> None:
    with pytest.raises(InputError, match="--max-memory"):
        memory.octets(text)
    said = CliRunner().invoke(app, ["run", str(two_paths), "--max-memory", text])
    assert said.exit_code == 2


class Notes(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_what_could_need_more_than_there_is_is_said_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 3 * 10**9)
    notes = Notes()
    memory.warn([("small", 10**6), ("large", 2 * 10**9)], 2, None, notes)
    memory.warn([("large", 2 * 10**9)], 1, None, notes)
    (said,) = notes.notes
    assert said.startswith("large may need 2 GB, 2 at a time; 3 GB are free: ")


def test_a_bound_of_the_control_group_counts(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    4000 kB\n", encoding="ascii")
    assert memory.available(tmp_path) == 4_096_000
    (tmp_path / "proc/self/cgroup").write_text("0::/job\n", encoding="ascii")
    group = tmp_path / "sys/fs/cgroup/job"
    group.mkdir(parents=True)
    (group / "memory.max").write_text("3000000\n", encoding="ascii")
    (group / "memory.current").write_text("1000000\n", encoding="ascii")
    assert memory.available(tmp_path) == 2_000_000
    (group / "memory.max").write_text("max\n", encoding="ascii")
    assert memory.available(tmp_path) == 4_096_000


PEAK = """
import re, sys
from pathlib import Path
import polars
import ropewalk

def status(name):
    return int(re.search(rf"^{name}:\\s+(\\d+) kB$", Path("/proc/self/status").read_text(), re.M)[1]) * 1024

polars.DataFrame({"a": [1]}).write_parquet("/dev/null")
info = ropewalk.check(sys.argv[1], {"scenario.duration": sys.argv[2], **eval(sys.argv[3])})
before = status("VmRSS")
ropewalk.run(sys.argv[1], overrides={"scenario.duration": sys.argv[2], **eval(sys.argv[3])}, compare=False,
             out=sys.argv[4], workers=1)
print(status("VmHWM") - before, info.memory_bytes + info.series_bytes)
"""
"""What a run takes at its peak, and the estimate before it."""


@pytest.mark.parametrize(
    ("scenario", "duration", "more", "most"),
    [
        ("degraded-path", "20 s", {}, 100),
        ("degraded-path", "60 s", {"scenario.events": ["all"]}, 20),
        ("degraded-path", "60 s", {"scenario.sample_interval": "1 ms"}, 20),
        ("many-flows", "5 s", {}, 100),
        ("chain", "20 s", {"scenario.events": ["all"]}, 100),
    ],
)
def test_the_estimate_is_an_upper_one(
    tmp_path: Path, scenario: str, duration: str, more: dict[str, Any], most: float
) -> None:
    words = [f"scenarios/{scenario}.toml", duration, repr(more), str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", PEAK, *words], capture_output=True, text=True, check=True)
    taken, estimate = map(int, done.stdout.split())
    assert taken <= estimate <= most * taken, (memory.words(taken), memory.words(estimate))
