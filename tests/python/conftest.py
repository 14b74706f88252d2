from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from fake_core import FakeCore
from ropewalk import _core

PATIENCE_S = 600
"""How long a test waits for what has to happen: far longer than it takes on a machine with much else to do."""

# Reports made before and after midnight are the same files.
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"

# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("ropewalk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ropewalk")

TWO_PATHS = """\
# client ==a (10 Mbit/s)== server
#        ==b  (2 Mbit/s)==
[scenario]
name = "two-paths"
duration = "3 s"
seed = 7
[hosts.client]
[hosts.server]
[links.a]
between = ["client", "server"]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { discipline = "drop-tail", limit = "50 packets" }
loss = "0.5 %"
[links.b]
between = ["client", "server"]
rate = "2 Mbit/s"
delay = "10 ms"
queue = { discipline = "drop-tail", limit = "50 packets" }
loss = "1 %"
[connections.bulk]
protocol = "mptcp"
from = "client"
to = "server"
paths = ["a", "b"]
application = { kind = "bulk" }
"""

MESH = """\
[scenario]
name = "mesh"
duration = "1 s"
[hosts.s]
[hosts.d]
[wifi]
propagation = { model = "disk", reception = "20 m" }
[wifi.deployment]
layout = { kind = "uniform", stations = 32, area = ["100 m", "100 m"] }
until = "connected"
draws = 1000000000000
source = { node = "s", near = ["20 m", "50 m"] }
destination = { node = "d", near = ["80 m", "50 m"] }
[wifi.routes.a]
from = "s"
to = "d"
find = { algorithm = "link-disjoint", number = 1 }
[connections.bulk]
from = "s"
to = "d"
"""
"""Stations that are drawn until they are connected: with a shorter range, or fewer draws, in vain."""


def files(folder: Path) -> dict[str, bytes]:
    """What is in a folder, octet by octet."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    """The core's functions replaced by the fake's, for failures and waits that real runs do not have."""
    core = FakeCore()
    for name in ("version", "schema", "check", "explain", "references", "run", "doctor", "Interrupt"):
        monkeypatch.setattr(_core, name, getattr(core, name))
    return core


@pytest.fixture
def two_paths(tmp_path: Path) -> Path:
    """A real scenario: MPTCP over a fast and a slow path for three seconds."""
    file = tmp_path / "two-paths.toml"
    file.write_text(TWO_PATHS, encoding="utf-8")
    return file
