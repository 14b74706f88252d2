"""A stand-in for the core, for what real runs do not show: failures, waits, a disk full at a given moment."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ropewalk.errors import InterruptedRunError, RunError, ScenarioError
from ropewalk.source import Source

VERSION = "0.0.fake"


@dataclass
class Info:
    name: str
    hash: str
    seed: int
    duration_s: float
    multipath: dict[str, list[str]]
    emulated: bool = False
    memory_bytes: int = 1_000_000
    series_bytes: int = 1_000


class Interrupt:
    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()


@dataclass
class Outcome:
    tree: dict[str, Any]
    digest: str
    seed: int
    with_series: bool
    disk: Disk

    def summary(self) -> str:
        connection = {
            "name": "bulk",
            "protocol": self.tree["protocol"],
            "bytes": 1000 * self.seed,
            "goodput_mbps": self.goodput,
            "start_s": 0.0,
            "end_s": None,
            "completed": False,
            "subflows": [
                {
                    "path": path,
                    "bytes": 500,
                    "throughput_mbps": 1.0,
                    "retransmissions": 0,
                    "spurious_retransmissions": 0,
                    "timeouts": 0,
                    "srtt_ms": 20.0,
                }
                for path in self.tree["paths"]
            ],
        }
        link = {
            "name": "a",
            "direction": "client->server",
            "bytes": 1,
            "packets": 1,
            "drops_queue": 0,
            "drops_loss": 0,
            "utilisation": 0.5,
        }
        head = {"scenario": self.tree["name"], "seed": self.seed, "version": VERSION, "duration_s": 1.0}
        return json.dumps({**head, "connections": [connection], "links": [link]})

    @property
    def goodput(self) -> float:
        per_path = {"a": 10.0, "b": float(self.tree.get("b", 2.0))}
        factor = float(self.tree.get("factor", 1.0)) if self.tree["protocol"] == "mptcp" else 1.0
        return factor * sum(per_path[path] for path in self.tree["paths"]) + 0.001 * self.seed

    def _frame(self, **columns: Any) -> pl.DataFrame:
        head = {"scenario": [self.tree["name"]], "scenario_hash": [self.digest], "seed": [self.seed]}
        return pl.DataFrame(head | columns, schema_overrides={"seed": pl.UInt64})

    @property
    def connections(self) -> pl.DataFrame:
        return self._frame(name=["bulk"], goodput_mbps=[self.goodput])

    @property
    def subflows(self) -> pl.DataFrame:
        return self._frame(connection=["bulk"], subflow=[0])

    @property
    def links(self) -> pl.DataFrame:
        return self._frame(name=["a"], direction=["client->server"])

    @property
    def series(self) -> pl.DataFrame:
        return self._frame(time_s=[0.1])

    @property
    def mptcp_series(self) -> pl.DataFrame:
        return self._frame(connection=["bulk"]).clear()

    @property
    def link_series(self) -> pl.DataFrame:
        return self._frame(name=["a"]).clear()

    @property
    def events(self) -> pl.DataFrame:
        return self._frame(event=["dropped"]).clear()

    @property
    def bonds(self) -> pl.DataFrame:
        return self._frame(name=["home"]).clear()

    @property
    def radios(self) -> pl.DataFrame:
        return self._frame(station=["s"]).clear()

    @property
    def hops(self) -> pl.DataFrame:
        return self._frame(**{"from": ["s"]}).clear()

    @property
    def broadcasts(self) -> pl.DataFrame:
        return self._frame(name=["hello"]).clear()

    @property
    def frames(self) -> pl.DataFrame:
        return self._frame(connection=["voice"]).clear()

    @property
    def routes(self) -> pl.DataFrame:
        return self._frame(name=["mesh"]).clear()

    @property
    def commands(self) -> pl.DataFrame:
        return self._frame(host=["client"]).clear()

    @property
    def sockets(self) -> pl.DataFrame:
        return self._frame(host=["client"]).clear()

    @property
    def processes(self) -> pl.DataFrame:
        return self._frame(name=["links"]).clear()

    def write(self, folder: str, stem: str) -> list[str]:
        self.disk.write()
        metadata = {"scenario_hash": self.digest, "seed": str(self.seed), "engine_version": VERSION}
        tables = ["subflows", "links", *(["series"] if self.with_series else []), "connections"]
        written = []
        for table in tables:
            file = Path(folder, f"{stem}.{table}.parquet")
            beside = file.with_suffix(".parquet.partial")
            getattr(self, table).write_parquet(beside, metadata=metadata)
            beside.rename(file)
            written.append(str(file))
        return written


@dataclass
class Disk:
    """Takes so many runs, then is full."""

    free: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self) -> None:
        with self.lock:
            if self.free is not None:
                if self.free == 0:
                    raise OSError(28, "No space left on device")
                self.free -= 1


class FakeCore:
    """What `ropewalk._core` offers. A scenario is a flat table: name, protocol, paths, b, factor."""

    RunError = RunError
    ScenarioError = ScenarioError

    def __init__(self) -> None:
        self.disk = Disk()
        self.ran: list[tuple[str, int]] = []
        self.failing_seeds: set[int] = set()
        self.stop_after: int | None = None
        """After so many runs, the next ones wait until they are interrupted."""
        self.blocked = threading.Event()
        """Set when a run waits for its interruption."""
        self._lock = threading.Lock()
        self.Interrupt = Interrupt
        self.at_once = 0
        """Most runs at a time."""
        self._running = 0
        self.findings: list[tuple[str, str, str | None]] = []
        """What the doctor finds."""
        self.together = False
        """Whether a simulation waits until two have been there at a time."""
        self._met = threading.Event()
        self.left: list[str] = []
        """What dead runs have left."""

    def version(self) -> str:
        return VERSION

    def schema(self) -> str:
        return '{"title": "fake"}'

    def _tree(self, source: Source) -> dict[str, Any]:
        tree = {"protocol": "mptcp", "paths": ["a", "b"]} | tomllib.loads(source.text)
        for key, value in source.overrides:
            if key not in {"name", "protocol", "paths", "b", "factor", "seed", "emulated"}:
                message = f"unknown key `{key}`"
                raise ScenarioError(message, key=key)
            try:
                tree[key] = tomllib.loads(f"v = {value}")["v"]
            except tomllib.TOMLDecodeError:
                tree[key] = value
        return tree

    def check(self, source: Source, *waiting: object) -> Info:
        tree = self._tree(source)
        digest = hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()
        multipath = {"bulk": ["bulk"]} if tree["protocol"] == "mptcp" else {}
        emulated = bool(tree.get("emulated", False))
        return Info(tree["name"], digest, int(tree.get("seed", 1)), 1.0, multipath, emulated)

    def doctor(self, clean: bool) -> tuple[list[tuple[str, str, str | None]], list[str]]:
        return self.findings, self.left if clean else []

    def explain(self, source: Source, *waiting: object) -> str:
        return json.dumps(self._tree(source), sort_keys=True)

    def references(self, source: Source, *waiting: object) -> list[tuple[str, str, str]]:
        tree = self._tree(source)
        b = tree.get("b", 2.0)
        return [
            ("bulk", p, f'name = "{tree["name"]}"\nprotocol = "tcp"\npaths = ["{p}"]\nb = {b}\n')
            for p in tree["paths"]
        ]

    def run(
        self,
        source: Source,
        seed: int | None = None,
        series: bool = True,
        capture: str | None = None,
        interrupt: Interrupt | None = None,
        **_captures: object,
    ) -> Outcome:
        info = self.check(source)
        seed = info.seed if seed is None else seed
        with self._lock:
            self._running += 1
            self.at_once = max(self.at_once, self._running)
            waits = self.stop_after is not None and len(self.ran) >= self.stop_after
            if not waits:
                self.ran.append((info.hash, seed))
        if self.at_once > 1:
            self._met.set()
        if info.emulated:
            time.sleep(0.01)
        elif self.together:
            self._met.wait(600)
        with self._lock:
            self._running -= 1
        if waits and interrupt is not None:
            self.blocked.set()
            interrupt._event.wait()
            raise InterruptedRunError("interrupted")
        if seed in self.failing_seeds:
            raise RunError(f"seed {seed} failed")
        if capture is not None:
            Path(capture, "a.pcapng").write_bytes(b"pcapng")
        return Outcome(self._tree(source), info.hash, seed, series, self.disk)
