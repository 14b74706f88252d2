from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk import CampaignError, InputError, ScenarioError
from ropewalk.source import override_pairs, read_text, resolve, to_toml

keys = st.text(min_size=1, max_size=12)
scalars = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(keys, values, max_size=6))
def test_a_tree_survives_the_way_through_toml(tree: dict[str, object]) -> None:
    # A key of a table may hold any character; two keys that differ stay two.
    assert tomllib.loads(to_toml(tree)) == tree


def test_absent_values_are_left_out() -> None:
    assert tomllib.loads(to_toml({"a": None, "b": {"c": None, "d": 1}})) == {"b": {"d": 1}}


def test_strings_that_look_like_numbers_stay_strings() -> None:
    assert override_pairs({"a.b": "5", "c": 5}) == (("a.b", '"5"'), ("c", "5"))


def test_what_toml_cannot_hold_is_named() -> None:
    with pytest.raises(ScenarioError, match=r"links\.b\.loss.*complex") as caught:
        to_toml({"links": {"b": {"loss": 1j}}})
    assert caught.value.key == "links.b.loss"


def test_text_and_files_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("[scenario]\n", encoding="utf-8")
    assert resolve("[scenario]\n").path is None
    assert resolve(str(file)).path == str(file)
    assert resolve(file).text == "[scenario]\n"


def test_unreadable_files_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="No such file") as caught:
        resolve(tmp_path / "missing.toml")
    assert caught.value.file == str(tmp_path / "missing.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"name = \xff")
    with pytest.raises(CampaignError, match="UTF-8"):
        read_text(binary, CampaignError)


def test_input_errors_survive_pickling() -> None:
    import pickle

    error = ScenarioError("whole text", message="short", file="f.toml", line=3, key="a.b", suggestion="a.c")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert isinstance(again, InputError)
    assert str(again) == "whole text"
    assert (again.message, again.line, again.key, again.suggestion) == ("short", 3, "a.b", "a.c")
