"""What a command has to run: `run`, `sweep` and `reproduce` list their jobs here, each of them once, in order."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ropewalk.holding import held
from ropewalk.source import Source
from ropewalk.store import TABLES, Key, Table
from ropewalk.waiting import check, references

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ropewalk import _core
    from ropewalk.store import Store

MAX_SEEDS: Final = 1_000_000
"""More seeds than this are a mistake: the interval of a mean shrinks with the square root of their number."""

Reference = tuple[str, str]
"""A connection or bond, and the single path that it used instead of all of its own."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run, with everything that a worker needs to carry it out. It can be pickled."""

    source: Source
    """The scenario."""

    seed: int
    """The seed of its random streams."""

    label: str
    """What messages call it."""

    series: bool = True
    """Whether to sample the time series."""

    key: Key | None = None
    """Where its Parquet files go in a store, by their content; without a place none are written."""

    captures: Path | None = None
    """The folder to put pcapng files into, if any are wanted."""

    keep: bool = False
    """Whether the outcome is wanted back. A sweep's is not: its tables are on disk."""

    emulated: bool = False
    """Whether it runs in real time, on kernels: another run beside it would disturb it."""

    capture_links: tuple[str, ...] = ()
    """The links to capture, and no host; without any all of both."""

    snap_length: int = 0
    """How many octets of each packet captures keep; 0 keeps all."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that it writes."""
        return TABLES if self.series else tuple(table for table in TABLES if table != "series")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked of every run of a plan."""

    series: bool = True
    """Whether to sample the time series. Those of references are never sampled: only goodput is compared."""

    compare: bool = False
    """Whether to run every multipath connection and bond on each of its paths alone too, with the same seeds."""

    keep: bool = False
    """Whether the outcomes are wanted back. Those of references are then kept in memory alone."""

    capture: bool = False
    """Whether to write pcapng files beside the tables."""

    capture_links: tuple[str, ...] = ()
    """The links to capture, and no host; without any all of both."""

    snap_length: int = 0
    """How many octets of each packet captures keep; 0 keeps all."""


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario and its runs. All tuples follow the seeds."""

    info: _core.Info
    """What the scenario is."""

    seeds: tuple[int, ...]
    """The seeds."""

    jobs: tuple[Job, ...]
    """A run for each seed."""

    references: dict[Reference, tuple[Job, ...]]
    """The same of every multipath connection and bond alone on each of its paths; empty if nothing is compared."""


class Plan:
    """The runs that a command needs, each of them once, in the order in which cases were added."""

    def __init__(self, store: Store | None, settings: Settings) -> None:
        """Begin an empty plan. Without a store nothing is written."""
        self._store = store
        self._settings = settings
        self._jobs: dict[Key | Job, Job] = {}

    @property
    def jobs(self) -> list[Job]:
        """All runs."""
        return list(self._jobs.values())

    def add(self, source: Source, info: _core.Info, seeds: Sequence[int], label: str) -> Case:
        """Add a scenario with these seeds, and what it is compared with.

        Raises:
            ScenarioError: It is not valid.
        """
        alone: dict[Reference, tuple[Job, ...]] = {}
        singles = references(source) if self._settings.compare and info.multipath else []
        jobs = tuple(self._job(source, seed, label, info) for seed in seeds)
        for connection, path, text in singles:
            # Once more: what a file says of later than a shorter end is no mistake.
            shorter = tuple(pair for pair in source.overrides if pair[0] == "scenario.duration")
            reference = Source(text, source.path, shorter)
            name = f"{label}, {connection} on {path} alone"
            alone[connection, path] = self._alone(reference, seeds, name, emulated=info.emulated)
        return Case(info, tuple(seeds), jobs, alone)

    def prepare(self, *folders: Path) -> None:
        """Make the folders that the runs write into, and these, and make sure that they take files.

        Raises:
            StoreError: One cannot be made or written to.
        """
        if self._store is not None:
            self._store.prepare([*folders, *(job.key.folder for job in self._jobs.values() if job.key)])

    @contextmanager
    def hold(self, *folders: Path) -> Iterator[None]:
        """`prepare`, and keep other commands from filling these folders until the end of the block.

        Raises:
            StoreError: One cannot be made or written to, or another command fills it.
        """
        self.prepare(*folders)
        with held(job.key.folder for job in self._jobs.values() if job.key):
            yield

    def _key(self, info: _core.Info, seed: int, *, reference: bool = False) -> Key | None:
        return self._store.key(info, seed, reference=reference) if self._store is not None else None

    def _job(self, source: Source, seed: int, label: str, info: _core.Info) -> Job:
        """A scenario's own run."""
        settings, key = self._settings, self._key(info, seed)
        captures = key.folder / f"{key.stem}.captures" if settings.capture and key is not None else None
        name = f"{label}, seed {seed}"
        job = Job(
            source,
            seed,
            name,
            series=settings.series,
            key=key,
            captures=captures,
            capture_links=settings.capture_links,
            snap_length=settings.snap_length,
            keep=settings.keep,
            emulated=info.emulated,
        )
        return self._once(job)

    def _alone(self, source: Source, seeds: Sequence[int], label: str, *, emulated: bool) -> tuple[Job, ...]:
        """The runs of a reference."""
        keep = self._settings.keep
        info = None if keep else check(source)
        return tuple(
            self._once(
                Job(
                    source,
                    seed,
                    f"{label}, seed {seed}",
                    series=False,
                    key=self._key(info, seed, reference=True) if info is not None else None,
                    keep=keep,
                    emulated=emulated,
                )
            )
            for seed in seeds
        )

    def _once(self, job: Job) -> Job:
        """The job, or the one of the same content that is in the plan already."""
        return self._jobs.setdefault(job.key or job, job)
