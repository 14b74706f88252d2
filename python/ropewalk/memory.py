"""Memory: how much runs may need, how much there is, and sizes as users write them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ropewalk.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ropewalk import _core
    from ropewalk.progress import Progress

UNITS: Final = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
LEAST: Final = 64 * 2**20
"""Below this not even the smallest run fits."""


def octets(text: str) -> int:
    """A size such as `2 GB` or `512MiB`.

    Raises:
        InputError: It is none, or too small for any run.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kMGTKi]*B)\s*", text)
    if match is None or match[2] not in UNITS:
        expected = "a number with a unit, as in `2 GB` or `512 MiB`"
        raise InputError(f"--max-memory {text}: expected {expected}", key="max-memory", expected=expected)
    size = int(float(match[1]) * UNITS[match[2]])
    if size < LEAST:
        raise InputError(
            f"--max-memory {text}: a run needs {words(LEAST)} at least",
            key="max-memory",
            expected=words(LEAST),
        )
    return size


def words(size: float) -> str:
    """A size for people."""
    for unit in ("TB", "GB", "MB", "kB"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.3g} {unit}"
    return f"{size:.0f} B"


def needed(info: _core.Info, *, series: bool) -> int:
    """What a run of a scenario may need at most, in octets."""
    return info.memory_bytes + (info.series_bytes if series else 0)


def available(root: Path = Path("/")) -> int | None:
    """What processes can still have, in octets; None where the system does not say."""
    found = [free for free in (_of_machine(root), _of_group(root)) if free is not None]
    return min(found) if found else None


def _of_machine(root: Path) -> int | None:
    try:
        text = (root / "proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    match = re.search(r"^MemAvailable:\s+(\d+) kB$", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def _of_group(root: Path) -> int | None:
    """Of the control group that a container or a batch system has put this process into (version 2)."""
    try:
        (line,) = [
            line
            for line in (root / "proc/self/cgroup").read_text(encoding="ascii").splitlines()
            if line.startswith("0::")
        ]
        folder = root / "sys/fs/cgroup" / line.removeprefix("0::").lstrip("/")
        limit = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = int((folder / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return max(0, int(limit) - used) if limit.isdecimal() else None


def warn(runs: Iterable[tuple[str, int]], at_a_time: int, limit: int | None, progress: Progress) -> None:
    """Say before the start when runs could need more memory than they may have, or than there is.

    Args:
        runs: What each is called, and what it may need.
        at_a_time: How many run beside each other.
        limit: The bound of each, if there is one.
        progress: Where to say it.
    """
    name, most = max(runs, key=lambda run: run[1], default=("", 0))
    if limit is not None:
        if most > limit:
            progress.note(f"{name} may need {words(most)}, and may have {words(limit)} (--max-memory)")
        return
    free = available()
    if free is not None and most * at_a_time > free:
        each = f", {at_a_time} at a time" if at_a_time > 1 else ""
        advice = "--workers takes fewer at a time, --max-memory lets those fail that need too much"
        progress.note(f"{name} may need {words(most)}{each}; {words(free)} are free: {advice}")
