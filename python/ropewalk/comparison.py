"""One scenario in two worlds, simulated and on Linux's kernels: what differs, and how sure that is."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from ropewalk import _core
from ropewalk.errors import InputError
from ropewalk.statistics import Interval, mean_interval, paired_difference
from ropewalk.store import Key, Table, read
from ropewalk.waiting import check

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from ropewalk.plan import Case, Plan
    from ropewalk.source import Source

WORLDS: Final = {"simulate": "ropewalk", "linux": "linux"}
"""The worlds, each with the stack that every host runs there."""

Row = dict[str, Any]
Name = tuple[str, str | None, str]
"""A connection, a path of it or None for the whole, and a measure."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of a connection, a bond, or a path of one, in both worlds. What a world does not tell is empty."""

    connection: str
    """The connection's name, or `bonds.NAME FROM->TO`."""

    path: str | None
    """The path's name; None for the whole connection or bond."""

    measure: str
    """A key of `MEASURES`."""

    first: Interval
    """Its mean in the first world."""

    second: Interval
    """Its mean in the second world."""

    difference: Interval
    """Second less first, paired by seed, over the seeds for which both worlds tell."""

    @property
    def part(self) -> Interval | None:
        """The difference as a part of the first world's mean; None where that is 0 or not known."""
        whole, one = self.first.mean, self.difference
        if one.n == 0 or not whole:
            return None
        return Interval(one.mean / whole, one.low / whole, one.high / whole, one.n)

    def as_json(self, worlds: Sequence[str]) -> Row:
        """With the names of the worlds as keys."""
        part = self.part
        name = {"connection": self.connection, "path": self.path, "measure": self.measure}
        figures = {worlds[0]: self.first, worlds[1]: self.second, "difference": self.difference}
        return name | figures | {"part": part}


MEASURES: Final = {
    "goodput_mbps": "goodput Mbit/s",
    "transfer_s": "transfer time s",
    "response_ms": "response time ms",
    "pause_s": "longest pause s",
    "received_part": "datagrams received %",
    "delay_median_ms": "median delay ms",
    "completed": "completed",
    "reinjected_kb": "reinjected kB",
    "share": "share of the path %",
    "retransmissions": "retransmissions",
    "spurious_retransmissions": "spurious retransmissions",
    "timeouts": "timeouts",
    "srtt_ms": "SRTT at the end ms",
    "delivered_part": "packets delivered %",
    "lost": "packets lost",
    "repaired": "packets sent again",
    "added_delay_ms": "delay by resequencing ms",
}
"""The measures and their words with units, in the order in which they are shown."""


@dataclass(frozen=True)
class World:
    """What has run of a scenario in one world."""

    name: str
    """A key of `WORLDS`."""

    hash: str
    """The scenario's hash there."""

    keys: tuple[Key, ...]
    """Where its runs are, by seed."""

    departures: tuple[tuple[str, str, str], ...] = ()
    """What the scenario says and the world does otherwise: the key, what is wrong with it, and what would do."""

    @classmethod
    def of(cls, name: str, case: Case) -> World:
        """The runs of a plan."""
        keys = tuple(job.key for job in case.jobs if job.key is not None)
        return cls(name, case.info.hash, keys, tuple(case.info.departures))

    def table(self, table: Table) -> pl.DataFrame:
        """One table of its runs."""
        return read(self.keys, table)

    @property
    def provenance(self) -> list[dict[str, str]]:
        """What the files say of each run; those of emulations name the kernel, and how late packets were."""
        import polars as pl

        return [pl.read_parquet_metadata(key.file("connections")) for key in self.keys]


@dataclass(frozen=True)
class Comparison:
    """A scenario in two worlds. Its runs lie in the store."""

    scenario: str
    """The scenario's name."""

    duration_s: float
    """How long each run is, in seconds."""

    seeds: tuple[int, ...]
    """The seeds, the same in both worlds."""

    worlds: tuple[World, World]
    """The first is what the second is compared with."""

    computed: int = 0
    """How many runs were carried out."""

    found: int = 0
    """How many were in the store already."""

    files: list[Path] = field(default_factory=list, repr=False)
    """What was written beside the runs."""

    @classmethod
    def of(cls, names: tuple[str, str], cases: Sequence[Case], computed: int) -> Comparison:
        """The cases of a plan that has run, one for each world; so many of its runs were not in the store."""
        first, second = (World.of(name, case) for name, case in zip(names, cases, strict=True))
        info, runs = cases[0].info, len(first.keys) + len(second.keys)
        worlds = (first, second)
        return cls(info.name, info.duration_s, cases[0].seeds, worlds, computed, runs - computed)

    @property
    def names(self) -> tuple[str, str]:
        """The worlds' names."""
        return self.worlds[0].name, self.worlds[1].name

    @property
    def departures(self) -> list[tuple[str, str, str]]:
        """Why it is not the same experiment; empty if it is."""
        return [departure for world in self.worlds for departure in world.departures]

    @property
    def lateness(self) -> list[Row]:
        """For each run on a kernel: its seed, and how late packets came out of the links, in ms."""
        keys = ("mean_ms", "p99_ms", "worst_ms")
        return [
            {"seed": int(run["seed"])} | {key: float(run[f"lateness_{key}"]) for key in keys}
            for world in self.worlds
            for run in world.provenance
            if "lateness_mean_ms" in run
        ]

    @property
    def processes(self) -> pl.DataFrame:
        """For each run on a kernel: the processor time of its parts, and how long they waited for it."""
        import polars as pl

        frames = [frame for world in self.worlds if not (frame := world.table("processes")).is_empty()]
        return pl.concat(frames) if frames else pl.DataFrame()

    @property
    def kernels(self) -> list[str]:
        """The releases of the kernels that it ran on."""
        runs = (run for world in self.worlds for run in world.provenance)
        return sorted({run["kernel"] for run in runs if "kernel" in run})

    @property
    def errors(self) -> list[Row]:
        """What connections complained of: `world`, `seed`, `connection`, `error`."""
        found: list[Row] = []
        for world in self.worlds:
            rows = world.table("connections").filter(_column("error").is_not_null())
            names = {"seed": "seed", "name": "connection", "error": "error"}
            found += [
                {"world": world.name} | {names[key]: row[key] for key in names}
                for row in rows.iter_rows(named=True)
            ]
        return found

    def differences(self) -> list[Difference]:
        """Every measure that either world tells, by connection, path and measure."""
        first, second = (_measured(world, self.duration_s) for world in self.worlds)
        names = dict.fromkeys([*first, *second])
        order = list(MEASURES)
        connections = list(dict.fromkeys(name[0] for name in names))
        paths = list(dict.fromkeys(name[1] for name in names))
        chosen = sorted(
            names, key=lambda name: (connections.index(name[0]), paths.index(name[1]), order.index(name[2]))
        )
        return [_difference(name, first.get(name, {}), second.get(name, {})) for name in chosen]

    def as_json(self) -> Row:
        """What `--json` prints."""
        keys = ("key", "message", "expected")
        return {
            "scenario": self.scenario,
            "version": _core.version(),
            "kernels": self.kernels,
            "worlds": list(self.names),
            "seeds": list(self.seeds),
            "not_the_same": [dict(zip(keys, departure, strict=True)) for departure in self.departures],
            "lateness": self.lateness,
            "processes": self.processes.drop("scenario", "scenario_hash", strict=False).to_dicts(),
            "errors": self.errors,
            "differences": [one.as_json(self.names) for one in self.differences()],
        }


def chosen(worlds: str | Iterable[str]) -> tuple[str, str]:
    """The two worlds that are meant: `simulate,linux`.

    Raises:
        InputError: They are not two different ones that there are.
    """
    names = [name.strip() for name in worlds.split(",")] if isinstance(worlds, str) else list(worlds)
    known = ", ".join(WORLDS)
    for name in names:
        if name not in WORLDS:
            near = difflib.get_close_matches(name, WORLDS, 1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            message = f"there is no world `{name}`; known: {known}{hint}"
            raise InputError(message, key="worlds", expected=known)
    match names:
        case [first, second] if first != second:
            return first, second
    expected = "two different ones, as in simulate,linux"
    raise InputError(f"these are no two worlds: {', '.join(names)}: expected {expected}", key="worlds")


Pair = tuple["Case", "Case"]
"""The same scenario in two worlds, with the same seeds."""


def planned(
    plan: Plan, source: Source, worlds: tuple[str, str], seeds: Sequence[int] | None = None, count: int = 1
) -> Pair:
    """Add a scenario to a plan, in both worlds; without seeds with so many from its own upwards.

    Raises:
        ScenarioError: It is not valid, or this machine cannot run it.
    """
    sources = [replace(source, stack=WORLDS[world]) for world in worlds]
    infos = [check(one) for one in sources]
    chosen_seeds = seeds or range(infos[0].seed, infos[0].seed + count)
    first, second = (
        plan.add(one, info, chosen_seeds, f"{info.name} on {one.stack}")
        for one, info in zip(sources, infos, strict=True)
    )
    return first, second


def _column(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name)


Values = dict[int, float]
"""A measure by seed; one that a run does not tell is not there."""


def _difference(name: Name, first: Values, second: Values) -> Difference:
    both = [seed for seed in first if seed in second]
    paired = paired_difference([second[seed] for seed in both], [first[seed] for seed in both])
    return Difference(*name, mean_interval(first.values()), mean_interval(second.values()), paired)


def _measured(world: World, duration_s: float) -> dict[Name, Values]:
    """Every measure of a world."""
    found: dict[Name, Values] = {}
    rows = world.table("connections").to_dicts()
    cut = {row["name"] for row in rows if not row["completed"]}
    for row in rows:
        for measure, value in _of_connection(row, duration_s, cut=row["name"] in cut):
            if value is not None:
                found.setdefault((row["name"], None, measure), {})[row["seed"]] = value
    datagrams = {row["name"] for row in rows if row["protocol"] == "udp"}
    subflows = [row for row in world.table("subflows").to_dicts() if row["connection"] not in datagrams]
    for (connection, path, seed), measures in _of_paths(subflows).items():
        for measure, value in measures.items():
            if value is not None:
                found.setdefault((connection, path, measure), {})[seed] = value
    multipath = [row["name"] for row in rows if row["protocol"] == "mptcp"]
    series = world.table("series").filter(_column("connection").is_in(multipath))
    for connection, seed, value in _pauses(series):
        found.setdefault((connection, None, "pause_s"), {})[seed] = value
    for name, seed, value in _of_bonds(world.table("bonds").to_dicts()):
        if value is not None:
            found.setdefault(name, {})[seed] = value
    return found


def _pauses(series: pl.DataFrame) -> Iterator[tuple[str, int, float]]:
    """The longest time in which an application got nothing before it got the last, in s, by connection and seed.

    It is as exact as the samples are apart.
    """
    whole = series.filter(_column("subflow").is_null(), _column("throughput_mbps") > 0)
    for (connection, seed), samples in whole.group_by("connection", "seed", maintain_order=True):
        times = samples["time_s"].to_list()
        apart = [after - before for before, after in pairwise(times)]
        if apart:
            yield str(connection), int(seed), max(apart) - min(apart)


def _of_bonds(rows: Sequence[Row]) -> Iterator[tuple[Name, int, float | None]]:
    """Measures of each direction of a bond that was offered packets, by seed; of a path its share of all octets."""
    directions: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        directions.setdefault((row["name"], row["direction"], row["seed"]), []).append(row)
    for (bond, direction, seed), group in directions.items():
        name = f"bonds.{bond} {direction}"
        [whole] = [row for row in group if row["path"] is None]
        if not (offered := whole["sent_packets"]):
            continue
        yield (name, None, "delivered_part"), seed, 100 * whole["received_packets"] / offered
        yield (name, None, "lost"), seed, float(whole["lost"])
        yield (name, None, "repaired"), seed, float(whole["repaired"])
        yield (name, None, "added_delay_ms"), seed, whole["added_delay_mean_ms"]
        paths = [row for row in group if row["path"] is not None]
        octets = sum(row["sent_bytes"] for row in paths)
        for row in paths:
            yield (name, row["path"], "share"), seed, 100 * row["sent_bytes"] / octets if octets else None
            yield (name, row["path"], "lost"), seed, float(row["lost"])


def _of_connection(row: Row, duration_s: float, *, cut: bool) -> Iterator[tuple[str, float | None]]:
    yield "goodput_mbps", row["goodput_mbps"]
    # One that goes on until the run is over has transferred nothing whole.
    if row["completed"] and row["end_s"] is not None and row["end_s"] < duration_s:
        yield "transfer_s", row["end_s"] - row["start_s"]
    if row["mean_response_s"] is not None:
        yield "response_ms", 1e3 * row["mean_response_s"]
    if row["datagrams_sent"]:
        yield "received_part", 100 * row["datagrams_received"] / row["datagrams_sent"]
    yield "delay_median_ms", row["delay_median_ms"]
    if cut:
        yield "completed", float(row["completed"])
    if row["protocol"] == "mptcp" and row["reinjected_bytes"] is not None:
        yield "reinjected_kb", row["reinjected_bytes"] / 1e3


def _of_paths(rows: Sequence[Row]) -> dict[tuple[str, str, int], dict[str, float | None]]:
    """Measures by connection, path and seed. Several subflows of one path count together."""
    together: dict[tuple[str, str, int], list[Row]] = {}
    octets: dict[tuple[str, int], int] = {}
    paths: dict[str, dict[str, None]] = {}
    for row in rows:
        connection, path, seed = row["connection"], row["path"], row["seed"]
        together.setdefault((connection, path, seed), []).append(row)
        octets[connection, seed] = octets.get((connection, seed), 0) + row["bytes"]
        paths.setdefault(connection, {})[path] = None
    found: dict[tuple[str, str, int], dict[str, float | None]] = {}
    for (connection, seed), whole in octets.items():
        for path in paths[connection]:
            group = together.get((connection, path, seed), [])
            counts = ("retransmissions", "spurious_retransmissions", "timeouts")
            measures = {key: _sum(row[key] for row in group) for key in counts}
            measures["srtt_ms"] = group[-1]["srtt_ms"] if group else None
            if len(paths[connection]) > 1 and whole:
                measures["share"] = 100 * sum(row["bytes"] for row in group) / whole
            found[connection, path, seed] = measures
    return found


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum; None for nothing, or if one is not known."""
    every = list(values)
    known = [value for value in every if value is not None]
    return float(sum(known)) if known and len(known) == len(every) else None
