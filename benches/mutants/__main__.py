"""Every mutant of `tcp` and `mptcp` that cargo-mutants knows, against their tests, in one build.

    .venv/bin/python benches/mutants [--slowest SECONDS] [--folder FOLDER] [PACKAGE…]

All mutants are compiled into the crates at once, and one of them is chosen when a test runs. Each runs against the
tests that reach it, the quickest first. What was judged is kept in the folder, and a second run goes on, unless the
mutants are others now. `survivors.txt` there names those that no test fails with. It needs cargo-mutants and the
packages tree-sitter and tree-sitter-rust.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from building import Tree, is_kept, keep, mutants_of
from judging import Judge, table

PACKAGES = ["ropewalk-tcp", "ropewalk-mptcp"]
ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Build, run, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="*", default=PACKAGES, metavar="PACKAGE")
    parser.add_argument(
        "--slowest", type=float, default=1.0, metavar="SECONDS", help="leave out slower tests"
    )
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "target" / "mutants", help="where everything goes"
    )
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    mutants = mutants_of(ROOT, options.packages)
    print(f"{len(mutants)} mutants", flush=True)
    tree = Tree(ROOT, folder, options.packages, mutants)
    tree.settle()
    left = [mutant for mutant in mutants if mutant["id"] not in tree.refused]
    judge = Judge(tree.programs(), folder, slowest_s=options.slowest)
    judge.cover()
    if not is_kept(folder / "mutants.json", mutants):
        (folder / "results.jsonl").unlink(missing_ok=True)
        keep(folder / "mutants.json", mutants)
    verdicts = judge.judge(left)
    survivors = [mutant["name"] for mutant in left if verdicts[mutant["id"]].verdict == "survived"]
    (folder / "survivors.txt").write_text("".join(f"{name}\n" for name in survivors), encoding="utf-8")
    print(table(mutants, verdicts, tree.refused))


main()
