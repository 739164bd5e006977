"""The cheat sheet cannot say what torch does not do, agrees with the helper package, and fits one screen and one sheet of paper."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

import cheat_sheet
import pytest
from cheat_sheet import ACTIONS, BEFORE, STATES, Action, check, look_at, run
from published import at

from gradfn_tutorial import explain

if TYPE_CHECKING:
    from playwright.sync_api import Page

EVERY_ACTION = [action for actions in ACTIONS.values() for action in actions]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.code)
def test_the_helper_says_of_a_state_what_its_run_gives(state: cheat_sheet.State) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = explain(run(BEFORE, state.code)["t"])
    leaf, requires, node, grad = look_at(state)
    assert (leaf, requires) == (str(said.is_leaf), str(said.requires_grad))
    assert node == (f"`{said.grad_fn}`" if said.grad_fn else "None")
    assert (grad == "filled") == said.backward_fills_grad


@pytest.mark.parametrize("action", EVERY_ACTION, ids=lambda action: action.code)
def test_a_check_compares_and_needs_its_line(action: Action) -> None:
    check(action)
    # With another line in its place, or at least without what it gives, the check must not hold.
    with pytest.raises(Exception):  # noqa: B017
        check(action._replace(code="None"))


def test_a_row_that_is_wrong_is_an_error() -> None:
    wrong = Action("x.grad = None", "", "", "", check="x.grad is not None", given="loss.backward()")
    with pytest.raises(AssertionError, match=r"after 'x.grad = None', 'x.grad is not None' is False"):
        check(wrong)
    # A value that counts as true is no comparison.
    with pytest.raises(AssertionError, match=r"is 18\.0"):
        check(wrong._replace(code="x.grad", check="it.item()"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_fits_one_screen_and_one_sheet_of_paper(tab: Page, language: str) -> None:
    tab.goto(at(f"{language}/reference/cheat_sheet/"), wait_until="networkidle")
    below = tab.evaluate("document.querySelector('.cheat').getBoundingClientRect().bottom")
    assert below <= tab.viewport_size["height"]
    wide = tab.evaluate(
        "[...document.querySelectorAll('.cheat table')].map(t => t.getBoundingClientRect().right)"
    )
    assert max(wide) <= tab.viewport_size["width"]

    paper = tab.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    # Wide: a landscape sheet.
    (box,) = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", paper)
    assert float(box[0]) > float(box[1])
    tab.emulate_media(media="print")
    assert tab.locator("header, nav, footer, .foot").filter(visible=True).count() == 0
