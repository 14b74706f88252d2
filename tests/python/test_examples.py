"""Examples that the package comes with: each can be written anywhere, and is what the repository has."""

from __future__ import annotations

from pathlib import Path

import pytest

import ropewalk
from ropewalk import _core, examples
from ropewalk.errors import InputError

ROOT = Path(__file__).parents[2] / "scenarios"


def test_the_package_has_every_scenario_trace_and_the_schema() -> None:
    shipped = dict(_core.examples())
    files = [file for file in ROOT.rglob("*") if file.is_file()]
    assert shipped == {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}
    assert set(examples.names()) == {file.stem for file in ROOT.glob("*.toml")}


@pytest.mark.parametrize("name", sorted(file.stem for file in ROOT.glob("*.toml")))
def test_each_example_is_valid_where_it_is_written(name: str, tmp_path: Path) -> None:
    files = examples.write(name, tmp_path)
    assert ropewalk.check(files[0]).hash == ropewalk.check(ROOT / f"{name}.toml").hash
    assert examples.write(name, tmp_path) == files, "again is no harm"


def test_an_example_under_another_name(tmp_path: Path) -> None:
    (file, *_) = examples.write("lte-wifi", tmp_path, "my-phone")
    assert file.name == "my-phone.toml"
    assert ropewalk.check(file).name == "my-phone"


def test_nothing_is_overwritten_and_nothing_is_half_written(tmp_path: Path) -> None:
    (tmp_path / examples.SCHEMA).write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="is not overwritten"):
        examples.write("web", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [examples.SCHEMA]


def test_a_misspelt_example_and_a_name_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean `handover`"):
        examples.write("handver", tmp_path)
    with pytest.raises(InputError, match="no name of a scenario"):
        examples.write("web", tmp_path, "../evil")
    assert list(tmp_path.iterdir()) == []
