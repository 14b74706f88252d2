"""The functions of `ropewalk`: run, sweep, check, explain, schema, version."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk import _core, waiting
from ropewalk.executor import Executor, Job, LocalExecutor, carry_out, missing
from ropewalk.progress import Progress, Silent
from ropewalk.results import Reference, RunResult, SweepResult, goodput
from ropewalk.source import Overrides, ScenarioLike, Source, resolve
from ropewalk.store import Store, write_text
from ropewalk.summary import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ropewalk.campaign import Campaign, CampaignLike


def version() -> str:
    """The engine's version, which is part of every result."""
    return _core.version()


def schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""
    tree: dict[str, Any] = json.loads(schema_text())
    return tree


def schema_text() -> str:
    """The JSON Schema of scenario files, as text."""
    return _core.schema()


def check(scenario: ScenarioLike, overrides: Overrides | None = None) -> _core.Info:
    """Validate a scenario without running it.

    Raises:
        ScenarioError: It is not valid; the error says where and what was expected.
    """
    return waiting.check(resolve(scenario, overrides))


def explain(
    scenario: ScenarioLike | Source,
    overrides: Overrides | None = None,
    progress: Progress | None = None,
) -> str:
    """The scenario's topology, drawn, and every default made visible.

    Raises:
        ScenarioError: It is not valid.
    """
    source = scenario if isinstance(scenario, Source) else resolve(scenario)
    return waiting.explain(source.with_overrides(overrides or {}), progress)


def run(  # noqa: PLR0913 - all but the first are keywords
    scenario: ScenarioLike | Source,
    *,
    seed: int | None = None,
    replications: int = 1,
    overrides: Overrides | None = None,
    series: bool = True,
    compare: bool = True,
    out: str | Path | None = None,
    capture: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    drawing: Progress | None = None,
) -> RunResult:
    """Run a scenario with one seed or several.

    Args:
        scenario: A file's path, TOML text, or the same tree as dictionaries.
        seed: The first seed; by default the scenario's own.
        replications: How many seeds, from the first upwards.
        overrides: Dotted key to value, replacing what the scenario says: `{"links.b.loss": "3 %"}`.
        series: Whether to sample the time series.
        compare: Whether to run every multipath connection as TCP on each single path too, same seeds.
        out: A folder to write Parquet files and `summary.json` into.
        capture: Whether to write a pcapng file of the links too; needs `out`.
        workers: How many runs at a time; by default one per CPU core.
        executor: Where to run, instead of on threads of this process.
        progress: Where to say how far it has come.
        drawing: Where to say how many deployments have been drawn, if that takes long.

    Raises:
        ScenarioError: The scenario is not valid; nothing has run.
        RunError: A run failed.
        StoreError: Results could not be written.
        ValueError: The number of replications is not positive, or captures have nowhere to go.
    """
    if replications < 1:
        raise ValueError(f"replications must be at least 1, not {replications}")
    if capture and out is None:
        raise ValueError("captures need an output folder: give `out`")
    source = scenario if isinstance(scenario, Source) else resolve(scenario)
    source = source.with_overrides(overrides or {})
    info = waiting.check(source, seed, drawing)
    singles = waiting.references(source) if compare and info.multipath else []
    first = seed if seed is not None else info.seed
    seeds = range(first, first + replications)
    store = Store(Path(out), version()) if out is not None else None
    jobs = _main_jobs(source, info, seeds, store, series=series, capture=capture)
    alone: dict[Reference, list[Job]] = {}
    for connection, path, text in singles:
        label = f"{info.name}, {connection} on {path} alone"
        reference = Source(text, source.path)
        alone[connection, path] = [
            Job(reference, seed, f"{label}, seed {seed}", series=False, keep=True) for seed in seeds
        ]
    finished = carry_out(
        [*jobs, *(job for group in alone.values() for job in group)],
        executor or LocalExecutor(workers),
        progress or Silent(),
        info.name,
    )
    result = RunResult(
        scenario=info.name,
        hash=info.hash,
        outcomes=[outcome for job in jobs if (outcome := finished[job].outcome)],
        multipath=info.multipath,
        references={
            reference: [
                goodput(json.loads(outcome.summary()), info.multipath[reference[0]])
                for job in group
                if (outcome := finished[job].outcome)
            ]
            for reference, group in alone.items()
        },
    )
    if store is not None:
        _write(result, store.folder(info), [file for job in jobs for file in finished[job].files])
    return result


def _main_jobs(  # noqa: PLR0913 - the choices of `run`, by name
    source: Source,
    info: _core.Info,
    seeds: Sequence[int],
    store: Store | None,
    *,
    series: bool,
    capture: bool,
) -> list[Job]:
    if store is None:
        return [Job(source, seed, f"{info.name}, seed {seed}", series, keep=True) for seed in seeds]
    keys = [store.key(info, seed) for seed in seeds]
    store.prepare(key.folder for key in keys)
    return [
        Job(
            source=source,
            seed=key.seed,
            label=f"{info.name}, seed {key.seed}",
            series=series,
            key=key,
            captures=key.folder / f"{key.stem}.captures" if capture else None,
            keep=True,
        )
        for key in keys
    ]


def _write(result: RunResult, folder: Path, files: list[Path]) -> None:
    """Add the summary to the files that the runs have written."""
    summary = folder / "summary.json"
    write_text(summary, to_json(result.summary) + "\n")
    result.files.extend([*files, summary])


def sweep(
    what: CampaignLike | Campaign,
    *,
    out: str | Path | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> SweepResult:
    """Run a campaign: a scenario over a grid of values. What the store has is not run again.

    Args:
        what: A campaign file's path, the same tree as dictionaries, or a `Campaign`.
        out: The store. Without one, results live as long as the returned object.
        workers: How many runs at a time; by default one per CPU core.
        executor: Where to run, instead of on threads of this process.
        progress: Where to say how far it has come.

    Raises:
        CampaignError: The campaign is not valid; nothing has run.
        ScenarioError: The scenario is not valid at some point of the grid; nothing has run.
        StoreError: Results could not be written or read.
    """
    # Campaigns need parsers that a single run does not: they are imported where they are used.
    from ropewalk import campaign, sweeping

    loaded = campaign.load(what)
    said = progress or Silent()
    temporary = tempfile.TemporaryDirectory(prefix="ropewalk-") if out is None else None
    root = Path(temporary.name) if temporary is not None else Path(out or "")
    store = Store(root, version())
    planned = sweeping.plan(loaded, store)
    store.prepare([root, *(key.folder for key in planned.jobs)])
    todo = missing(planned.jobs, said)
    sweeping.write_manifest(loaded, planned, root)
    ended = carry_out(todo, executor or LocalExecutor(workers), said, planned.name, tolerant=True)
    failures = {end.job.key: end.error for end in ended.values() if end.error and end.job.key}
    return SweepResult(
        campaign=loaded,
        samples=planned.samples,
        computed=len(todo) - len(failures),
        skipped=len(planned.jobs) - len(todo),
        failures=failures,
        temporary=temporary,
    )
