"""Both languages of a page were read side by side as they are now."""

from __future__ import annotations

import pairs
import pytest


@pytest.mark.parametrize("name", pairs.names())
def test_neither_language_has_changed_alone(name: str) -> None:
    recorded = pairs.read_pairs().get(name)
    assert recorded == pairs.versions(name), (
        f"The prose is not what was read side by side. See what has changed, word by word: python tools/pairs.py\n"
        f"When both say the same: python tools/pairs.py --read {name}"
    )


def test_no_pair_is_left_over() -> None:
    assert pairs.read_pairs().keys() <= set(pairs.names())


def test_only_prose_counts() -> None:
    page = "---\nrecorded: 1\n---\n# A page\n\n```output\n{}\n```\n\nSome words.\n"
    assert pairs.version(page.format(1)) == pairs.version(
        page.format(2).replace("recorded: 1", "recorded: 2")
    )
    assert pairs.version(page) != pairs.version(page.replace("words", "word"))


def test_changed_words_are_shown() -> None:
    old, new = "这个节点没有梯度。 It has no gradient yet.", "这个节点有梯度。 It has a gradient yet."
    assert pairs.changed(old, new).splitlines() == [
        "... 这 个 节 点 [-没-] 有 梯 度 。 ...",
        "      ... 度 。 It has [-no-]{+a+} gradient yet. ...",
    ]
