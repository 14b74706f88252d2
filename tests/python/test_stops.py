"""Ctrl-C and SIGTERM: every long command ends at once, says how to go on, and keeps what is finished."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import ropewalk
from conftest import MESH, PATIENCE_S, TWO_PATHS
from ropewalk.progress import Silent

COMMAND = [sys.executable, "-m", "ropewalk"]

WATCHED = """
import sys, threading
from pathlib import Path
from ropewalk.cli import main

mark, join = Path(sys.argv.pop(1)), threading.Thread.join

def waits(thread, timeout=None):
    if thread.name == "core":
        mark.touch()
    join(thread, timeout)

threading.Thread.join = waits
main()
"""
"""The command; it makes a file once it waits for the core."""

both = pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])


def wait_until(process: subprocess.Popen[str], ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


def disposition(process: subprocess.Popen[str], what: str) -> bool:
    """Whether a process has SIGTERM among its caught (`SigCgt`) or ignored (`SigIgn`) signals."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    [mask] = [line.split()[1] for line in status.splitlines() if line.startswith(f"{what}:")]
    return bool(int(mask, 16) >> (signal.SIGTERM - 1) & 1)


def stopped(
    arguments: list[str | Path],
    stop: signal.Signals,
    ready: Callable[[], bool],
    program: list[str | Path] | None = None,
) -> tuple[int, str, str]:
    """Start a command, stop it when it is ready, and return how it ended."""
    with subprocess.Popen(
        [*(program or COMMAND), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until(process, lambda: disposition(process, "SigCgt"))
        wait_until(process, ready)
        process.send_signal(stop)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in stderr
    return process.returncode, stdout, stderr


def stopped_in_the_core(
    arguments: list[str | Path], stop: signal.Signals, folder: Path
) -> tuple[int, str, str]:
    """The same, when the command waits for the core."""
    mark = folder / "waits"
    mark.unlink(missing_ok=True)
    return stopped(arguments, stop, mark.exists, [sys.executable, "-c", WATCHED, mark])


def after(seconds: float) -> Callable[[], bool]:
    """Ready once this time has passed."""
    until = time.monotonic() + seconds
    return lambda: time.monotonic() > until


def scenario(folder: Path, duration: str) -> Path:
    file = folder / "s.toml"
    file.write_text(TWO_PATHS.replace('duration = "3 s"', f'duration = "{duration}"'), encoding="utf-8")
    return file


def finished(out: Path) -> int:
    return len(list(out.rglob("*.connections.parquet")))


@both
def test_a_run_writes_nothing(tmp_path: Path, stop: signal.Signals, code: int) -> None:
    out = tmp_path / "out"
    words: list[str | Path] = ["run", scenario(tmp_path, "100000 s"), "--out", out]
    end, stdout, stderr = stopped(words, stop, out.exists)
    assert (end, stdout, stderr) == (code, "", "stopped; nothing of the unfinished runs has been written\n")
    assert not [path for path in out.rglob("*") if path.is_file()]


@both
def test_a_sweep_keeps_finished_runs_and_resumes(tmp_path: Path, stop: signal.Signals, code: int) -> None:
    file, out = tmp_path / "c.toml", tmp_path / "out"
    base = scenario(tmp_path, "20 s")
    file.write_text(
        'scenario = "s.toml"\nseeds = { from = 1, to = 2000 }\nseries = false\n', encoding="utf-8"
    )
    end, _, stderr = stopped(["sweep", file, "--out", out], stop, lambda: finished(out) >= 3)
    assert end == code
    assert f"stopped; every finished run is in {out}: the same command goes on from there\n" in stderr
    assert not list(out.rglob("*.partial"))
    few = {"scenario": base, "seeds": [1, 2], "series": False, "compare": False}
    assert ropewalk.sweep(few, out=out).skipped >= 1


@both
def test_a_study_keeps_finished_runs_and_resumes(tmp_path: Path, stop: signal.Signals, code: int) -> None:
    arguments: list[str | Path] = ["reproduce", "degraded-path", "--workers", "1", "--out", tmp_path]
    end, stdout, stderr = stopped(arguments, stop, lambda: finished(tmp_path) >= 3)
    assert end == code
    assert "report:" not in stdout
    assert f"stopped; every finished run is in {tmp_path}: the same command goes on from there\n" in stderr
    assert not list(tmp_path.rglob("*.partial"))
    before = finished(tmp_path)
    end, _, stderr = stopped(arguments, stop, lambda: finished(tmp_path) > before)
    assert end == code
    assert f"degraded-path, published: {before} of 100 runs taken over" in stderr


@both
def test_a_search_for_routes_ends(tmp_path: Path, stop: signal.Signals, code: int) -> None:
    for command in ("statistics", "show"):
        end, stdout, stderr = stopped_in_the_core(["routes", command, "--range", "1"], stop, tmp_path)
        assert (end, stdout, stderr) == (code, "", "stopped\n")


@both
def test_a_stop_is_answered_from_the_first_moment(stop: signal.Signals, code: int) -> None:
    end, stdout, stderr = stopped(["routes", "show", "--range", "1"], stop, lambda: True)
    assert (end, stdout, stderr) == (code, "", "stopped\n")


@both
def test_a_stop_is_answered_at_whatever_moment_it_comes(
    tmp_path: Path, stop: signal.Signals, code: int
) -> None:
    moments = random.Random(int(stop))  # noqa: S311 - the same moments in each run
    for _ in range(10):
        words: list[str | Path] = ["run", scenario(tmp_path, "100000 s"), "--no-compare"]
        end, stdout, stderr = stopped(words, stop, after(moments.uniform(0, 1)))
        assert (end, stdout) == (code, "")
        assert stderr in {"stopped\n", "stopped; nothing of the unfinished runs has been written\n"}


DROPPING = """
import os, signal, sys, time
from ropewalk import cli

class Dropping:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

cli.answer_by(cli.leave)
cli.begin()
try:
    Dropping()
    time.sleep(600)
except cli.STOPS as stop:
    sys.exit(cli.exit_code(stop))
"""


def test_a_stop_that_comes_inside_a_finalizer_is_not_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DROPPING], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize(
    "words", [["--help"], ["schema"], ["explain", "s.toml"], ["run", "s.toml", "--json"]]
)
def test_a_full_disk_behind_standard_output_is_one_line(tmp_path: Path, words: list[str]) -> None:
    scenario(tmp_path, "1 s")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *words], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    *verdicts, last = done.stderr.splitlines()
    assert done.returncode == 1
    assert last == "error: cannot write to standard output: No space left on device"
    assert len(verdicts) <= 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_output_that_was_closed_before_goes_nowhere(tmp_path: Path, closed: str) -> None:
    words = [*COMMAND, "run", str(scenario(tmp_path, "1 s")), "--out", str(tmp_path / "out")]
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    assert finished(tmp_path / "out") == 1
    # No file has taken the place of an output, and what was printed with it.
    assert not [file for file in tmp_path.rglob("*.parquet") if file.read_bytes()[:4] != b"PAR1"]


def test_a_reader_that_goes_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen([*COMMAND, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_sigterm_stays_ignored_if_it_was(tmp_path: Path) -> None:
    words = [*COMMAND, "run", str(scenario(tmp_path, "1000 s")), "--no-compare", "--json"]
    with subprocess.Popen(
        ["sh", "-c", 'trap "" TERM; exec "$@"', "sh", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        wait_until(process, lambda: disposition(process, "SigIgn"))
        process.send_signal(signal.SIGTERM)
        stdout, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert json.loads(stdout)["duration_s"] == 1000


@both
def test_the_drawing_of_a_hopeless_deployment_ends(tmp_path: Path, stop: signal.Signals, code: int) -> None:
    file, campaign = tmp_path / "mesh.toml", tmp_path / "c.toml"
    file.write_text(MESH.replace('"20 m" }\n', '"2 m" }\n'), encoding="utf-8")
    campaign.write_text('scenario = "mesh.toml"\n', encoding="utf-8")
    words: list[tuple[list[str | Path], str]] = [
        (["run", file], "stopped; nothing of the unfinished runs has been written\n"),
        (["explain", file], "stopped\n"),
        (["sweep", campaign, "--out", tmp_path / "out"], "stopped; every finished run is in"),
    ]
    for command, said in words:
        end, stdout, stderr = stopped_in_the_core(command, stop, tmp_path)
        assert (end, stdout) == (code, "")
        assert stderr.startswith(said)
    assert not (tmp_path / "out").exists()


class Notes(Silent):
    """Keeps what is begun, and how far it came."""

    def __init__(self) -> None:
        self.began: list[tuple[int, str]] = []
        self.steps = 0

    def start(self, total: int, what: str) -> None:
        self.began.append((total, what))

    def advance(self, steps: int = 1) -> None:
        self.steps += steps


def test_a_long_drawing_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from ropewalk import waiting

    monkeypatch.setattr(waiting, "PATIENCE_S", 0.0)
    hopeless = MESH.replace('"20 m" }\n', '"2 m" }\n').replace("draws = 1000000000000", "draws = 1000000")
    notes = Notes()
    with pytest.raises(ropewalk.ScenarioError, match="among 1000000 drawn"):
        ropewalk.run(hopeless, drawing=notes)
    assert notes.began == [(1_000_000, "deployments drawn, at most")]
    assert 0 < notes.steps <= 1_000_000


def test_a_search_says_what_it_draws_until_it_finds_something(monkeypatch: pytest.MonkeyPatch) -> None:
    from ropewalk import routes, waiting

    monkeypatch.setattr(waiting, "PATIENCE_S", 0.0)
    notes = Notes()
    with pytest.raises(ropewalk.InputError, match="among 1000000 drawn"):
        routes.search(1, range_m=2, draws=1_000_000, progress=notes)
    assert notes.began == [(1_000_000, "deployments drawn, at most")]
    notes = Notes()
    routes.search(40, progress=notes)
    assert notes.began[-1] == (40, "connected deployments")
    assert notes.steps >= 40


def test_a_seed_whose_stations_cannot_be_is_found_before_anything_runs() -> None:
    rare = {"wifi.deployment.draws": 2}
    with pytest.raises(ropewalk.ScenarioError, match="among 2 drawn"):
        ropewalk.run(MESH, overrides=rare)
    seeds = [seed for seed in range(1, 400) if _draws(seed) <= 2]
    with pytest.raises(ropewalk.RunError, match="with seed"):
        ropewalk.run(MESH, seed=1, overrides={**rare, "scenario.seed": seeds[0]})


def _draws(seed: int) -> int:
    from ropewalk import routes

    return routes.search(1, seed=seed).drawn
