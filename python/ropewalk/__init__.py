"""Ropewalk: a deterministic simulator of TCP and Multipath TCP.

    >>> import ropewalk
    >>> result = ropewalk.run("scenarios/degraded-path.toml", replications=10)   # doctest: +SKIP
    >>> result.connections                                                       # doctest: +SKIP
    >>> result.benefit()                                                         # doctest: +SKIP

Tables are Polars frames. Everything heavy is imported on first use.
"""

from __future__ import annotations

# As in `typing`, whose import would be a tenth of the time until the command answers its first signal.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Final

    from ropewalk.analysis import Analysis, analyse
    from ropewalk.api import check, compare, explain, run, schema, sweep, version
    from ropewalk.benefit import Benefit
    from ropewalk.builder import Scenario
    from ropewalk.campaign import Campaign
    from ropewalk.comparison import Comparison
    from ropewalk.errors import (
        CampaignError,
        InputError,
        InterruptedRunError,
        RopewalkError,
        RunError,
        ScenarioError,
        StoreError,
        UnsupportedError,
    )
    from ropewalk.executor import Executor, LocalExecutor
    from ropewalk.opened import StoredResults, export
    from ropewalk.opened import open_folder as open  # noqa: A004 - `ropewalk.open`, as other libraries have it
    from ropewalk.results import RunResult, SweepResult
    from ropewalk.statistics import Interval

__all__ = [
    "Analysis",
    "Benefit",
    "Campaign",
    "CampaignError",
    "Comparison",
    "Executor",
    "InputError",
    "InterruptedRunError",
    "Interval",
    "LocalExecutor",
    "RopewalkError",
    "RunError",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "StoreError",
    "StoredResults",
    "SweepResult",
    "UnsupportedError",
    "analyse",
    "check",
    "compare",
    "explain",
    "export",
    "open",
    "run",
    "schema",
    "sweep",
    "version",
]

_HOMES: Final = {
    "Analysis": "analysis",
    "Benefit": "benefit",
    "Campaign": "campaign",
    "Comparison": "comparison",
    "Executor": "executor",
    "Interval": "statistics",
    "LocalExecutor": "executor",
    "RunResult": "results",
    "SweepResult": "results",
    "Scenario": "builder",
    "StoredResults": "opened",
    "analyse": "analysis",
    "export": "opened",
    "open": "opened",
}
_INNER: Final = {"open": "open_folder"}
"""Names that are called otherwise where they are."""


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for, so that the command starts at once."""
    import importlib

    if name == "__version__":
        return importlib.import_module("ropewalk.api").version()
    if name not in __all__:
        raise AttributeError(f"module 'ropewalk' has no attribute {name!r}")
    home = "errors" if name.endswith("Error") else _HOMES.get(name, "api")
    return getattr(importlib.import_module(f"ropewalk.{home}"), _INNER.get(name, name))


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
