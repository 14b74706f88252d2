"""Where a command's runs are carried out: threads or processes of this machine, a Dask cluster, or jobs of Slurm."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ropewalk.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.executor import Executor


@dataclass(frozen=True, slots=True)
class Where:
    """What the command line says of it."""

    workers: int | None = None
    """Runs at a time on this machine."""

    max_memory: int | None = None
    """Octets for each run, in a process of its own on this machine."""

    dask: str | None = None
    """A Dask scheduler's address or file."""

    slurm: int | None = None
    """Jobs of Slurm, each with a worker."""

    slurm_options: list[str] = field(default_factory=list)
    """`KEY=VALUE` for these jobs."""

    @contextmanager
    def executing(self) -> Iterator[Executor]:
        """What carries the runs out.

        Raises:
            InputError: Options exclude each other, or the cluster does not answer.
            UnsupportedError: What a cluster needs is not installed.
        """
        self._check()
        if self.dask is not None:
            from ropewalk.cluster import DaskExecutor

            with closing(DaskExecutor(self.dask)) as executor:
                yield executor
        elif self.slurm is not None:
            from ropewalk.slurm import options_of, slurm_executor

            with slurm_executor(self.slurm, options_of(self.slurm_options)) as executor:
                yield executor
        else:
            from ropewalk.api import local_executor

            yield local_executor(self.workers, self.max_memory)

    def _check(self) -> None:
        if self.slurm_options and self.slurm is None:
            raise InputError("--slurm-option is for the jobs of --slurm", key="slurm-option")
        if self.dask is not None and self.slurm is not None:
            raise InputError(
                "--dask and --slurm exclude each other: a cluster runs already, or is made", key="dask"
            )
        if self.dask is None and self.slurm is None:
            return
        for name, value in (("--workers", self.workers), ("--max-memory", self.max_memory)):
            if value is not None:
                raise InputError(
                    f"{name} is for runs on this machine: a Dask cluster has its own", key=name[2:]
                )
