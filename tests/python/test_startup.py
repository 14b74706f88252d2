"""What a user waits for before anything happens: imports."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("rich", "polars", "numpy", "scipy", "matplotlib", "plotly", "jinja2", "ropewalk.campaign")


def imported_by(statement: str) -> set[str]:
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_command_imports_nothing_heavy() -> None:
    modules = imported_by("import ropewalk.commands")
    assert "typer" in modules
    assert not modules & set(HEAVY)


def test_the_package_imports_nothing_until_it_is_used() -> None:
    modules = imported_by("import ropewalk")
    assert {name for name in modules if name.startswith("ropewalk")} == {"ropewalk"}


def test_every_public_name_can_be_had() -> None:
    import ropewalk

    for name in ropewalk.__all__:
        assert getattr(ropewalk, name) is not None
    assert set(ropewalk.__all__) < set(dir(ropewalk))


def test_a_light_installation_runs_without_figures() -> None:
    program = (
        "import sys\n"
        "for name in ('matplotlib', 'plotly', 'jinja2', 'scipy', 'numpy'):\n"
        "    sys.modules[name] = None\n"
        "import ropewalk\n"
        "result = ropewalk.run('scenarios/degraded-path.toml', replications=2, "
        "overrides={'scenario.duration': '1 s'})\n"
        "from ropewalk.tables import of_summary\n"
        "print(of_summary(result.combined), result.benefit())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_lacking_says_how_to_add_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from ropewalk import extras
    from ropewalk.errors import UnsupportedError

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "plotly" else find(name))
    with pytest.raises(UnsupportedError, match=r"the pages need plotly: pip install 'ropewalk\[figures\]'"):
        extras.require("figures", "the pages")
