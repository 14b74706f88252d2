"""A campaign's plan: the runs of every point of its grid, and the list of its points written down."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ropewalk import _core
from ropewalk.errors import CampaignError, ScenarioError
from ropewalk.memory import needed
from ropewalk.pointing import pointed
from ropewalk.results import Sample
from ropewalk.store import Key, file_name, write_text
from ropewalk.waiting import check

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ropewalk.campaign import Campaign, Point
    from ropewalk.plan import Case, Job, Plan


def samples(campaign: Campaign, plan: Plan) -> list[Sample]:
    """Check every point of the grid, and add its runs to the plan.

    Raises:
        ScenarioError: A point's scenario is not valid; a note says at which point.
    """
    return [_sample(point, _case(point, campaign, plan), campaign) for point in campaign.points()]


def most_memory(samples: Sequence[Sample]) -> tuple[str, int]:
    """The point whose runs may need most memory: what they are called, and how many octets."""
    return max((sample.memory for sample in samples), key=lambda named: named[1])


def _case(point: Point, campaign: Campaign, plan: Plan) -> Case:
    try:
        info = check(point.source)
        return plan.add(point.source, info, campaign.seeds_from(info.seed), _label(info.name, point))
    except ScenarioError as error:
        # What replaces the scenario's values stands in the campaign here, not behind `--set`.
        error.args = (pointed(str(error), point.source.overrides, campaign.as_text()),)
        if point.parameters:
            error.add_note(f"at the point {describe(point.parameters)}")
        raise


def _label(name: str, point: Point) -> str:
    return f"{name} ({describe(point.parameters)})" if point.parameters else name


def _sample(point: Point, case: Case, campaign: Campaign) -> Sample:
    """A point with the places of its results: jobs are not needed once they have run."""

    def keys(jobs: Sequence[Job]) -> tuple[Key, ...]:
        return tuple(job.key for job in jobs if job.key is not None)

    alone = {reference: keys(jobs) for reference, jobs in case.references.items()}
    info = case.info
    most = (_label(info.name, point), needed(info, series=campaign.series))
    return Sample(point, info.name, info.hash, case.seeds, keys(case.jobs), info.multipath, alone, most)


def describe(parameters: dict[str, Any]) -> str:
    """The values of a point for a message."""
    return ", ".join(f"{key} = {value}" for key, value in parameters.items())


def write_manifest(campaign: Campaign, name: str, samples: Sequence[Sample], root: Path) -> Path:
    """Write down which hash is which point, for readers that do not have the campaign at hand."""
    points = [
        {"point": sample.point.index, "scenario_hash": sample.hash, "parameters": sample.point.parameters}
        | {"references": _reference_hashes(sample)}
        for sample in samples
    ]
    head = {"campaign": name, "scenario": samples[0].scenario, "version": _core.version()}
    seeds = list(samples[0].seeds)
    file = root / f"{file_name(name)}.campaign.json"
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
