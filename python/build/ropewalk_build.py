"""Builds by maturin, and makes scripts executable before: its source archives do not keep that."""

from pathlib import Path

import maturin

for _script in (Path(__file__).parents[1] / "data/scripts").iterdir():
    _script.chmod(0o755)

build_editable = maturin.build_editable
build_sdist = maturin.build_sdist
build_wheel = maturin.build_wheel
get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
