"""What a user waits for before anything happens: imports."""

from __future__ import annotations

import subprocess
import sys

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
