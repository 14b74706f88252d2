"""Stops at random moments of every command: exit 130 or 143, and one line that says so.

    .venv/bin/python benches/stops.py [TRIES]

A command that is done before its stop comes has to end with 0. Moments are counted from when the process is made, up
to half as long again as the command takes, so that some come while the interpreter starts or ends.
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
ROPEWALK = Path(sys.executable).with_name("ropewalk")
LONGEST_S = 4.0
"""Moments later than this in a command that takes longer are not tried."""

COMMANDS = [
    ["run", f"{SCENARIO}.toml"],
    [
        "run",
        f"{SCENARIO}.toml",
        "--out",
        "runs",
        "--replications",
        "2",
        "--pcap",
        "--set",
        "scenario.duration=2 s",
    ],
    ["run", f"{SCENARIO}.toml", "--max-memory", "1GB"],
    ["sweep", "c.toml", "--out", "sweep"],
    ["explain", f"{SCENARIO}.toml"],
    ["examples"],
    ["schema"],
    ["--version"],
    ["new", "lte-wifi", "--out", "new"],
    ["view", f"{SCENARIO}.toml", "--set", "scenario.duration=5 s"],
    ["export", "store", "--out", "export"],
    ["analyse", "capture.pcapng"],
    ["routes", "statistics", "--count", "200"],
    ["reproduce", "reordering", "--quick", "--out", "studies"],
]


def started(words: list[str], folder: Path) -> subprocess.Popen[str]:
    """The command."""
    return subprocess.Popen(
        [ROPEWALK, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def prepare(folder: Path) -> None:
    """The files that the commands read."""
    began = [
        ["new", SCENARIO],
        ["run", f"{SCENARIO}.toml", "--out", "store", "--pcap", "--set", "scenario.duration=2 s"],
    ]
    for words in began:
        started(words, folder).communicate()
    (capture,) = folder.glob("store/*/*.captures/link-a.pcapng")
    (folder / "capture.pcapng").write_bytes(capture.read_bytes())
    (folder / "c.toml").write_text(CAMPAIGN, encoding="utf-8")


def wrong(process: subprocess.Popen[str], stop: signal.Signals) -> tuple[str, str | None]:
    """What happened, and what is wrong with it."""
    _, stderr = process.communicate(timeout=120)
    if process.returncode == 0:
        return "done before", None
    lines = [line for line in stderr.splitlines() if "stopped" in line]
    is_right = process.returncode == 128 + stop and len(lines) == 1 and "Traceback" not in stderr
    return "stopped", None if is_right else f"exit {process.returncode}: {stderr[-500:]!r}"


def main() -> None:
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else TRIES
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        counts: Counter[str] = Counter()
        lasts: dict[int, float] = {}
        for k in range(tries):
            which = k % len(COMMANDS)
            stop = (signal.SIGINT, signal.SIGTERM)[k // len(COMMANDS) % 2]
            began = time.monotonic()
            process = started(COMMANDS[which], folder)
            moment = draw.uniform(0, 1.5 * lasts.get(which, 0.5))
            time.sleep(moment)
            process.send_signal(stop)
            what, reason = wrong(process, stop)
            lasts[which] = min(max(lasts.get(which, 0.0), time.monotonic() - began), LONGEST_S)
            counts["wrong" if reason else what] += 1
            if reason:
                print(f"{' '.join(COMMANDS[which])}, {stop.name} after {moment:.3f} s: {reason}", flush=True)
    print(f"{tries} tries: " + ", ".join(f"{number} {what}" for what, number in sorted(counts.items())))


if __name__ == "__main__":
    main()
