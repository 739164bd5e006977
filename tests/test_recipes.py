"""Each recipe runs by itself and prints what reference/snippets shows, and the page and the archive have every program."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import blocks
import pytest
import recipes
from forks import Forks
from playwright.sync_api import Page, expect
from published import OFFLINE_SITE, ROOT, at
from shown import mask, plain_warnings

GIVEN = recipes.read_recipes()
FILES = [recipe["file"] for recipe in GIVEN["recipe"]]
PROGRAMS = sorted(path.relative_to(recipes.SNIPPETS).as_posix() for path in recipes.SNIPPETS.rglob("*.py"))
LANGUAGES = ("en", "zh")
KEYS = {"file", "group", "at", *LANGUAGES, *(f"about_{language}" for language in LANGUAGES)}
SHOWN = re.compile(
    r'^```python\n--8<-- "recipes/(\w+)\.py"\n```\n```output\n(.*?)^```$', re.MULTILINE | re.DOTALL
)


def page(language: str) -> str:
    return (ROOT / "docs" / language / "reference" / "snippets.md").read_text(encoding="utf-8")


def test_each_recipe_is_in_the_list_once() -> None:
    assert sorted(FILES) == [Path(name).stem for name in PROGRAMS if name.startswith("recipes/")]


@pytest.mark.parametrize("recipe", GIVEN["recipe"], ids=FILES)
def test_a_recipe_is_told_in_both_languages(recipe: dict[str, object]) -> None:
    assert recipe.keys() == KEYS
    assert recipe["group"] in GIVEN["groups"]
    assert re.search(r"[一-鿿]", recipe["zh"]) and not re.search(
        r"[一-鿿]", recipe["en"] + recipe["about_en"]
    )
    for language in LANGUAGES:
        places = {
            f"{name}#{anchor}" for name, found in recipes.headings(language).items() for anchor in found
        }
        assert set(recipe["at"]) <= places


@pytest.mark.parametrize("file", FILES)
def test_a_recipe_runs_by_itself_and_prints_what_the_page_shows(
    file: str, forks: Forks, tmp_path: Path
) -> None:
    done = forks.run(recipes.SNIPPETS / "recipes" / f"{file}.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    printed = mask(plain_warnings(done.stdout))
    for language in LANGUAGES:
        shown = dict(SHOWN.findall(page(language)))[file]
        assert shown == printed, blocks.difference(shown, printed)
    # Each ends with a check against another computation.
    assert "False" not in printed
    assert printed.splitlines()[-1].split()[-1] == "True"


@pytest.mark.parametrize("file", FILES)
def test_a_recipe_is_short_and_needs_torch_alone(file: str) -> None:
    code = (recipes.SNIPPETS / "recipes" / f"{file}.py").read_text(encoding="utf-8")
    assert len([line for line in code.splitlines() if line]) <= 27
    assert ("gradfn_tutorial" in code) == (file == "graph_of_your_loss")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_has_every_program(language: str) -> None:
    linked = re.findall(r'href="../../../snippets/(.*?\.py)"', page(language))
    assert sorted(linked) == PROGRAMS
    counts = [int(number) for number in re.findall(r"^(?:All|全部) (\d+)", page(language), re.MULTILINE)]
    assert counts == [len(PROGRAMS)]


def test_the_archive_is_the_folder(site: Path) -> None:
    folder = {path.relative_to(site).as_posix(): path.read_bytes() for path in site.glob("snippets/**/*.*")}
    with zipfile.ZipFile(site / "snippets.zip") as archive:
        archived = {entry.filename: archive.read(entry) for entry in archive.infolist()}
        dates = {entry.date_time for entry in archive.infolist()}
    assert archived == folder
    assert {name for name in archived if name.endswith(".py")} == {f"snippets/{name}" for name in PROGRAMS}
    assert dates == {(1980, 1, 1, 0, 0, 0)}, "another build would make another archive"
    for name, code in archived.items():
        if name.endswith(".py"):
            assert b"--8<--" not in code
            compile(code, name, "exec")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_button_copies_a_whole_program(tab: Page, site: Path, language: str) -> None:
    tab.goto(at(f"{language}/reference/snippets/"), wait_until="networkidle")
    name = "learn/retain_grad.py"
    button = tab.get_by_role("button", name=name)
    button.click()
    if OFFLINE_SITE:
        # A page from a disk may not read a file, but show it.
        tab.wait_for_url(f"**/snippets/{name}")
        return
    expect(button.locator("+ [role=status]")).not_to_be_empty()
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied == (site / "snippets" / name).read_text(encoding="utf-8")
