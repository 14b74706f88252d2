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
