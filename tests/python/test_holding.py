"""Two commands in one folder: the second says so and leaves the first alone."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import ropewalk
from ropewalk import StoreError, _core, holding, partial
from ropewalk.commands import app
from ropewalk.source import resolve

if TYPE_CHECKING:
    from fake_core import FakeCore

CAMPAIGN: dict[str, Any] = {"scenario": {"name": "two-paths"}, "grid": {"factor": [0.5, 1.0]}}
TAKEN = "another command is writing to"


def test_a_second_sweep_of_the_same_runs_is_told(fake: FakeCore, tmp_path: Path) -> None:
    (tmp_path / "two-paths").mkdir()
    with holding.held([tmp_path / "two-paths"]), pytest.raises(StoreError, match=TAKEN) as told:
        ropewalk.sweep(CAMPAIGN, out=tmp_path)
    assert str(told.value).endswith("wait until it ends, or give another --out")
    assert not fake.ran
    assert not ropewalk.sweep(CAMPAIGN, out=tmp_path).failures


def test_sweeps_of_other_scenarios_share_a_store(fake: FakeCore, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with holding.held([tmp_path / "other"]):
        assert not ropewalk.sweep(CAMPAIGN, out=tmp_path).failures


def test_a_second_study_is_told(fake: FakeCore, tmp_path: Path) -> None:
    (tmp_path / "diamond").mkdir()
    with holding.held([tmp_path / "diamond"]):
        result = CliRunner().invoke(app, ["reproduce", "diamond", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert f"error: {TAKEN} {tmp_path / 'diamond'}" in result.stderr


def test_a_folder_is_free_after_the_block_whatever_ends_it(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), holding.held([tmp_path]):
        raise KeyboardInterrupt
    with holding.held([tmp_path]):
        pass


def test_a_file_system_without_locks_is_used_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_descriptor: int, _operation: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with holding.held([tmp_path]), holding.held([tmp_path]):
        pass


def test_the_same_run_written_by_many_at_once_is_whole(two_paths: Path, tmp_path: Path) -> None:
    outcome = _core.run(resolve(two_paths), 1, True, None, _core.Interrupt())
    failures: list[BaseException] = []

    def write() -> None:
        try:
            for _ in range(20):
                assert all(Path(file).stat().st_size > 0 for file in outcome.write(str(tmp_path), "run"))
        except BaseException as error:  # noqa: BLE001 - it is looked at below
            failures.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert not list(tmp_path.rglob("*.partial"))


def test_what_killed_processes_left_goes_and_nothing_else(tmp_path: Path) -> None:
    written = partial.beside(tmp_path / "run.links.parquet")
    written.write_text("of this process")
    file, folder, new = (tmp_path / f".{name}.1-2.partial" for name in ("file", "folder", "new"))
    file.write_text("of a dead process")
    folder.mkdir()
    (folder / "a.pcapng").touch()
    # Its writer may not have come to lock it.
    new.touch()
    mine = tmp_path / ".mine.partial"
    mine.write_text("of the user")
    with partial.locked(written):
        with holding.held([tmp_path]):
            assert set(tmp_path.iterdir()) == {written, new, mine}
        os.utime(new, (0, 0))
        partial.remove_left([tmp_path])
        assert set(tmp_path.iterdir()) == {written, mine}


def test_a_process_killed_while_it_writes_leaves_nothing_for_long(tmp_path: Path) -> None:
    program = "import os, signal, sys; from pathlib import Path; from ropewalk.store import whole\n"
    program += "with whole(Path(sys.argv[1])) as beside:\n"
    program += "    beside.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", program, tmp_path / "table.parquet"], check=False)
    assert [path.suffix for path in tmp_path.iterdir()] == [".partial"]
    with holding.held([tmp_path]):
        assert not list(tmp_path.iterdir())
