"""Builds by maturin, and makes scripts executable before: its source archives do not keep that.

Tests build the extension with their own settings, together with what else they compile. `ROPEWALK_EXTENSION` names
the library that came of it; an editable install then takes it instead of building another.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import maturin

if TYPE_CHECKING:
    from collections.abc import Mapping

_PYTHON = Path(__file__).parents[1]
_SCRIPTS = _PYTHON / "data/scripts"
for _script in _SCRIPTS.iterdir():
    _script.chmod(0o755)

build_sdist = maturin.build_sdist
build_wheel = maturin.build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel


def build_editable(
    wheel_directory: str,
    config_settings: Mapping[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """The wheel of an editable install (PEP 660)."""
    library = os.environ.get("ROPEWALK_EXTENSION")
    if library is None:
        return str(maturin.build_editable(wheel_directory, config_settings, metadata_directory))
    _place(library)
    with tempfile.TemporaryDirectory() as folder:
        info = maturin.prepare_metadata_for_build_editable(folder, config_settings)
        return _pack(Path(wheel_directory), Path(folder) / info)


def _place(library: str) -> None:
    """Puts the library where Python looks, at once: another process may have the old one open."""
    target = _PYTHON / "ropewalk/_core.abi3.so"
    copy = target.with_suffix(".new")
    shutil.copyfile(library, copy)
    copy.chmod(0o755)
    copy.replace(target)


def _pack(wheel_directory: Path, info: Path) -> str:
    """A wheel that holds the metadata, the scripts, and the path to the sources."""
    base = info.name.removesuffix(".dist-info")
    contents = {f"{info.name}/{path.relative_to(info)}": path for path in info.rglob("*") if path.is_file()}
    contents |= {f"{base}.data/scripts/{path.name}": path for path in _SCRIPTS.iterdir()}
    made = {"ropewalk.pth": str(_PYTHON).encode()}
    rows = [_row(name, path.read_bytes()) for name, path in contents.items()]
    rows += [_row(name, content) for name, content in made.items()]
    record = f"{info.name}/RECORD"
    made[record] = "".join([*rows, f"{record},,\n"]).encode()
    wheel = wheel_directory / f"{base}-cp311-abi3-{_platform(info)}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, path in contents.items():
            archive.write(path, name)
        for name, content in made.items():
            archive.writestr(name, content)
    return wheel.name


def _row(name: str, content: bytes) -> str:
    """A line of RECORD: a file's name, hash and size."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def _platform(info: Path) -> str:
    """The last part of the tag in the file WHEEL: cp311-abi3-linux_x86_64 is for linux_x86_64."""
    (tag,) = (line for line in (info / "WHEEL").read_text().splitlines() if line.startswith("Tag: "))
    return tag.rsplit("-", 1)[1]
