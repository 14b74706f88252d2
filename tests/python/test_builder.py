"""Scenarios built in Python: they mean what files mean, and mistakes are told at the call."""

from __future__ import annotations

import pytest

import ropewalk
from ropewalk import Scenario
from ropewalk.errors import ScenarioError

FILE = """
[scenario]
name = "built"
duration = "100 ms"
[hosts.a]
[hosts.b]
[links.x]
between = ["a", "b"]
rate = "10 Mbit/s"
[connections.c]
from = "a"
to = "b"
"""


def built() -> Scenario:
    scenario = Scenario("built", duration="100 ms")
    scenario.hosts("a", "b")
    scenario.link("x", "a", "b", rate="10 Mbit/s")
    scenario.connection("c", "a", "b")
    return scenario


def test_it_means_what_a_file_means() -> None:
    assert built().check().hash == ropewalk.check(FILE).hash
    assert ropewalk.check(built()).hash == ropewalk.check(FILE).hash, "it goes where a scenario goes"
    assert built().run(series=False).runs[0]["connections"][0]["bytes"] > 0


def test_groups_and_templates() -> None:
    scenario = Scenario("star", duration="100 ms")
    scenario.topology("star", hosts=5, link={"rate": "10 Mbit/s"})
    scenario.connection("c", "h", "h-1")
    assert "c-4" in scenario.explain()


def test_a_mistake_is_told_at_its_call() -> None:
    scenario = built()
    scenario.link("y", "a", "b", rate="fast")
    with pytest.raises(ScenarioError) as caught:
        scenario.check()
    place, key, message = str(caught.value).splitlines()[0].split(": ", 2)
    assert place.startswith(f"{__file__}:"), place
    assert (key, message) == ("links.y.rate", '`"fast"` does not fit here')
    assert "10 Mbit/s" in str(caught.value), "what was expected is said"


def test_all_mistakes_are_told() -> None:
    scenario = built()
    scenario.link("y", "a", "b", rate="fast", dealy="1 ms")
    scenario.connection("d", "a", "b", protocol="sctp")
    with pytest.raises(ScenarioError) as caught:
        scenario.run()
    keys = {key for key, _, _ in caught.value.mistakes}
    assert keys == {"links.y.rate", "links.y.dealy", "connections.d.protocol"}
    assert "did you mean `delay`" in str(caught.value)


def test_a_name_given_twice() -> None:
    scenario = built()
    with pytest.raises(ScenarioError, match=r"there is a `links.x` already, from .*test_builder.py:\d+"):
        scenario.link("x", "a", "b", rate="1 Mbit/s")
