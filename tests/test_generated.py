"""The pages and tables that tools make are what their sources give."""

from __future__ import annotations

import importlib

import pytest
import shown

# Some of them are made by runs.
pytestmark = pytest.mark.pinned_torch
TOOLS = {
    name.stem: importlib.import_module(name.stem).pages()
    for name in sorted((shown.ROOT / "tools").glob("*.py"))
    if "write(pages())" in name.read_text(encoding="utf-8")
}
# A file may have two: what other versions of torch give is written into pages that other tools make.
MADE = [(path.relative_to(shown.ROOT).as_posix(), tool) for tool, pages in TOOLS.items() for path in pages]


@pytest.mark.parametrize(("name", "tool"), MADE)
def test_the_file_is_what_its_tool_makes(name: str, tool: str) -> None:
    path = shown.ROOT / name
    assert shown.read_if_there(path) == TOOLS[tool][path], f"Write it anew: python tools/{tool}.py"


def test_each_page_that_says_so_is_made_by_its_tool() -> None:
    said = {
        path.relative_to(shown.ROOT).as_posix()
        for path in (shown.ROOT / "docs").glob("*/reference/*.md")
        if "\ngenerated: tools/" in path.read_text(encoding="utf-8")
    }
    assert said <= {name for name, _ in MADE}
