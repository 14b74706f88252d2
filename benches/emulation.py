"""What the links between Linux hosts carry in real time, and how late; as root.

    sudo .venv/bin/python benches/emulation.py
    sudo .venv/bin/python benches/emulation.py --seconds 30

Two links of 64 Mbit/s are filled at once with UDP of 1400 octets, alone and beside a process that uses one core.
Then one link of 500 Mbit/s is filled with TCP, without and with offloads. The rate is what the receiving application
got, less what no link could bring: the time before the first packet is through. The delay's error is how late
packets came out of the links, by the links' own clock; the receiver's own measure stands beside it: the median
delay, less that of a full queue.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ropewalk

if TYPE_CHECKING:
    from collections.abc import Iterator

RATE_MBPS = 64.0
"""Of either link."""
DELAY_MS = 10.0
QUEUE = 100
"""Packets that wait at most."""
PAYLOAD = 1400
PACKET = PAYLOAD + 20 + 8
"""With the headers of IPv4 and UDP, as a link counts it."""
TCP_MBPS = 500.0
TCP_SHARE = 97.0
"""Per cent of what the link could bring: slow start costs some, and the end that is still on its way."""
SEGMENT, FULL = 1448, 1500
"""Octets of data in a full segment with timestamps, and of its packet."""

LINKS = f"""
[scenario]
name = "emulation"
[hosts.client]
stack = "linux"
[hosts.server]
stack = "linux"
[links.a]
between = ["client", "server"]
rate = "{RATE_MBPS} Mbit/s"
delay = "{DELAY_MS} ms"
queue = "{QUEUE} packets"
[links.b]
between = ["client", "server"]
rate = "{RATE_MBPS} Mbit/s"
delay = "{DELAY_MS} ms"
queue = "{QUEUE} packets"
[connections.a]
protocol = "udp"
from = "client"
to = "server"
paths = ["a"]
application = {{ kind = "constant-rate", rate = "70 Mbit/s", packet_size = "{PAYLOAD} B" }}
[connections.b]
protocol = "udp"
from = "client"
to = "server"
paths = ["b"]
application = {{ kind = "constant-rate", rate = "70 Mbit/s", packet_size = "{PAYLOAD} B" }}
"""

FAST = f"""
[scenario]
name = "emulation-fast"
[hosts.client]
stack = "linux"
[hosts.server]
stack = "linux"
[links.fast]
between = ["client", "server"]
rate = "{TCP_MBPS} Mbit/s"
delay = "2 ms"
queue = "1000 packets"
[connections.bulk]
from = "client"
to = "server"
application = {{ kind = "bulk" }}
"""


@dataclass(frozen=True)
class Bars:
    """What is asked for: the rate's error in per cent, the delay's in milliseconds."""

    rate: float
    mean: float
    p99: float


ALONE = Bars(rate=1.0, mean=0.15, p99=0.3)
BESIDE_LOAD = Bars(rate=1.0, mean=0.3, p99=1.0)


def _spin() -> None:
    while True:
        pass


@contextmanager
def one_core_busy() -> Iterator[None]:
    """Another process uses a core."""
    process = multiprocessing.Process(target=_spin, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def line(what: str, value: float, unit: str, bar: float | None = None) -> bool:
    """Prints a value, and says whether it keeps to its bar."""
    holds = bar is None or abs(value) <= bar
    judged = "" if bar is None else f"  (bar {bar:g}: {'holds' if holds else 'does not hold'})"
    print(f"  {what:34} {value:9.3f} {unit}{judged}")
    return holds


def lateness(summary: dict[str, Any], bars: Bars | None) -> bool:
    late = summary["lateness"]
    mean = line("late, mean", late["mean_ms"], "ms", bars.mean if bars else None)
    p99 = line("late, 99th percentile", late["p99_ms"], "ms", bars.p99 if bars else None)
    line("late, worst", late["worst_ms"], "ms")
    return mean and p99


def filled(seconds: float, bars: Bars) -> bool:
    """Both links at once, filled."""
    result = ropewalk.run(LINKS, overrides={"scenario.duration": f"{seconds} s"}, compare=False)
    through_ms = DELAY_MS + PACKET * 8e-3 / RATE_MBPS
    waits_ms = DELAY_MS + QUEUE * PACKET * 8e-3 / RATE_MBPS
    expected = RATE_MBPS * PAYLOAD / PACKET * (1 - through_ms * 1e-3 / seconds)
    holds = []
    for flow, row in zip(
        result.summary["connections"], result.connections.iter_rows(named=True), strict=True
    ):
        name = flow["name"]
        error = 100 * (flow["goodput_mbps"] / expected - 1)
        holds.append(line(f"rate of {name}, error", error, "%", bars.rate))
        line(f"delay of {name}, median, error", row["delay_median_ms"] - waits_ms, "ms")
    return all([*holds, lateness(result.summary, bars)])


def fast(seconds: float, *, offloads: bool) -> bool:
    """TCP over 500 Mbit/s."""
    overrides: dict[str, Any] = {"scenario.duration": f"{seconds} s"}
    overrides |= {f"hosts.{host}.offloads": offloads for host in ("client", "server")}
    result = ropewalk.run(FAST, overrides=overrides, compare=False)
    share: float = 100 * result.summary["connections"][0]["goodput_mbps"] / (TCP_MBPS * SEGMENT / FULL)
    line("TCP, of what the link could bring", share, "%")
    lateness(result.summary, None)
    return share >= TCP_SHARE


def main() -> int:
    parser = argparse.ArgumentParser(description="What emulated links carry, and how late.")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run (default 10)")
    seconds = parser.parse_args().seconds
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the first run, {seconds:g} s each")
    holds = []
    for title, busy, bars in (
        ("alone", nullcontext(), ALONE),
        ("one core busy", one_core_busy(), BESIDE_LOAD),
    ):
        print(f"two links of {RATE_MBPS:g} Mbit/s, UDP of {PAYLOAD} octets, {title}")
        with busy:
            holds.append(filled(seconds, bars))
    for offloads in (False, True):
        print(f"one link of {TCP_MBPS:g} Mbit/s, {'with' if offloads else 'without'} offloads")
        holds.append(fast(seconds, offloads=offloads))
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
