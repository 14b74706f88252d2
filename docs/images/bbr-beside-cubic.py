"""Draws bbr-beside-cubic.svg from what the test prints.

cargo test -p ropewalk-tests --test congestion beside -- --nocapture | python docs/images/bbr-beside-cubic.py
"""

import re
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

mpl.rcParams["svg.hashsalt"] = "ropewalk"
LINE = re.compile(r"BBR beside CUBIC, ([\d.]+) BDP of buffer: ([\d.]+)")


def main() -> None:
    """Draw the shares that the tests print."""
    points = sorted((float(a), float(b)) for a, b in LINE.findall(sys.stdin.read()))
    buffers, shares = zip(*points, strict=True)
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.plot(buffers, shares, "o-", color="#1f5fa8", label="BBR")
    axes.plot(buffers, [1 - share for share in shares], "s--", color="#b8561b", label="CUBIC")
    axes.axhline(0.5, color="grey", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_xticks(buffers, [f"{buffer:g}" for buffer in buffers])
    axes.set_ylim(0, 1)
    axes.set_xlabel("buffer (BDP)")
    axes.set_ylabel("share of the throughput")
    axes.legend()
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
