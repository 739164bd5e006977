"""MkDocs hook: run a notebook and show it like any other page.

mkdocs-jupyter would inline half a megabyte of styles, show paths of the machine that builds, and give Chinese headings no
anchors. It still finds the notebook and puts it beside the page for download.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import nbformat
from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from notebooks import printed, run


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    if not page.file.src_uri.endswith(".ipynb"):
        return markdown
    notebook = nbformat.reads(markdown, as_version=4)
    try:
        run(notebook)
    except CellExecutionError as error:
        raise PluginError(f"{page.file.src_uri} fails when it is run:\n{error}") from error
    # mkdocs-jupyter's own rendering, which would take precedence.
    del page.render
    page.meta["description"] = notebook.metadata.description
    # The page that the notebook is made from has the same text.
    page.meta["search"] = {"exclude": True}
    return "\n\n".join(block for cell in notebook.cells for block in blocks(cell))


def blocks(cell: NotebookNode) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    raises = " .raises" if "raises-exception" in cell.metadata.get("tags", []) else ""
    yield f"```{{.python{raises}}}\n{cell.source}\n```"
    if text := printed(cell):
        yield f"```output\n{text}\n```"
    for output in cell.outputs:
        if svg := output.get("data", {}).get("image/svg+xml"):
            yield f'<figure class="graph" markdown="block">\n<div markdown="0">\n{svg}\n</div>\n</figure>'
