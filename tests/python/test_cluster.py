"""Campaigns on a Dask cluster: scheduler and workers are processes of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import distributed
import pytest
from typer.testing import CliRunner

import ropewalk
from conftest import MESH, PATIENCE_S, TWO_PATHS, files
from ropewalk import InputError, LocalExecutor, RunError, UnsupportedError, routes
from ropewalk import cluster as cluster_module
from ropewalk.build import build
from ropewalk.cluster import DaskExecutor, carry
from ropewalk.commands import app
from ropewalk.plan import Job
from ropewalk.source import Source
from ropewalk.store import Key

COMMAND = [sys.executable, "-m", "ropewalk"]

pytestmark = [
    # What Dask itself leaves to the interpreter's end.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Port .* is already in use"),
]


@pytest.fixture(scope="module")
def scheduler_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file of a scheduler with two workers, started as the guide says. Each is a process of its own."""
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    where = ["--scheduler-file", str(file), "--no-dashboard"]
    scheduler = ["scheduler", *where, "--host", "127.0.0.1", "--port", "0"]
    workers = ["worker", *where, "--nworkers", "2", "--nthreads", "1", "--local-directory", str(folder)]
    with _started(scheduler, folder), _started(workers, folder):
        _until(file.exists)
        with distributed.Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE_S)
        yield file


@contextmanager
def _started(words: list[str], folder: Path) -> Iterator[None]:
    """A command of Dask, to the end of the block."""
    command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
    with (folder / f"{words[0]}.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


@pytest.fixture
def executor(scheduler_file: Path) -> Iterator[DaskExecutor]:
    with closing(DaskExecutor(str(scheduler_file))) as connected:
        yield connected


def campaign(duration: str, seeds: int) -> dict[str, Any]:
    text = TWO_PATHS.replace('duration = "3 s"', f'duration = "{duration}"')
    return {"scenario": text, "replications": seeds, "grid": {"links.b.loss": ["0 %", "2 %"]}}


def test_a_cluster_writes_the_same_octets_as_this_machine(executor: DaskExecutor, tmp_path: Path) -> None:
    asked = campaign("2 s", 3)
    there = ropewalk.sweep(asked, out=tmp_path / "there", executor=executor)
    here = ropewalk.sweep(asked, out=tmp_path / "here", executor=LocalExecutor(2))
    assert executor.workers == 2
    assert (there.computed, there.failures) == (here.computed, {})
    assert files(tmp_path / "there") == files(tmp_path / "here")
    assert ropewalk.sweep(asked, out=tmp_path / "there", executor=executor).computed == 0


def test_a_worker_that_dies_costs_its_runs_only(executor: DaskExecutor, tmp_path: Path) -> None:
    asked = campaign("60 s", 6)
    out = tmp_path / "there"
    client = executor._client
    victim, pid = next(iter(client.run(os.getpid).items()))
    lost: list[str] = []

    def is_killed_at_work() -> bool:
        os.kill(pid, signal.SIGSTOP)
        # Stopped, it can finish nothing: what it has begun dies with it.
        lost.extend(client.processing([victim])[victim])
        os.kill(pid, signal.SIGKILL if lost else signal.SIGCONT)
        return bool(lost)

    def kill() -> None:
        _until(lambda: len(list(out.rglob("*.connections.parquet"))) >= 3)
        _until(is_killed_at_work)

    killer = threading.Thread(target=kill)
    killer.start()
    there = ropewalk.sweep(asked, out=out, executor=executor)
    killer.join()
    assert lost
    assert there.failures == {}
    ropewalk.sweep(asked, out=tmp_path / "here")
    assert files(out) == files(tmp_path / "here")
    client.wait_for_workers(2, timeout=PATIENCE_S)


def test_runs_that_fail_there_are_named_and_the_others_go_on(executor: DaskExecutor, tmp_path: Path) -> None:
    drawn = {seed: routes.search(1, seed=seed).drawn for seed in range(1, 60)}
    good = [seed for seed, draws in drawn.items() if draws <= DRAWS][:3]
    bad = [seed for seed, draws in drawn.items() if draws > DRAWS][:3]
    few = {"scenario.seed": good[0], "wifi.deployment.draws": DRAWS}
    rare = {"scenario": MESH, "set": few, "seeds": good + bad, "series": False, "compare": False}
    there = ropewalk.sweep(rare, out=tmp_path / "there", executor=executor)
    assert sorted(key.seed for key in there.failures) == bad
    assert all("with seed" in str(error) for error in there.failures.values())
    assert there.computed == len(good) == 3


DRAWS = 10
"""Deployments that are drawn until the run fails: enough for some seeds."""


def test_a_stop_ends_what_the_workers_do(
    executor: DaskExecutor, scheduler_file: Path, tmp_path: Path
) -> None:
    file = tmp_path / "c.toml"
    (tmp_path / "s.toml").write_text(
        TWO_PATHS.replace('duration = "3 s"', 'duration = "100000 s"'), encoding="utf-8"
    )
    file.write_text(
        'scenario = "s.toml"\ncompare = false\nreplications = 4\nseries = false\n', encoding="utf-8"
    )
    words = ["sweep", str(file), "--out", str(tmp_path / "out"), "--dask", str(scheduler_file)]

    def busy() -> int:
        return sum(map(len, executor._client.processing().values()))

    with subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, text=True) as process:
        _until(lambda: process.poll() is not None or busy() >= 2)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert stderr.splitlines()[-1].startswith("stopped; every finished run is in")
    # A worker is free again once its run has ended.
    assert executor._client.submit(int, 1, pure=False).result(timeout=PATIENCE_S) == 1
    _until(lambda: busy() == 0)


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_where_no_scheduler_is_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_S", 0.5)
    file = tmp_path / "c.toml"
    file.write_text(f"scenario = {json.dumps(TWO_PATHS)}\n", encoding="utf-8")
    words = ["sweep", str(file), "--out", str(tmp_path / "out"), "--dask", "tcp://127.0.0.1:9"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "--dask tcp://127.0.0.1:9: no Dask scheduler answers there" in result.stderr
    assert not (tmp_path / "out").exists()
    refused = CliRunner().invoke(app, [*words, "--workers", "2"])
    assert "--workers is for runs on this machine" in refused.stderr


def test_a_worker_of_another_build_is_named(scheduler_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "build", lambda: f"of process {os.getpid()}")
    with pytest.raises(InputError, match="has another build of Ropewalk"):
        DaskExecutor(str(scheduler_file))


def test_what_a_cluster_cannot_carry_out_is_refused(executor: DaskExecutor) -> None:
    source = Source(TWO_PATHS)
    with pytest.raises(UnsupportedError, match="on this machine alone"):
        next(executor.run([Job(source, 1, "on kernels", emulated=True)]))
    with pytest.raises(UnsupportedError, match="go into a store"):
        next(executor.run([Job(source, 1, "kept", keep=True)]))


def test_a_worker_that_reads_something_else_says_so(tmp_path: Path) -> None:
    key = Key(tmp_path, "0" * 64, 1, ropewalk.version())
    carried = carry(Job(Source(TWO_PATHS), 1, "one", key=key), build(), "stop")
    assert isinstance(carried.error, RunError)
    assert "this worker reads another scenario" in str(carried.error)
    carried = carry(Job(Source(TWO_PATHS), 1, "one", key=key), "another build", "stop")
    assert "another build" in str(carried.error)
    assert carried.tables == ()
