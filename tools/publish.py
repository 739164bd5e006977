"""What the site publishes beside its pages: for programs each page as Markdown and llms.txt, the list of them; for readers
without a network a zip and PDFs."""

from __future__ import annotations

import os
import re
from pathlib import Path

from notebooks import ATTRIBUTES, DIV, FIGURE, told
from shown import FRONT_MATTER, ROOT, expand

SITE_URL = os.environ.get("SITE_URL", "http://127.0.0.1:8000/").rstrip("/") + "/"
HEADING = re.compile(r"^# (.*?)(?: \{ #[\w-]+ \})?$", re.MULTILINE)
DESCRIPTION = re.compile(r'^description: "(.*)"$', re.MULTILINE)
INCLUDE = re.compile(r'^ *--8<-- ".*"$', re.MULTILINE)
ANCHOR = re.compile(r"\{ #[\w-]+ \}")
INLINE_ATTRIBUTES = re.compile(r"(?<=[*`)])\{ [.#][^}\n]*\}")
FORM_OR_SECTION = re.compile(r"^</?(?:form|section).*>\n", re.MULTILINE)
# What is marked as a term: [words][a-term].
MARK = re.compile(r"(?<![A-Za-z0-9_])\[([^\]]*)\]\[[a-z-]+\]")
# What make offline makes, for the home page to link to.
EDITIONS = ("grad_fn-and-grad.zip", "grad_fn-and-grad.en.pdf", "grad_fn-and-grad.zh.pdf")
LANGUAGES = {"en": "English", "zh": "简体中文"}
ABOUT = """\
# grad_fn & grad

> PyTorch's autograd graph, explained by runs: what a leaf is, which node leads to which layer, where a gradient goes. Every
> Python block of these pages runs as a test, and every output is what the run printed. The two languages say the same.
"""


def as_markdown(page: Path) -> str:
    """A page with the code in the place of the includes, a figure's caption in the place of the figure."""
    text = FRONT_MATTER.sub("", page.read_text(encoding="utf-8")).lstrip("\n")
    text = FIGURE.sub(told, text)
    text = INCLUDE.sub(lambda include: expand(include[0]).rstrip("\n"), text)
    text = FORM_OR_SECTION.sub("", INLINE_ATTRIBUTES.sub("", text))
    return ANCHOR.sub("", ATTRIBUTES.sub("\n", DIV.sub("", MARK.sub(r"\1", text))))


def llms() -> str:
    lines = [ABOUT]
    for language, name in LANGUAGES.items():
        lines.append(f"## {name}\n")
        for address, page in sorted(markdown_pages(language).items()):
            text = page.read_text(encoding="utf-8")
            lines.append(f"- [{HEADING.search(text)[1]}]({address}): {DESCRIPTION.search(text)[1]}")
        lines.append("")
    return "\n".join(lines)


def markdown_pages(language: str) -> dict[str, Path]:
    pages = sorted((ROOT / "docs" / language).rglob("*.md"))
    return {SITE_URL + page.relative_to(ROOT / "docs").as_posix(): page for page in pages}
