"""What the Python side costs: how soon a run begins, and how well a sweep uses two cores.

    .venv/bin/python benches/python_side.py

Start-up is the whole command on a scenario of one simulated millisecond, so it bounds the time to the first
event from above. Scaling is measured with the same 16 runs, Parquet files included. User time over wall-clock time of
two workers tells how busy they keep two cores. The wall-clock times of one worker and of two, alternately, tell what
the second one brings. The best of each counts, since other work on the machine can only slow a run down.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ropewalk

ROUNDS = 5
RUNS = 16

SCENARIO = """
[scenario]
name = "bench"
duration = "60 s"
[hosts.client]
[hosts.server]
[links.a]
between = ["client", "server"]
rate = "100 Mbit/s"
delay = "10 ms"
loss = "0.1 %"
[links.b]
between = ["client", "server"]
rate = "50 Mbit/s"
delay = "20 ms"
loss = "0.1 %"
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
application = { kind = "bulk" }
"""


def seconds(work: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(work, check=True, capture_output=True)
    return time.perf_counter() - began


def startup(folder: Path) -> float:
    scenario = folder / "bench.toml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    command = [sys.executable, "-m", "ropewalk", "run", str(scenario), "--json", "--no-compare"]
    return min(seconds([*command, "--set", "scenario.duration=1 ms"]) for _ in range(ROUNDS))


def user_seconds() -> float:
    """User time of all threads of this process and of the processes that have ended."""
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def sweep_seconds(folder: Path, workers: int) -> tuple[float, float]:
    """Wall-clock time and user time."""
    campaign = {"scenario": SCENARIO, "replications": RUNS, "compare": False}
    with tempfile.TemporaryDirectory(dir=folder) as out:
        began, used = time.perf_counter(), user_seconds()
        ropewalk.sweep(campaign, out=out, workers=workers)
        return time.perf_counter() - began, user_seconds() - used


def bound_of_two_cores(folder: Path) -> float:
    """The most that a second core can bring: all processor time, over that of the one thread and half of the rest."""
    campaign = {"scenario": SCENARIO, "replications": RUNS, "compare": False}
    with tempfile.TemporaryDirectory(dir=folder) as out:
        alone, together = time.thread_time(), time.process_time()
        ropewalk.sweep(campaign, out=out, workers=2)
        alone, together = time.thread_time() - alone, time.process_time() - together
    return together / (alone + (together - alone) / 2)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"start-up of `ropewalk run` to its end, 1 ms simulated: {startup(folder):.3f} s (limit 0.3 s)")
        print(f"two cores are at most x {bound_of_two_cores(folder):.2f} by processor time (limit x 1.9)")
        rounds = [(sweep_seconds(folder, 1), sweep_seconds(folder, 2)) for _ in range(ROUNDS)]
        busy = max(user / wall for _, (wall, user) in rounds)
        print(f"sweep of {RUNS} runs on two cores: x {busy:.2f} user time over wall time (limit x 1.8)")
        one, two = (min(one[0] for one, _ in rounds), min(two[0] for _, two in rounds))
        ratio = f"x {one / two:.2f} (limit x 1.9)"
        print(f"sweep of {RUNS} runs: {one:.2f} s on one core, {two:.2f} s on two: {ratio}")


if __name__ == "__main__":
    main()
