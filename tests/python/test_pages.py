"""The pages of the studies: what they show is what the kept results say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ropewalk.store import write_json
from ropewalk.studies import BY_NAME, claims, pages
from ropewalk.studies.names import REGISTRY

FOLDER = Path(__file__).parents[2] / "docs" / "studies"
KEPT = {
    study["study"] for study in json.loads((FOLDER / claims.FILE).read_text(encoding="utf-8"))["studies"]
} | {name for name in BY_NAME if (FOLDER / "figures" / name).exists()}
"""Studies whose results are kept. Those that run by their name alone judge no claims."""


@pytest.mark.parametrize("page", [page.name for page in pages.named(FOLDER)])
def test_a_page_shows_what_the_kept_results_say(page: str) -> None:
    text = (FOLDER / page).read_text(encoding="utf-8")
    assert pages.filled(text, FOLDER) == text
    blocks = pages.BLOCK.findall(text)
    for kind, study, named in blocks:
        assert study in REGISTRY | BY_NAME
        if kind == "figure" and study in KEPT:
            assert 0 < (FOLDER / pages.figure(study, named)).stat().st_size < 400_000
    # A study that was run leaves nothing empty.
    assert pages.ABSENT not in text or not {study for _, study, _ in blocks} <= KEPT


def test_every_study_has_a_page_that_lists_its_claims_and_none_was_quick() -> None:
    for name in REGISTRY:
        assert f"<!-- claims {name} -->" in (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    for study in json.loads((FOLDER / claims.FILE).read_text(encoding="utf-8"))["studies"]:
        assert "--quick" not in study["provenance"]["command"]


def test_no_figure_is_kept_that_no_page_shows() -> None:
    shown = {
        pages.figure(study, named)
        for page in FOLDER.glob("*.md")
        for kind, study, named in pages.BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind == "figure" and study in KEPT
    }
    kept = {str(path.relative_to(FOLDER)) for path in FOLDER.glob("figures/*/*")}
    assert kept == shown


def _results(folder: Path, verdict: str) -> Path:
    """A study's results as `reproduce` leaves them."""
    study = folder / "diamond"
    study.mkdir(parents=True)
    (study / "one.svg").write_text("<svg/>", encoding="utf-8")
    table = {"caption": "Goodput in Mbit/s", "head": ["", "rate"], "rows": [["a|b", "2.5"]]}
    (study / pages.TABLES).write_text(json.dumps([table]), encoding="utf-8")
    claim = dict.fromkeys(("claim", "published", "rerun", "papers_rules", "correct", "why"), "x")
    found = {
        "study": "diamond",
        "paper": "A paper",
        "provenance": {},
        "claims": [{**claim, "verdict": verdict}],
    }
    return write_json(folder / claims.FILE, {"studies": [found]})


PAGE = """# A page

<!-- figure diamond: one, One of them -->
<!-- end -->

<!-- claims diamond -->
<!-- end -->

<!-- table diamond: Goodput -->
what stood there
<!-- end -->
"""


def test_a_page_is_filled_and_filled_again(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "diamond.md").write_text(PAGE, encoding="utf-8")
    claims.main(_results(tmp_path / "first", "holds"), folder)
    text = (folder / "diamond.md").read_text(encoding="utf-8")
    assert "| x | x | **holds**. x |" in text
    assert "| a\\|b | 2.5 |" in text
    assert "![One of them](figures/diamond/one.svg)" in text
    assert "what stood there" not in text
    assert (folder / "figures/diamond/one.svg").read_text(encoding="utf-8") == "<svg/>"
    claims.main(_results(tmp_path / "second", "open"), folder)
    again = (folder / "diamond.md").read_text(encoding="utf-8")
    assert again == text.replace("**holds**", "**open**")
    # A table of a study that was not run this time stays; a page that disagrees with the files is found out.
    assert pages.filled(text, folder) == again != text


def test_a_study_that_was_not_run_now_stays() -> None:
    kept = {"studies": [{"study": "bonding", "claims": ["old"]}, {"study": "diamond", "claims": ["old"]}]}
    found = {"studies": [{"study": "diamond", "claims": ["new"]}, {"study": "reordering", "claims": ["new"]}]}
    together = claims.brought_up_to_date(kept, found)
    assert [(study["study"], study["claims"]) for study in together["studies"]] == [
        ("reordering", ["new"]),
        ("diamond", ["new"]),
        ("bonding", ["old"]),
    ]


def test_a_table_that_is_not_there_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "diamond.md").write_text(PAGE.replace("Goodput", "Nothing"), encoding="utf-8")
    with pytest.raises(LookupError, match=r"0 tables of .* begin with `Nothing`"):
        claims.main(_results(tmp_path / "first", "holds"), folder)
