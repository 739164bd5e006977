"""The checks notice: something is changed on purpose, in a copy, and the suite must fail there and name the place."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import blocks
import pytest
from forks import Forks

pytestmark = pytest.mark.pinned_torch
Run = Callable[..., "subprocess.CompletedProcess[str]"]

EN, ZH = "docs/en/learn/accumulation.md", "docs/zh/learn/accumulation.md"
SNIPPET = "snippets/learn/accumulation.py"
FIGURE = "docs/recordings/learn/accumulation/after.svg"
PLOT, WITH_PLOT = "docs/recordings/practice/training_loop/zeros.svg", "docs/en/practice/training_loop.md"
PAGES, SNIPPETS = "tests/test_pages.py", "tests/test_snippets.py"

# What is changed: the file, the text and what replaces it; then what is run, and what the failure must say.
CHANGES = {
    "a digit of an output": (
        EN,
        "tensor(6.)\n```",
        "tensor(7.)\n```",
        EN,
        [f"{EN}:", "-tensor(7.)", "+tensor(6.)"],
    ),
    "a line of a snippet": (
        SNIPPET,
        "x.grad = torch.tensor(5.0)",
        "x.grad = torch.tensor(4.0)",
        ZH,
        [f"{ZH}:", "-tensor(6.)", "+tensor(5.)"],
    ),
    "a line of a snippet that then fails": (
        SNIPPET,
        "x.grad = torch.tensor(5.0)",
        "x.grad = torch.tensor([5.0])",
        EN,
        [f"In {EN}:", "learn/accumulation.py:preset"],
    ),
    "an anchor of one language": (
        ZH,
        "{ #preset }",
        "{ #presets }",
        PAGES,
        ["learn/accumulation.md", "anchors differ"],
    ),
    "a missing anchor": (ZH, " { #preset }", "", PAGES, ["zh/learn/accumulation.md", "a heading without"]),
    "a link of one language": (ZH, "(two_attributes.md)", "(retain_grad.md)", PAGES, ["links differ"]),
    "an answer of one language": (ZH, "- `tensor(7.)`", "- `tensor(8.)`", PAGES, ["predictions differ"]),
    "an answer that is nowhere": (
        EN,
        "- `tensor(4.)`",
        "- `tensor(3.)`",
        PAGES,
        ["en/learn/accumulation.md", "the output has []"],
    ),
    "an output without its fence": (
        EN,
        "```output\ntensor(2.)\n```\n",
        "",
        EN,
        ["no output fence shows it", "tensor(2.)"],
    ),
    "an error that is not announced": (
        EN,
        "```{.python .raises}",
        "```python",
        EN,
        [f"In {EN}:", "accumulation.py:wrong-dtype"],
    ),
    "an announced error that does not come": (
        EN,
        '```python\n--8<-- "learn/accumulation.py:preset"',
        '```{.python .raises}\n--8<-- "learn/accumulation.py:preset"',
        EN,
        [f"{EN}:", "marked as one that raises, and it does not"],
    ),
    "a fence that nothing would run": (
        EN,
        '```python\n--8<-- "learn/accumulation.py:preset"',
        '```python title="preset"\n--8<-- "learn/accumulation.py:preset"',
        PAGES,
        ["docs/en/learn/accumulation.md", "a fence that nothing runs"],
    ),
    "a section that no page shows": (
        SNIPPET,
        "# --8<-- [start:preset]",
        "print(1)\n# --8<-- [start:preset]",
        SNIPPETS,
        ["learn/accumulation", "not shown on the page", "print(1)"],
    ),
    "a figure": (FIGURE, ".grad 7", ".grad 5", ZH, [f"In {ZH}:", f"{FIGURE} is not what the run draws"]),
    "a plot": (
        PLOT,
        "fc1: 0",
        "fc1: 1",
        WITH_PLOT,
        [f"In {WITH_PLOT}:", f"{PLOT} is not what the run draws"],
    ),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    there = tmp_path_factory.mktemp("copy") / "repository"
    left_out = shutil.ignore_patterns(".git", ".venv", "site", "theme", "*cache*", "*.egg-info")
    return shutil.copytree(blocks.ROOT, there, ignore=left_out)


@pytest.fixture(scope="module")
def run(copy: Path, forks: Forks) -> Run:
    return partial(forks.run, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=copy)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed_and_its_place_named(change: str, copy: Path, run: Run) -> None:
    name, before, after, run_what, says = CHANGES[change]
    original = (copy / name).read_text(encoding="utf-8")
    assert before in original
    (copy / name).write_text(original.replace(before, after, 1), encoding="utf-8")
    selected = ["-k", "accumulation"] if run_what.startswith("tests/") else []
    try:
        done = run(run_what, *selected)
    finally:
        (copy / name).write_text(original, encoding="utf-8")
    assert done.returncode == 1, done.stdout
    for words in says:
        assert words in done.stdout


def test_without_a_change_the_copy_passes(run: Run) -> None:
    done = run(PAGES, SNIPPETS, EN, ZH, "-k", "accumulation")
    assert done.returncode == 0, done.stdout


def test_record_mends_an_output_and_a_figure_and_nothing_else(copy: Path, run: Run) -> None:
    originals = {name: (copy / name).read_text(encoding="utf-8") for name in (EN, ZH, FIGURE)}
    (copy / EN).write_text(originals[EN].replace("tensor(6.)\n```", "tensor(7.)\n```"), encoding="utf-8")
    (copy / FIGURE).write_text("not a figure", encoding="utf-8")
    done = run("--record", EN)
    assert done.returncode == 0, done.stdout
    assert (copy / FIGURE).read_text(encoding="utf-8") == originals[FIGURE]
    assert blocks.FRONT_MATTER.sub("", (copy / EN).read_text(encoding="utf-8")) == blocks.FRONT_MATTER.sub(
        "", originals[EN]
    )
    assert (copy / ZH).read_text(encoding="utf-8") == originals[ZH]
