"""The notebooks of the lessons run from top to bottom, and the one that is a page prints what conv2d/trace shows."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import blocks
import nbformat
import notebooks
import pytest
from forks import Forks
from published import ROOT
from topics import lessons

FENCE = re.compile(r"^( *)```\{?\.?(?P<language>python|output)\b.*\n(?P<body>(?:.*\n)*?)\1```$", re.MULTILINE)
# The cells in one namespace, as Jupyter runs them.
PROGRAM = """\
import json, sys

namespace = {"__name__": "__main__"}
for source, raises in json.load(open(sys.argv[1], encoding="utf-8")):
    try:
        exec(source, namespace)
    except Exception:
        if not raises:
            raise
    else:
        assert not raises, source
"""


@pytest.mark.parametrize("lesson", lessons())
def test_notebook_of_a_lesson_runs_from_top_to_bottom(lesson: str, forks: Forks, tmp_path: Path) -> None:
    english, chinese = (code_cells(lesson, language) for language in notebooks.LANGUAGES)
    assert english == chinese
    if lesson in blocks.differing_here:
        pytest.skip(blocks.PINNED_ONLY)
    (tmp_path / "cells.json").write_text(json.dumps(english), encoding="utf-8")
    (tmp_path / "run.py").write_text(PROGRAM, encoding="utf-8")
    done = forks.run("run.py", "cells.json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def code_cells(lesson: str, language: str) -> list[tuple[str, bool]]:
    """The code, and whether it is to raise."""
    notebook = nbformat.reads(notebooks.notebook_text(lesson, language), as_version=4)
    return [
        (cell.source, "raises-exception" in cell.metadata.get("tags", ()))
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


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
