"""Folders of results, opened again and exported."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import ropewalk
from ropewalk.errors import InputError, StoreError
from ropewalk.opened import export

SCENARIO = """
[scenario]
name = "open"
duration = "200 ms"
[hosts.a]
[hosts.b]
[links.x]
between = ["a", "b"]
rate = "10 Mbit/s"
[links.y]
between = ["a", "b"]
rate = "5 Mbit/s"
[connections.c]
protocol = "mptcp"
from = "a"
to = "b"
"""

GRID = {"links.x.rate": ["10 Mbit/s", "20 Mbit/s"], "connections.c.count": [1, 2]}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    out = tmp_path / "out"
    for name, grid in [("first", GRID), ("second", {"links.y.rate": ["1 Mbit/s"]})]:
        campaign = {"name": name, "scenario": SCENARIO, "replications": 2, "grid": grid, "series": False}
        ropewalk.sweep(campaign, out=out)
    return out


def test_a_campaign_is_read_back_with_its_grid(store: Path) -> None:
    opened = ropewalk.open(store)
    assert opened.campaigns == ["first", "second"]
    frame = opened.of("first").connections
    assert frame.columns[:3] == ["point", *GRID]
    # Two seeds of points with one copy and with two.
    assert frame.group_by("point").len().sort("point")["len"].to_list() == [2, 4, 2, 4]
    whole = ropewalk.sweep(
        {"name": "first", "scenario": SCENARIO, "replications": 2, "grid": GRID, "series": False}, out=store
    )
    assert whole.computed == 0
    key = ["point", "name", "seed"]
    assert frame.sort(key).equals(whole.connections.select(frame.columns).sort(key))


def test_all_runs_without_those_of_references(store: Path) -> None:
    assert set(ropewalk.open(store).connections["protocol"]) == {"mptcp"}


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_an_export_has_one_file_for_each_table_and_campaign(store: Path, kind: str) -> None:
    files = ropewalk.export(store, ["connections", "links"], kind)
    assert sorted(file.name for file in files) == [
        f"{name}.{table}.{kind}" for name in ("first", "second") for table in ("connections", "links")
    ]
    read = pl.read_parquet if kind == "parquet" else pl.read_csv
    frame = read(store / "export" / f"first.connections.{kind}")
    assert len(frame) == 12
    assert frame["links.x.rate"].n_unique() == 2
    # What was exported is no result.
    assert len(ropewalk.open(store).of("first").connections) == 12


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        ropewalk.open(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no results"):
        ropewalk.open(tmp_path)


def test_names_that_are_not_there(store: Path) -> None:
    with pytest.raises(InputError, match="has no campaign `third`; it has first, second"):
        ropewalk.open(store).of("third")
    with pytest.raises(InputError, match="no table `flows`"):
        ropewalk.export(store, ["flows"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="no format `xlsx`"):
        ropewalk.export(store, kind="xlsx")


def test_a_damaged_file_is_named(store: Path, tmp_path: Path) -> None:
    damaged = sorted(store.glob("open/*.links.parquet"))[1]
    damaged.write_bytes(damaged.read_bytes()[:300])
    for read in (lambda: ropewalk.open(store).links, lambda: export(store, ["links"], out=tmp_path / "to")):
        with pytest.raises(StoreError, match=f"^{damaged}: not a readable Parquet file"):
            read()


def test_runs_of_another_version_are_read_beside_these(store: Path) -> None:
    """It had other columns, and its runs are no runs of a campaign that this version would find."""
    runs = ropewalk.open(store).connections.height
    added = 0
    for file in sorted(store.glob("open/*.connections.parquet"))[:2]:
        frame = pl.read_parquet(file)
        added += frame.height
        name = file.name.replace(ropewalk.version(), "0.0.1")
        frame.drop("goodput_mbps").with_columns(rope=pl.lit(1)).write_parquet(file.with_name(name))
    both = ropewalk.open(store).connections
    assert both.height == runs + added
    assert both["goodput_mbps"].null_count() == added
