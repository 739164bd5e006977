"""Each run of the claims page, alone in a fresh namespace, prints what gives its claim's verdict. Needs only torch and pytest,
so that it tells on any torch whether the page holds there.
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PROGRAM = (ROOT / "snippets/reference/claims.py").read_text(encoding="utf-8")
PAGE = (ROOT / "docs/en/reference/claims.md").read_text(encoding="utf-8")
SECTIONS = dict(
    re.findall(
        r"^# --8<-- \[start:([\w-]+)\]\n(.*?)^# --8<-- \[end:\1\]\n", PROGRAM, re.MULTILINE | re.DOTALL
    )
)
VERDICTS = {
    claim: verdict
    for verdict, claim in re.findall(r'data-verdict="([\w ]+)".*?\{ #([\w-]+) \}\n', PAGE, re.DOTALL)
}
ANSWER = re.compile(r"(?:^| )(True|False)$", re.MULTILINE)


def verdict(printed: str) -> str:
    """What the lines say that end in True or False."""
    answers = {answer == "True" for answer in ANSWER.findall(printed)}
    assert answers, f"no line ends in True or False:\n{printed}"
    return "only if" if len(answers) == 2 else str(answers.pop()).lower()


@pytest.fixture(scope="module")
def helpers() -> dict[str, Any]:
    """Run what stands before the claims."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for section, code in SECTIONS.items():
        if section not in VERDICTS:
            exec(code, namespace)
    return namespace


@pytest.mark.parametrize("claim", VERDICTS)
def test_the_run_gives_the_verdict(claim: str, helpers: dict[str, Any]) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(SECTIONS[claim], dict(helpers))
    assert verdict(printed.getvalue()) == VERDICTS[claim], printed.getvalue()


def test_every_section_is_a_claim_or_a_helper() -> None:
    assert len(VERDICTS) == PAGE.count('<section class="item"') > 0
    assert list(SECTIONS)[-len(VERDICTS) :] == list(VERDICTS)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("5.0 True\n", "true"),
        ("True None\nFalse\n", "false"),
        ("w: True\nx: False\n", "only if"),
    ],
)
def test_a_verdict_is_read_from_the_ends_of_lines(printed: str, expected: str) -> None:
    assert verdict(printed) == expected


def test_a_run_that_decides_nothing_is_noticed() -> None:
    with pytest.raises(AssertionError, match="no line ends"):
        verdict("True.\nit isFalse\n")
