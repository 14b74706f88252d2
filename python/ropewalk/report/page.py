"""A report's parts in order, and the page they make."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from ropewalk.figures import fragment
from ropewalk.store import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ropewalk.figures import Chart


class Verdict(StrEnum):
    """What came of a claim."""

    HOLDS = "holds"
    """With correct protocols under what the paper says of its settings."""

    DEFECT = "holds with their defect"
    """Only with a rule of the paper's simulator that no standard has."""

    CONTRADICTED = "contradicted"
    """Whatever the text leaves open, it comes out otherwise."""

    UNDECIDABLE = "not decidable from the text"
    """It comes out either way, by a setting that the text does not give."""

    OPEN = "open"
    """Not settled: too few runs, or a cause that is not found."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Something the paper says, and what came of it."""

    claim: str
    published: str
    measured: str
    """Here, under the paper's settings and, where a study says so, the rules of its simulator."""

    verdict: Verdict
    reason: str
    """Why. The first sentence is shown, the others unfold."""

    rerun: str = ""
    """What the authors' own simulator gave when it was run again."""

    correct: str = ""
    """Here, with correct protocols, where that is something else."""

    @property
    def why(self) -> str:
        """The first sentence of the reason."""
        return SENTENCE.split(self.reason, maxsplit=1)[0]

    @property
    def further(self) -> str:
        """The others."""
        parts = SENTENCE.split(self.reason, maxsplit=1)
        return parts[1] if len(parts) > 1 else ""


PLAIN: Final = " !$'()*+,-./:;<=>?@[]^_`{|}~"
"""What stands for itself in a picture's address between double quotes: not what ends it, nor `&`, `#` and `%`."""
SENTENCE: Final = re.compile(r"(?<=[a-z0-9)`%]\.)\s+(?=[A-Z])")
"""Between two sentences."""


def today() -> str:
    """The date in UTC, or that of `SOURCE_DATE_EPOCH`, by which equal results become equal files on any day."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return f"{moment:%Y-%m-%d}"


@dataclass(slots=True)
class Report:
    """Collects parts and writes them as a page."""

    title: str
    paper: str
    provenance: dict[str, str] = field(default_factory=dict)
    """What the results came from: engine version, seeds, durations."""

    notice: str = ""
    """What a reader has to know before anything else, such as that there are few seeds."""

    parts: list[dict[str, object]] = field(default_factory=list)
    _charts: int = 0

    def heading(self, text: str) -> None:
        """Begin a section."""
        self.parts.append({"kind": "heading", "text": text})

    def text(self, *paragraphs: str) -> None:
        """Add paragraphs of plain text."""
        self.parts.extend({"kind": "text", "text": paragraph} for paragraph in paragraphs)

    def chart(self, chart: Chart) -> None:
        """Add an interactive chart; its caption says what to see."""
        html = fragment(chart, with_library=self._charts == 0)
        self._charts += 1
        self.parts.append(
            {
                "kind": "chart",
                "html": html,
                "caption": chart.caption,
                "stem": chart.stem,
                "title": chart.title,
            }
        )

    def picture(self, svg: Path, caption: str) -> None:
        """Add a picture from an SVG file; its caption says what to see."""
        # Base64 would take a third more room.
        data = quote(svg.read_text(encoding="utf-8"), safe=PLAIN)
        self.parts.append({"kind": "picture", "data": data, "caption": caption, "stem": svg.stem})

    def table(self, caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Add a table; units belong into its head."""
        body = [[str(cell) for cell in row] for row in rows]
        self.parts.append({"kind": "table", "caption": caption, "head": list(head), "rows": body})

    def tables(self) -> list[dict[str, object]]:
        """All tables as plain data: caption, head, rows."""
        return [
            {key: part[key] for key in ("caption", "head", "rows")}
            for part in self.parts
            if part["kind"] == "table"
        ]

    def claims(self, claims: Sequence[Claim]) -> None:
        """Add the table of what was published beside what was measured."""
        self.parts.append({"kind": "claims", "claims": list(claims)})

    def write(self, path: Path) -> Path:
        """Write the page, whole or not at all."""
        import jinja2

        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("ropewalk.report", "."), autoescape=True, trim_blocks=True
        )
        html = environment.get_template("page.html.j2").render(report=self, date=today())
        write_text(path, html)
        return path
