"""The pages and tables that tools make are what their sources give."""

from __future__ import annotations

import importlib

import pytest
import shown
from sealed import RECORDINGS, is_sealed

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


@pytest.mark.parametrize("name", ["bench.md", "lighthouse.md", "mutate/en.md", "mutate/zh.md"])
def test_no_measurement_was_typed_by_hand(name: str) -> None:
    text = (RECORDINGS / name).read_text(encoding="utf-8")
    assert is_sealed(text), "Measure it anew: CONTRIBUTING.md has the commands"


def test_each_page_that_says_so_is_made_by_its_tool() -> None:
    said = {
        path.relative_to(shown.ROOT).as_posix()
        for path in (shown.ROOT / "docs").glob("*/reference/*.md")
        if "\ngenerated: tools/" in path.read_text(encoding="utf-8")
    }
    assert said <= {name for name, _ in MADE}
