"""The pages of the studies among the documents: what is written by hand stays, what results say is put in.

A page names what it shows by a comment: `<!-- figure STUDY: STEM, what it shows -->`, `<!-- table STUDY:
CAPTION -->` with the
beginning of a table's caption, `<!-- claims STUDY -->`.
What stands between such a comment and the next `<!-- end -->` is written anew.
"""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any, Final

from ropewalk.store import write_json, write_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLAIMS: Final = "claims.json"
TABLES: Final = "tables.json"
"""The tables that pages name, by study and the beginning of their caption."""
BLOCK: Final = re.compile(r"<!-- (figure|table|claims) ([a-z-]+)(?:: (.*?))? -->\n.*?<!-- end -->", re.DOTALL)
ABSENT: Final = "*The study has not been run since this page asks for it.*"


def named(folder: Path) -> Iterator[Path]:
    """The pages that are filled."""
    return (page for page in sorted(folder.glob("*.md")) if page.name != "claims.md")


def take_over(results: Path, folder: Path) -> None:
    """Copy the figures and tables that pages name from the folders of the studies' results, if these are there.

    Raises:
        LookupError: A study has no such table.
    """
    kept = folder / TABLES
    tables = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    wanted: dict[str, Any] = {}
    for page in named(folder):
        text = page.read_text(encoding="utf-8")
        for kind, study, caption in BLOCK.findall(text):
            if kind == "figure" and (results / study / TABLES).exists():
                file = folder / figure(study, caption)
                file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(results / study / file.name, file)
            if kind == "table":
                key = f"{study}: {caption}"
                found = _table(results / study / TABLES, caption) or tables.get(key)
                wanted |= {key: found} if found is not None else {}
    write_json(kept, wanted)


def figure(study: str, named: str) -> str:
    """The file of a figure, from the folder of pages."""
    return f"figures/{study}/{named.partition(', ')[0]}.svg"


def _table(file: Path, caption: str) -> dict[str, Any] | None:
    """The study's table whose caption begins so; None if the study has not been run."""
    if not file.exists():
        return None
    found = [
        table
        for table in json.loads(file.read_text(encoding="utf-8"))
        if table["caption"].startswith(caption)
    ]
    if len(found) != 1:
        raise LookupError(f"{len(found)} tables of {file} begin with `{caption}`, not one")
    return dict(found[0])


def fill(folder: Path) -> None:
    """Write what the kept claims and tables say into the pages."""
    for page in named(folder):
        write_text(page, filled(page.read_text(encoding="utf-8"), folder))


def filled(text: str, folder: Path) -> str:
    """A page with its blocks as the kept files have them."""
    tables = json.loads((folder / TABLES).read_text(encoding="utf-8"))
    tree = json.loads((folder / CLAIMS).read_text(encoding="utf-8"))
    studies = {study["study"]: study["claims"] for study in tree["studies"]}

    def block(match: re.Match[str]) -> str:
        kind, study, caption = match.groups()
        head = match.group(0).partition("\n")[0]
        if kind == "claims":
            body = _claims(studies.get(study))
        elif kind == "table":
            body = _markdown(tables.get(f"{study}: {caption}"))
        else:
            body = _image(folder, study, caption)
        return f"{head}\n{body}\n<!-- end -->"

    return BLOCK.sub(block, text)


def _image(folder: Path, study: str, named: str) -> str:
    file = figure(study, named)
    return f"![{named.partition(', ')[2]}]({file})" if (folder / file).exists() else ABSENT


def _claims(claims: list[dict[str, str]] | None) -> str:
    if claims is None:
        return ABSENT
    rows = [
        _row([claim["claim"], claim["published"], f"**{claim['verdict']}**. {claim['why']}"])
        for claim in claims
    ]
    return "\n".join([_row(["the paper says", "published", "verdict"]), "|---|---|---|", *rows])


def _markdown(table: dict[str, Any] | None) -> str:
    if table is None:
        return ABSENT
    head, rows = table["head"], table["rows"]
    lines = [table["caption"] + ".", "", _row([cell or " " for cell in head]), "|" + "---|" * len(head)]
    return "\n".join([*lines, *(_row(row) for row in rows)])


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
