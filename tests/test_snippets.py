"""Each program in snippets/ runs by itself, and its page shows all of it and what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import blocks
import pytest
from forks import Forks
from shown import mask, plain_warnings

SNIPPETS = blocks.ROOT / "snippets"
NAMES = sorted(
    path.relative_to(SNIPPETS).with_suffix("").as_posix()
    for path in SNIPPETS.rglob("*.py")
    # All of these are on one page: tests/test_recipes.py.
    if path.parent.name != "recipes"
)
SECTION = re.compile(r"^ *# --8<-- \[start:([\w-]+)\]\n.*?^ *# --8<-- \[end:\1\]\n", re.MULTILINE | re.DOTALL)
ROUND_A_RAISING_BLOCK = re.compile(
    r'\A(?:\s|try:\n|except (\w+) as error:\n    print\(f"\1: \{error\}"\)\n)*\Z'
)
OUTPUT = re.compile(r"^( *)```output\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def page(language: str, name: str) -> str:
    return (blocks.ROOT / "docs" / language / f"{name}.md").read_text(encoding="utf-8")


def outputs(name: str) -> str:
    """What the page of a program shows that it prints."""
    found = OUTPUT.findall(page("en", name))
    return "".join(re.sub(f"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found)


def test_there_are_programs() -> None:
    assert "conv2d/trace" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_runs_by_itself_and_prints_what_its_page_shows(name: str, forks: Forks, tmp_path: Path) -> None:
    if name in blocks.differing_here:
        pytest.skip(blocks.PINNED_ONLY)
    done = forks.run(SNIPPETS / f"{name}.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    printed = mask(plain_warnings(done.stdout))
    shown = outputs(name)
    assert shown == printed, blocks.difference(shown, printed)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_page_shows_every_section_once_and_in_order(name: str, language: str) -> None:
    text = (SNIPPETS / f"{name}.py").read_text(encoding="utf-8")
    sections = [f"{name}.py:{section}" for section in SECTION.findall(text)]
    included = re.findall(r'^ *--8<-- "(.*\.py.*)"$', page(language, name), re.MULTILINE)
    assert [include for include in included if not include.startswith("models.py")] == sections
    hidden = SECTION.sub("", text)
    assert ROUND_A_RAISING_BLOCK.match(hidden), f"not shown on the page:\n{hidden}"


def test_what_a_program_prints_is_published_beside_it(site: Path) -> None:
    for name in NAMES:
        assert (site / "snippets" / f"{name}.txt").read_text(encoding="utf-8") == outputs(name)
