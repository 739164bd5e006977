"""The built site in a real browser: what a reader sees, clicks and copies."""

from __future__ import annotations

import ast
import gzip
import json
import re
import textwrap
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from blocks import expand
from chromium import serving
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect
from published import OFFLINE_SITE, PATIENCE, SITE_URL, SOURCES, at
from topics import read_map

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PHONE = {"width": 390, "height": 844}
LEAF = "learn/leaf_tensors/"
# Types one query after another, and returns the pages that each of them finds, best first.
SEARCH = """async ({queries, patience}) => {
    const field = document.querySelector(".md-search__input")
    const count = document.querySelector(".md-search-result__meta")
    const found = []
    // Without a server, this is what loads the index.
    field.focus()
    for (const query of queries) {
        // The count is written anew for each answer, and the list right after it.
        const answered = new Promise((resolve, reject) => {
            new MutationObserver((_, observer) => resolve(observer.disconnect())).observe(count, {childList: true})
            setTimeout(reject, patience, Error(`no answer to ${query}`))
        })
        field.value = query
        field.dispatchEvent(new KeyboardEvent("keyup"))
        await answered
        const items = [...document.querySelectorAll(".md-search-result__item")]
        found.push(items.map((item) => item.querySelector("a").pathname))
    }
    return found
}"""
# What has moved by itself since the page began to load: how much (0.1 in all still counts as good), when, and which elements.
SHIFT = """() => new Promise((resolve) => {
    const shifts = []
    new PerformanceObserver((list) => {
        for (const { value, startTime, sources } of list.getEntries())
            shifts.push([value, Math.round(startTime), sources.map(({ node }) => node?.outerHTML?.slice(0, 80))])
    }).observe({type: "layout-shift", buffered: true})
    setTimeout(() => resolve(shifts), 50)
})"""
INDEX_IS_HERE = (
    "performance.getEntriesByType('resource').some(({name}) => name.endsWith('search_index.json'))"
)
# In bytes. The index of the Chinese words is the larger one.
FIRST_VIEW, FURTHER_PAGE, SEARCH_INDEX = 200_000, 40_000, 300_000
# Presses twenty copy buttons, from the one of this number on, and returns what each has copied.
COPY = """async (first) => {
    const texts = []
    for (const button of [...document.querySelectorAll(".language-python [data-md-type=copy]")].slice(first, first + 20)) {
        button.click()
        texts.push(await navigator.clipboard.readText())
    }
    return texts
}"""
# Words whose endings a search may cut off on one side alone.
ENDINGS = ("next_functions", "variables", "modified", "leaves", "named_parameters", "saved_tensors_hooks")
# What is pasted, and the plain words in it, which have to find the same.
PASTED = {
    "grad *= 2": "grad 2",
    "y = x**2": "y x 2",
    "loss = -x.sum()": "loss x.sum()",
    "softmax(-1)": "softmax 1",
    "f(x +step)": "f(x step)",
    "~mask": "mask",
    "x^y": "x y",
    'print("w is saved:", w)': "print w is saved w",
    "RuntimeError: grad": "RuntimeError grad",
}
BOTH_WAYS = pytest.mark.parametrize(("here", "there"), [("en", "zh"), ("zh", "en")])


class Visit:
    """A page in a tab of its own, and what goes wrong there."""

    def __init__(self, context: BrowserContext, page: str) -> None:
        self.trouble: list[str] = []
        self.asked: set[str] = set()
        self.tab = context.new_page()
        self.tab.on("console", self.hear)
        self.tab.on("pageerror", lambda error: self.trouble.append(f"exception: {error}"))
        self.tab.on("requestfailed", lambda request: self.trouble.append(f"failed: {request.url}"))
        self.tab.on("request", lambda request: self.see(request.url))
        self.tab.goto(at(page), wait_until="networkidle")
        if not OFFLINE_SITE:
            # On a busy machine the network can be idle before the scripts have run, which ask for this last.
            self.tab.wait_for_function(INDEX_IS_HERE)

    def hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.trouble.append(f"console: {message.text} {message.location['url']}")

    def see(self, url: str) -> None:
        self.asked.add(url.partition("#")[0].partition("?")[0])
        if not url.startswith((SITE_URL, "data:", "blob:")):
            self.trouble.append(f"another host: {url}")


@pytest.fixture(scope="module")
def visit(context: BrowserContext, page: str) -> Iterator[Visit]:
    visit = Visit(context, page)
    yield visit
    visit.tab.close()


@pytest.mark.skipif(bool(OFFLINE_SITE), reason="nothing is sent over a network")
def test_page_is_light(visit: Visit, page: str, site: Path) -> None:
    weight = {name: weigh(site, name) for url in visit.asked if (name := url.removeprefix(SITE_URL)) != url}
    index = weight.pop(f"{page[:2]}/search/search_index.json")
    home = (site / page[:2] / "index.html").read_text(encoding="utf-8")
    new = {name: size for name, size in weight.items() if name[3:] not in home}
    assert sum(weight.values()) <= FIRST_VIEW, weight
    assert sum(new.values()) <= FURTHER_PAGE, new
    assert index <= SEARCH_INDEX


def weigh(site: Path, name: str) -> int:
    """Bytes on the way, compressed."""
    path = site / name
    return len(gzip.compress((path / "index.html" if path.is_dir() else path).read_bytes()))


def test_nothing_moves_while_the_page_loads(visit: Visit) -> None:
    shifts = visit.tab.evaluate(SHIFT)
    if sum(value for value, *_ in shifts) >= 0.02:
        # What the page itself moves, it moves each time; a busy machine has done it once in a thousand loads.
        visit.tab.reload(wait_until="networkidle")
        shifts = visit.tab.evaluate(SHIFT)
    assert sum(value for value, *_ in shifts) < 0.02, shifts


def test_copied_code_is_the_program(visit: Visit, page: str) -> None:
    tab, blocks = visit.tab, python_blocks(SOURCES[page])
    unfold(tab)
    expect(tab.locator(".language-python [data-md-type=copy]")).to_have_count(len(blocks))
    copied = []
    # The browser's leave to copy lasts for some seconds.
    while part := tab.evaluate(COPY, len(copied)):
        copied += part
    for text, block in zip(copied, blocks, strict=True):
        ast.parse(text)
        assert text.rstrip() == block.rstrip()
    if blocks:
        # A script can click what a reader cannot.
        tab.locator(".language-python [data-md-type=copy]").first.click()
        assert tab.evaluate("navigator.clipboard.readText()") == copied[0]


def unfold(tab: Page) -> None:
    tab.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")


def python_blocks(source: Path) -> list[str]:
    """Read the Python blocks of a page from its source, with what they include."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".ipynb":
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    fences = re.findall(r"^( *)```(?:python|{\.python[^\n]*})\n(.*?)^\1```", text, re.M | re.S)
    return [expand(textwrap.dedent(code)) for _, code in fences]


def test_prediction_hides_the_output_until_answered(visit: Visit, page: str) -> None:
    questions = visit.tab.locator(".predict").all()
    outputs = visit.tab.locator(".predicted").all()
    assert (
        len(questions) == len(outputs) == SOURCES[page].read_text(encoding="utf-8").count('class="predict"')
    )
    words = json.loads(visit.tab.locator("#words").text_content())
    for number, (question, output) in enumerate(zip(questions, outputs)):
        printed = output.locator("pre")
        expect(printed).to_be_hidden()
        answers = question.get_by_role("button")
        right = [answer.text_content().strip() in printed.text_content() for answer in answers.all()]
        assert sum(right) == 1
        # Every second question is answered rightly, the others wrongly.
        answer = answers.nth(right.index(number % 2 == 0))
        answer.click()
        expect(printed).to_be_visible()
        expect(output).to_contain_text(words["right" if number % 2 == 0 else "wrong"])
        expect(question.locator(".right")).to_have_text(answers.nth(right.index(True)).inner_text())


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_page_is_accessible(visit: Visit, scheme: str) -> None:
    unfold(visit.tab)
    visit.tab.evaluate("scheme => document.body.dataset.mdColorScheme = scheme", scheme)
    # Dark differs from light in colours only.
    rules = {"runOnly": ["color-contrast", "link-in-text-block"]} if scheme == "slate" else {}
    # From a disk nothing can be asked for, and a try would be told as a failure of the page.
    options = {"resultTypes": ["violations"], "preload": not OFFLINE_SITE, **rules}
    violations = Axe().run(visit.tab, options=options).response["violations"]
    assert [
        f"{found['id']}: {node['html']}"
        for found in violations
        if found["impact"] in {"serious", "critical"}
        for node in found["nodes"]
    ] == []


def test_page_fits_a_phone(visit: Visit) -> None:
    visit.tab.set_viewport_size(PHONE)
    assert visit.tab.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_page_made_no_trouble(visit: Visit) -> None:
    """Look at what the tests above have gathered, whose clicks may do damage as loading may."""
    expect(visit.tab.locator("h1")).to_be_visible()
    assert visit.trouble == []


@BOTH_WAYS
def test_language_switch_stays_on_the_page(tab: Page, here: str, there: str) -> None:
    tab.goto(at(f"{here}/{LEAF}"))
    anchor = tab.locator("article h2").last.get_attribute("id")
    tab.goto(f"{at(f'{here}/{LEAF}')}#{anchor}")
    switch_language(tab, there)
    expect(tab).to_have_url(f"{SITE_URL}{at(f'{there}/{LEAF}')}#{anchor}")
    expect(tab.locator("html")).to_have_attribute("lang", there)


@pytest.mark.skipif(bool(OFFLINE_SITE), reason="without a server each page is loaded anew")
@BOTH_WAYS
def test_language_switch_follows_instant_navigation(tab: Page, here: str, there: str) -> None:
    tab.goto(at(f"{here}/learn/two_attributes/"), wait_until="networkidle")
    tab.evaluate("window.sameDocument = true")
    open_from_navigation(tab, LEAF)
    assert tab.evaluate("window.sameDocument")
    switch_language(tab, there)
    expect(tab).to_have_url(SITE_URL + at(f"{there}/{LEAF}"))
    expect(tab.locator("html")).to_have_attribute("lang", there)


def switch_language(tab: Page, language: str) -> None:
    tab.locator(".md-select").hover()
    tab.locator(f".md-select__link[hreflang={language}]").click()


def open_from_navigation(tab: Page, page: str) -> None:
    tab.locator(f".md-sidebar--primary a[href$='{at(page).rpartition('learn/')[2]}']").first.click()
    expect(tab).to_have_url(re.compile(f"/{at(page)}$"))


def test_back_and_forward(tab: Page) -> None:
    tab.goto(at("en/learn/two_attributes/"), wait_until="networkidle")
    first = tab.locator("h1").inner_text()
    open_from_navigation(tab, LEAF)
    expect(tab.locator("h1")).not_to_have_text(first)
    second = tab.locator("h1").inner_text()
    tab.go_back()
    expect(tab).to_have_url(SITE_URL + at("en/learn/two_attributes/"))
    expect(tab.locator("h1")).to_have_text(first)
    tab.go_forward()
    expect(tab.locator("h1")).to_have_text(second)


@pytest.mark.parametrize(
    ("language", "words", "place"),
    [
        ("en", "leaf tensor", LEAF),
        ("zh", "叶子张量", LEAF),
        ("zh", "非标量", "reference/errors/backward/#non-scalar"),
        *(
            (language, "element 0 of tensors", "reference/errors/backward/#no-grad-fn")
            for language in ("en", "zh")
        ),
        *((language, "ThnnConv2DBackward", "reference/node_names/#convolution") for language in ("en", "zh")),
    ],
)
def test_search_finds_the_place_first(tab: Page, language: str, words: str, place: str) -> None:
    tab.goto(at(f"{language}/"), wait_until="networkidle")
    field = tab.locator(".md-search__input")
    field.fill(words)
    # The search waits for a key, and fill() presses none.
    field.press("End")
    page, _, anchor = place.partition("#")
    links = tab.locator(".md-search-result__item").first.locator(".md-search-result__link")
    expect(links.first).to_have_attribute("href", re.compile(f"/{language}/{at(page)}"))
    if anchor:
        # The page comes first, and then the best of its sections.
        expect(links.nth(1)).to_have_attribute("href", re.compile(f"#{anchor}$"))


def search(tab: Page, language: str, queries: list[str]) -> list[list[str]]:
    tab.goto(at(f"{language}/"), wait_until="networkidle")
    return tab.evaluate(SEARCH, {"queries": queries, "patience": PATIENCE})


@pytest.mark.parametrize("language", ["en", "zh"])
def test_search_answers_the_questions_of_the_map(tab: Page, language: str) -> None:
    questions = read_map()["question"]
    found = search(tab, language, [question[language] for question in questions])
    missed = {}
    for question, pages in zip(questions, found):
        answers = {
            urlsplit(SITE_URL).path + at(f"{language}/{place.partition('#')[0]}/") for place in question["at"]
        }
        if not answers & set(pages[:3]):
            missed[question[language]] = pages[:3]
    assert len(found) == len(questions)
    assert missed == {}


def test_search_takes_pasted_code_for_words(tab: Page) -> None:
    found = search(tab, "en", [*PASTED, *PASTED.values()])
    as_pasted, as_words = found[: len(PASTED)], found[len(PASTED) :]
    assert all(as_pasted)
    assert dict(zip(PASTED, as_pasted)) == dict(zip(PASTED, as_words))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_search_finds_english_words_in_both_languages(tab: Page, language: str) -> None:
    found = dict(zip(ENDINGS, search(tab, language, ENDINGS)))
    assert [word for word, pages in found.items() if not pages] == []


def test_dark_mode_is_kept(tab: Page) -> None:
    body, switch = tab.locator("body"), tab.locator("[data-md-component=palette] label:visible")
    tab.goto(at(f"en/{LEAF}"))
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    switch.click()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    tab.reload()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    switch.click()
    expect(body).to_have_attribute("data-md-color-scheme", "default")


@pytest.mark.parametrize(("locale", "language"), [("zh-CN", "zh"), ("en-GB", "en"), ("fr-FR", "en")])
def test_root_picks_a_language(browser: Browser, locale: str, language: str) -> None:
    with browser.new_context(locale=locale) as context:
        tab = context.new_page()
        tab.goto(SITE_URL + at(""))
        expect(tab).to_have_url(SITE_URL + at(f"{language}/"))


@pytest.mark.skipif(bool(OFFLINE_SITE), reason="without a server there is no prefix")
def test_the_site_works_below_a_prefix(browser: Browser, site: Path, tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "prefix").symlink_to(site)
    (tmp_path / "index.html").touch()
    with serving(tmp_path) as port, browser.new_context(locale="en-GB") as context:
        tab, home = context.new_page(), f"http://127.0.0.1:{port}/some/prefix/"
        tab.goto(home)
        expect(tab).to_have_url(f"{home}en/")
        failed: list[str] = []
        tab.on("response", lambda answer: answer.status < 400 or failed.append(answer.url))
        tab.goto(f"{home}en/{LEAF}", wait_until="networkidle")
        switch_language(tab, "zh")
        expect(tab).to_have_url(f"{home}zh/{LEAF}")
        tab.locator("a[data-program]").first.click()
        expect(tab).to_have_url(f"{home}snippets/{LEAF[:-1]}.py")
        assert failed == []
