"""The page: its template, style and script in one file, and the runs packed into it."""

from __future__ import annotations

import base64
import gzip
import html as escaping
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from ropewalk.store import write_text
from ropewalk.view.data import of_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ropewalk.view.runs import Shown


def html(runs: Sequence[Shown]) -> str:
    """The page that shows these runs side by side."""
    data = [of_run(run) for run in runs]
    names = " and ".join(f"{run.name}, seed {run.seed}" for run in runs)
    # Level 6 and a fixed time: the same runs make the same page.
    packed = base64.b64encode(gzip.compress(_json(data), 6, mtime=0)).decode()
    page = _part("page.html")
    for mark, text in (
        ("{{title}}", escaping.escape(names)),
        ("{{style}}", _part("view.css")),
        ("{{script}}", _part("chart.js") + _part("topology.js") + _part("view.js")),
        ("{{data}}", packed),
    ):
        page = page.replace(mark, text)
    return page


def write(runs: Sequence[Shown], file: Path) -> None:
    """Write the page.

    Raises:
        StoreError: It cannot be written.
    """
    write_text(file, html(runs))


def _json(data: list[dict[str, Any]]) -> bytes:
    return json.dumps(data, separators=(",", ":"), allow_nan=False, default=str).encode()


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
