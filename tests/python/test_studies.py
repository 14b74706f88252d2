"""The studies: their arithmetic by hand, and a small run of each from start to report."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from ropewalk import routes
from ropewalk.progress import Silent
from ropewalk.routes import GREEDY
from ropewalk.studies import degraded_path, load, mesh_routing, reordering

if TYPE_CHECKING:
    from pathlib import Path


def test_the_formula_gives_the_paper_s_value_at_one_per_cent() -> None:
    assert degraded_path.rfc3819_mbps(0.01) == pytest.approx(4.4, abs=0.1)
    assert degraded_path.rfc3819_mbps(0.1) < 0.7


def test_a_crossing_is_interpolated_and_may_be_missing() -> None:
    assert degraded_path.crossing([1, 2, 3], [9, 7, 5], 6) == pytest.approx(2.5)
    assert degraded_path.crossing([1, 2, 3], [9, 8, 7], 6) is None
    assert degraded_path.crossing([1, 2, 3], [5, 8, 9], 6) == 1


class _Loaded(HTMLParser):
    """What a page would load from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "link", "img", "iframe"}:
            self.addresses += [value or "" for name, value in attrs if name in {"src", "href"}]


def _look_at(report: Path, *expected: str) -> None:
    html = report.read_text(encoding="utf-8")
    for text in ("<html", *expected):
        assert text in html
    page = _Loaded()
    page.feed(html)
    assert page.addresses == []


def test_degraded_path_makes_every_figure_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = degraded_path.Extent((0.5, 3.0, 7.0), (1, 2), "3 s", (64, 4000))
    monkeypatch.setattr(degraded_path, "QUICK", tiny)
    result = load("degraded-path").run(tmp_path, quick=True, workers=2, progress=Silent())
    names = {path.name for path in result.files}
    for stem in ("figure-1-formula", "figure-4-threshold", "figure-5-subflows", "schedulers", "buffers"):
        assert {f"{stem}.png", f"{stem}.svg"} <= names
    assert "published-connections.parquet" in names
    assert len(result.findings) == 4
    _look_at(result.report, "goodput-guard", "Published beside measured", "95 %")


def test_equal_runs_make_equal_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = degraded_path.Extent((0.5, 3.0), (1, 2), "2 s", (64,))
    monkeypatch.setattr(degraded_path, "QUICK", tiny)
    written = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        result = load("degraded-path").run(folder, quick=True, workers=workers, progress=Silent())
        written.append({path.name: path.read_bytes() for path in (*result.files, result.report)})
    assert written[0].keys() == written[1].keys()
    assert [name for name in written[0] if written[0][name] != written[1][name]] == []


def test_reordering_makes_every_figure_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reordering, "CONNECTION", reordering.CONNECTION.replace("10 MB", "1 MB"))
    result = load("reordering").run(tmp_path, quick=True, workers=2, progress=Silent())
    names = {path.name for path in result.files}
    assert "figure-8-linked-increases-two-paths.png" in names
    assert "figure-9-uncoupled-three-paths.svg" in names
    assert "fixed-series.parquet" in names
    assert len(result.findings) == 3
    _look_at(result.report, "F-RTO", "Published beside measured")


def test_mesh_routing_makes_every_figure_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = mesh_routing.Extent((24, 32), 20, 20, 100, 1000)
    monkeypatch.setattr(mesh_routing, "QUICK", tiny)
    written = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        result = load("mesh-routing").run(folder, quick=True, workers=workers, progress=Silent())
        written.append({path.name: path.read_bytes() for path in (*result.files, result.report)})
    assert [name for name in written[0] if written[0][name] != written[1][name]] == []
    for stem in ("figure-3-feasibility", "figure-4-number-of-routes", "figure-5-hops", "optimal-missed"):
        assert {f"{stem}.png", f"{stem}.svg"} <= written[0].keys()
    assert {"feasibility.parquet", "conditioned.parquet", "ties.parquet"} <= written[0].keys()
    assert len(result.findings) == 5
    _look_at(result.report, "fewest-metres", "Published beside measured", "95 %")


def test_the_papers_example_is_recognised() -> None:
    found = routes.search(
        1, nodes=16, condition="all-multipath", first=24_372_004, draws=1, algorithms=GREEDY
    )
    (deployment,) = found.deployments
    assert mesh_routing.alike(deployment)
    assert mesh_routing.hops(deployment) == mesh_routing.EXAMPLE_HOPS
