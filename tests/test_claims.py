"""The claims lead to sections that explain them, and their page can be filtered. tests/test_verdicts.py runs them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import claims
import pytest
from playwright.sync_api import expect
from published import at
from test_topics import CHINESE, LANGUAGES, section

if TYPE_CHECKING:
    from playwright.sync_api import Page

CLAIMS = claims.read_claims()["claim"]
TOPICS = [topic["id"] for topic in claims.read_claims()["topic"]]
KEYS = {"id", "topic", "en", "zh", "verdict", "why_en", "why_zh", "at"}


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim["id"] for claim in CLAIMS])
def test_a_claim_leads_to_a_section_that_runs_something(claim: dict[str, Any]) -> None:
    assert claim.keys() == KEYS
    assert claim["verdict"] in {"true", "false", "only if"}
    for english, chinese in ("en", "zh"), ("why_en", "why_zh"):
        assert not CHINESE.search(claim[english])
        assert CHINESE.search(claim[chinese])
    assert len(claim["at"]) == len(set(claim["at"]))
    for language in LANGUAGES:
        sections = [section(language, place) for place in claim["at"]]
        assert any("```python" in text or ".raises}" in text for text in sections)


@pytest.mark.parametrize("key", ["id", *LANGUAGES])
def test_no_claim_stands_twice(key: str) -> None:
    said = [claim[key] for claim in CLAIMS]
    assert len(said) == len(set(said)) >= 60


def test_claims_stand_in_the_order_of_their_topics() -> None:
    assert list(dict.fromkeys(claim["topic"] for claim in CLAIMS)) == TOPICS


def ids(fits: Callable[[dict[str, Any]], bool]) -> list[str]:
    return [claim["id"] for claim in CLAIMS if fits(claim)]


def shown(tab: Page, rank: str) -> list[str]:
    headings = tab.locator(f"#claims-list {rank}:visible").all()
    return [heading.get_attribute("id") for heading in headings]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_filter_leaves_what_was_chosen(tab: Page, language: str) -> None:
    tab.goto(at(f"{language}/reference/claims/"))
    verdict, topic = tab.locator("select[name=verdict]"), tab.locator("select[name=topic]")
    expect(verdict.locator("option")).to_have_count(4)
    expect(topic.locator("option")).to_have_count(1 + len(TOPICS))
    assert shown(tab, "h3") == ids(lambda claim: True)

    verdict.select_option("only if")
    assert shown(tab, "h3") == ids(lambda claim: claim["verdict"] == "only if")
    topic.select_option("in-place")
    expect(tab.locator(".filter output")).not_to_be_empty()
    assert shown(tab, "h3") == []
    topic.select_option("hooks")
    wanted = ids(lambda claim: claim["verdict"] == "only if" and claim["topic"] == "hooks")
    assert shown(tab, "h3") == wanted != []
    assert shown(tab, "h2") == ["hooks"]

    # The address holds the choice.
    expect(tab).to_have_url(re.compile(r"\bverdict=only[+%20]+if\b.*\btopic=hooks\b"))
    tab.reload()
    expect(verdict).to_have_value("only if")
    assert shown(tab, "h3") == wanted
