"""The Rust extension: scenarios in, Arrow tables out."""

from typing import Protocol

from ropewalk.errors import RunError as RunError
from ropewalk.errors import ScenarioError as ScenarioError

class ArrowStream(Protocol):
    """A table in the Arrow PyCapsule interface: `polars.DataFrame(table)` takes it without a copy."""

    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Info:
    """What a valid scenario is, before it runs."""

    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def emulated(self) -> bool: ...
    @property
    def departures(self) -> list[tuple[str, str, str]]: ...
    @property
    def multipath(self) -> dict[str, list[str]]: ...

class Interrupt:
    """Stops runs from another thread."""

    def __init__(self) -> None: ...
    def set(self) -> None: ...
    def is_set(self) -> bool: ...

class Outcome:
    """What one run measured."""

    def summary(self) -> str: ...
    @property
    def connections(self) -> ArrowStream: ...
    @property
    def subflows(self) -> ArrowStream: ...
    @property
    def links(self) -> ArrowStream: ...
    @property
    def series(self) -> ArrowStream: ...
    @property
    def bonds(self) -> ArrowStream: ...
    @property
    def bond_series(self) -> ArrowStream: ...
    @property
    def radios(self) -> ArrowStream: ...
    @property
    def broadcasts(self) -> ArrowStream: ...
    @property
    def routes(self) -> ArrowStream: ...
    @property
    def route_changes(self) -> ArrowStream: ...
    def write(self, folder: str, stem: str) -> list[str]: ...

def version() -> str: ...
def doctor(clean: bool) -> tuple[list[tuple[str, str, str | None]], list[str]]: ...
def schema() -> str: ...
def check(
    source: str,
    path: str | None,
    overrides: list[tuple[str, str]],
    seed: int | None = None,
    interrupt: Interrupt | None = None,
    progress: RouteProgress | None = None,
    stack: str | None = None,
) -> Info: ...
def explain(
    source: str,
    path: str | None,
    overrides: list[tuple[str, str]],
    interrupt: Interrupt | None = None,
    progress: RouteProgress | None = None,
) -> str: ...
def references(
    source: str, path: str | None, overrides: list[tuple[str, str]], interrupt: Interrupt | None = None
) -> list[tuple[str, str, str]]: ...
def run(
    source: str,
    path: str | None,
    overrides: list[tuple[str, str]],
    seed: int | None = None,
    series: bool = True,
    capture: str | None = None,
    interrupt: Interrupt | None = None,
    stack: str | None = None,
) -> Outcome: ...

_Place = tuple[float, float] | str

class RouteProgress:
    """How far a search is."""

    def __init__(self) -> None: ...
    @property
    def drawn(self) -> int: ...
    @property
    def found(self) -> int: ...
    @property
    def limit(self) -> int: ...

class RouteReport:
    """A deployment with its routes."""

    def json(self) -> str: ...
    def graphml(self) -> str: ...
    def judged(
        self,
        ties: str,
        seed: int,
        algorithms: list[str],
        *,
        channels: int = 1,
        assign: str = "per-route",
        radios: int = 1,
        metric: str = "hops",
        interference: float = 2.0,
        bit_rate: float = 11e6,
        frame_octets: int = 1500,
        delivery: float = 1.0,
        edge_loss: float = 0.0,
        edge_exponent: float = 4.0,
        beta: float = 0.5,
        switch_cost: float = 0.5,
        stay_cost: float = 1.0,
    ) -> RouteReport: ...

class RouteDeployments:
    """Deployments found by a search."""

    @property
    def reports(self) -> list[RouteReport]: ...
    @property
    def drawn(self) -> int: ...
    @property
    def connected(self) -> int: ...

class RouteStatistics:
    """The length of the routes of many deployments."""

    @property
    def table(self) -> ArrowStream: ...
    @property
    def drawn(self) -> int: ...
    @property
    def connected(self) -> int: ...

class RouteSearch:
    """What is drawn and what is kept."""

    def __init__(
        self,
        *,
        area: tuple[float, float],
        range_m: float,
        source: _Place,
        destination: _Place,
        condition: str,
        ties: str,
        seed: int,
        nodes: int | None = None,
        intensity: float | None = None,
        grid: tuple[int, int] | None = None,
        jitter: float = 0.0,
    ) -> None: ...
    def statistics(
        self,
        count: int,
        draws: int | None,
        workers: int,
        optimal: bool = False,
        interrupt: Interrupt | None = None,
        progress: RouteProgress | None = None,
    ) -> RouteStatistics: ...
    def deployments(
        self,
        count: int,
        draws: int | None,
        workers: int,
        algorithms: list[str],
        interrupt: Interrupt | None = None,
        progress: RouteProgress | None = None,
        first: int = 0,
    ) -> RouteDeployments: ...

def read_routes(
    text: str,
    file: str,
    ending: str | None,
    *,
    range_m: float | None = None,
    source: _Place | None = None,
    destination: _Place | None = None,
    ties: str = "lowest-node",
    seed: int = 1,
    algorithms: list[str] | None = None,
) -> RouteReport: ...
def route_names() -> list[list[str]]: ...

class Analysis:
    """What one capture shows."""

    @property
    def start_s(self) -> float: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def packets(self) -> int: ...
    @property
    def other_packets(self) -> int: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def connections(self) -> ArrowStream: ...
    @property
    def streams(self) -> ArrowStream: ...
    @property
    def subflows(self) -> ArrowStream: ...
    @property
    def gaps(self) -> ArrowStream: ...
    @property
    def events(self) -> ArrowStream: ...
    @property
    def series(self) -> ArrowStream: ...

def analyse(path: str, interval_s: float, gap_s: float, interrupt: Interrupt | None = None) -> Analysis: ...
