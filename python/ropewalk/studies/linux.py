"""The simulation beside the Linux kernel: the same scenarios in both worlds. It needs root, and real time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ropewalk.comparison import MEASURES, WORLDS, Comparison, Pair, planned
from ropewalk.executor import carry_out, missing
from ropewalk.plan import Plan, Settings
from ropewalk.store import write_text
from ropewalk.studies import StudyResult
from ropewalk.studies.linux_cases import Case, Group, groups
from ropewalk.studies.output import Output
from ropewalk.tables import PERCENT, Cell, cell, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ropewalk.comparison import Difference
    from ropewalk.statistics import Interval
    from ropewalk.studies.cells import Runner

TITLE: Final = "The simulation beside the Linux kernel"
PAPER: Final = (
    "Linux's own TCP and Multipath TCP, in namespaces of this machine, on the simulated links in real time."
)

WIDEST: Final = 0.10
"""An interval that contains 0 says that there is no difference only if it reaches no further on each side."""

HEAD: Final = ["case", "measure", *WORLDS, "difference %", "within", "late ms"]
"""Of the tables."""


def run(out: Path, quick: bool, runner: Runner) -> StudyResult:
    """Run every case in both worlds, pair after pair.

    Raises:
        ScenarioError: This machine has no Linux hosts; nothing has run.
        RunError: A run failed. What has run before is taken over by the next start.
        StoreError: Results could not be written or read back.
    """
    every = groups(quick=quick)
    plan = Plan(runner.store, Settings())
    pairs = {
        case.name: planned(plan, case.source, ("simulate", "linux"), range(1, 1 + case.seeds))
        for group in every
        for case in group.cases
    }
    plan.prepare(out)
    carry_out(missing(plan.jobs, runner.progress), runner.executor, runner.progress, TITLE)
    return _Study(out, every, pairs).finished()


class _Study(Output):
    """What came out."""

    def __init__(self, out: Path, every: Sequence[Group], pairs: dict[str, Pair]) -> None:
        super().__init__(out, TITLE, PAPER, {"kernel": f"Linux {os.uname().release}"})
        self._groups = every
        self._pairs = pairs

    def finished(self) -> StudyResult:
        """Write the page, and the same tables as Markdown; a finding for each row that is not within its bar."""
        self.report.text(
            "Each row is a scenario in both worlds with the same seeds, and so with the same losses as long as both "
            "send the same packets. The difference is paired by seed. Late: the 99th percentile of how late packets "
            "came out of the links in real time, in the worst run; where it is near the times that are compared, the "
            "machine was too busy for the row to say anything."
        )
        outside: list[str] = []
        pages: list[str] = []
        for group in self._groups:
            rows = [self._row(group, case) for case in group.cases]
            self.report.heading(group.title)
            self.report.text(group.about)
            body = [[cell(value) for value in row] for row in rows]
            self.report.table(group.bar_in_words, HEAD, body)
            outside += [f"{row[0]}: {row[4]} %" for row in body if row[5] == "no"]
            pages.append(_markdown(group, body))
        write_text(self.out / "linux.md", "\n".join(pages))
        self.files.append(self.out / "linux.md")
        result = self.finish("linux")
        return StudyResult(result.report, result.files, tuple(f"outside its bar: {row}" for row in outside))

    def _row(self, group: Group, case: Case) -> list[Cell]:
        comparison = Comparison.of(("simulate", "linux"), self._pairs[case.name], 0)
        measured = {one.measure: one for one in comparison.differences() if one.path is None}
        one = measured[case.measure]
        late = max((run["p99_ms"] for run in comparison.lateness), default=None)
        within = _within(one, group.bar) if group.seconds is None else _within_time(one, group.seconds)
        return [
            case.name,
            MEASURES[one.measure],
            one.first,
            one.second,
            scaled(one.part, PERCENT),
            within,
            late,
        ]


def _within(one: Difference, bar: float | None) -> Cell:
    """Is the mean within the bar, or is there no difference to be seen, by an interval that would show one?"""
    part: Interval | None = one.part
    if part is None or bar is None:
        return None
    seen = part.known and part.low <= 0 <= part.high and part.half_width <= WIDEST
    return abs(part.mean) <= bar or seen


def _within_time(one: Difference, seconds: float) -> Cell:
    """Is the mean within so many seconds?"""
    return abs(one.difference.mean) <= seconds if one.difference.n else None


def _markdown(group: Group, body: Sequence[Sequence[str]]) -> str:
    """The group as Markdown."""
    rows = ["| " + " | ".join(row) + " |" for row in (HEAD, ["---"] * len(HEAD), *body)]
    return "\n".join([f"## {group.title}", "", group.about, "", *rows, ""])
