"""Jobs of Slurm: what is submitted, and, where a Slurm is at hand, that it does the work."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ropewalk
from conftest import PATIENCE_S, TWO_PATHS
from ropewalk import InputError, slurm
from ropewalk.commands import app

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Port .* is already in use"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def has_slurm() -> bool:
    """Whether a Slurm takes jobs here."""
    if shutil.which("sbatch") is None:
        return False
    asked = subprocess.run(["sinfo", "--noheader"], capture_output=True, text=True, check=False, timeout=60)
    return asked.returncode == 0 and "idle" in asked.stdout


def test_the_script_of_a_job_asks_for_what_it_needs() -> None:
    script = slurm.job_script(
        {"account": "physics", "queue": "short", "walltime": "02:00:00", "memory": "2GB"}
    )
    lines = script.splitlines()
    assert lines[0].startswith("#!")
    for expected in (
        "#SBATCH -A physics",
        "#SBATCH -p short",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=1",
        "#SBATCH --mem=2G",
        "#SBATCH -t 02:00:00",
    ):
        assert expected in lines, script
    # The same interpreter, so the same build of Ropewalk; one run at a time.
    (command,) = [line for line in lines if "distributed.cli.dask_worker" in line]
    assert command.startswith(sys.executable)
    assert "--nthreads 1" in command


def test_options_are_keys_and_values() -> None:
    assert slurm.options_of(["account=a=b", "cores=2"]) == {"account": "a=b", "cores": "2"}
    for wrong in ("account", "=x", "a b=c"):
        with pytest.raises(InputError, match="expected KEY=VALUE"):
            slurm.options_of([wrong])
    with pytest.raises(InputError, match="--slurm-option"):
        slurm.job_script({"cores": "none"})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--slurm", "2", "--dask", "tcp://x:1"], "exclude each other"),
        (["--slurm", "2", "--workers", "2"], "--workers is for runs on this machine"),
        (["--slurm", "2", "--max-memory", "1GB"], "--max-memory is for runs on this machine"),
        (["--slurm-option", "account=x"], "--slurm-option is for the jobs of --slurm"),
    ],
)
def test_what_excludes_each_other_is_refused(tmp_path: Path, words: list[str], message: str) -> None:
    file = tmp_path / "c.toml"
    file.write_text('scenario = "s.toml"\n', encoding="utf-8")
    said = CliRunner().invoke(app, ["sweep", str(file), "--out", str(tmp_path / "out"), *words])
    assert said.exit_code == 2
    assert message in said.stderr


@pytest.mark.skipif(not has_slurm(), reason="no Slurm takes jobs here")
def test_jobs_of_slurm_write_the_same_octets_as_this_machine(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(TWO_PATHS, encoding="utf-8")
    file = tmp_path / "c.toml"
    file.write_text('scenario = "s.toml"\nreplications = 4\n', encoding="utf-8")
    words: list[Any] = ["sweep", file, "--out", tmp_path / "there", "--slurm", "2"]
    words += ["--slurm-option", "memory=1GB", "--slurm-option", f"log_directory={tmp_path}"]
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk", *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    ropewalk.sweep(file, out=tmp_path / "here")

    def files(folder: Path) -> dict[str, bytes]:
        return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}

    assert files(tmp_path / "there") == files(tmp_path / "here")
    # Its jobs have ended with it.
    left = subprocess.run(["squeue", "--noheader"], capture_output=True, text=True, check=True)
    assert "dask" not in left.stdout
