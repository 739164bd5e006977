"""Write docs/<language>/conv2d/notebook.ipynb: prose from the page conv2d/trace, code from the snippet that it includes.

The notebook is committed without outputs. The site's build runs it, and so does a test.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import markdown
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode, v4

ROOT = Path(__file__).parent.parent
LANGUAGES = ("en", "zh")
PAGE, NOTEBOOK = "conv2d/trace.md", "conv2d/notebook.ipynb"
ABOUT = {
    "en": "This is [the page with the same title](trace.md) as a notebook. It needs `pip install torch` and the package "
    "`gradfn_tutorial`: run it from a checkout of the repository, or put the `gradfn_tutorial` folder beside the notebook.",
    "zh": "这是[同名页面](trace.md)的笔记本版。运行前先 `pip install torch`，还需要 `gradfn_tutorial` 包："
    "在仓库目录里运行，或者把 `gradfn_tutorial` 文件夹放在笔记本旁边。",
}

DESCRIPTION = {
    "en": "The walk from a loss to each Conv2d node as a Jupyter notebook, to run and to change.",
    "zh": "从 loss 走到每个 Conv2d 节点的全过程，Jupyter 笔记本版，可以运行，也可以改。",
}

FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r"^# .*\n", re.MULTILINE)
NEEDS = re.compile(r"(?:^.+\n)+\{ \.needs \}\n", re.MULTILINE)
FIGURE = re.compile(r"<figure.*?<figcaption[^>]*>(.*?)</figcaption>\n</figure>", re.DOTALL)
CALLOUT = re.compile(r'^ *(?:\?\?\?\+?|!!!) \w+ "(.*?)"\n((?: +.*\n|\n)+)', re.MULTILINE)
DIV = re.compile(r"^</?div.*>\n", re.MULTILINE)
ATTRIBUTES = re.compile(r"(?:^| )\{ ?[#.][^}]*\}$\n?", re.MULTILINE)
SAME_PAGE_LINK = re.compile(r"\]\(#")
FENCE = re.compile(r"^```(?P<info>.*(?:python|output).*)\n(?P<body>(?:.*\n)*?)```$", re.MULTILINE)

WARNING = re.compile(r"^.*:\d+: (\w+: .*)\n(?:  .*\n)?", re.MULTILINE)
INTERNAL = re.compile(r" \(Triggered internally at [^)]*\)")
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")

SNIPPETS = markdown.Markdown(
    extensions=["pymdownx.snippets"],
    extension_configs={
        "pymdownx.snippets": {
            "base_path": [str(ROOT / "snippets"), str(ROOT / "gradfn_tutorial")],
            "check_paths": True,
            "dedent_subsections": True,
        }
    },
).preprocessors["snippet"]


def main() -> None:
    for language in LANGUAGES:
        path = notebook_path(language)
        path.write_text(notebook_text(language), encoding="utf-8")
        print(f"Written: {path.relative_to(ROOT)}")


def notebook_path(language: str) -> Path:
    return ROOT / "docs" / language / NOTEBOOK


def notebook_text(language: str) -> str:
    """The notebook as its file has it. The same page gives the same text."""
    page = (ROOT / "docs" / language / PAGE).read_text(encoding="utf-8")
    cells = list(page_cells(page, ABOUT[language]))
    for number, cell in enumerate(cells, 1):
        cell.id = f"cell-{number}"
    metadata = {
        "description": DESCRIPTION[language],
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    }
    notebook = v4.new_notebook(cells=cells, metadata=metadata)
    return nbformat.writes(notebook) + "\n"


def page_cells(page: str, about: str) -> Iterator[NotebookNode]:
    text = plain(page)
    text = TITLE.sub(lambda title: f"{title[0]}\n{about}\n", text, count=1)
    prose_start = 0
    for fence in FENCE.finditer(text):
        yield from prose_cell(text[prose_start : fence.start()])
        prose_start = fence.end()
        if "python" in fence["info"]:
            cell = v4.new_code_cell("\n".join(SNIPPETS.run(fence["body"].splitlines())).strip("\n"))
            if ".raises" in fence["info"]:
                cell.metadata.tags = ["raises-exception"]
            yield cell
    yield from prose_cell(text[prose_start:])


def prose_cell(text: str) -> Iterator[NotebookNode]:
    if text.strip():
        yield v4.new_markdown_cell(re.sub(r"\n{3,}", "\n\n", text.strip()))


def plain(page: str) -> str:
    """The page in the Markdown that Jupyter knows, code and output fences aside."""
    page = FRONT_MATTER.sub("", page)
    page = NEEDS.sub("", page)
    page = FIGURE.sub(lambda figure: f"*{figure[1].strip()}*", page)
    page = CALLOUT.sub(lambda callout: f"**{callout[1]}**\n\n{textwrap.dedent(callout[2])}", page)
    page = DIV.sub("", page)
    page = ATTRIBUTES.sub("\n", page)
    return SAME_PAGE_LINK.sub("](trace.md#", page)


def run(notebook: NotebookNode) -> None:
    """Run every cell. A cell that raises and is not marked as one that does is an error."""
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": ROOT}}).execute()


def printed(cell: NotebookNode) -> str:
    """What a code cell that ran has printed, as a page shows it."""
    # The kernel sends what was printed and what was warned about in no particular order.
    outputs = sorted(cell.outputs, key=lambda output: output.get("name") != "stderr")
    text = "".join(output_text(output) for output in outputs)
    text = ADDRESS.sub("0x…", INTERNAL.sub(" (Triggered internally at …)", text))
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def output_text(output: NotebookNode) -> str:
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}\n"
    if output.output_type == "stream":
        return WARNING.sub(r"\1\n", output.text) if output.name == "stderr" else output.text
    if "image/svg+xml" in output.data:
        return ""
    return output.data["text/plain"] + "\n"


if __name__ == "__main__":
    main()
