"""The commands behind `ropewalk`: arguments in, text or JSON out, errors as exit codes."""

from __future__ import annotations

from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ropewalk import _core, api, routes_command
from ropewalk.benefit import sentence
from ropewalk.cli import STOPS, begin, exit_code
from ropewalk.errors import InputError, RopewalkError, ScenarioError
from ropewalk.executor import LocalExecutor
from ropewalk.plan import MAX_SEEDS
from ropewalk.progress import Silent, bar_or_silent, for_terminal
from ropewalk.source import Source, read_text
from ropewalk.summary import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.comparison import Comparison
    from ropewalk.executor import Executor
    from ropewalk.results import RunResult, SweepResult
    from ropewalk.studies.cells import Runner

app = typer.Typer(
    help="Simulate TCP and Multipath TCP; see when several paths pay off, and when they harm.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(routes_command.app)

ScenarioArgument = Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario's file.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help='Replace a value: --set links.b.loss="3 %". Repeatable.'),
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, help="Runs at a time.", show_default="one per CPU core")
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on a Dask cluster: its scheduler's address, tcp://HOST:8786, or scheduler file.",
    ),
]
ReplicationsOption = Annotated[
    int, typer.Option(min=1, max=MAX_SEEDS, help="How many seeds, from the first upwards.")
]
DEFAULT_OUT = Path("out")


def show_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        typer.echo(f"ropewalk {api.version()}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options before the command."""


@contextmanager
def reporting(resume: str = "") -> Iterator[None]:
    """Errors become a message and an exit code; a stop says how to go on."""
    begin()
    try:
        yield
    except RopewalkError as error:
        notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", []))
        complain(f"{error}{notes}", error.exit_code)
    except STOPS as stop:
        typer.echo(f"stopped{resume}", err=True)
        raise typer.Exit(exit_code(stop)) from None


def complain(message: str, code: int) -> NoReturn:
    """Print to standard error and end."""
    prefix = "" if message.startswith("error") else "error: "
    typer.echo(prefix + message, err=True)
    raise typer.Exit(code)


@contextmanager
def executing(workers: int | None, dask: str | None) -> Iterator[Executor]:
    """What carries runs out: threads of this process, or a cluster."""
    if dask is None:
        yield LocalExecutor(workers)
        return
    if workers is not None:
        raise InputError("--workers is for runs on this machine: a Dask cluster has its own", key="workers")
    from ropewalk.cluster import DaskExecutor

    with closing(DaskExecutor(dask)) as executor:
        yield executor


def source_of(scenario: Path, settings: list[str] | None) -> Source:
    """The scenario's file with what `--set` replaces. The core decides what a value means."""
    pairs = []
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            expected = 'KEY=VALUE, as in links.b.loss="3 %"'
            raise InputError(f"--set {setting}: expected {expected}", key=setting, expected=expected)
        pairs.append((key.strip(), value.strip()))
    return Source(read_text(scenario, ScenarioError), str(scenario), tuple(pairs))


@app.command()
def run(  # noqa: PLR0913 - one argument per option
    scenario: ScenarioArgument,
    *,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**64 - 1, help="The (first) seed.", show_default="the scenario's"),
    ] = None,
    replications: ReplicationsOption = 1,
    settings: SetOption = None,
    out: Annotated[Path | None, typer.Option(help="Write Parquet tables and summary.json here.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Write pcapng captures too (to --out, or ./out).")
    ] = False,
    compare: Annotated[bool, typer.Option(help="Run each path alone too, and say benefit or harm.")] = True,
    workers: WorkersOption = None,
) -> None:
    """Run a scenario and show what came of it."""
    folder = out if out is not None or not pcap else DEFAULT_OUT
    with reporting("; nothing of the unfinished runs has been written"):
        result = api.run(
            source_of(scenario, settings),
            seed=seed,
            replications=replications,
            series=folder is not None,
            compare=compare,
            out=folder,
            capture=pcap,
            workers=workers,
            progress=bar_or_silent() if replications > 1 else Silent(),
            drawing=bar_or_silent(),
        )
        show_run(result, as_json=json)


def show_run(result: RunResult, *, as_json: bool) -> None:
    """Print a run's result. In JSON the verdicts are rows; their sentences go beside it."""
    verdicts = [sentence(benefit) for benefit in result.benefit()]
    if as_json:
        typer.echo(to_json(result.summary))
        for verdict in verdicts:
            typer.echo(verdict, err=True)
        return
    from ropewalk.tables import (
        heading,
        of_bonds,
        of_broadcasts,
        of_commands,
        of_lateness,
        of_radios,
        of_routes,
        of_summary,
    )

    summary = result.runs[0] if len(result.runs) == 1 else result.combined
    special = [*of_routes(summary), *of_bonds(result), *of_radios(result), *of_broadcasts(result)]
    special += [*of_commands(summary), *of_lateness(summary)]
    typer.echo("\n\n".join([heading(result), of_summary(summary), *special, *verdicts]))
    if result.files:
        typer.echo(f"\nwritten: {len(result.files)} files in {result.files[-1].parent}")


@app.command()
def sweep(
    campaign: Annotated[Path, typer.Argument(metavar="CAMPAIGN.toml", help="The campaign's file.")],
    *,
    out: Annotated[Path, typer.Option(help="The store. What it already has is not run again.")] = DEFAULT_OUT,
    workers: WorkersOption = None,
    dask: DaskOption = None,
) -> None:
    """Run a scenario over a grid of values; stop with Ctrl-C and resume at will."""
    resume = f"; every finished run is in {out}: the same command goes on from there"
    with reporting(resume), executing(workers, dask) as executor:
        result = api.sweep(campaign, out=out, executor=executor, progress=for_terminal())
        show_sweep(result, out)
    if result.failures:
        raise typer.Exit(RopewalkError.exit_code)


def show_sweep(result: SweepResult, out: Path) -> None:
    """Print a sweep's result."""
    from ropewalk.tables import of_sweep

    if not result.connections.is_empty():
        typer.echo(of_sweep(result))
    failed = f", {len(result.failures)} failed" if result.failures else ""
    typer.echo(
        f"\n{result.computed} runs done, {result.skipped} found in the store{failed}; results in {out}"
    )


@app.command()
def compare(  # noqa: PLR0913 - one argument per option
    scenario: ScenarioArgument,
    *,
    worlds: Annotated[
        str,
        typer.Option(metavar="FIRST,SECOND", help="Where it runs; the second is compared with the first."),
    ] = "simulate,linux",
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**64 - 1, help="The first seed.", show_default="the scenario's"),
    ] = None,
    replications: ReplicationsOption = 1,
    settings: SetOption = None,
    out: Annotated[
        Path, typer.Option(help="The store, figures and page. What it already has is not run again.")
    ] = DEFAULT_OUT,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Run a scenario simulated and on Linux's kernels, and show what differs; stop with Ctrl-C and resume at will."""
    with reporting(f"; every finished run is in {out}: the same command goes on from there"):
        source = source_of(scenario, settings)
        result = api.compare(
            source, worlds=worlds, seed=seed, replications=replications, out=out, progress=for_terminal()
        )
        show_comparison(result, as_json=json)


def show_comparison(result: Comparison, *, as_json: bool) -> None:
    """Print what differs between two worlds."""
    from ropewalk.comparison_tables import text

    typer.echo(to_json(result.as_json()) if as_json else text(result))
    found = f"{result.computed} runs done, {result.found} found in the store"
    typer.echo(f"\n{found}; page: {result.files[-1]}", err=as_json)


@app.command()
def reproduce(  # noqa: PLR0913 - one argument per option
    study: Annotated[list[str] | None, typer.Argument(metavar="[STUDY…|all]", help="Which studies.")] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds and points, and no verdicts.")] = False,
    out: Annotated[Path, typer.Option(help="Where figures, tables and reports go.")] = DEFAULT_OUT,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run everything anew, also what an interrupted one has run.")
    ] = False,
) -> None:
    """Make a paper's figures, published and measured side by side; stop with Ctrl-C and resume at will."""
    from ropewalk import studies
    from ropewalk.studies import claims
    from ropewalk.studies.cells import Runner
    from ropewalk.studies.names import REGISTRY

    resume = f"; every finished run is in {out}: the same command goes on from there"
    with reporting(resume), executing(workers, dask) as executor:
        chosen = studies.names(study or [])
        progress = for_terminal()
        kept = {name: studies.Kept(out / name, quick) for name in chosen}
        with studies.held(out, chosen):
            for name, runs in kept.items():
                if fresh:
                    runs.forget()
                show_study(name, out / name, quick, Runner(executor, progress, runs.store, workers))
            claims.collect(out, list(REGISTRY))
            # Not before the last study is done: the same command goes on behind those that are.
            for runs in kept.values():
                runs.forget()


def show_study(name: str, folder: Path, quick: bool, runner: Runner) -> None:
    """Run a study and print what it has found."""
    from ropewalk import studies

    module = studies.load(name)
    typer.echo(f"{name}: {module.TITLE}")
    result = module.run(folder, quick, runner)
    runner.progress.finish()
    for finding in result.findings:
        typer.echo(f"  - {finding}")
    typer.echo(f"report: {result.report}")


@app.command()
def analyse(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.pcap[ng]…", help="The captures.")],
    *,
    interval: Annotated[
        float, typer.Option(metavar="SECONDS", help="Length of one sample of the series.")
    ] = 0.1,
    gap: Annotated[
        float, typer.Option(metavar="SECONDS", help="Shortest time without new data that is shown.")
    ] = 0.2,
    out: Annotated[
        Path | None, typer.Option(help="Write Parquet tables and a page with figures here.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each capture instead of tables.")
    ] = False,
) -> None:
    """Show what captures hold of TCP and Multipath TCP: goodput per path, reordering, reinjections, gaps."""
    from ropewalk.analysis import analyse as of_file
    from ropewalk.analysis import write
    from ropewalk.analysis_tables import text

    with reporting():
        analyses = []
        for file in files:
            analyses.append(of_file(file, interval_s=interval, gap_s=gap))
            typer.echo(to_json(analyses[-1].summary()) if json else text(analyses[-1]) + "\n")
        if out is not None:
            written = write(analyses, out)
            typer.echo(f"written: {len(written)} files in {out}", err=json)


@app.command()
def doctor(
    *,
    clean: Annotated[
        bool, typer.Option("--clean", help="Remove what runs have left that were killed.")
    ] = False,
) -> None:
    """Say what this machine can do for Linux hosts, and what mends what is missing."""
    from ropewalk.tables import of_findings

    with reporting():
        findings, removed = _core.doctor(clean)
        typer.echo(of_findings(findings))
        for name in removed:
            typer.echo(f"removed: {name}")
    if any(remedy for _, _, remedy in findings):
        raise typer.Exit(RopewalkError.exit_code)


@app.command()
def explain(scenario: ScenarioArgument, settings: SetOption = None) -> None:
    """Draw a scenario's topology and show every default."""
    with reporting():
        typer.echo(api.explain(source_of(scenario, settings), progress=bar_or_silent()))


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    with reporting():
        typer.echo(api.schema_text())
