"""Figures and reports as they are seen: nothing is cut off, on paper and on a phone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from browser import PROGRAM, Browser
from ropewalk.figures import Chart, Line, save, save_grid
from ropewalk.report import Claim, Report, Verdict
from ropewalk.studies import claims

LONG = "Figure 4: throughput against the frame error rate of both of the links that the source has"
CLAIMS = Path(__file__).parents[2] / "docs" / "studies" / claims.FILE
STUDIES = json.loads(CLAIMS.read_text(encoding="utf-8"))["studies"]
PHONE = (390, 844)
"""Width and height of a phone's window in CSS pixels."""

needs_browser = pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")


def chart(title: str, *labels: str) -> Chart:
    return Chart("one", title, "x", "y", [Line(label, [0.0, 1.0], [1.0, 2.0]) for label in labels])


def edges(picture: Path) -> float:
    """The darkest point of the outermost columns: 1 if they are white."""
    pixels = np.asarray(imread(picture))[:, :, :3]
    return float(np.concatenate([pixels[:, :3], pixels[:, -3:]], axis=1).min())


@pytest.mark.parametrize("title", [LONG, f"{LONG}, {LONG}"])
def test_a_long_title_is_broken_into_lines_and_not_cut(title: str, tmp_path: Path) -> None:
    (png, svg) = save(chart(title, "ours"), tmp_path)
    assert edges(png) == 1
    assert svg.read_text(encoding="utf-8").count("Figure 4") == title.count("Figure 4")
    short, _ = save(chart("Figure 4", "ours"), tmp_path)
    assert edges(short) == 1


def test_titles_of_panels_are_broken_by_the_width_of_a_panel(tmp_path: Path) -> None:
    picture = tmp_path / "grid.png"
    save_grid([[chart(LONG, "ours"), chart(f"k 0.5\n{LONG}", "ours")]], [picture])
    assert edges(picture) == 1


def report_of(study: dict[str, object], folder: Path) -> Path:
    """A report with a study's kept claims, every one unfolded, a wide table and a chart."""
    kept = study["claims"]
    assert isinstance(kept, list)
    report = Report(str(study["study"]), str(study["paper"]))
    report.chart(chart(LONG, "a line whose name is long enough to fill a phone's width alone"))
    report.chart(replace(chart("axes", "ours"), stem="two", x_label=LONG))
    _, svg = save(chart("a “picture” & 100 % of its #1", "<ours>"), folder)
    report.picture(svg, "a picture")
    report.claims(
        [
            Claim(
                claim["claim"],
                claim["published"],
                claim["papers_rules"],
                Verdict(claim["verdict"]),
                claim["why"],
                claim["rerun"],
                claim["correct"],
            )
            for claim in kept
        ]
    )
    report.table("wide", [f"column {k}" for k in range(30)], [[k * 1000 for k in range(30)]])
    page = report.write(folder / f"{study['study']}.html")
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("<details>", "<details open>"), encoding="utf-8")
    return page


@needs_browser
@pytest.mark.parametrize("study", STUDIES, ids=[study["study"] for study in STUDIES])
def test_on_a_phone_every_verdict_is_in_sight(study: dict[str, object], tmp_path: Path) -> None:
    page = report_of(study, tmp_path)
    with Browser(tmp_path, *PHONE) as browser:
        browser.show(page)
        # Nobody has to scroll sideways, and every verdict begins its claim, at its left, in whole.
        assert browser.evaluate("document.documentElement.scrollWidth") == PHONE[0]
        places = browser.evaluate(
            """[...document.querySelectorAll('.claim')].map(claim => {
                const verdict = claim.querySelector('.verdict').getBoundingClientRect();
                const own = claim.getBoundingClientRect();
                return [verdict.left, verdict.right, verdict.top - own.top, verdict.height];
            })"""
        )
        assert browser.evaluate("[...document.images].every(image => image.naturalWidth > 100)")
        # The title of the axis stands within its figure.
        left, right = browser.evaluate(
            """(() => {
                const title = document.querySelector('#chart-two .xtitle').getBoundingClientRect();
                return [title.left, title.right];
            })()"""
        )
        assert 0 <= left < right <= PHONE[0]
        kept = study["claims"]
        assert isinstance(kept, list)
        assert len(places) == len(kept)
        for left, right, below, height in places:
            assert 0 <= left < right <= PHONE[0]
            assert below < 20
            assert height > 0
