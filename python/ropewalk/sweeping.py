"""Carrying out a campaign: plan every run, skip what the store has, run the rest, write down the plan."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ropewalk import _core
from ropewalk.errors import CampaignError, RopewalkError, ScenarioError, StoreError
from ropewalk.executor import Executor, Job
from ropewalk.progress import Finishing, Progress
from ropewalk.results import Reference, Sample
from ropewalk.source import Source
from ropewalk.store import Key, Store, damage, file_name, write_text

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.campaign import Campaign, Point


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a campaign needs, nothing of which has run."""

    name: str
    samples: list[Sample]
    jobs: dict[Key, Job]


def plan(campaign: Campaign, store: Store) -> Plan:
    """Check every point of the grid and list its runs, each of them once.

    Raises:
        ScenarioError: A point's scenario is not valid; the message says at which point.
    """
    jobs: dict[Key, Job] = {}
    samples = [_sample(point, campaign, store, jobs) for point in campaign.points()]
    return Plan(campaign.name or samples[0].scenario, samples, jobs)


def _sample(point: Point, campaign: Campaign, store: Store, jobs: dict[Key, Job]) -> Sample:
    try:
        info = _core.check(*point.source.arguments())
        singles = _core.references(*point.source.arguments()) if campaign.compare and info.multipath else []
    except ScenarioError as error:
        if point.parameters:
            error.add_note(f"at the point {describe(point.parameters)}")
        raise
    seeds = campaign.seeds_from(info.seed)

    def keys(source: Source, what: _core.Info, label: str, *, reference: bool) -> tuple[Key, ...]:
        found = tuple(store.key(what, seed, reference=reference) for seed in seeds)
        for key in found:
            # A reference's series would be of no use: only its goodput is compared.
            series = campaign.series and not reference
            name = f"{label}, seed {key.seed}"
            jobs.setdefault(key, Job(source, key.seed, name, series, key))
        return found

    label = f"{info.name} ({describe(point.parameters)})" if point.parameters else info.name
    main = keys(point.source, info, label, reference=False)
    references: dict[Reference, tuple[Key, ...]] = {}
    for connection, path, text in singles:
        source = Source(text, point.source.path)
        alone = f"{label}, {connection} on {path} alone"
        references[connection, path] = keys(source, _core.check(*source.arguments()), alone, reference=True)
    return Sample(point, info.name, info.hash, seeds, main, info.multipath, references)


def describe(parameters: dict[str, Any]) -> str:
    """The values of a point for a message."""
    return ", ".join(f"{key} = {value}" for key, value in parameters.items())


def missing(jobs: dict[Key, Job], progress: Progress) -> list[Job]:
    """The jobs whose results the store does not have whole; damaged ones are reported and missing."""
    todo = []
    for key, job in jobs.items():
        try:
            reason = damage(key, job.tables)
        except FileNotFoundError:
            todo.append(job)
            continue
        except OSError as cause:
            raise StoreError(f"cannot read the results in {key.folder}: {cause.strerror}") from cause
        if reason is not None:
            progress.note(f"{reason}; running it again")
            todo.append(job)
    return todo


def carry_out(jobs: list[Job], executor: Executor, progress: Progress, what: str) -> dict[Key, RopewalkError]:
    """Run jobs that write into the store and return those that failed.

    Raises:
        StoreError: Results cannot be written, so that going on would be useless. What was written stays.
    """
    failures: dict[Key, RopewalkError] = {}
    if not jobs:
        return failures
    with Finishing(progress), closing(executor.run(jobs)) as finished:
        progress.start(len(jobs), what)
        for end in finished:
            if isinstance(end.error, StoreError):
                raise end.error
            if end.error is not None:
                progress.note(f"{end.job.label} failed: {end.error}")
                if end.job.key is not None:
                    failures[end.job.key] = end.error
            progress.advance()
    return failures


def write_manifest(campaign: Campaign, planned: Plan, root: Path) -> Path:
    """Write down which hash is which point, for readers that do not have the campaign at hand."""
    points = [
        {"point": sample.point.index, "scenario_hash": sample.hash, "parameters": sample.point.parameters}
        | {"references": _reference_hashes(sample)}
        for sample in planned.samples
    ]
    head = {"campaign": planned.name, "scenario": planned.samples[0].scenario, "version": _core.version()}
    seeds = list(planned.samples[0].seeds)
    file = root / f"{file_name(planned.name)}.campaign.json"
    tree = {**head, "seeds": seeds, "set": dict(campaign.source.overrides), "points": points}
    try:
        write_text(file, json.dumps(tree, indent=1, default=str) + "\n")
    except TypeError as cause:
        raise CampaignError(f"the campaign cannot be written down: {cause}") from cause
    return file


def _reference_hashes(sample: Sample) -> list[dict[str, str]]:
    return [
        {"connection": connection, "path": path, "scenario_hash": keys[0].hash}
        for (connection, path), keys in sample.references.items()
    ]
