"""Tables as Parquet files: written where nobody sees them, then put in their place, so that none is half there."""

from __future__ import annotations

import io
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ropewalk import partial

if TYPE_CHECKING:
    import polars as pl

    from ropewalk import _core

_READABLE_BY_UMASK: Final = 0o666
"""What a file may be at most; the umask takes away what the user does not want, as for files made by others."""


def write(outcome: _core.Outcome, folder: str, stem: str) -> list[str]:
    """Write `<stem>.<table>.parquet` for each table that has rows; the connections always, and last.

    The file of the connections says that the run is complete. The folder must exist.

    Raises:
        OSError: What the file system says; nothing of this run is left behind then.
    """
    import polars as pl

    tables = [("subflows", outcome.subflows), ("links", outcome.links)]
    if len(outcome.series):
        tables.append(("series", outcome.series))
    tables += [*outcome.special(), ("connections", outcome.connections)]
    provenance = dict(outcome.provenance())
    written: list[Path] = []
    try:
        for name, table in tables:
            file = Path(folder) / f"{stem}.{name}.parquet"
            place(octets(pl.DataFrame(table), provenance), file)
            written.append(file)
    except BaseException:
        for file in written:
            with suppress(OSError):
                file.unlink()
        raise
    return [str(file) for file in written]


def octets(table: pl.DataFrame, metadata: dict[str, str] | None = None) -> bytes:
    """A table as the content of a Parquet file: the same for the same table, on any machine."""
    content = io.BytesIO()
    table.write_parquet(content, compression="snappy", metadata=metadata)
    return content.getvalue()


def place(content: bytes, file: Path) -> None:
    """Put a file in its place, whole.

    Where the file system has files without names, a process that is killed meanwhile leaves nothing, unless it
    replaces a file. Nobody waits for the disk: what a loss of power has damaged is found when it is read, and its
    run is made anew.

    Raises:
        OSError: What the file system says.
    """
    beside = partial.beside(file)
    descriptor, is_nameless = _open(file.parent, beside)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            partial.lock(descriptor)
            stream.write(content)
            stream.flush()
            if is_nameless and _has_linked(descriptor, file):
                return
            if is_nameless:
                _link(descriptor, beside)
            else:
                # File systems of a network say only now that they are full.
                os.fsync(descriptor)
            beside.replace(file)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _has_linked(descriptor: int, file: Path) -> bool:
    """Give a file without a name its place, if the place is free."""
    try:
        _link(descriptor, file)
    except FileExistsError:
        return False
    return True


def _link(descriptor: int, file: Path) -> None:
    # With a descriptor `os.link` follows the symbolic link; the path is absolute.
    os.link(f"/proc/self/fd/{descriptor}", file, src_dir_fd=descriptor, follow_symlinks=True)


def _open(folder: Path, beside: Path) -> tuple[int, bool]:
    """A file to write into, and whether it has no name yet."""
    nameless = getattr(os, "O_TMPFILE", None)
    if nameless is not None:
        with suppress(OSError):
            return os.open(folder, nameless | os.O_RDWR | os.O_CLOEXEC, _READABLE_BY_UMASK), True
    flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC
    return os.open(beside, flags, _READABLE_BY_UMASK), False
