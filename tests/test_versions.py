"""What differs on other versions of torch is recorded by runs, is held against runs, and is said on the pages."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import blocks
import pytest
import versions
from forks import Forks

RECORD = versions.read()
DIFFERING = [(version, page) for version in RECORD for page in RECORD[version]]
PAGE = "docs/en/learn/accumulation.md"
BLOCK = '--8<-- "learn/accumulation.py:preset"'
OTHER = f"docs/recordings/versions/{blocks.RUNNING}.json"


def page(name: str, language: str) -> tuple[Path, str]:
    path = versions.file_of(name, language)
    return path, path.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", versions.LANGUAGES)
@pytest.mark.parametrize(("version", "name"), DIFFERING)
def test_a_record_is_of_blocks_on_the_page_and_differs_from_them(
    version: str, name: str, language: str
) -> None:
    path, text = page(name, language)
    shown = versions.shown(path, text)
    for block, outcome in RECORD[version][name].items():
        assert block in shown, f"Not on the page any more. With torch {version}: pytest --record {path}"
        # A figure may differ in its lines alone.
        is_other = outcome != shown[block].outcome or block.endswith(".svg")
        assert is_other, f"The same. With torch {version}: pytest --record {path}"


@pytest.mark.parametrize("language", versions.LANGUAGES)
def test_every_difference_is_said(language: str) -> None:
    _, text = page("reference/versions", language)
    assert text.count("```diff") == sum(len(RECORD[version][name]) for version, name in DIFFERING)
    for version, name in DIFFERING:
        link = (
            rf"\[.*\]\({re.escape(posixpath.relpath(name, 'reference'))}\.md#"
            if (blocks.ROOT / f"docs/en/{name}.md").exists()
            else ""
        )
        assert re.search(rf"^torch {re.escape(version)} · {link}", text, re.MULTILINE)
        front = blocks.FRONT_MATTER.match(page(name, language)[1])
        assert front is None or re.search(f'^  differs: .*"{re.escape(version)}"', front[1], re.MULTILINE)


def test_the_foot_of_a_page_leads_to_its_differences(site: Path) -> None:
    for version, name in DIFFERING:
        # A README and the files of docstrings are no pages.
        for language in versions.LANGUAGES if (site / f"en/{name}.md").exists() else ():
            built = (site / language / name.removesuffix("index") / "index.html").read_text(encoding="utf-8")
            foot = built[built.index('<p class="foot">') :]
            assert version in foot
            assert f'versions/#{name.replace("/", "-")}"' in foot


def test_every_badge_has_its_words() -> None:
    styles = (blocks.ROOT / "docs/theme/assets/css/site.css").read_text(encoding="utf-8")
    pages = [path.read_text(encoding="utf-8") for path in (blocks.ROOT / "docs").glob("*/*/*.md")]
    badges = {badge for text in pages for badge in re.findall(r"\.fails-on-[\d-]+", text)}
    assert badges
    for badge in badges:
        assert f'{badge}::before {{ content: "' in styles
        assert f'{badge}:lang(zh)::before {{ content: "' in styles


def test_a_long_line_is_cut_to_what_differs() -> None:
    long = "one two three four five " * 5
    assert list(versions.changed_lines(f"{long}a {long}", f"{long}b {long}")) == [
        "-… two three four five a one two three four …",
        "+… two three four five b one two three four …",
    ]
    assert list(versions.changed_lines(f"{long}six", f"{long}six six")) == [
        "-… three four five six",
        "+… three four five six six",
    ]
    assert list(versions.changed_lines("1\n", "warned\nwarned\n1\n")) == ["+warned (×2)"]


@pytest.fixture
def run(tmp_path: Path, forks: Forks) -> Callable[..., str]:
    """Run a page in a copy that is pinned to another torch, so that this one is another."""
    left_out = shutil.ignore_patterns(".git", ".venv", "site", "theme", "*cache*", "*.egg-info")
    copy = shutil.copytree(blocks.ROOT, tmp_path / "copy", ignore=left_out)
    (copy / "constraints.txt").write_text("torch==1.0\n", encoding="utf-8")
    return partial(run_page, copy, forks)


def run_page(
    copy: Path,
    forks: Forks,
    *options: str,
    record: dict[str, object] | None = None,
    shown: str = "tensor(6.)",
) -> tuple[int, str]:
    if record:
        pages = {"learn/accumulation": {BLOCK: record}}
        (copy / OTHER).write_text(json.dumps({"date": "", "pages": pages}), encoding="utf-8")
    text = (blocks.ROOT / PAGE).read_text(encoding="utf-8").replace("tensor(6.)\n```", f"{shown}\n```", 1)
    (copy / PAGE).write_text(text, encoding="utf-8")
    done = forks.run("-m", "pytest", "-q", "-p", "no:cacheprovider", PAGE, *options, cwd=copy)
    assert (copy / PAGE).read_text(encoding="utf-8") == text, "only the pinned torch may write a page"
    return done.returncode, done.stdout


@pytest.mark.pinned_torch
def test_another_torch_is_held_against_its_record(run: Callable[..., tuple[int, str]]) -> None:
    right = {"raises": False, "output": ["tensor(6.)"]}
    assert run(shown="tensor(5.)", record=right)[0] == 0
    status, printed = run(record={"raises": False, "output": ["tensor(7.)"]})
    assert status == 1 and "-tensor(7.)\n+tensor(6.)" in printed
    status, printed = run(record={"raises": True, "output": ["tensor(6.)"]})
    assert status == 1 and "and it does not" in printed


@pytest.mark.pinned_torch
def test_another_torch_records_what_differs_and_no_page(run: Callable[..., tuple[int, str]]) -> None:
    status, printed = run(shown="tensor(5.)")
    assert status == 1 and "-tensor(5.)\n+tensor(6.)" in printed and "nothing recorded" in printed
    assert run("--record", shown="tensor(5.)")[0] == 0
    assert run(shown="tensor(5.)")[0] == 0
    # The page has changed: what was recorded is no longer needed, and the run says so.
    status, printed = run("--record")
    assert status == 0 and f"Recorded: {OTHER}" in printed
    assert run()[0] == 0
