"""Stops at random moments of every command: exit 130 or 143, and one line that says so.

    .venv/bin/python benches/stops.py [TRIES]

A command that is done before its stop comes has to end with 0. Moments are counted from when the command answers its
first signal, up to half as long again as the command takes.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TRIES = 200
SCENARIO = "degraded-path"
CAMPAIGN = f'scenario = "{SCENARIO}.toml"\nreplications = 4\nset.scenario.duration = "20 s"\n'


def answers(process: subprocess.Popen[str]) -> bool:
    """Whether the process catches SIGTERM."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    except OSError:
        return False
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def started(words: list[str], folder: Path) -> subprocess.Popen[str]:
    """The command, once it answers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ropewalk", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and not answers(process):
        time.sleep(0.001)
    return process


def wrong(process: subprocess.Popen[str], stop: signal.Signals) -> tuple[str, str | None]:
    """What happened, and what is wrong with it."""
    _, stderr = process.communicate(timeout=120)
    if process.returncode == 0:
        return "done before", None
    code = 128 + stop
    lines = [line for line in stderr.splitlines() if "stopped" in line]
    is_right = process.returncode == code and len(lines) == 1 and "Traceback" not in stderr
    return "stopped", None if is_right else f"exit {process.returncode}: {stderr[-500:]!r}"


def main() -> None:
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else TRIES
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started(["new", SCENARIO], folder).communicate()
        (folder / "c.toml").write_text(CAMPAIGN, encoding="utf-8")
        commands = [
            ["run", f"{SCENARIO}.toml"],
            ["run", f"{SCENARIO}.toml", "--out", "runs", "--replications", "2"],
            ["sweep", "c.toml", "--out", "sweep"],
            ["explain", f"{SCENARIO}.toml"],
            ["examples"],
            ["schema"],
            ["reproduce", "reordering", "--quick", "--out", "studies"],
        ]
        counts: Counter[str] = Counter()
        lasts: dict[int, float] = {}
        for k in range(tries):
            which = k % len(commands)
            stop = (signal.SIGINT, signal.SIGTERM)[k // len(commands) % 2]
            process = started(commands[which], folder)
            began = time.monotonic()
            time.sleep(draw.uniform(0, 1.5 * lasts.get(which, 0.5)))
            process.send_signal(stop)
            what, reason = wrong(process, stop)
            lasts[which] = min(max(lasts.get(which, 0.0), time.monotonic() - began), 3.0)
            counts["wrong" if reason else what] += 1
            if reason:
                print(f"{' '.join(commands[which])}: {reason}")
    print(f"{tries} tries: " + ", ".join(f"{number} {what}" for what, number in sorted(counts.items())))


if __name__ == "__main__":
    main()
