"""Draws path-controllers.svg from what the judge of path controllers prints.

cargo run --profile quick -p ropewalk-benches --bin controllers -- table | python docs/images/path-controllers.py
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

mpl.rcParams["svg.hashsalt"] = "ropewalk"
HEAD = re.compile(r"== (\w+), table")
FILLED = re.compile(r"alone, (\d+) ms: path ([\d.]+)")
QUEUE = re.compile(r"alone, (\d+) ms: .* queue p99 ([\d.]+) ms")
SHARE = re.compile(r"beside 1 cubic, buffer (\d+): ([\d.]+) ")
STYLES = {
    "transparent": ("transparent: CUBIC of the flow within", "^:", "#767676"),
    "bbr": ("BBRv3", "s--", "#b8561b"),
    "copa": ("Copa, and BBRv3 beside others", "o-", "#1f5fa8"),
}


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Each controller's name, and what is printed of it."""
    _, *parts = HEAD.split(text)
    yield from zip(parts[::2], parts[1::2], strict=True)


def draw(axes: Axes, text: str, pattern: re.Pattern[str], *labels: str) -> None:
    """One quantity over another, a line for each controller; the labels of both."""
    for name, part in sections(text):
        title, style, color = STYLES[name]
        places, values = zip(*((int(a), float(b)) for a, b in pattern.findall(part)), strict=True)
        axes.plot(places, values, style, color=color, label=title)
    axes.set_xscale("log")
    axes.set_xticks(places, [str(place) for place in places])
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])


def scale(axes: Axes, ticks: list[float]) -> None:
    """A logarithmic scale with these numbers."""
    axes.set_yscale("log")
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def main() -> None:
    """Draw what each controller has beside others, and what that costs alone."""
    text = sys.stdin.read()
    figure, (shares, filled, queues) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    draw(shares, text, SHARE, "buffer of the line (packets)", "share over that of a CUBIC flow")
    shares.axhline(1, color="grey", linewidth=0.8)
    scale(shares, [0.2, 0.3, 0.5, 1, 2, 3])
    draw(filled, text, FILLED, "round trip of the line, alone (ms)", "goodput of a flow within, of the line")
    filled.set_ylim(0, 1.05)
    filled.minorticks_off()
    draw(queues, text, QUEUE, "round trip of the line, alone (ms)", "queue, 99th percentile (ms)")
    scale(queues, [1, 3, 10, 30, 100])
    figure.legend(*shares.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
