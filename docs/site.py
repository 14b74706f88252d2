"""Hooks of the documentation's site: the README is its first page, and sources are named instead of linked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the README as the first page."""
    from mkdocs.structure.files import File

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=_relocated(text, ROOT)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """What lies outside of the site is named, not linked."""
    if page.file.src_uri == "index.md":
        return markdown
    return _relocated(markdown, (ROOT / "docs" / page.file.src_uri).parent, inside=True)


def _relocated(text: str, folder: Path, *, inside: bool = False) -> str:
    docs = ROOT / "docs"

    def link(match: re.Match[str]) -> str:
        target = (folder / match[1]).resolve()
        if not target.exists():
            return match[0]
        if target.is_relative_to(docs) and target.is_file():
            return match[0] if inside else f"]({target.relative_to(docs)}{match[2] or ''})"
        return f"](https://example.invalid/{target.relative_to(ROOT)})"

    linked = LINK.sub(link, text)
    return re.sub(r"\[([^\]]*)\]\(https://example\.invalid/([^)]*)\)", r"\1 (`\2`)", linked)
