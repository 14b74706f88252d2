"""A campaign's plan: every run it needs, each of them once, and the plan written down."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ropewalk import _core
from ropewalk.errors import CampaignError, ScenarioError
from ropewalk.executor import Job
from ropewalk.results import Reference, Sample
from ropewalk.source import Source
from ropewalk.store import Key, Store, file_name, write_text
from ropewalk.waiting import check, references

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
        info = check(point.source)
        singles = references(point.source) if campaign.compare and info.multipath else []
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
    alone: dict[Reference, tuple[Key, ...]] = {}
    for connection, path, text in singles:
        source = Source(text, point.source.path)
        name = f"{label}, {connection} on {path} alone"
        alone[connection, path] = keys(source, check(source), name, reference=True)
    return Sample(point, info.name, info.hash, seeds, main, info.multipath, alone)


def describe(parameters: dict[str, Any]) -> str:
    """The values of a point for a message."""
    return ", ".join(f"{key} = {value}" for key, value in parameters.items())


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
