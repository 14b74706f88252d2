"""The page of a run: what it is made of, and, in a real browser, that it draws, answers and fetches nothing."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
from typer.testing import CliRunner

import ropewalk
from browser import PROGRAM, Browser
from conftest import TWO_PATHS
from ropewalk import view
from ropewalk.commands import app
from ropewalk.store import Table
from ropewalk.view.data import MOST_EVENTS, of_run

EVENTS = TWO_PATHS.replace("seed = 7", 'seed = 7\nevents = ["all"]')
MANY = 1_000_000
"""The events of the largest page that has to answer at once."""

needs_browser = pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")


def unpacked(page: str) -> Any:
    packed = re.search(r'<script id="data" type="text/plain">([^<]*)</script>', page)
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


@pytest.fixture(scope="module")
def shown() -> view.Shown:
    return view.of_result(ropewalk.run(EVENTS, compare=False))


def many_events(count: int) -> view.Shown:
    """A connection's segments, windows, and what its scheduler said; every thousandth is lost, or times out."""
    half = pl.DataFrame({"k": range(count // 2)}).with_columns(
        time_s=pl.col("k") * (60 * 2 / count),
        connection=pl.lit("bulk"),
        subflow=(pl.col("k") % 4 == 3).cast(pl.UInt32),
        data=(pl.col("k") * 1400).cast(pl.UInt64),
        bytes=pl.lit(1400, dtype=pl.UInt64),
    )
    kinds = [
        half.with_columns(
            kind=pl.lit("segment"), event=pl.lit("segment"), reason=pl.lit(None, dtype=pl.String)
        ),
        half.filter(pl.col("k") % 10 != 0).with_columns(
            kind=pl.lit("scheduling"), event=pl.lit("scheduled"), reason=pl.lit("lowest round-trip time")
        ),
        half.filter(pl.col("k") % 10 == 0).with_columns(
            kind=pl.lit("window"),
            event=pl.lit("window"),
            cwnd_bytes=(pl.col("k") % 90 * 1000).cast(pl.UInt32),
        ),
        half.filter(pl.col("k") % 1000 == 0).with_columns(
            kind=pl.lit("drop"), event=pl.lit("dropped"), reason=pl.lit("loss: on the medium")
        ),
        half.filter(pl.col("k") % 1000 == 1).with_columns(
            kind=pl.lit("timeout"), event=pl.lit("timeout"), reason=pl.lit("nothing was acknowledged in time")
        ),
    ]
    tables = {table: pl.DataFrame() for table in get_args(Table)}
    tables["events"] = pl.concat(kinds, how="diagonal").drop("k").sort("time_s", maintain_order=True)
    tables["series"] = pl.DataFrame(
        [
            {"time_s": k / 10, "connection": "bulk", "subflow": subflow, "ssthresh_bytes": 50_000 + 9 * k}
            | {"cwnd_bytes": 60_000 + k % 70, "flight_bytes": 50_000, "srtt_ms": 30.0, "throughput_mbps": 5.0}
            for k in range(1, 601)
            for subflow in (0, 1)
        ],
        schema_overrides={"subflow": pl.UInt32},
    )
    tables["connections"] = pl.DataFrame(
        [{"name": "bulk", "source": "client", "destination": "server", "end_s": 60.0}]
    )
    tables["subflows"] = pl.DataFrame(
        [{"connection": "bulk", "subflow": k, "path": path} for k, path in enumerate("ab")]
    )
    return view.Shown("many", "0" * 16, 1, tables)


def test_a_page_has_every_event_with_its_time_and_reason(shown: view.Shown) -> None:
    (run,) = unpacked(view.html([shown]))
    events = shown.tables["events"].filter(pl.col("kind") != "bond-decision")
    packed = run["events"]
    assert sum(packed["time_us"]) == round(events["time_s"].to_list()[-1] * 1e6)
    words = packed["reason"]["words"]
    reasons = [words[at] if at >= 0 else None for at in packed["reason"]["at"]]
    assert reasons == events["reason"].to_list()
    assert {"queue: it was full", "loss: on the medium"} & set(words)


def test_a_page_is_a_function_of_its_runs_and_names_no_other_place(shown: view.Shown) -> None:
    page = view.html([shown, shown])
    assert page == view.html([shown, shown])
    assert not re.search(r"(?:src|href)=|https?://|@import|\bfetch\(|XMLHttpRequest", page)


def test_frequent_events_are_thinned_and_rare_ones_kept() -> None:
    count = 2 * MOST_EVENTS + 10
    run = of_run(many_events(count))
    assert run["one_of"] == 3
    assert run["events_total"] == count + 2 * -(-(count // 2) // 1000)
    assert len(run["events"]["time_us"]) <= MOST_EVENTS + count // 1000 + 2
    kinds = run["events"]["kind"]
    assert kinds["at"].count(kinds["words"].index("drop")) == -(-(count // 2) // 1000)


def test_long_series_are_thinned_by_whole_times(monkeypatch: pytest.MonkeyPatch, shown: view.Shown) -> None:
    monkeypatch.setattr("ropewalk.view.data.MOST_SAMPLES", 40)
    (run,) = unpacked(view.html([shown]))
    rows = len(run["link_series"]["time_us"])
    # Thirty times with a row for each of four directions.
    assert rows == 30 // 3 * 4


def test_the_command_shows_scenarios_and_results(tmp_path: Path, two_paths: Path) -> None:
    page = tmp_path / "page.html"
    said = CliRunner().invoke(app, ["view", str(two_paths), "--out", str(page)])
    assert said.exit_code == 0, said.output
    (run,) = unpacked(page.read_text())
    assert run["events_total"] > 1000
    ropewalk.run(EVENTS, compare=False, out=tmp_path / "store")
    said = CliRunner().invoke(app, ["view", str(tmp_path / "store"), str(two_paths), "--out", str(page)])
    assert said.exit_code == 0, said.output
    first, second = unpacked(page.read_text())
    assert first["events"] == second["events"] == run["events"]


def test_the_command_says_what_it_cannot_show(tmp_path: Path, two_paths: Path) -> None:
    ropewalk.run(TWO_PATHS, compare=False, replications=2, out=tmp_path)
    for arguments, message in (
        ([tmp_path / "nowhere"], "there is no run"),
        ([tmp_path], "there are 2 runs (seeds 7, 8)"),
        ([two_paths] * 3, "one run or two"),
        ([tmp_path, "--set", "scenario.seed=1"], "--set is for scenarios"),
    ):
        said = CliRunner().invoke(app, ["view", *map(str, arguments), "--out", str(tmp_path / "page.html")])
        assert said.exit_code == 2, said.output
        assert message in said.output


@needs_browser
def test_a_browser_draws_it_fetches_nothing_and_a_click_shows_a_reason(
    shown: view.Shown, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    view.write([shown, shown], page)
    with Browser(tmp_path) as browser:
        browser.open(page)
        assert browser.errors == []
        assert browser.requests == [page.resolve().as_uri()]
        headings = browser.evaluate("[...document.querySelectorAll('h2')].map(one => one.textContent)")
        for expected in (
            "Network",
            "Time and sequence of bulk [octets of the stream]",
            "Windows [octets]",
            "Round-trip time [ms]",
            "Throughput per path, stacked [Mbit/s]",
            "Queues of links [octets]",
            "Utilisation of links [%]",
        ):
            assert headings.count(expected) == 2, (expected, headings)
        # A link has one colour, and a lone peak does not flatten a chart.
        colours = """(title => Object.fromEntries(
            Chart.all.find(one => one.title === title).lines.map(one => [one.name, one.colour])))"""
        queues, busy = (
            browser.evaluate(f"{colours}('{name} of links')") for name in ("Queues", "Utilisation")
        )
        assert queues.keys() & busy.keys()
        assert {**queues, **busy} == {**busy, **queues}
        assert browser.evaluate("withoutPeaks([...Array(200).fill(10), 5000], 5000)") == 13
        assert browser.evaluate("withoutPeaks([...Array(200).fill(10), 30], 30)") == 30
        # Something is drawn on every canvas that is in view, and its box is as wide as the window allows.
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
        empty = """Chart.all.filter(chart => { window.drawHidden = true; chart.draw();
            const { width, height } = chart.canvas, g = chart.canvas.getContext("2d");
            return !g.getImageData(0, 0, width, height).data.some((v, k) => k % 4 < 3 && v > 0);
            }).map(chart => chart.title)"""
        assert browser.evaluate(empty) == []
        place = browser.evaluate("""(() => {
            const chart = Chart.all[0], points = chart.points.find(one => one.name === "lost");
            const box = chart.canvas.getBoundingClientRect();
            return [box.left + chart.X(points.x[0]), box.top + chart.Y(points.y[0])]; })()""")
        browser.press(*place)
        about = browser.evaluate("runs[0].about.hidden ? null : runs[0].about.innerText")
        assert about is not None
        assert "dropped" in about
        assert re.search(r"queue: it was full|loss: on the medium", about)
        assert browser.errors == []


@needs_browser
def test_what_two_runs_have_alike_stands_at_one_height(shown: view.Shown, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    other = EVENTS.replace('"mptcp"', '"tcp"').replace('paths = ["a", "b"]', 'paths = ["a"]')
    assert other != EVENTS
    view.write([shown, view.of_result(ropewalk.run(other, compare=False))], page)
    tops = """(() => { const [left, right] = [...document.querySelectorAll("article.run")].map(box =>
        new Map([...box.querySelectorAll(".panel:not([hidden])")].map(
            panel => [kindOf(panel), Math.round(panel.getBoundingClientRect().top)])));
        return [...left].filter(([kind]) => right.has(kind)).map(([kind, top]) => [kind, top, right.get(kind)]);
        })()"""
    with Browser(tmp_path) as browser:
        browser.open(page)
        heights = browser.evaluate(tops)
        assert {"Network", "Time and sequence", "Windows", "Queues"} <= {kind for kind, _, _ in heights}
        assert [kind for kind, left, right in heights if abs(left - right) > 1] == []
        browser.evaluate("Chart.all[0].box.querySelector('.legend').remove()")
        browser.evaluate("new Promise(done => setTimeout(done, 300))")
        assert [kind for kind, left, right in browser.evaluate(tops) if abs(left - right) > 1] == []
        assert browser.errors == []


@needs_browser
def test_on_a_phone_nothing_is_wider_than_the_window(shown: view.Shown, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    view.write([shown, shown], page)
    with Browser(tmp_path, width=390, height=800) as browser:
        browser.open(page)
        assert browser.evaluate("document.documentElement.scrollWidth") == 390
        assert browser.evaluate("runs[1].topology.canvas.clientWidth") > 300


@needs_browser
def test_a_million_events_are_small_and_answer_at_once(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    view.write([many_events(MANY)], page)
    assert page.stat().st_size < 20e6
    with Browser(tmp_path) as browser:
        browser.open(page)
        script = """(async () => {
            const times = [], next = requestAnimationFrame;
            const frame = () => new Promise(done => next(() => next(done)));
            for (let k = 0; k < 30; k++) {
                if (k % 3) setNow(view.end * k / 30); else zoom(k % 2 ? 1.5 : .5, view.end * .4);
                await frame();
                times.push(lastDraw);
            }
            return times.sort((a, b) => a - b);
        })()"""
        # What the page needs, not what the machine does meanwhile: the best of three medians.
        medians = [browser.evaluate(script)[15] for _ in range(3)]
        assert min(medians) < 100, medians
        # Every chart, from the whole run down to less than a millisecond and back.
        deep = """(() => {
            const times = [];
            window.drawHidden = true;
            for (const factor of [...Array(18).fill(.5), ...Array(18).fill(2)]) {
                zoom(factor, view.end * .4);
                drawAll();
                times.push(lastDraw);
            }
            return times.sort((a, b) => a - b);
        })()"""
        deepest = [browser.evaluate(deep) for _ in range(3)]
        assert min(times[-1] for times in deepest) < 500, deepest
        assert min(times[18] for times in deepest) < 100, deepest
