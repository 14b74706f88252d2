"""The commands behind `ropewalk`: arguments in, text or JSON out, errors as exit codes."""

from __future__ import annotations

import os
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, cast

import typer
from typer.core import TyperGroup

from ropewalk import _core, api, routes_command
from ropewalk.benefit import sentence
from ropewalk.cli import STOPS, begin, exit_code
from ropewalk.errors import InputError, RopewalkError
from ropewalk.extras import require
from ropewalk.memory import octets
from ropewalk.plan import MAX_SEEDS
from ropewalk.progress import Loudness, bar_or_silent, choose, for_terminal, is_verbose
from ropewalk.source import Source, read_scenario
from ropewalk.store import file_name
from ropewalk.summary import to_json
from ropewalk.waiting import check
from ropewalk.where import Where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ropewalk.comparison import Comparison
    from ropewalk.results import RunResult, SweepResult
    from ropewalk.store import Table
    from ropewalk.studies.cells import Runner
    from ropewalk.view import Shown

ANYWHERE: Final = ("--quiet", "-q", "--verbose", "-v")
"""Options of all commands, which stand before or behind the command's name."""


class Commands(TyperGroup):
    """The commands. What holds for all of them is read first, wherever it stands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command's name; those behind it are its own."""
        end = args.index("--") if "--" in args else len(args)
        shared = [word for word in args[:end] if word in ANYWHERE]
        own = [word for word in args[:end] if word not in ANYWHERE]
        return super().parse_args(ctx, [*shared, *own, *args[end:]])


app = typer.Typer(
    cls=Commands,
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
MemoryOption = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Each run gets a process with so much memory, as in 2GB; one that needs more fails alone.",
    ),
]
SlurmOption = Annotated[
    int | None,
    typer.Option(
        "--slurm", min=1, metavar="JOBS", help="Run in so many jobs of Slurm, which are submitted now."
    ),
]
SlurmOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--slurm-option",
        metavar="KEY=VALUE",
        help="Of these jobs: account, queue, walltime, memory, cores, … of dask-jobqueue. Repeatable.",
    ),
]
ReplicationsOption = Annotated[
    int, typer.Option(min=1, max=MAX_SEEDS, help="How many seeds, from the first upwards.")
]
DEFAULT_OUT = Path("out")
MOST_VIEWED = 2


def show_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        typer.echo(f"ropewalk {api.version()}")
        raise typer.Exit


@app.callback()
def common(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress and no notes: results and errors alone.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Progress in lines, and a traceback behind an error.")
    ] = False,
) -> None:
    """Options of all commands."""
    del version
    if quiet and verbose:
        raise typer.BadParameter("--quiet and --verbose exclude each other")
    choose(Loudness.QUIET if quiet else Loudness.VERBOSE if verbose else Loudness.NORMAL)


@contextmanager
def reporting(resume: str = "") -> Iterator[None]:
    """Errors become a message and an exit code; a stop says how to go on."""
    begin()
    try:
        yield
    except RopewalkError as error:
        if is_verbose():
            traceback.print_exc()
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


def source_of(scenario: Path, settings: list[str] | None) -> Source:
    """The scenario's file with what `--set` replaces. The core decides what a value means."""
    pairs = []
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            expected = 'KEY=VALUE, as in links.b.loss="3 %"'
            raise InputError(f"--set {setting}: expected {expected}", key=setting, expected=expected)
        pairs.append((key.strip(), value.strip()))
    return Source(read_scenario(scenario), str(scenario), tuple(pairs))


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
    pcap_links: Annotated[
        list[str] | None,
        typer.Option("--pcap-links", metavar="LINK", help="Capture this link, and no host. Repeatable."),
    ] = None,
    snap_length: Annotated[
        int,
        typer.Option(
            "--snaplen",
            min=0,
            max=2**32 - 1,
            metavar="OCTETS",
            help="Captures keep so much of each packet; 0: all.",
        ),
    ] = 0,
    compare: Annotated[bool, typer.Option(help="Run each path alone too, and say benefit or harm.")] = True,
    workers: WorkersOption = None,
    max_memory: MemoryOption = None,
) -> None:
    """Run a scenario and show what came of it."""
    pcap = pcap or bool(pcap_links)
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
            capture_links=pcap_links or (),
            snap_length=snap_length,
            workers=workers,
            max_memory=octets(max_memory) if max_memory is not None else None,
            progress=bar_or_silent(),
            drawing=bar_or_silent(),
        )
        show_run(result, as_json=json)


def show_run(result: RunResult, *, as_json: bool) -> None:
    """Print a result. In JSON verdicts are rows; their sentences go beside it. Events are lines behind it."""
    verdicts = [sentence(benefit) for benefit in result.benefit()]
    if as_json:
        typer.echo(to_json(result.summary))
        if not result.events.is_empty():
            typer.echo(result.events.write_ndjson(), nl=False)
        for verdict in verdicts:
            typer.echo(verdict, err=True)
        return
    from ropewalk.tables import (
        heading,
        of_bonds,
        of_broadcasts,
        of_commands,
        of_lateness,
        of_processes,
        of_radios,
        of_routes,
        of_summary,
    )

    summary = result.runs[0] if len(result.runs) == 1 else result.combined
    special = [*of_routes(summary), *of_bonds(result), *of_radios(result), *of_broadcasts(result)]
    special += [*of_commands(summary), *of_lateness(summary)]
    special += of_processes(result.processes, summary["duration_s"])
    coloured = [
        in_colour(verdict, benefit.verdict)
        for verdict, benefit in zip(verdicts, result.benefit(), strict=True)
    ]
    typer.echo("\n\n".join([heading(result), of_summary(summary), *special, *coloured]))
    if result.files:
        typer.echo(f"\nwritten: {len(result.files)} files in {result.files[-1].parent}")


COLOURS: Final = {"benefit": "green", "harm": "red"}
"""Of verdicts on terminals."""


def in_colour(text: str, verdict: str) -> str:
    """A text in the colour of its verdict. Where the output is no terminal, `typer.echo` takes it away again."""
    if "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return text
    colour = COLOURS.get(verdict.rstrip("?"))
    return typer.style(text, fg=colour) if colour else text


@app.command()
def sweep(  # noqa: PLR0913 - one argument per option
    campaign: Annotated[Path, typer.Argument(metavar="CAMPAIGN.toml", help="The campaign's file.")],
    *,
    out: Annotated[Path, typer.Option(help="The store. What it already has is not run again.")] = DEFAULT_OUT,
    share: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Run the I-th of N shares alone, as a job of an array does."),
    ] = None,
    workers: WorkersOption = None,
    max_memory: MemoryOption = None,
    dask: DaskOption = None,
    slurm: SlurmOption = None,
    slurm_options: SlurmOptions = None,
) -> None:
    """Run a scenario over a grid of values; stop with Ctrl-C and resume at will."""
    resume = f"; every finished run is in {out}: the same command goes on from there"
    with reporting(resume):
        bound = octets(max_memory) if max_memory is not None else None
        where = Where(workers, bound, dask, slurm, slurm_options or [])
        part = share_of(share) if share is not None else None
        with where.executing() as executor:
            result = api.sweep(
                campaign,
                out=out,
                share=part,
                executor=executor,
                max_memory=bound,
                progress=for_terminal(),
            )
        show_sweep(result, out)
    if result.failures:
        raise typer.Exit(RopewalkError.exit_code)


def share_of(text: str) -> tuple[int, int]:
    """The two numbers of a share."""
    part, slash, parts = text.partition("/")
    if not (slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise InputError(f"--share {text}: expected I/N, with I from 1 to N, as in 3/100", key="share")
    return int(part), int(parts)


def show_sweep(result: SweepResult, out: Path) -> None:
    """Print a sweep's result."""
    from ropewalk.tables import of_sweep

    if not result.connections.is_empty():
        head, rule, *rows = of_sweep(result).splitlines()
        typer.echo("\n".join([head, rule, *(in_colour(row, verdict_of(row)) for row in rows)]))
    failed = f", {len(result.failures)} failed" if result.failures else ""
    left = f", {len(result.left)} left to other shares" if result.left else ""
    found = f"{result.computed} runs done, {result.skipped} found in the store"
    typer.echo(f"\n{found}{failed}{left}; results in {out}")


def verdict_of(row: str) -> str:
    """The verdict in the last column of a sweep's table."""
    return row.rsplit(maxsplit=1)[-1]


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
        require("figures", "comparisons and their pages")
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
    slurm: SlurmOption = None,
    slurm_options: SlurmOptions = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run everything anew, also what an interrupted one has run.")
    ] = False,
) -> None:
    """Make a paper's figures, published and measured side by side; stop with Ctrl-C and resume at will.

    Minutes of processor time in full: reordering 1, degraded-path and mesh-routing up to 3, diamond 6, mesh-transport
    15, bonding about 60, bonding-outlook about 90.
    """
    from ropewalk import studies
    from ropewalk.studies import claims
    from ropewalk.studies.cells import Runner
    from ropewalk.studies.names import REGISTRY

    resume = f"; every finished run is in {out}: the same command goes on from there"
    where = Where(workers, None, dask, slurm, slurm_options or [])
    with reporting(resume), where.executing() as executor:
        require("figures", "the figures and reports of studies")
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
        if out is not None:
            require("figures", "pages with figures")
        analyses = []
        for file in files:
            analyses.append(of_file(file, interval_s=interval, gap_s=gap))
            typer.echo(to_json(analyses[-1].summary()) if json else text(analyses[-1]) + "\n")
        if out is not None:
            written = write(analyses, out)
            typer.echo(f"written: {len(written)} files in {out}", err=json)


@app.command()
def examples() -> None:
    """List the scenarios that the package comes with."""
    from ropewalk import examples as shipped

    with reporting():
        known = shipped.names()
        width = max(map(len, known))
        typer.echo("\n".join(f"{name.ljust(width)}  {description}" for name, description in known.items()))
        typer.echo(f"\nropewalk new {shipped.FIRST} writes one to change and run", err=True)


@app.command()
def new(
    example: Annotated[
        str | None,
        typer.Argument(help="Which: `ropewalk examples` lists them.", show_default="degraded-path"),
    ] = None,
    *,
    name: Annotated[str | None, typer.Option(help="What the scenario is called, and its file.")] = None,
    out: Annotated[Path, typer.Option(help="The folder to write it into.")] = Path(),
) -> None:
    """Write a scenario to begin with, and the files that it needs."""
    from ropewalk import examples as shipped

    with reporting():
        files = shipped.write(example or shipped.FIRST, out, name)
        typer.echo("\n".join(f"written: {file}" for file in files))
        typer.echo(f"\nropewalk run {files[0]}", err=True)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="What `sweep` or `run --out` has filled.")] = DEFAULT_OUT,
    *,
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="TABLE", help="Which table. Repeatable.", show_default="all but the series"),
    ] = None,
    kind: Annotated[
        str, typer.Option("--format", metavar="parquet|csv", help="The files' format.")
    ] = "parquet",
    out: Annotated[
        Path | None, typer.Option(help="Where the files go.", show_default="FOLDER/export")
    ] = None,
) -> None:
    """Write each table of a campaign as one file, with a column for each key of its grid."""
    from ropewalk import opened

    with reporting():
        files = opened.export(folder, cast("list[Table] | None", table), kind, out)
        typer.echo("\n".join(f"written: {file}" for file in files))


@app.command()
def view(
    what: Annotated[
        list[Path],
        typer.Argument(metavar="RESULT|SCENARIO.toml…", help="One run, or two to be seen side by side."),
    ],
    *,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**64 - 1, help="The seed.", show_default="the scenario's")
    ] = None,
    settings: SetOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="The page.", show_default="<scenario>.html")
    ] = None,
) -> None:
    """Make a page that shows what happened in a run, and why: one file, which works without a network.

    A scenario is run, with all its events; of a result those are shown that its scenario asked for.
    """
    from ropewalk import view as viewing

    with reporting():
        if len(what) > MOST_VIEWED:
            raise InputError(f"view shows one run or two side by side, not {len(what)}", key="RESULT")
        shown = [viewed(one, seed, settings) for one in what]
        file = out or Path(f"{file_name(shown[0].name)}.html")
        viewing.write(shown, file)
        typer.echo(f"page: {file}")


def viewed(what: Path, seed: int | None, settings: list[str] | None) -> Shown:
    """The run to be shown: that of a scenario is carried out, that of a store is read."""
    from ropewalk import view as viewing

    if what.suffix != ".toml":
        if settings:
            raise InputError("--set is for scenarios: a result is what it is", key="set")
        return viewing.of_store(what, seed)
    source = source_of(what, settings)
    # Kernels tell of no events.
    if not any(key == "scenario.events" for key, _ in source.overrides) and not check(source).emulated:
        source = source.with_overrides({"scenario.events": ["all"]})
    return viewing.of_result(api.run(source, seed=seed, compare=False, drawing=bar_or_silent()))


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
