"""Make a notebook of a lesson: prose from its page, code from the snippet that the page includes.

The build of the site makes one of each lesson, to download. One of them is a page too, which the build runs, and so does a
test: docs/<language>/conv2d/notebook.ipynb.
"""

from __future__ import annotations

import re
import tempfile
import textwrap
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode, v4
from shown import FRONT_MATTER, ROOT, expand, mask, plain_warnings, write

LANGUAGES = ("en", "zh")
LESSON = "conv2d/trace"
ABOUT = {
    "en": "This is the page with the same title as a notebook. It needs {libraries} and this site's helper package: "
    "run `pip install .` in a checkout of the repository first.",
    "zh": "这是同名页面的 Notebook 版。需要 {libraries} 和本站的辅助包：先在仓库目录里执行 `pip install .`。",
}
ABOUT_INSTALLED = {
    "en": "This is the page with the same title as a notebook. Its first cell installs this site's helper package; it also needs "
    "{libraries}.",
    "zh": "这是同名页面的 Notebook 版。第一个单元安装本站的辅助包，此外还需要 {libraries}。",
}
COMMA = {"en": ", ", "zh": "、"}
# What a lesson may need besides torch, which installs neither, and the code that tells.
LIBRARIES = {"NumPy": ".numpy()", "matplotlib": "import pyplot"}
DESCRIPTION = {
    "en": "The walk from a loss to each Conv2d node as a Jupyter notebook, to run and to change.",
    "zh": "从 loss 走到每个 Conv2d 节点的全过程，Jupyter Notebook 版，可以运行，也可以改。",
}

TITLE = re.compile(r"^# .*\n", re.MULTILINE)
NEEDS = re.compile(r"(?:^.+\n)+\{ \.needs \}\n", re.MULTILINE)
FIGURE = re.compile(r"<figure[^>]*>(.*?)<figcaption[^>]*>(.*?)</figcaption>\n</figure>", re.DOTALL)
RECORDED = re.compile(r'/(\w+)\.svg"')
LABEL = re.compile(r'aria-label="(.*?)"')
DRAWN = re.compile(r"<!-- draw (\w+) -->\n")
CALLOUT = re.compile(r'^ *(?:\?\?\?\+?|!!!) \w+ "(.*?)"\n((?: +.*\n|\n)+)', re.MULTILINE)
DIV = re.compile(r"^</?div.*>\n", re.MULTILINE)
ATTRIBUTES = re.compile(r"(?:^| )\{ ?[#.][^}]*\}$\n?", re.MULTILINE)
# Beside a downloaded notebook there is no page to link to, and no glossary: [words][a-term]. After a name it is an index.
LINK_TO_PAGE = re.compile(r"(?<![A-Za-z0-9_])\[([^\]]*)\](?:\((?!https?:)[^)]*\)|\[[a-z-]+\])")
NEXT = re.compile(r"^(?:Next|下一页)[:：].*\n?\Z", re.MULTILINE)
FENCE = re.compile(r"^```(?P<info>.*(?:python|output).*)\n(?P<body>(?:.*\n)*?)```$", re.MULTILINE)


def pages() -> dict[Path, str]:
    """The notebook that the site shows as a page. It is committed without outputs."""
    return {notebook_path(language): notebook_text(LESSON, language) for language in LANGUAGES}


def notebook_path(language: str) -> Path:
    return ROOT / "docs" / language / "conv2d" / "notebook.ipynb"


def notebook_text(lesson: str, language: str, repository: str = "") -> str:
    """A lesson as a notebook, whose first cell installs the helper package where it is known from which ``repository``."""
    page = (ROOT / "docs" / language / f"{lesson}.md").read_text(encoding="utf-8")
    text = expand(page)
    libraries = COMMA[language].join(["torch", *(name for name, sign in LIBRARIES.items() if sign in text)])
    about = (ABOUT_INSTALLED if repository else ABOUT)[language].format(libraries=libraries)
    cells = page_cells(page, about)
    if repository:
        cells.insert(1, v4.new_code_cell(f'%pip install --quiet "gradfn-tutorial @ git+{repository}"'))
    for number, cell in enumerate(cells, 1):
        cell.id = f"cell-{number}"
    metadata = {
        "description": DESCRIPTION[language],
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    }
    notebook = v4.new_notebook(cells=cells, metadata=metadata)
    return nbformat.writes(notebook) + "\n"


def page_cells(page: str, about: str) -> list[NotebookNode]:
    text = plain(page)
    text = TITLE.sub(lambda title: f"{title[0].rstrip()} (Notebook)\n\n{about}\n", text, count=1)
    cells: list[NotebookNode] = []
    prose_start = 0
    for fence in FENCE.finditer(text):
        add_prose(cells, text[prose_start : fence.start()])
        prose_start = fence.end()
        if "python" in fence["info"]:
            cell = v4.new_code_cell(expand(fence["body"]).rstrip("\n"))
            if ".raises" in fence["info"]:
                cell.metadata.tags = ["raises-exception"]
            cells.append(cell)
    add_prose(cells, text[prose_start:])
    return cells


def add_prose(cells: list[NotebookNode], text: str) -> None:
    # Jupyter draws the graph that a cell ends with.
    for variable in DRAWN.findall(text):
        next(cell for cell in reversed(cells) if cell.cell_type == "code").source += f"\n\n{variable}"
    text = DRAWN.sub("", text).strip()
    if text:
        cells.append(v4.new_markdown_cell(re.sub(r"\n{3,}", "\n\n", text)))


def plain(page: str) -> str:
    """The page in the Markdown that Jupyter knows, code and output fences aside."""
    page = FRONT_MATTER.sub("", page)
    page = NEEDS.sub("", page)
    page = FIGURE.sub(drawn_or_told, page)
    page = CALLOUT.sub(lambda callout: f"**{callout[1]}**\n\n{textwrap.dedent(callout[2])}", page)
    page = DIV.sub("", page)
    page = ATTRIBUTES.sub("\n", page)
    page = NEXT.sub("", page)
    return LINK_TO_PAGE.sub(r"\1", page)


def drawn_or_told(figure: re.Match[str]) -> str:
    variable = RECORDED.search(figure[1])
    return f"<!-- draw {variable[1]} -->\n*{figure[2].strip()}*" if variable else told(figure)


def told(figure: re.Match[str]) -> str:
    """A figure's caption, after what its drawing shows, if that says so."""
    caption, label = f"*{figure[2].strip()}*", LABEL.search(figure[1])
    return f"[{label[1]}] {caption}" if label else caption


def run(notebook: NotebookNode) -> None:
    """Run every cell, away from the repository. A cell that raises and is not marked as one that does is an error."""
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()


def printed(cell: NotebookNode) -> str:
    """What a code cell that ran has printed, as a page shows it."""
    # The kernel sends what was printed and what was warned about in no particular order.
    outputs = sorted(cell.outputs, key=lambda output: output.get("name") != "stderr")
    return mask("".join(output_text(output) for output in outputs)).rstrip("\n")


def output_text(output: NotebookNode) -> str:
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}\n"
    if output.output_type == "stream":
        return plain_warnings(output.text) if output.name == "stderr" else output.text
    if "image/svg+xml" in output.data:
        return ""
    return output.data["text/plain"] + "\n"


if __name__ == "__main__":
    write(pages())
