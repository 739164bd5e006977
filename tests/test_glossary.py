"""The glossary is complete, pages mark its terms alike in both languages, and no page says what it tells them to avoid."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import glossary
import pytest
from playwright.sync_api import expect
from published import SOURCES, at
from test_pages import BOTH, LANGUAGES, PAGES, prose, read
from test_topics import CHINESE, section
from topics import lessons

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

GLOSSARY = glossary.read_terms()
TERMS = {term["id"]: term for term in GLOSSARY["term"]}
KEYS = {
    "id",
    "theme",
    "at",
    *(f"{key}{language}" for key in ("", "define_", "aliases_", "avoid_") for language in LANGUAGES),
}
# A tooltip is read at a glance.
LONGEST = {"en": 160, "zh": 70}
CODE = re.compile(r"`[^`]*`")
MARK = re.compile(r"\]\[([a-z]+(?:-[a-z]+)*)\]")
HEADING_OR_LINK = re.compile(r"^#.*$|\[[^\]]*\]\([^)]*\)", re.MULTILINE)


def text(name: str) -> str:
    """The prose of a page without its code, in which ``[0][i]`` would be a mark."""
    return CODE.sub("`…`", prose(read(name)))


def marks(name: str) -> list[str]:
    return MARK.findall(text(name))


@pytest.mark.parametrize("term", GLOSSARY["term"], ids=TERMS)
def test_a_term_is_complete(term: dict[str, Any]) -> None:
    assert term.keys() == {*KEYS, *LANGUAGES} - {""}
    assert MARK.fullmatch(f"][{term['id']}]")
    assert term["theme"] in GLOSSARY["theme"]
    for language in LANGUAGES:
        definition = term[f"define_{language}"]
        assert len(definition) <= LONGEST[language], f"{len(definition)} characters: {definition}"
        # It stands between quotation marks, and in a table.
        assert not set('"|') & set(definition)
        assert bool(CHINESE.search(definition)) == (language == "zh")
        shown = section(language, term["at"])
        assert "```python" in shown or ".raises}" in shown, f"nothing runs at {term['at']}"


def test_no_term_is_there_twice() -> None:
    assert len(TERMS) == len(GLOSSARY["term"])
    for language in LANGUAGES:
        names = [term[language] for term in GLOSSARY["term"]]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", PAGES)
def test_both_languages_mark_the_same_terms(name: str) -> None:
    english, chinese = marks(f"en/{name}"), marks(f"zh/{name}")
    assert sorted(english) == sorted(chinese)
    assert len(english) == len(set(english)), "a term is marked where it first occurs, and once"
    assert set(english) <= TERMS.keys()
    if name.removesuffix(".md") in lessons():
        assert 2 <= len(english) <= 6, f"{len(english)} terms are marked: [leaf tensor][leaf-tensor]"


@pytest.mark.parametrize("name", BOTH)
def test_no_mark_in_a_heading_or_in_a_link(name: str) -> None:
    assert [found for found in HEADING_OR_LINK.findall(text(name)) if MARK.search(found)] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("term", GLOSSARY["term"], ids=TERMS)
def test_a_term_is_marked_or_stands_on_the_page_that_shows_it(term: dict[str, Any], language: str) -> None:
    marked = any(term["id"] in marks(name) for name in BOTH if name.startswith(language))
    name = re.split(r" ?[(（]", term[language])[0].strip("`")
    assert marked or name in read(f"{language}/{term['at'].partition('#')[0]}.md")


@pytest.mark.parametrize("name", BOTH)
def test_a_page_keeps_to_the_terms(name: str) -> None:
    language = name[:2]
    for line in prose(read(name)).splitlines():
        # Addresses, ids and what torch itself says are no words of ours.
        words = re.sub(r"\]\([^)]*\)|\]\[[^\]]*\]|\{ #.*? \}|(`+) ?.*?\1", "", line)
        for term in GLOSSARY["term"]:
            for avoided in term[f"avoid_{language}"]:
                assert avoided.lower() not in words.lower(), (
                    f"{name} says {avoided!r} where the glossary has {term[language]!r}: {line}"
                )


def test_a_mark_is_a_link_with_the_definition(site: Path, page: str) -> None:
    source = SOURCES[page]
    marked = marks(source.relative_to(glossary.ROOT / "docs").as_posix()) if source.suffix == ".md" else []
    built = (site / page / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'<a href="[./]*reference/glossary/#([\w-]+)" title="([^"]+)"', built)
    defined = {term: TERMS[term][f"define_{page[:2]}"].replace("`", "") for term in marked}
    # Nothing else is one: [view] in a text would be a link too.
    assert len(links) == len(marked)
    assert dict(links) == defined


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_definition_appears_when_a_key_reaches_the_term(tab: Page, language: str) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto(at(f"{language}/learn/retain_grad/"), wait_until="networkidle")
    term = tab.locator("article a[title][href$='#leaf-tensor']")
    definition = TERMS["leaf-tensor"][f"define_{language}"].replace("`", "")
    below = """link => {
        const {content, position} = getComputedStyle(link, "::after")
        return [position, content, document.documentElement.scrollWidth]
    }"""
    assert term.evaluate(below) == ["static", "none", 390]
    term.focus()
    assert term.evaluate(below) == ["absolute", f'"{definition}"', 390]
    # A browser shows the title to a pointer, and reads it out.
    expect(term).to_have_accessible_description(definition)
    term.press("Enter")
    expect(tab.locator("td:target")).to_contain_text(TERMS["leaf-tensor"][language])
