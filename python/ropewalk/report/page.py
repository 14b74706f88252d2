"""A report's parts in order, and the page they make."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ropewalk.figures import fragment
from ropewalk.store import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ropewalk.figures import Chart


@dataclass(frozen=True, slots=True)
class Claim:
    """Something the paper says, and what came of it."""

    claim: str
    published: str
    measured: str
    verdict: str
    """`holds`, `depends on a setting`, `artefact` or `does not hold`."""

    reason: str
    """One or two sentences: why it differs, or what it depends on."""


@dataclass(slots=True)
class Report:
    """Collects parts and writes them as a page."""

    title: str
    paper: str
    provenance: dict[str, str] = field(default_factory=dict)
    """What the results came from: engine version, seeds, durations."""

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
        self.parts.append({"kind": "chart", "html": html, "caption": chart.caption, "stem": chart.stem})

    def picture(self, svg: Path, caption: str) -> None:
        """Add a picture from an SVG file; its caption says what to see."""
        data = base64.b64encode(svg.read_bytes()).decode("ascii")
        self.parts.append({"kind": "picture", "data": data, "caption": caption, "stem": svg.stem})

    def table(self, caption: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Add a table; units belong into its head."""
        body = [[str(cell) for cell in row] for row in rows]
        self.parts.append({"kind": "table", "caption": caption, "head": list(head), "rows": body})

    def claims(self, claims: Sequence[Claim]) -> None:
        """Add the table of what was published beside what was measured."""
        self.parts.append({"kind": "claims", "claims": list(claims)})

    def write(self, path: Path) -> Path:
        """Write the page, whole or not at all."""
        import jinja2

        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("ropewalk.report", "."), autoescape=True, trim_blocks=True
        )
        html = environment.get_template("page.html.j2").render(report=self)
        write_text(path, html)
        return path
