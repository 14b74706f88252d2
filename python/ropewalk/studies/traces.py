"""Where recorded lines are, in Mahimahi's format. They are no part of the package."""

from __future__ import annotations

import os
from pathlib import Path


def folder() -> Path:
    """Where `ROPEWALK_TRACES` says, or `../shared/traces`."""
    return Path(os.environ.get("ROPEWALK_TRACES", "../shared/traces")).resolve()


def pair(name: str) -> tuple[Path, Path] | None:
    """The files of a line down and up, if both are at hand."""
    down, up = (folder() / f"{name}.{way}" for way in ("down", "up"))
    return (down, up) if down.is_file() and up.is_file() else None
