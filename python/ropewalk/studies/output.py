"""What every study leaves behind: figures as files and in the report, data, and the report with its claims."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ropewalk import _core
from ropewalk.figures import save, save_grid
from ropewalk.figures.deployment import save_deployment
from ropewalk.report import Report, Verdict
from ropewalk.store import write_json, write_parquet
from ropewalk.studies import StudyResult, claims, pages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from ropewalk.figures import Chart
    from ropewalk.figures.deployment import Drawn
    from ropewalk.report import Claim


HASTY: Final = (
    "A quick run: few seeds, short runs. It shows that everything works, and gives no verdicts. Without --quick "
    "the study runs in full."
)


class Output:
    """The folder and the report of a study. A study derives from it and fills it."""

    def __init__(self, out: Path, title: str, paper: str, provenance: dict[str, str]) -> None:
        """Begin an empty report; the engine's version leads what it says of its provenance."""
        out.mkdir(parents=True, exist_ok=True)
        self.out = out
        self.files: list[Path] = []
        self.report = Report(title, paper, {"engine": f"ropewalk {_core.version()}", **provenance})
        self.is_quick = False
        """Whether there are too few runs for verdicts."""

        self._claims: Sequence[Claim] = ()

    def introduce(self, claims: Sequence[Claim], *paragraphs: str) -> None:
        """Begin the report with what the study is about. The claims follow its first figures."""
        self._claims = claims if not self.is_quick else [_hasty(claim) for claim in claims]
        self.report.notice = HASTY if self.is_quick else ""
        self.report.text(*paragraphs)

    def add(self, chart: Chart) -> None:
        """Draw a chart into files, and into the report."""
        self.files += save(chart, self.out)
        self.report.chart(chart)

    def grid(self, stem: str, rows: Sequence[Sequence[Chart]], caption: str) -> None:
        """Draw several charts as one picture into files, and into the report."""
        paths = [self.out / f"{stem}{ending}" for ending in (".png", ".svg")]
        save_grid(rows, paths)
        self.files += paths
        self.report.picture(paths[1], caption)

    def picture(self, stem: str, deployment: Drawn, algorithms: Sequence[str], caption: str) -> None:
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
        self._show_claims()
        self.report.provenance["command"] = f"ropewalk reproduce {name}{' --quick' if self.is_quick else ''}"
        page = self.report.write(self.out / f"{name}.html")
        of_study = claims.of_study(name, self.report.paper, self.report.provenance, self._claims)
        self.files.append(write_json(self.out / claims.FILE, of_study))
        self.files.append(write_json(self.out / pages.TABLES, self.report.tables()))
        findings = tuple(f"{claim.claim}: {claim.verdict}. {claim.measured}" for claim in self._claims)
        return StudyResult(report=page, files=tuple(self.files), findings=findings)

    def _show_claims(self) -> None:
        """Put the claims behind the first section with figures, where a reader has seen what they are about."""
        if not self._claims:
            return
        kinds = [part["kind"] for part in self.report.parts]
        drawn = next((place for place, kind in enumerate(kinds) if kind in {"chart", "picture"}), len(kinds))
        behind = next((place for place in range(drawn, len(kinds)) if kinds[place] == "heading"), len(kinds))
        rest = self.report.parts[behind:]
        del self.report.parts[behind:]
        self.report.heading("Published beside measured")
        self.report.claims(self._claims)
        self.report.parts += rest


def _hasty(claim: Claim) -> Claim:
    return replace(claim, verdict=Verdict.OPEN, reason=f"{claims.HASTY} {claim.reason}")
