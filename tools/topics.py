"""Write docs/recordings/topics/<language>.md: in which section of the site each topic and question of docs/topics.toml is.

The texts of its links are the headings of the pages. tests/test_topics.py holds topics.toml against the pages.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import tomllib
from shown import ROOT, write

MAP = ROOT / "docs" / "topics.toml"
TABLES = ROOT / "docs" / "recordings" / "topics"
HEADING = re.compile(r"^#+ (.*) \{ #([\w-]+) \}$", re.MULTILINE)
LESSON = re.compile(r": ((?:learn|conv2d|practice)/\w+)\.md$", re.MULTILINE)
# What means something in Markdown, in a question that has it as it is.
SIGN = re.compile(r"[*_\[\]`]")

WORDS = {
    "en": {
        "columns": "topic | where",
        "counts": "The map has {topics} topics and {questions} questions that people ask. "
        "Of the topics, {not_run} do not run here; the table names their sources.",
        "of_page": "{page} ({heading})",
        "not_run": "*not run here*: ",
        "nowhere": "On no page",
        "asked": "The questions, and where each is answered:",
    },
    "zh": {
        "columns": "主题 | 在哪里",
        "counts": "一共有 {topics} 个主题和 {questions} 个常被问到的问题。其中有 {not_run} 个主题没有在这里运行，表里写明了来源。",
        "of_page": "{page}（{heading}）",
        "not_run": "*此处未运行*：",
        "nowhere": "页面上没有",
        "asked": "常见的问题，点开就是回答它的那一节：",
    },
}


def pages() -> dict[Path, str]:
    return {TABLES / f"{language}.md": overview(read_map(), language) for language in WORDS}


def read_map() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(MAP.read_text(encoding="utf-8"))


def lessons() -> list[str]:
    """The pages that teach, in the order of the navigation: ``learn/two_attributes`` and so on."""
    return LESSON.findall((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def headings(language: str) -> dict[str, dict[str, str]]:
    """For each lesson its headings by their anchors, in the order of the page."""
    texts = {
        page: (ROOT / "docs" / language / f"{page}.md").read_text(encoding="utf-8") for page in lessons()
    }
    return {page: {anchor: heading for heading, anchor in HEADING.findall(texts[page])} for page in texts}


def overview(the_map: dict[str, list[dict[str, Any]]], language: str) -> str:
    words, pages = WORDS[language], headings(language)
    order = [f"{page}#{anchor}" for page, anchors in pages.items() for anchor in anchors]
    if unknown := {place for kind in the_map.values() for entry in kind for place in entry["at"]} - set(
        order
    ):
        sys.exit(f"{MAP.name} names places that are on no page: {', '.join(sorted(unknown))}")

    topics = sorted(
        the_map["topic"], key=lambda topic: [order.index(place) for place in topic["at"][:1] or order[-1:]]
    )
    rows, group = [], None
    for topic in topics:
        page = topic["at"][0].partition("#")[0] if topic["at"] else None
        if page != group or not rows:
            group = page
            rows.append(f"| **{page_link(page, pages) if page else words['nowhere']}** | |")
        where = [place_link(place, pages, words) for place in topic["at"]]
        if topic.get("not_run"):
            where.append(f"{words['not_run']}[{topic['version']}]({topic['source']})")
        rows.append(f"| {topic[language]} | {'<br>'.join(where)} |")
    questions = []
    for question in the_map["question"]:
        text = SIGN.sub(r"\\\g<0>", question[language])
        page, _, anchor = question["at"][0].partition("#")
        questions.append(f"- [{text}](../{page}.md#{anchor})")

    counts = words["counts"].format(
        topics=len(topics),
        questions=len(the_map["question"]),
        not_run=sum("not_run" in topic for topic in topics),
    )
    # They have the words of every page, so the search would find them before the pages themselves.
    start = [counts, "", '<div class="topics" data-search-exclude markdown="block">', ""]
    table = [f"| {words['columns']} |", "|---|---|", *rows, ""]
    return "\n".join([*start, *table, words["asked"], "", *questions, "", "</div>", ""])


def page_link(page: str, pages: dict[str, dict[str, str]]) -> str:
    return f"[{title(pages[page])}](../{page}.md)"


def place_link(place: str, pages: dict[str, dict[str, str]], words: dict[str, str]) -> str:
    page, _, anchor = place.partition("#")
    text = pages[page][anchor]
    if sum(text in anchors.values() for anchors in pages.values()) > 1:
        # "Exercises" alone says nothing.
        text = words["of_page"].format(page=title(pages[page]), heading=text)
    return f"[{text}](../{page}.md#{anchor})"


def title(anchors: dict[str, str]) -> str:
    return next(iter(anchors.values()))


if __name__ == "__main__":
    write(pages())
