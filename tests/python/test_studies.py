"""The studies: their arithmetic by hand, and a small run of each from start to report."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

import ropewalk
from ropewalk import routes
from ropewalk.progress import Silent
from ropewalk.routes import GREEDY
from ropewalk.studies import (
    Kept,
    StudyResult,
    degraded_path,
    diamond,
    diamond_cells,
    load,
    mesh_routing,
    mesh_transport,
    mesh_transport_cells,
    reordering,
    wireless,
)
from ropewalk.studies.cells import Runner

if TYPE_CHECKING:
    from pathlib import Path


def test_the_formula_gives_the_paper_s_value_at_one_per_cent() -> None:
    assert degraded_path.rfc3819_mbps(0.01) == pytest.approx(4.4, abs=0.1)
    assert degraded_path.rfc3819_mbps(0.1) < 0.7


def test_a_crossing_is_interpolated_and_may_be_missing() -> None:
    assert degraded_path.crossing([1, 2, 3], [9, 7, 5], 6) == pytest.approx(2.5)
    assert degraded_path.crossing([1, 2, 3], [9, 8, 7], 6) is None
    assert degraded_path.crossing([1, 2, 3], [5, 8, 9], 6) == 1


def _run(study: str, out: Path, workers: int = 2) -> StudyResult:
    return load(study).run(out, quick=True, runner=Runner(workers, Silent(), Kept(out, quick=True).store))


class _Loaded(HTMLParser):
    """What a page would load from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "link", "img", "iframe"}:
            found = [value or "" for name, value in attrs if name in {"src", "href"}]
            self.addresses += [address for address in found if not address.startswith("data:")]


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
    result = _run("degraded-path", tmp_path)
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
        result = _run("degraded-path", folder, workers)
        written.append({path.name: path.read_bytes() for path in (*result.files, result.report)})
    assert written[0].keys() == written[1].keys()
    assert [name for name in written[0] if written[0][name] != written[1][name]] == []


def test_reordering_makes_every_figure_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reordering, "CONNECTION", reordering.CONNECTION.replace("10 MB", "1 MB"))
    result = _run("reordering", tmp_path)
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
        result = _run("mesh-routing", folder, workers)
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


def test_a_subflow_starves_below_a_tenth_of_both() -> None:
    times = [0.5 * k for k in range(1, 13)]
    # Stretches of 2 s: fair, starving, and one in which nothing flows, which counts for neither.
    first, second = [1.0] * 4 + [2.0] * 4 + [0.0] * 4, [1.0] * 4 + [0.1] * 4 + [0.0] * 4
    assert diamond.starving(times, first, second) == pytest.approx(0.5)
    assert diamond.starving(times, second, first) == pytest.approx(0.5)
    assert diamond.starving([], [], []) == 0


def test_diamond_makes_every_figure_and_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        diamond, "QUICK", diamond_cells.Extent((1, 2), (1, 2), (0.0, 0.3), (0.3,), "1 MB", "300 kB")
    )
    result = _run("diamond", tmp_path)
    names = {path.name for path in result.files}
    for stem in (
        "figure-3a-tcp",
        "figure-3b-one-channel",
        "figure-3c-two-channels",
        "figure-3d-fully-coupled",
        "figure-4-lossy-links",
        "figure-5a-fully-coupled",
        "figure-5b-rtt-compensator",
        "bursts",
    ):
        assert {f"{stem}.png", f"{stem}.svg"} <= names
    assert {"ideal-series.parquet", "causes-connections.parquet", "modern-subflows.parquet"} <= names
    assert len(result.findings) == 8
    _look_at(result.report, "balia", "ecf", "short preamble", "bursts of 20 ms", "Published beside measured")


def test_mesh_transport_makes_every_figure_and_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh_transport, "QUICK", mesh_transport_cells.Extent(5, 1, 1, "200 kB"))
    written = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        result = _run("mesh-transport", folder, workers)
        written.append({path.name: path.read_bytes() for path in (*result.files, result.report)})
    assert [name for name in written[0] if written[0][name] != written[1][name]] == []
    for stem in ("figure-6-throughput", "algorithms", "example"):
        assert {f"{stem}.png", f"{stem}.svg"} <= written[0].keys()
    assert {"routes.parquet", "papers-connections.parquet"} <= written[0].keys()
    assert len(result.findings) == 4
    _look_at(result.report, "RTS/CTS", "wvegas", "ZD", "Published beside measured", "95 %")


def test_the_first_deployments_of_each_length_are_run() -> None:
    found = routes.conditioned(12, algorithms=GREEDY)
    chosen = mesh_transport_cells.first_of_each(found, 1)
    lengths = [mesh_transport_cells.first_hops(deployment) for deployment in chosen]
    assert len(set(lengths)) == len(lengths)
    assert set(lengths) == {mesh_transport_cells.first_hops(deployment) for deployment in found}
    assert chosen[0] is found[0]


def test_two_channels_are_worth_two_paths() -> None:
    rates = {}
    for setup in (wireless.TCP, wireless.TWO):
        source = diamond_cells.source("5 MB", wireless.transport(setup, "uncoupled"))
        result = ropewalk.run(source, compare=False, series=False)
        rates[setup] = result.connections["goodput_mbps"][0]
    assert rates[wireless.TWO] > 1.85 * rates[wireless.TCP]
