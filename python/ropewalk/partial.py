"""What is being written has a name of its own, beside its place, until it is whole.

The writer locks it. A lock ends with its process, so what is not locked was left by a process that was killed.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_NAME: Final = re.compile(r"\..+\.\d+-\d+\.partial")
"""Process and thread are in the name, so that two writers of the same file do not meet."""

_UNLOCKED_S: Final = 60
"""An empty file younger than this may belong to a writer that has not locked it yet."""


def beside(place: Path) -> Path:
    """The name under which this thread writes what will be at this place."""
    return place.with_name(f".{place.name}.{os.getpid()}-{threading.get_ident()}.partial")


def lock(descriptor: int) -> None:
    """Say that a living process writes this. A file system without locks is used without."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file or folder, which must exist, until the end of the block.

    Raises:
        OSError: It cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def remove_left(folders: Iterable[Path]) -> None:
    """Remove what killed processes have left below these folders."""
    for folder in folders:
        for path in folder.rglob(".*.partial"):
            if _NAME.fullmatch(path.name):
                with suppress(OSError):
                    _remove_if_left(path)


def _remove_if_left(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_old = time.time() - os.fstat(descriptor).st_mtime > _UNLOCKED_S
        if path.is_dir():
            if is_old or any(path.iterdir()):
                shutil.rmtree(path)
        elif is_old or os.fstat(descriptor).st_size:
            path.unlink()
    finally:
        os.close(descriptor)
