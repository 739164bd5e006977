"""Write what docs/glossary.toml gives: reference/glossary.md in both languages, and docs/recordings/glossary/links_<language>.md.

mkdocs appends the links to every page, so that a page marks a term by [its words][the-id] and the definition is the link's
title. tests/test_glossary.py holds the pages to the terms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomllib
from shown import ROOT, write
from topics import headings

SOURCE = ROOT / "docs" / "glossary.toml"
LINKS = ROOT / "docs" / "recordings" / "glossary"
# In the page's own language first.
LANGUAGES = {"en": ("en", "zh"), "zh": ("zh", "en")}
NAMES = {"en": "English", "zh": "中文"}
WORDS = {
    "en": {
        "description": "PyTorch autograd terms in English and Chinese: leaf tensor, node, slot, version counter, VJP, double backward and "
        "others, each with a run that shows it.",
        "title": "What do the words mean?",
        "lead": "{count} terms in both languages, each with the section that shows it by a run. On the other pages a dotted line marks "
        "a term: point at it for its definition; the link leads here.",
        "meaning": "meaning, and where it is shown",
        "related": "related: ",
        "comma": ", ",
    },
    "zh": {
        "description": "PyTorch autograd 术语中英对照：叶子张量、节点、slot、版本计数器、向量-雅可比积、二次反向传播等，每条都有运行结果可看。",
        "title": "这些词是什么意思？",
        "lead": "{count} 个术语，中英对照，每个都注明哪一节有运行演示。别的页面上，带点线的词就是术语：指上去会显示释义，点进去就到这里。",
        "meaning": "意思，在哪里演示",
        "related": "相关：",
        "comma": "、",
    },
}


def pages() -> dict[Path, str]:
    made = {}
    for language in LANGUAGES:
        made[ROOT / "docs" / language / "reference" / "glossary.md"] = page(language)
        made[LINKS / f"links_{language}.md"] = links(language)
    return made


def read_terms() -> dict[str, Any]:
    return tomllib.loads(SOURCE.read_text(encoding="utf-8"))


def links(language: str) -> str:
    # A title has no markup.
    return "".join(
        f'[{term["id"]}]: ../reference/glossary.md#{term["id"]} "{term[f"define_{language}"].replace("`", "")}"\n'
        for term in read_terms()["term"]
    )


def page(language: str) -> str:
    glossary, words = read_terms(), WORDS[language]
    places = headings(language)
    lines = [
        "---",
        f'description: "{words["description"]}"',
        "generated: tools/glossary.py",
        # A lesson answers more than a line about its words.
        "search:",
        "  boost: 0.5",
        "---",
        "",
        f"# {words['title']} {{ #glossary }}",
        "",
        words["lead"].format(count=len(glossary["term"])),
        "{ .lead }",
        "",
        '<div class="glossary" markdown>',
    ]
    for theme, title in glossary["theme"].items():
        columns = [*(NAMES[other] for other in LANGUAGES[language]), words["meaning"]]
        lines += [
            "",
            f"## {title[language]} {{ #{theme} }}",
            "",
            f"| {' | '.join(columns)} |",
            "|---|---|---|",
        ]
        lines += [row(term, language, places) for term in glossary["term"] if term["theme"] == theme]
    return "\n".join([*lines, "", "</div>", ""])


def row(term: dict[str, Any], language: str, places: dict[str, dict[str, str]]) -> str:
    own, foreign = LANGUAGES[language]
    where, _, anchor = term["at"].partition("#")
    link = f"[{places[where][anchor]}](../{term['at'].replace('#', '.md#')})"
    return f"| {name(term, own)} {{ #{term['id']} }} | {name(term, foreign)} {{ lang={foreign} }} | {term[f'define_{language}']}<br>{link} |"


def name(term: dict[str, Any], language: str) -> str:
    words = WORDS[language]
    others = words["comma"].join(term[f"aliases_{language}"])
    related = f"<br><small>{words['related']}{others}</small>" if others else ""
    return f"**{term[language]}**{related}"


if __name__ == "__main__":
    write(pages())
