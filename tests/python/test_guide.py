"""The guide's worked example: its files and commands do what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
FILE = re.compile(r"Save this as `([^`]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
COMMANDS = re.compile(r"```sh\n(.*?)```", re.DOTALL)
POINT = re.compile(r"^(\d+ ms) +(\d+ [kM]B) +upload +([\d.]+) ± .*?  (\w[\w ]*)$", re.MULTILINE)


def example() -> str:
    text = GUIDE.read_text(encoding="utf-8")
    return text[text.index("## From a question to a figure") : text.index("## The scenario file")]


def test_the_worked_example_comes_out_as_it_says(tmp_path: Path) -> None:
    text = example()
    files = FILE.findall(text)
    assert [name for name, _ in files] == ["phone.toml", "delay.toml", "figure.py"]
    for name, content in files:
        (tmp_path / name).write_text(content, encoding="utf-8")
    printed = ""
    for command in "".join(COMMANDS.findall(text)).splitlines():
        words = command.split("#")[0].split()
        program = ["-m", "ropewalk"] if words[0] == "ropewalk" else []
        done = subprocess.run(
            [sys.executable, *program, *words[1:]], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        printed += done.stdout
    assert "upload: benefit? " in printed
    measured = {
        (delay, buffer): (float(goodput), verdict)
        for delay, buffer, goodput, verdict in POINT.findall(printed)
    }
    said = POINT.findall(text)
    assert (len(measured), len(said)) == (21, 3)
    for delay, buffer, goodput, verdict in said:
        found = measured[delay, buffer]
        assert found[1] == verdict
        assert abs(found[0] / float(goodput) - 1) < 0.1
    harms = {point for point, (_, verdict) in measured.items() if verdict == "harm"}
    assert min(int(delay[:-3]) for delay, buffer in harms if buffer == "128 kB") == 10
    assert min(int(delay[:-3]) for delay, buffer in harms if buffer == "256 kB") == 50
    assert not [delay for delay, buffer in harms if buffer == "4 MB"]
    assert (tmp_path / "slow-second-path.svg").stat().st_size > 10_000
