"""What a light installation lacks, and how to add it."""

from __future__ import annotations

import importlib.util
from typing import Final

from ropewalk.errors import UnsupportedError

EXTRAS: Final = {
    "figures": ("jinja2", "matplotlib", "plotly"),
    "altair": ("altair",),
    "dask": ("distributed",),
    "pandas": ("pandas", "pyarrow"),
    "slurm": ("dask_jobqueue",),
}
"""The extras of the package, and the modules that each brings."""


def require(extra: str, what: str) -> None:
    """Make sure that an extra is installed, before anything has run.

    Args:
        extra: Its name.
        what: What needs it, as the subject of a sentence in the plural.

    Raises:
        UnsupportedError: It is not; the message says how to add it.
    """
    lacking = [name for name in EXTRAS[extra] if importlib.util.find_spec(name) is None]
    if lacking:
        names = ", ".join(lacking)
        raise UnsupportedError(f"{what} need {names}: pip install 'ropewalk[{extra}]'")
