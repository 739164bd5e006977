"""The notebooks are the page conv2d/trace, cell by cell, and print what it shows."""

from __future__ import annotations

import re
import textwrap

import blocks
import nbformat
import notebooks
import pytest
from published import ROOT

FENCE = re.compile(r"^( *)```\{?\.?(?P<language>python|output)\b.*\n(?P<body>(?:.*\n)*?)\1```$", re.MULTILINE)


@pytest.mark.parametrize("language", notebooks.LANGUAGES)
def test_notebook_prints_what_its_page_shows(language: str) -> None:
    if notebooks.LESSON in blocks.differing_here:
        pytest.skip(blocks.PINNED_ONLY)
    notebook = nbformat.read(notebooks.notebook_path(language), as_version=4)
    notebooks.run(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    page = (ROOT / "docs" / language / f"{notebooks.LESSON}.md").read_text(encoding="utf-8")
    outputs = shown_outputs(page)
    assert outputs
    for cell, shown in zip(cells, outputs, strict=True):
        assert notebooks.printed(cell) == shown, f"printed by {cell.id}:\n{cell.source}"


def shown_outputs(page: str) -> list[str]:
    """For each Python block of a page, the output below it."""
    outputs: list[str] = []
    for fence in FENCE.finditer(page):
        if fence["language"] == "python":
            outputs.append("")
        else:
            outputs[-1] = textwrap.dedent(fence["body"]).rstrip("\n")
    return outputs
