"""What every study leaves behind: figures as files and in the report, data, and the report with its claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ropewalk import _core
from ropewalk.figures import save
from ropewalk.figures.deployment import save_deployment
from ropewalk.report import Report
from ropewalk.store import write_parquet
from ropewalk.studies import StudyResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from ropewalk.figures import Chart
    from ropewalk.report import Claim
    from ropewalk.routes import Deployment


class Output:
    """The folder and the report of a study. A study derives from it and fills it."""

    def __init__(self, out: Path, title: str, paper: str, provenance: dict[str, str]) -> None:
        """Begin an empty report; the engine's version leads what it says of its provenance."""
        out.mkdir(parents=True, exist_ok=True)
        self.out = out
        self.files: list[Path] = []
        self.report = Report(title, paper, {"engine": f"ropewalk {_core.version()}", **provenance})
        self._claims: Sequence[Claim] = ()

    def introduce(self, claims: Sequence[Claim], *paragraphs: str) -> None:
        """Begin the report: what the study is about, and the table of claims."""
        self._claims = claims
        self.report.text(*paragraphs)
        self.report.heading("Published beside measured")
        self.report.claims(claims)

    def add(self, chart: Chart) -> None:
        """Draw a chart into files, and into the report."""
        self.files += save(chart, self.out)
        self.report.chart(chart)

    def picture(self, stem: str, deployment: Deployment, algorithms: Sequence[str], caption: str) -> None:
        """Draw a deployment into files, and into the report."""
        paths = [self.out / f"{stem}{ending}" for ending in (".png", ".svg")]
        save_deployment(deployment, paths, algorithms)
        self.files += paths
        self.report.picture(paths[1], caption)

    def keep(self, tables: Mapping[str, pl.DataFrame | None]) -> None:
        """Write tables, by the stems of their files; those that there are not are left out."""
        self.files += [
            write_parquet(table, self.out / f"{stem}.parquet")
            for stem, table in tables.items()
            if table is not None
        ]

    def finish(self, name: str) -> StudyResult:
        """Write the report under the study's name."""
        page = self.report.write(self.out / f"{name}.html")
        findings = tuple(f"{claim.claim}: {claim.verdict}. {claim.measured}" for claim in self._claims)
        return StudyResult(report=page, files=tuple(self.files), findings=findings)
