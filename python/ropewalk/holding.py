"""One command at a time fills a folder: the second one says so at once instead of doing the same work again."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from ropewalk import partial
from ropewalk.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

TAKEN: Final = (errno.EWOULDBLOCK, errno.EACCES)
"""What `flock` answers when another process holds the lock. Anything else: this file system has no such locks."""


@contextmanager
def held(folders: Iterable[Path]) -> Iterator[None]:
    """Hold these folders, which must exist, until the end of the block.

    The lock is the kernel's, on the folder itself. It ends with the process, however that ends, and leaves no file.
    A file system without locks is used without: files appear whole or not at all there, too. What killed processes
    have left goes, when the block begins and when it ends.

    Raises:
        StoreError: Another command holds one of them.
    """
    chosen = sorted(set(folders))
    with ExitStack() as stack:
        for folder in chosen:
            stack.callback(os.close, _locked(folder))
        stack.callback(partial.remove_left, chosen)
        partial.remove_left(chosen)
        yield


def _locked(folder: Path) -> int:
    """The folder's file descriptor, with its lock."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as cause:
        if cause.errno in TAKEN:
            os.close(descriptor)
            advice = "wait until it ends, or give another --out"
            raise StoreError(f"another command is writing to {folder}: {advice}") from None
    return descriptor
