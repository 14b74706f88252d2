"""Workers as jobs of Slurm: dask-jobqueue submits them, and they serve one command.

What a site needs (account, partition, time, memory) comes from its `jobqueue.yaml`, which dask-jobqueue reads, or
from options of the command.
"""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

from ropewalk.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.cluster import DaskExecutor

DEFAULTS: Final[dict[str, Any]] = {"cores": 1, "processes": 1, "memory": "4GB", "walltime": "01:00:00"}
"""Of one job, where neither the site nor the user says otherwise."""

PATIENCE_S: Final = 600
"""How long to wait for the first job to begin."""


def options_of(settings: list[str]) -> dict[str, str]:
    """`KEY=VALUE` as options of the jobs.

    Raises:
        InputError: One has another form.
    """
    options = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.isidentifier():
            expected = "KEY=VALUE, as in account=physics, queue=short or walltime=02:00:00"
            raise InputError(f"--slurm-option {setting}: expected {expected}", key=setting, expected=expected)
        options[key] = value
    return options


def settings(options: dict[str, str]) -> dict[str, Any]:
    """The options of a job: the command's, before the site's, before ours."""
    import dask.config
    import dask_jobqueue  # noqa: F401 - reads the site's file

    site = dask.config.get("jobqueue.slurm", default={})
    chosen: dict[str, Any] = {key: value for key, value in DEFAULTS.items() if site.get(key) is None}
    chosen["python"] = sys.executable
    for key, value in options.items():
        chosen[key] = int(value) if value.isdecimal() else value
    return chosen


def job_script(options: dict[str, str]) -> str:
    """The script that is given to `sbatch` for each job.

    Raises:
        UnsupportedError: dask-jobqueue is not installed.
        InputError: There is no such option.
    """
    with _cluster(options) as cluster:
        return str(cluster.job_script())


@contextmanager
def slurm_executor(jobs: int, options: dict[str, str]) -> Iterator[DaskExecutor]:
    """Workers in so many jobs, until the end of the block.

    Raises:
        UnsupportedError: dask-jobqueue is not installed.
        InputError: There is no such option, Slurm does not take the jobs, or none of them begins.
    """
    from ropewalk.cluster import DaskExecutor

    with _cluster(options) as cluster:
        try:
            cluster.scale(jobs=jobs)
        except (OSError, RuntimeError) as cause:
            raise InputError(f"--slurm: the jobs cannot be submitted: {cause}", key="slurm") from cause
        with closing(DaskExecutor(cluster.scheduler_address, patience_s=PATIENCE_S)) as executor:
            # Others may begin later: there is work ready for them.
            executor.workers = max(executor.workers, len(cluster.worker_spec))
            yield executor


@contextmanager
def _cluster(options: dict[str, str]) -> Iterator[Any]:
    try:
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError as cause:
        message = "jobs of Slurm need dask-jobqueue: pip install 'ropewalk[slurm]'"
        raise UnsupportedError(message) from cause
    try:
        cluster = SLURMCluster(**settings(options))
    except (TypeError, ValueError) as cause:
        raise InputError(f"--slurm-option: {cause}", key="slurm-option") from cause
    with closing(cluster):
        yield cluster
