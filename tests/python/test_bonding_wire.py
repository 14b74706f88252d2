"""The study `bonding-wire`: the same octets on the lines in both worlds, and a report of both, without a kernel."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ropewalk.executor import LocalExecutor
from ropewalk.progress import Silent
from ropewalk.studies import Kept, bonding_cells, bonding_wire, load
from ropewalk.studies import bonding_wire_cells as worlds
from ropewalk.studies.cells import Runner

if TYPE_CHECKING:
    from pathlib import Path

    from ropewalk.studies.cells import Cell


def line_mbps(cell: Cell, connection: str, tunnel: int) -> float:
    """What a flow takes of a line at its start, headers and tunnel included."""
    flow = next(
        tomllib.loads(f"flow = {value}")["flow"]
        for key, value in cell.source.overrides
        if key == f"connections.{connection}"
    )
    application = flow["application"]
    payload = int(application["packet_size"].removesuffix(" B"))
    assert payload + 28 + tunnel == bonding_cells.PACKET
    return float(application["rate"].removesuffix(" Mbit/s")) * bonding_cells.PACKET / payload


def test_both_worlds_put_the_same_octets_on_the_lines() -> None:
    for world in worlds.WORLDS:
        every = worlds.parts(world, quick=False)
        assert [len(cells) for cells in every.values()] == [9, 1, 3]
        assert {cell.source.stack for cells in every.values() for cell in cells} == {world.stack}
        ramp, flows, friendly = (cells[0] for cells in every.values())
        assert line_mbps(ramp, "video", world.tunnel) == pytest.approx(63)
        assert line_mbps(flows, "flow2", world.tunnel) == pytest.approx(15)
        assert line_mbps(friendly, "second", world.tunnel) == pytest.approx(63)


def test_a_report_has_both_worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wire is simulated too: its packets are shorter, and nothing is told of processor time."""
    wire = replace(worlds.ON_THE_WIRE, stack=worlds.SIMULATED.stack)
    monkeypatch.setattr(worlds, "ON_THE_WIRE", wire)
    monkeypatch.setattr(worlds, "WORLDS", (wire, worlds.SIMULATED))
    runner = Runner(LocalExecutor(2), Silent(), Kept(tmp_path, quick=True).store)
    result = load("bonding-wire").run(tmp_path, quick=True, runner=runner)
    names = {path.name for path in result.files}
    for stem in (
        "figure-3-courses",
        "figure-3-loss",
        "figure-5-throughput",
        "figure-5-weight",
        "figure-5-losses",
    ):
        assert {f"{stem}.png", f"{stem}.svg"} <= names
    assert "figure-6.svg" not in names, "a quick run has no figure 6"
    assert {"on-the-wire-flows-bonds.parquet", "simulated-flows-bonds.parquet"} <= names
    html = result.report.read_text(encoding="utf-8")
    for text in ("on the wire", "published 0.53", "longest wait for order, ms", bonding_wire.TITLE):
        assert text in html
