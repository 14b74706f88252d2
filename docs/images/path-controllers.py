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
QUEUE = re.compile(r"alone, buffer (\d+): queue p99 ([\d.]+) ms")
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


def draw(axes: Axes, label: str, text: str) -> None:
    """One quantity over the buffer, a line for each controller."""
    pattern = QUEUE if "queue" in label else SHARE
    for name, part in sections(text):
        title, style, color = STYLES[name]
        buffers, values = zip(*((int(a), float(b)) for a, b in pattern.findall(part)), strict=True)
        axes.plot(buffers, values, style, color=color, label=title)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(buffers, [str(buffer) for buffer in buffers])
    axes.minorticks_off()
    axes.set_xlabel("buffer of the line (packets)")
    axes.set_ylabel(label)


def main() -> None:
    """Draw what beside others is gained by what is waited alone."""
    text = sys.stdin.read()
    figure, (shares, queues) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    draw(shares, "share beside a CUBIC flow, over that flow's", text)
    shares.axhline(1, color="grey", linewidth=0.8)
    shares.set_yticks([0.2, 0.3, 0.5, 1, 2, 3], ["0.2", "0.3", "0.5", "1", "2", "3"])
    draw(queues, "queue alone, 99th percentile (ms)", text)
    queues.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    figure.legend(*shares.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
