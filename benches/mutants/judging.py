"""Which tests reach a mutant, and whether one of them fails with it."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from building import Program
    from rewriting import Mutant

SETTINGS: Final = {
    "PROPTEST_CASES": "32",
    "PROPTEST_RNG_SEED": "1",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
}
QUICK_S: Final = 0.05
"""Tests that take less run together, in one process."""
TOGETHER: Final = 200
PATIENCE_S: Final = 6.0
SLOWER: Final = 8
"""A test that takes so many times as long as without a mutant, and `PATIENCE_S`, does not end."""
MEMORY: Final = 4 << 30
"""Octets that a test may take: some mutants fill a queue for ever."""


class Test(NamedTuple):
    """A test, how long it takes, and which mutants it reaches. Without a test harness it has no name."""

    program: int
    name: str | None
    seconds: float
    reached: list[int]


class Verdict(NamedTuple):
    """`caught`, `timeout` or `survived`, and by which test."""

    id: int
    verdict: str
    by: str


def execute(
    program: Program, arguments: list[str], variables: dict[str, str], limit_s: float
) -> tuple[int | None, str]:
    """Run a test program: exit code, `None` if it did not end, and its output."""
    command = ["prlimit", f"--as={MEMORY}", program.path, *arguments]
    try:
        done = subprocess.run(
            command,
            check=False,
            cwd=program.folder,
            env=os.environ | SETTINGS | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=limit_s,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout.decode(errors="replace")


class Judge:
    """Runs the tests of some programs."""

    def __init__(self, programs: list[Program], folder: Path, *, slowest_s: float) -> None:
        self.programs, self.folder, self.slowest_s = programs, folder, slowest_s
        self.workers = len(os.sched_getaffinity(0))
        self.tests: list[Test] = []
        self.by_mutant: dict[int, list[Test]] = defaultdict(list)

    def cover(self) -> None:
        """Run each test by itself, without a mutant.

        Raises:
            RuntimeError: A test fails.
        """
        jobs = [(place, name) for place, program in enumerate(self.programs) for name in names(program)]
        with ThreadPoolExecutor(self.workers) as pool:
            self.tests = [test for test in pool.map(self._covered, jobs) if test.seconds < self.slowest_s]
        for test in sorted(self.tests, key=lambda test: test.seconds):
            for mutant in test.reached:
                self.by_mutant[mutant].append(test)
        print(
            f"{len(jobs)} tests, {len(self.tests)} of them in less than {self.slowest_s:g} s each", flush=True
        )

    def _covered(self, job: tuple[int, str | None]) -> Test:
        place, name = job
        seen = self.folder / f"reached-{threading.get_ident()}"
        seen.unlink(missing_ok=True)
        begin = time.monotonic()
        arguments = [name, "--exact", "--test-threads=1"] if name else []
        code, _ = execute(self.programs[place], arguments, {"COVER": str(seen)}, 600)
        if code != 0:
            raise RuntimeError(f"{self.programs[place].name}: {name} fails without a mutant")
        reached = sorted({int(line) for line in seen.read_text().split()}) if seen.exists() else []
        seen.unlink(missing_ok=True)
        return Test(place, name, time.monotonic() - begin, reached)

    def judge(self, mutants: list[Mutant]) -> dict[int, Verdict]:
        """Verdicts on all; what a run before this one has judged is taken over."""
        results = self.folder / "results.jsonl"
        lines = results.read_text().splitlines() if results.exists() else []
        known = {verdict.id: verdict for verdict in (Verdict(**json.loads(line)) for line in lines)}
        left = [mutant["id"] for mutant in mutants if mutant["id"] not in known]
        lock, begin = threading.Lock(), time.monotonic()
        with results.open("a") as file, ThreadPoolExecutor(self.workers) as pool:
            for done, verdict in enumerate(pool.map(self._verdict, left), 1):
                with lock:
                    known[verdict.id] = verdict
                    file.write(json.dumps(verdict._asdict()) + "\n")
                    file.flush()
                if done % 100 == 0:
                    rest = (time.monotonic() - begin) / done * (len(left) - done)
                    print(f"{done} of {len(left)} judged, about {rest / 60:.0f} min left", flush=True)
        return known

    def _verdict(self, mutant: int) -> Verdict:
        tests = self.by_mutant.get(mutant, [])
        quick: dict[int, list[Test]] = defaultdict(list)
        for test in tests:
            if test.name and test.seconds < QUICK_S:
                quick[test.program].append(test)
        groups = [part for group in quick.values() for part in parts(group)]
        groups += [[test] for test in tests if not (test.name and test.seconds < QUICK_S)]
        for group in groups:
            verdict = self._run(mutant, group)
            if verdict:
                return verdict
        return Verdict(mutant, "survived", "")

    def _run(self, mutant: int, tests: list[Test]) -> Verdict | None:
        program = self.programs[tests[0].program]
        named = [test.name for test in tests if test.name]
        arguments = ["--exact", "--test-threads=1", *named] if named else []
        limit = PATIENCE_S + SLOWER * sum(test.seconds for test in tests)
        code, output = execute(program, arguments, {"MUTANT": str(mutant)}, limit)
        if code == 0:
            return None
        failed = [
            line.split()[1] for line in output.splitlines() if line.startswith("test ") and "FAILED" in line
        ]
        by = f"{program.name}: {failed[0] if failed else ', '.join(named[:1])}"
        return Verdict(mutant, "timeout" if code is None else "caught", by)


def parts(tests: list[Test]) -> list[list[Test]]:
    """So many that run together."""
    return [tests[at : at + TOGETHER] for at in range(0, len(tests), TOGETHER)]


def names(program: Program) -> list[str | None]:
    """The tests of a program, without those that are ignored. A program that lists none is a test itself."""

    def listed(*options: str) -> list[str]:
        _, output = execute(program, ["--list", "--format", "terse", *options], {}, 60)
        return [line.removesuffix(": test") for line in output.splitlines() if line.endswith(": test")]

    ignored = set(listed("--ignored"))
    found = [name for name in listed() if name not in ignored]
    return [*found] or [None]


def table(mutants: list[Mutant], verdicts: dict[int, Verdict], refused: set[int]) -> str:
    """How many of each crate were caught, as Markdown."""
    rows = [
        "| crate | mutants | do not compile | caught | do not end | survive |",
        "|---|---|---|---|---|---|",
    ]
    for package in sorted({mutant["package"] for mutant in mutants}):
        own = [mutant["id"] for mutant in mutants if mutant["package"] == package]
        count = Counter(verdicts[number].verdict for number in own if number in verdicts)
        figures = (
            len(own),
            len(refused & set(own)),
            *(count[kind] for kind in ("caught", "timeout", "survived")),
        )
        rows.append(f"| `{package}` | " + " | ".join(str(figure) for figure in figures) + " |")
    return "\n".join(rows)
