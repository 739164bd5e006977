"""The pages and tables that tools make are what their sources give."""

from __future__ import annotations

import importlib
import re

import pytest
import shown
from sealed import RECORDINGS, is_sealed

TOOLS = [
    path.stem
    for path in sorted((shown.ROOT / "tools").glob("*.py"))
    if "write(pages())" in path.read_text(encoding="utf-8")
]
SAYS = re.compile(r"^generated: tools/(\w+)\.py$", re.MULTILINE)
# The pages that say which tool has made them.
SAID = {
    path: says[1]
    for path in (shown.ROOT / "docs").glob("*/reference/**/*.md")
    if (says := SAYS.search(path.read_text(encoding="utf-8")))
}


# Some of them are made by runs.
@pytest.mark.pinned_torch
@pytest.mark.parametrize("tool", TOOLS)
def test_the_files_of_a_tool_are_what_it_makes(tool: str) -> None:
    made = importlib.import_module(tool).pages()
    for path, text in made.items():
        name = path.relative_to(shown.ROOT).as_posix()
        assert shown.read_if_there(path) == text, f"Write {name} anew: python tools/{tool}.py"
    assert {path for path, by in SAID.items() if by == tool} <= made.keys()


def test_each_page_that_says_so_is_made_by_a_tool() -> None:
    assert {"errors", "claims", "names"} <= set(SAID.values()) <= set(TOOLS)


@pytest.mark.parametrize("name", ["bench.md", "lighthouse.md", "mutate/en.md", "mutate/zh.md"])
def test_no_measurement_was_typed_by_hand(name: str) -> None:
    text = (RECORDINGS / name).read_text(encoding="utf-8")
    assert is_sealed(text), "Measure it anew: CONTRIBUTING.md has the commands"
