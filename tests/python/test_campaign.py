from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ropewalk
from ropewalk import CampaignError, ScenarioError
from ropewalk.campaign import load


def write(folder: Path, text: str) -> Path:
    (folder / "s.toml").write_text('name = "s"\n', encoding="utf-8")
    file = folder / "campaign.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_grid_is_every_combination_the_last_key_fastest(tmp_path: Path) -> None:
    campaign = load(
        write(
            tmp_path,
            """
            name = "two axes"
            scenario = "s.toml"
            seeds = [3, 1]
            [set]
            scenario.duration = "5 s"
            [grid]
            links.b.loss = ["1 %", "2 %"]
            "links.b.rate" = { from = 1, to = 2, step = 0.5, unit = "Mbit/s" }
            """,
        )
    )
    points = list(campaign.points())
    assert [point.index for point in points] == list(range(6))
    assert points[1].parameters == {"links.b.loss": "1 %", "links.b.rate": "1.5 Mbit/s"}
    assert points[3].parameters == {"links.b.loss": "2 %", "links.b.rate": "1 Mbit/s"}
    assert points[3].source.overrides == (
        ("scenario.duration", '"5 s"'),
        ("links.b.loss", '"2 %"'),
        ("links.b.rate", '"1 Mbit/s"'),
    )
    assert campaign.seeds_from(100) == (3, 1)
    assert campaign.name == "two axes"


def test_decimal_ranges_have_no_rounding_noise() -> None:
    campaign = load({"scenario": {"name": "s"}, "grid": {"x": {"from": 0.1, "to": 0.5, "step": 0.1}}})
    assert campaign.grid == {"x": [0.1, 0.2, 0.3, 0.4, 0.5]}
    whole = load({"scenario": {"name": "s"}, "grid": {"x": {"from": 1, "to": 3}}})
    assert whole.grid == {"x": [1, 2, 3]}
    assert all(type(value) is int for value in whole.grid["x"])


def test_without_a_grid_there_is_one_point_and_seeds_count_up() -> None:
    campaign = load({"scenario": {"name": "s"}, "replications": 3})
    assert len(list(campaign.points())) == 1
    assert campaign.seeds_from(7) == (7, 8, 9)


def test_the_scenario_is_found_beside_the_campaign(tmp_path: Path) -> None:
    campaign = load(write(tmp_path, 'scenario = "s.toml"\n'))
    assert campaign.source.path == str(tmp_path / "s.toml")
    with pytest.raises(ScenarioError, match=r"none\.toml"):
        load(write(tmp_path, 'scenario = "none.toml"\n'))


def test_mistakes_name_file_line_column_and_key(tmp_path: Path) -> None:
    file = write(tmp_path, 'scenario = "s.toml"\n\nreplicatons = 5\n')
    with pytest.raises(CampaignError) as caught:
        load(file)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(file), 3, 1)
    assert error.key == "replicatons"
    assert error.suggestion == "replications"
    assert "did you mean `replications`?" in str(error)
    assert "\n3 | replicatons = 5\n  | ^^^^^^^^^^^ expected one of" in str(error)


def test_the_caret_finds_keys_inside_tables(tmp_path: Path) -> None:
    file = write(tmp_path, 'scenario = "s.toml"\n[grid]\nlinks.b.loss = []\n')
    with pytest.raises(CampaignError, match="empty list") as caught:
        load(file)
    assert (caught.value.line, caught.value.key) == (3, "links.b.loss")


def test_broken_toml_names_the_place(tmp_path: Path) -> None:
    file = write(tmp_path, 'scenario = "s.toml"\ngrid = [1,\n')
    with pytest.raises(CampaignError) as caught:
        load(file)
    assert caught.value.file == str(file)
    assert caught.value.line is not None or "end of document" in str(caught.value)


@pytest.mark.parametrize(
    ("tree", "key"),
    [
        ({"grid": {}}, "scenario"),
        ({"scenario": 5}, "scenario"),
        ({"replications": 0}, "replications"),
        ({"replications": 10**9}, "replications"),
        ({"replications": True}, "replications"),
        ({"replications": "5"}, "replications"),
        ({"seeds": []}, "seeds"),
        ({"seeds": [1, 1]}, "seeds"),
        ({"seeds": [-1]}, "seeds"),
        ({"seeds": [1.5]}, "seeds"),
        ({"seeds": [1], "replications": 2}, "seeds"),
        ({"series": "yes"}, "series"),
        ({"grid": {"x": 5}}, "x"),
        ({"grid": {"x": {"from": 1}}}, "x.to"),
        ({"grid": {"x": {"from": 2, "to": 1}}}, "x"),
        ({"grid": {"x": {"from": 1, "to": 2, "step": 0}}}, "x"),
        ({"grid": {"x": {"from": 1, "to": 2, "stepp": 1}}}, "x.stepp"),
        ({"grid": {"x": {"from": "1", "to": 2}}}, "x.from"),
        ({"grid": {"x": {"from": 0, "to": 1, "step": 1e-9}}}, "x"),
        ({"grid": {"x": list(range(2000)), "y": list(range(2000))}}, "grid"),
    ],
)
def test_impossible_campaigns(tree: dict[str, Any], key: str) -> None:
    whole = tree if key == "scenario" else {"scenario": {"name": "s"}} | tree
    with pytest.raises(CampaignError) as caught:
        load(whole)
    assert caught.value.key == key
    assert caught.value.expected


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            'links.b.loss = ["1 %", "120 %"]',
            ['c.toml:3:24: `"120 %"` does not fit here', "  |", '3 | links.b.loss = ["1 %", "120 %"]',
             "  | " + " " * 23 + "^^^^^^^ expected a loss from 0 to 1"],
        ),
        (
            'links.b.los = ["1 %"]',
            ["c.toml:3:9: unknown key `los`", "  |", '3 | links.b.los = ["1 %"]',
             "  | " + " " * 8 + "^^^ expected one of `between`"],
        ),
        (
            'links.b.rate = { from = 0, to = 1, unit = "Mbit/s" }',
            ["c.toml:3:1: nothing passes a rate of zero", "  |",
             '3 | links.b.rate = { from = 0, to = 1, unit = "Mbit/s" }', "  | ^ expected a rate above zero"],
        ),
    ],
)  # fmt: skip
def test_a_value_that_the_scenario_refuses_is_shown_in_the_campaign(
    tmp_path: Path, two_paths: Path, line: str, shown: list[str]
) -> None:
    file = tmp_path / "c.toml"
    file.write_text(f'scenario = "{two_paths.name}"\n[grid]\n{line}\n', encoding="utf-8")
    with pytest.raises(ropewalk.ScenarioError) as caught:
        ropewalk.sweep(file, out=tmp_path / "out")
    said = str(caught.value).removeprefix(f"{tmp_path}/").splitlines()
    for found, expected in zip(said, shown, strict=False):
        assert found.startswith(expected), said
    assert caught.value.__notes__[0].startswith("at the point links.b.")
