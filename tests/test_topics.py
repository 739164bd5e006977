"""The map of the site leads to sections that are there and that run something, in both languages."""

from __future__ import annotations

import re
from typing import Any

import pytest
import topics

MAP = topics.read_map()
ENTRIES = [(kind, entry) for kind, entries in MAP.items() for entry in entries]
KINDS = ("topic", "question")
KEYS = {"en", "zh", "at"}
NOT_RUN = {"not_run", "source", "version"}
LANGUAGES = ("en", "zh")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def section(language: str, place: str) -> str:
    """What stands below the heading of a place, up to the next heading."""
    page, _, anchor = place.partition("#")
    text = (topics.ROOT / "docs" / language / f"{page}.md").read_text(encoding="utf-8")
    _, heading, below = text.partition(f" {{ #{anchor} }}\n")
    assert heading, f"{page} has no heading with the anchor {anchor}"
    return topics.HEADING.split(below)[0]


@pytest.mark.parametrize(("kind", "entry"), ENTRIES, ids=[entry["en"] for _, entry in ENTRIES])
def test_an_entry_leads_to_a_run(kind: str, entry: dict[str, Any]) -> None:
    more = NOT_RUN if "not_run" in entry else set()
    assert entry.keys() == KEYS | more
    assert CHINESE.search(entry["zh"]) and not CHINESE.search(entry["en"])
    assert len(entry["at"]) == len(set(entry["at"]))
    sections = [[section(language, place) for place in entry["at"]] for language in LANGUAGES]
    if more:
        assert kind == "topic" and entry["not_run"] is True
        assert re.match(r"https://[\w.]+/\S+$", entry["source"])
        assert re.match(r"(torch \d+\.\d+\.\d+|\d{4}-\d\d)$", entry["version"])
    else:
        # A table or a list of links may be one of the places, but not the only one.
        assert all(any("```python" in text or ".raises}" in text for text in texts) for texts in sections)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_said_twice(kind: str, language: str) -> None:
    said = [entry[language] for entry in MAP[kind]]
    assert len(said) == len(set(said))


@pytest.mark.parametrize("lesson", topics.lessons())
def test_every_lesson_has_a_topic(lesson: str) -> None:
    places = [place for topic in MAP["topic"] for place in topic["at"] if place.startswith(f"{lesson}#")]
    assert places, f"No topic of docs/topics.toml leads to {lesson}: add one, then python tools/topics.py"


def test_the_lessons_are_the_pages_that_there_are() -> None:
    folders = ("learn", "conv2d", "practice")
    there = {
        f"{folder}/{path.stem}"
        for folder in folders
        for path in (topics.ROOT / "docs/en" / folder).glob("*.md")
    }
    assert set(topics.lessons()) == there


def test_a_place_that_is_not_there_is_an_error() -> None:
    wrong = [
        {"en": "one", "zh": "一", "at": ["learn/backward#order", "learn/gone#order", "learn/backward#gone"]}
    ]
    with pytest.raises(SystemExit, match="on no page: learn/backward#gone, learn/gone#order"):
        topics.overview(MAP | {"topic": wrong}, "en")
