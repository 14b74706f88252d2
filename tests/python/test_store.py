"""Files appear whole or not at all, whatever stops the writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ropewalk import StoreError
from ropewalk.store import whole, write_text


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError])
def test_a_file_that_is_stopped_half_way_leaves_what_was_there(
    tmp_path: Path, stop: type[BaseException]
) -> None:
    file = tmp_path / "new" / "file.txt"
    write_text(file, "first")

    def write() -> None:
        with whole(file) as beside:
            beside.write_text("sec", encoding="utf-8")
            raise stop

    with pytest.raises(stop):
        write()
    assert [path.name for path in file.parent.iterdir()] == ["file.txt"]
    assert file.read_text(encoding="utf-8") == "first"


def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "in-the-way").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match=f"cannot write results to {tmp_path / 'in-the-way'}"):
        write_text(tmp_path / "in-the-way" / "file.txt", "text")
