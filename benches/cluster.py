"""What a campaign costs beside its runs: on this machine, and on the workers of a Dask cluster.

    .venv/bin/python benches/cluster.py [RUNS]

Processor time, not wall-clock time: other work on the machine does not count. From it follow the number of workers
that one command can feed, and what a million runs would take. The runs are the smallest that there are: nothing hides
behind them. A second pass has a worker killed midway; its results have to be the same octets.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import distributed

import ropewalk
from ropewalk.cluster import DaskExecutor

RUNS = 1000
MILLION = 1_000_000
BEFORE_IT_DIES = 20
SCENARIO = """
[scenario]
name = "bench"
duration = "100 ms"
[hosts.client]
[hosts.server]
[links.a]
between = ["client", "server"]
rate = "10 Mbit/s"
delay = "10 ms"
[connections.bulk]
from = "client"
to = "server"
"""


def campaign(runs: int, duration: str = "100 ms") -> dict[str, Any]:
    text = SCENARIO.replace("100 ms", duration)
    return {"scenario": text, "replications": runs, "series": False, "compare": False}


def cpu_seconds() -> float:
    """Processor time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def cpu_of(pid: int) -> float:
    """Processor time of another process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def octets_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def here(runs: int, folder: Path) -> None:
    """This machine alone."""
    began = cpu_seconds()
    ropewalk.sweep(campaign(runs), out=folder / "here", workers=1)
    first = cpu_seconds() - began
    began = cpu_seconds()
    again = ropewalk.sweep(campaign(runs), out=folder / "here", workers=1)
    found = cpu_seconds() - began
    assert again.computed == 0
    size = sum(file.stat().st_size for file in (folder / "here").rglob("*.parquet"))
    files = len(list((folder / "here").rglob("*.parquet")))
    print(
        f"here: {1e3 * first / runs:.2f} ms for a run with its files, {1e3 * found / runs:.2f} ms to find it again"
    )
    print(f"      {size / runs / 1e3:.1f} kB in {files / runs:.0f} files for a run")


def there(runs: int, folder: Path) -> float:
    """A cluster of two workers. Returns the command's own time for a run."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        workers = [nanny.pid for nanny in cluster.workers.values()]
        with closing(DaskExecutor(cluster.scheduler_address)) as executor:
            began, before = cpu_seconds(), sum(map(cpu_of, workers))
            ropewalk.sweep(campaign(runs), out=folder / "there", executor=executor)
            mine, theirs = cpu_seconds() - began, sum(map(cpu_of, workers)) - before
    ours = f"{1e3 * mine / runs:.2f} ms of the command and its scheduler for a run"
    print(f"Dask: {ours}, {1e3 * theirs / runs:.2f} ms of a worker")
    same = octets_of(folder / "here") == octets_of(folder / "there")
    print(f"      the same octets: {same}")
    return mine / runs


def with_a_death(folder: Path) -> None:
    """A worker dies midway."""
    asked = campaign(60, "200 s")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        closing(DaskExecutor(cluster.scheduler_address)) as executor,
    ):
        victim = next(iter(cluster.workers.values())).pid

        def kill() -> None:
            while len(list((folder / "died").rglob("*.connections.parquet"))) < BEFORE_IT_DIES:
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        swept = ropewalk.sweep(asked, out=folder / "died", executor=executor)
        killer.join()
    ropewalk.sweep(asked, out=folder / "lived")
    same = octets_of(folder / "died") == octets_of(folder / "lived")
    print(
        f"a worker killed after {BEFORE_IT_DIES} of 60 runs: {len(swept.failures)} failed, the same octets: {same}"
    )


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        here(runs, folder)
        each = there(runs, folder)
        with_a_death(folder)
    print(
        f"a command feeds {1 / each:.0f} runs a second; a million runs take it {MILLION * each / 3600:.1f} h"
    )
    for seconds in (1, 10, 60):
        workers = seconds / each
        print(
            f"  runs of {seconds:>2} s: {workers:,.0f} workers are busy, {MILLION * seconds / workers / 3600:.1f} h"
        )


if __name__ == "__main__":
    main()
