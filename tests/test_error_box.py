"""The box that finds a pasted error message: it finds what the helper package finds, in a browser, in both languages."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from published import SITE_URL, at
from test_errors import ERRORS, STYLES, UNRELATED, filled, pasted

from gradfn_tutorial.errors import find, rank

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

END = r"(?:/|\.html)"
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
TEXTS = {
    f"{error.id}, {style}, {number}": pasted(filled(message), style)
    for error in ERRORS
    for style in STYLES
    for number, message in enumerate(error.messages)
}
HALVES = {f"{error.id}, half": filled(error.message)[: len(error.message) // 2] for error in ERRORS}
# Pastes one text after another, and returns for each what the box says and the entries that it lists.
PASTE = """(texts) => {
    const box = document.querySelector(".find-error textarea")
    const result = document.querySelector(".find-error [aria-live]")
    return texts.map((text) => {
        box.value = text
        box.dispatchEvent(new InputEvent("input"))
        return [result.firstChild?.data, [...result.querySelectorAll("a")].map((link) => link.hash.slice(1))]
    })
}"""


def open_page(tab: Page, language: str) -> dict[str, str]:
    tab.goto(at(f"{language}/reference/errors/"), wait_until="networkidle")
    return json.loads(tab.locator("#words").text_content())


@LANGUAGES
def test_every_pasted_traceback_finds_its_entry_first(tab: Page, language: str) -> None:
    words = open_page(tab, language)
    results = dict(zip(TEXTS, tab.evaluate(PASTE, list(TEXTS.values()))))
    assert len(results) >= 40 * len(STYLES)
    wrong = {
        name: ids
        for name, (says, ids) in results.items()
        if says != words["error_found"] or ids[0] != name.split(",")[0]
    }
    assert wrong == {}


@LANGUAGES
def test_the_box_ranks_as_the_package_does(tab: Page, language: str) -> None:
    words = open_page(tab, language)
    texts = TEXTS | HALVES | UNRELATED
    results = tab.evaluate(PASTE, list(texts.values()))
    differ = {}
    for (name, text), (says, ids) in zip(texts.items(), results):
        found = find(text, limit=3)
        shown = found or ([error for _, error in rank(text)[:3]] if text.strip() else [])
        said = words["error_found" if found else "error_none"] if text.strip() else None
        if (says, ids) != (said, [error.id for error in shown]):
            differ[name] = (says, ids, [error.id for error in shown])
    assert differ == {}


@LANGUAGES
def test_the_keyboard_opens_the_best_and_back_returns(tab: Page, language: str) -> None:
    words = open_page(tab, language)
    box = tab.get_by_label(words["error_box"])
    box.fill(pasted(filled(ERRORS[-1].message), "python"))
    result = tab.locator(".find-error [aria-live=polite]")
    expect(result).to_contain_text(words["error_found"])
    box.press("Enter")
    expect(tab).to_have_url(re.compile(f"/{language}/reference/errors/[a-z-]+{END}#{ERRORS[-1].id}$"))
    expect(tab.locator(f"#{ERRORS[-1].id}")).to_be_in_viewport()
    tab.go_back()
    expect(tab).to_have_url(re.compile(f"/{language}/reference/errors{END}$"))
    expect(box).to_have_value(re.compile(re.escape(filled(ERRORS[-1].message)[:20])))
    box.fill(UNRELATED["recipe"])
    expect(result).to_contain_text(words["error_none"])
    box.press("Enter")
    expect(box).to_have_value(UNRELATED["recipe"] + "\n")


@LANGUAGES
def test_without_scripts_there_is_no_dead_box(browser: Browser, language: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        tab = context.new_page()
        tab.goto(SITE_URL + at(f"{language}/reference/errors/"))
        expect(tab.locator(".find-error")).to_contain_text("JavaScript")
        expect(tab.locator("textarea")).to_have_count(0)
