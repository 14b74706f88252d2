"""Claims as data: what each study judged, in one file and as one table.

`ropewalk reproduce` writes `claims.json` beside the studies' folders. `python -m ropewalk.studies.claims FILE FOLDER`
puts it into a folder of documents, writes the page `claims.md` from it, and fills the pages of the studies (`pages`).
Studies that the file does not have stay as they are there.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ropewalk.report import Verdict
from ropewalk.store import write_json, write_text
from ropewalk.studies import pages
from ropewalk.studies.names import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ropewalk.report import Claim

FILE: Final = "claims.json"
PAGE: Final = "claims.md"
HASTY: Final = "Too few runs for a verdict."
"""What a quick run says of every claim."""


def of_study(name: str, paper: str, provenance: Mapping[str, str], claims: Sequence[Claim]) -> dict[str, Any]:
    """A study's claims with what they rest on."""
    return {
        "study": name,
        "paper": paper,
        "provenance": dict(provenance),
        "claims": [
            {
                "claim": claim.claim,
                "published": claim.published,
                "rerun": claim.rerun,
                "papers_rules": claim.measured,
                "correct": claim.correct,
                "verdict": str(claim.verdict),
                "why": claim.why,
            }
            for claim in claims
        ],
    }


def collect(out: Path, studies: Sequence[str]) -> Path:
    """Put the claims of all studies below a folder, this command's and earlier ones', into one file."""
    found = [path for name in studies if (path := out / name / FILE).exists()]
    trees = [json.loads(path.read_text(encoding="utf-8")) for path in found]
    return write_json(out / FILE, {"studies": trees})


def page(tree: Mapping[str, Any]) -> str:
    """The claims as one table in Markdown, with counts on top."""
    rows = [(study, claim) for study in tree["studies"] for claim in study["claims"]]
    counts = Counter(claim["verdict"] for _, claim in rows)
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    lines = [
        "# All claims",
        "",
        "What the five papers claim, and what came of it. This page is written from [claims.json](claims.json) by",
        "`python -m ropewalk.studies.claims`; `ropewalk reproduce` writes that file. [Studies](../studies.md) says",
        "what the verdicts mean.",
        "",
        f"**{len(rows)} claims**" + (f": {listed}." if rows else "."),
    ]
    missing = [name for name in REGISTRY if name not in {study["study"] for study in tree["studies"]}]
    if missing:
        lines += [
            "",
            f"Not in the file yet: {', '.join(missing)}. `ropewalk reproduce {' '.join(missing)}` adds them.",
        ]
    for study in tree["studies"]:
        lines += ["", f"## {study['study']}", "", f"{study['paper']}", ""]
        lines += [f"- {key}: {value}" for key, value in study["provenance"].items()]
        lines += ["", f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
        lines += [_row(claim) for claim in study["claims"]]
    return "\n".join(lines) + "\n"


HEAD: Final = (
    "claim",
    "published",
    "authors' simulator, run again",
    "here under the paper's rules",
    "here, correct",
    "verdict",
)


def _row(claim: Mapping[str, str]) -> str:
    columns = ("claim", "published", "rerun", "papers_rules", "correct")
    cells = [claim[column] for column in columns] + [f"**{claim['verdict']}**. {claim['why']}"]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def brought_up_to_date(kept: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """What was kept, with the studies that were run now in place of what they said before."""
    studies = {study["study"]: study for tree in (kept, found) for study in tree["studies"]}
    return {"studies": [studies[name] for name in REGISTRY if name in studies]}


def main(source: Path, folder: Path) -> None:
    """Keep a file of claims in a folder with its page, and what other pages show of the results beside it.

    Studies that are not in the file stay as they are kept.
    """
    kept = folder / FILE
    before = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {"studies": []}
    tree = brought_up_to_date(before, json.loads(source.read_text(encoding="utf-8")))
    write_json(kept, tree)
    write_text(folder / PAGE, page(tree))
    pages.take_over(source.parent, folder)
    pages.fill(folder)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
