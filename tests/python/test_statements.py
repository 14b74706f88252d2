"""What papers say, as data: templates and values that have to fit."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from ropewalk import studies
from ropewalk.report import Verdict
from ropewalk.studies.statement import Statement

SAID = Statement(
    claim="It is {much}",
    published="5",
    measured="{ours:.1f}",
    reason="{verdict} {why}",
    words={
        "much": {True: "more than {least}", False: "less"},
        "verdict": {Verdict.HOLDS: "It is so.", Verdict.CONTRADICTED: "It is not so."},
    },
)


def declared() -> dict[str, Statement]:
    """Every statement of every study, by its module and name."""
    modules = [one.name for one in pkgutil.iter_modules(studies.__path__) if one.name.endswith("_statements")]
    return {
        f"{module}.{name}": value
        for module in modules
        for name, value in vars(importlib.import_module(f"ropewalk.studies.{module}")).items()
        if isinstance(value, Statement)
    }


def test_words_are_chosen_by_values_and_by_the_verdict() -> None:
    held = SAID.judged(Verdict.HOLDS, much=True, least=3, ours=4, why="Because.")
    assert (held.claim, held.measured, held.reason) == ("It is more than 3", "4.0", "It is so. Because.")
    not_so = SAID.judged(Verdict.CONTRADICTED, much=False, least=3, ours=2, why="Because.")
    assert (not_so.claim, not_so.reason) == ("It is less", "It is not so. Because.")


def test_values_and_templates_have_to_fit() -> None:
    with pytest.raises(TypeError, match="least"):
        SAID.judged(Verdict.HOLDS, much=False, ours=4, why="Because.")
    with pytest.raises(TypeError, match="other"):
        SAID.judged(Verdict.HOLDS, much=True, least=3, ours=4, why="Because.", other=1)


@pytest.mark.parametrize("statement", declared().values(), ids=declared().keys())
def test_every_choice_of_words_belongs_to_a_name_in_a_template(statement: Statement) -> None:
    assert statement.words.keys() <= statement.names()
    assert statement.published
    assert statement.reason


def test_every_study_declares_what_its_paper_says() -> None:
    assert {name.partition("_statements")[0] for name in declared()} == {
        "bonding",
        "degraded_path",
        "diamond",
        "mesh_routing",
        "mesh_transport",
        "reordering",
    }
    assert len({statement.claim for statement in declared().values()}) == len(declared())
