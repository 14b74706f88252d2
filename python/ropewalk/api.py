"""The functions of `ropewalk`: run, sweep, compare, check, explain, schema, version."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ropewalk import _core, memory, waiting
from ropewalk.executor import Executor, Finished, LocalExecutor, carry_out, missing
from ropewalk.plan import MAX_SEEDS, Plan, Settings
from ropewalk.progress import Finishing, Progress, Silent
from ropewalk.results import RunResult, SweepResult, goodput
from ropewalk.simulated import SimulatedTime
from ropewalk.source import Overrides, ScenarioLike, Source, resolve
from ropewalk.store import Store, write_text
from ropewalk.summary import to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.campaign import Campaign, CampaignLike
    from ropewalk.comparison import Comparison
    from ropewalk.plan import Case, Job


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
    capture_links: Sequence[str] = (),
    snap_length: int = 0,
    workers: int | None = None,
    executor: Executor | None = None,
    max_memory: int | None = None,
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
        compare: Whether to run every multipath connection and bond on each single path too, same seeds.
        out: A folder to write Parquet files and `summary.json` into.
        capture: Whether to write pcapng files of hosts and links too; needs `out`.
        capture_links: Capture these links alone, and no host.
        snap_length: How many octets of each packet captures keep; 0 keeps all.
        workers: How many runs at a time; by default one per CPU core.
        executor: Where to run, instead of on threads of this process.
        max_memory: So many octets for each run, which then has a process of its own: one that needs more fails alone.
        progress: Where to say how far it has come: in simulated time, once it takes a second.
        drawing: Where to say how many deployments have been drawn, if that takes long.

    Raises:
        ScenarioError: The scenario is not valid; nothing has run.
        RunError: A run failed.
        StoreError: Results could not be written.
        ValueError: The number of replications is not positive, or captures have nowhere to go.
    """
    _check(replications)
    if capture and out is None:
        raise ValueError("captures need an output folder: give `out`")
    source = scenario if isinstance(scenario, Source) else resolve(scenario)
    source = source.with_overrides(overrides or {})
    info = waiting.check(source, seed, drawing)
    first = seed if seed is not None else info.seed
    store = Store(Path(out), version()) if out is not None else None
    settings = Settings(
        series=series,
        compare=compare,
        keep=True,
        capture=capture,
        capture_links=tuple(capture_links),
        snap_length=snap_length,
    )
    plan = Plan(store, settings)
    case = plan.add(source, info, range(first, first + replications), info.name)
    plan.prepare()
    said = progress or Silent()
    clock = SimulatedTime(said, info.name, info.duration_s, len(plan.jobs))
    local = executor or local_executor(workers, max_memory, clock)
    memory.warn(
        [(info.name, memory.needed(info, series=series))], beside(local, len(plan.jobs)), max_memory, said
    )
    with Finishing(said):
        ended = carry_out(plan.jobs, local, said if executor else Silent(), info.name)
    result = _result(case, ended)
    if store is not None:
        _write(result, store.folder(info), [file for job in case.jobs for file in ended[job].files])
    return result


def local_executor(
    workers: int | None = None, max_memory: int | None = None, clock: SimulatedTime | None = None
) -> LocalExecutor:
    """Threads of this process, or with a bound on memory processes beside it."""
    if max_memory is None:
        return LocalExecutor(workers, clock)
    from ropewalk.isolated import IsolatedExecutor

    return IsolatedExecutor(max_memory, workers, clock)


def beside(executor: Executor, runs: int) -> int:
    """How many of so many runs share this machine's memory at a time."""
    return min(executor.workers, runs) if isinstance(executor, LocalExecutor) else 0


def _check(replications: int) -> None:
    if not 1 <= replications <= MAX_SEEDS:
        raise ValueError(f"replications must be between 1 and {MAX_SEEDS}, not {replications}")


def _result(case: Case, ended: Mapping[Job, Finished]) -> RunResult:
    """What the runs have measured, from the outcomes that they have brought back."""

    def outcomes(jobs: Sequence[Job]) -> list[_core.Outcome]:
        return [outcome for job in jobs if (outcome := ended[job].outcome)]

    return RunResult(
        scenario=case.info.name,
        hash=case.info.hash,
        outcomes=outcomes(case.jobs),
        multipath=case.info.multipath,
        references={
            (connection, path): [
                goodput(json.loads(outcome.summary()), case.info.multipath[connection])
                for outcome in outcomes(jobs)
            ]
            for (connection, path), jobs in case.references.items()
        },
    )


def _write(result: RunResult, folder: Path, files: list[Path]) -> None:
    """Add the summary to the files that the runs have written."""
    summary = folder / "summary.json"
    write_text(summary, to_json(result.summary) + "\n")
    result.files.extend([*files, summary])


def sweep(  # noqa: PLR0913 - all but the first are keywords
    what: CampaignLike | Campaign,
    *,
    out: str | Path | None = None,
    share: tuple[int, int] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    max_memory: int | None = None,
    progress: Progress | None = None,
) -> SweepResult:
    """Run a campaign: a scenario over a grid of values. What the store has is not run again.

    Args:
        what: A campaign file's path, the same tree as dictionaries, or a `Campaign`.
        out: The store. Without one, results live as long as the returned object.
        share: Which part of how many to run, counted from 1, where several machines share the work.
        workers: How many runs at a time; by default one per CPU core.
        executor: Where to run, instead of on threads of this process.
        max_memory: So many octets for each run, which then has a process of its own: one that needs more fails alone.
        progress: Where to say how far it has come.

    Raises:
        CampaignError: The campaign is not valid; nothing has run.
        ScenarioError: The scenario is not valid at some point of the grid; nothing has run.
        StoreError: Results could not be written or read.
        ValueError: There is no such share.
    """
    # Campaigns need parsers that a single run does not: they are imported where they are used.
    from ropewalk import campaign, sweeping

    loaded = campaign.load(what)
    said = progress or Silent()
    temporary = tempfile.TemporaryDirectory(prefix="ropewalk-") if out is None else None
    root = Path(temporary.name) if temporary is not None else Path(out or "")
    store = Store(root, version())
    plan = Plan(store, Settings(series=loaded.series, compare=loaded.compare))
    samples = sweeping.samples(loaded, plan)
    name = loaded.name or samples[0].scenario
    with plan.hold(root):
        mine = _shared(plan.jobs, share)
        todo = missing(mine, said)
        sweeping.write_manifest(loaded, name, samples, root)
        local = executor or local_executor(workers, max_memory)
        if todo:
            memory.warn([sweeping.most_memory(samples)], beside(local, len(todo)), max_memory, said)
        ended = carry_out(todo, local, said, name, tolerant=True)
    failures = {job.key: end.error for job, end in ended.items() if end.error and job.key}
    return SweepResult(
        campaign=loaded,
        samples=samples,
        computed=len(todo) - len(failures),
        skipped=len(mine) - len(todo),
        failures=failures,
        left=frozenset(job.key for job in plan.jobs if job.key) - {job.key for job in mine if job.key},
        temporary=temporary,
    )


def _shared(jobs: list[Job], share: tuple[int, int] | None) -> list[Job]:
    """Every so many-th run, so that no share has all the long ones."""
    if share is None:
        return jobs
    part, parts = share
    if not 1 <= part <= parts:
        raise ValueError(f"there is no share {part} of {parts}: they are counted from 1")
    return jobs[part - 1 :: parts]


def compare(  # noqa: PLR0913 - all but the first are keywords
    scenario: ScenarioLike | Source,
    *,
    worlds: str | Sequence[str] = ("simulate", "linux"),
    seed: int | None = None,
    replications: int = 1,
    overrides: Overrides | None = None,
    out: str | Path = "out",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run a scenario in two worlds with the same seeds, and say what differs. What the store has is not run again.

    Every host runs the stack of the world, whatever the scenario says. What a kernel does otherwise than the scenario
    says stands in the result's `departures`.

    Args:
        scenario: A file's path, TOML text, or the same tree as dictionaries.
        worlds: Two of `simulate` and `linux`: the second is compared with the first.
        seed: The first seed; by default the scenario's own.
        replications: How many seeds, from the first upwards.
        overrides: Dotted key to value, replacing what the scenario says.
        out: The store, and where figures and the page go.
        workers: How many runs at a time where none is on a kernel; by default one per CPU core.
        progress: Where to say how far it has come.

    Raises:
        InputError: There are no such worlds.
        ScenarioError: The scenario is not valid, or this machine cannot run it; nothing has run.
        RunError: A run failed. What has run before stays in the store.
        StoreError: Results could not be written or read.
        ValueError: The number of replications is not positive.
    """
    from ropewalk import comparison, comparison_tables

    _check(replications)
    source = scenario if isinstance(scenario, Source) else resolve(scenario)
    source = source.with_overrides(overrides or {})
    names = comparison.chosen(worlds)
    store = Store(Path(out), version())
    plan = Plan(store, Settings())
    seeds = range(seed, seed + replications) if seed is not None else None
    pair = comparison.planned(plan, source, names, seeds, replications)
    info = pair[0].info
    folder = store.folder(info) / "comparison"
    said = progress or Silent()
    with plan.hold(folder):
        # Pair after pair: what an end before the end leaves can be compared.
        todo = sorted(missing(plan.jobs, said), key=lambda job: job.seed)
        carry_out(todo, LocalExecutor(workers), said, info.name)
        result = comparison.Comparison.of(names, pair, len(todo))
        result.files.extend(comparison_tables.write(result, folder))
    return result
