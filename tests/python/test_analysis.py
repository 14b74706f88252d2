"""Captures from Python and from the command line: tables, files, mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import ropewalk
from ropewalk.analysis import TABLES, Analysis
from ropewalk.commands import app
from ropewalk.errors import InputError

SCENARIO = Path(__file__).parents[2] / "scenarios" / "degraded-path.toml"


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["analyse", *map(str, arguments)])


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("captures")
    short = {"scenario.duration": "5 s"}
    ropewalk.run(SCENARIO, overrides=short, out=out, capture=True, compare=False, series=False)
    return next(out.rglob("host-server.pcapng")).parent


@pytest.fixture(scope="module")
def received(captures: Path) -> Analysis:
    return ropewalk.analyse(captures / "host-server.pcapng")


def test_the_tables_of_one_capture_agree_with_each_other(received: Analysis) -> None:
    assert received.connections["kind"].to_list() == ["mptcp"]
    up = received.subflows.filter(direction="client-to-server")
    stream = received.streams.filter(direction="client-to-server")
    assert up["fresh_bytes"].sum() == stream["bytes"].item() > 1_000_000
    assert up["share"].sum() == pytest.approx(1.0)
    sampled = received.series.filter(direction="client-to-server")["bytes"].sum()
    assert sampled == stream["bytes"].item()
    kinds = ("fresh_bytes", "retransmitted_bytes", "reinjected_bytes", "unmapped_bytes")
    assert up.select(pl.sum_horizontal(kinds)).to_series().to_list() == up["bytes"].to_list()


def test_charts_add_up_to_the_data(received: Analysis) -> None:
    chart = next(chart for chart in received.charts() if "client-to-server" in chart.stem)
    assert len(chart.lines) == 2
    drawn = sum(sum(line.y) for line in chart.lines) * received.interval_s * 1e6 / 8
    assert drawn == pytest.approx(received.streams.filter(direction="client-to-server")["bytes"].item())


def test_the_command_shows_tables_with_units(captures: Path) -> None:
    result = command(captures / "host-server.pcapng")
    assert result.exit_code == 0, result.output
    for word in ("goodput Mbit/s", "blocked ms", "reinjected bytes", "share %", "mptcp"):
        assert word in result.output


def test_json_has_the_same_tables_whole(captures: Path, received: Analysis) -> None:
    result = command(captures / "host-server.pcapng", "--json")
    tree = json.loads(result.stdout)
    assert tree["packets"] == received.packets
    assert tree["subflows"] == received.subflows.to_dicts()
    assert len(tree["events"]) == len(received.events)


def test_out_has_every_table_and_a_page(captures: Path, tmp_path: Path, received: Analysis) -> None:
    result = command(captures / "host-server.pcapng", captures / "host-client.pcapng", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    for name in TABLES:
        for host in ("host-server", "host-client"):
            assert (tmp_path / f"{host}.{name}.parquet").exists()
    assert pl.read_parquet(tmp_path / "host-server.series.parquet").equals(received.series)
    assert "Connection 0" in (tmp_path / "host-server.html").read_text(encoding="utf-8")


def test_a_file_that_ends_within_a_packet_says_so(captures: Path, tmp_path: Path) -> None:
    whole = (captures / "host-server.pcapng").read_bytes()
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(whole[: len(whole) // 2 + 3])
    analysis = ropewalk.analyse(cut)
    assert analysis.truncated
    assert analysis.packets > 100


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "No such file"),
        (b"", "neither a pcap nor a pcapng file"),
        (b"hello, this is no capture at all", "neither a pcap nor a pcapng file"),
    ],
)
def test_what_is_no_capture_is_named(tmp_path: Path, content: bytes | None, expected: str) -> None:
    file = tmp_path / "file.pcap"
    if content is not None:
        file.write_bytes(content)
    result = command(file)
    assert result.exit_code == 2
    assert "file.pcap" in result.output
    assert expected in result.output


def test_times_have_to_be_positive(captures: Path) -> None:
    with pytest.raises(InputError, match="interval"):
        ropewalk.analyse(captures / "host-server.pcapng", interval_s=0)
    assert command(captures / "host-server.pcapng", "--gap", "-1").exit_code == 2
