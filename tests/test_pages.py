"""The pages keep the rules that make them provable: every block runs, and both languages say the same."""

from __future__ import annotations

import re
from pathlib import Path

import blocks
import pytest
from sybil import Document

DOCS = blocks.ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS / "en").as_posix() for path in (DOCS / "en").rglob("*.md"))
LANGUAGES = ("en", "zh")
BOTH = [f"{language}/{page}" for language in LANGUAGES for page in PAGES]
EVERY_TEXT = [DOCS / name for name in BOTH] + [blocks.ROOT / "README.md", blocks.ROOT / "README.zh.md"]

# diff: what another torch prints, on the page that tools/versions.py makes of its recordings.
FENCE_INFO = {"python", "{.python .raises}", "output", "console", "diff"}
# The badge of a block that an older torch refuses; the same tool writes it.
FAILS_ON = re.compile(r"\{\.python \.fails-on-[\d-]+\}")
COMMAND = re.compile(r"(?:\.venv/bin/)?(?:python3?|pip|pytest|make|export)\b")
OPENING = re.compile(r"^[\s>]*(`{3,}|~{3,})(.*)$")
HEADING = re.compile(r"^(#+) .*?(?:\{ #([\w-]+) \})?$")
INCLUDE = re.compile(r'^ *--8<-- "(.*)"$', re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PREDICTION = re.compile(r'^<div class="predict" markdown>\n(.*?)^</div>$', re.MULTILINE | re.DOTALL)
ANSWER = re.compile(r"^- `(.*)`$", re.MULTILINE)
OUTPUT = re.compile(r"^( *)```output\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
COUNTED = re.compile(r"[一-鿿]|[A-Za-z0-9_`'’.-]*[A-Za-z][A-Za-z0-9_`'’.-]*")


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def is_generated(name: str) -> bool:
    """Whether a tool makes the page: tests/test_generated.py holds it against what the code is typed in."""
    return "\ngenerated: tools/" in blocks.FRONT_MATTER.match(read(name))[1]


def fences(text: str) -> list[tuple[str, str]]:
    """What stands behind each opening fence, and the fence's text. Written apart from the reader that the run uses."""
    found: list[tuple[str, str]] = []
    closing = ""
    for line in text.splitlines():
        match = OPENING.match(line)
        if closing:
            if match and match[1].startswith(closing) and not match[2].strip():
                closing = ""
            else:
                found[-1] = (found[-1][0], found[-1][1] + line.strip() + "\n")
        elif match:
            closing = match[1]
            found.append((match[2].strip(), ""))
    return found


def prose(text: str) -> str:
    """A page without front matter, fences, tables, figures and solutions."""
    text = blocks.FRONT_MATTER.sub("", text)
    kept, inside = [], False
    for line in text.splitlines():
        if OPENING.match(line):
            inside = not inside
        elif not inside and not line.lstrip().startswith(("|", "--8<--", "<")):
            kept.append(line)
    return "\n".join(kept)


def anchors(text: str) -> list[tuple[int, str | None]]:
    return [(len(m[1]), m[2]) for line in prose(text).splitlines() if (m := HEADING.match(line))]


def test_both_languages_have_the_same_pages() -> None:
    chinese = sorted(path.relative_to(DOCS / "zh").as_posix() for path in (DOCS / "zh").rglob("*.md"))
    assert chinese == PAGES


@pytest.mark.parametrize("name", PAGES)
def test_both_languages_have_the_same_skeleton(name: str) -> None:
    english, chinese = read(f"en/{name}"), read(f"zh/{name}")
    assert anchors(english) == anchors(chinese), "headings or anchors differ"
    assert fences(english) == fences(chinese), "blocks or outputs differ"
    # Some tables are made for each language.
    of_english = INCLUDE.findall(english.replace('/en.md"', '/zh.md"'))
    assert of_english == INCLUDE.findall(chinese), "includes differ"
    assert LINK.findall(english) == LINK.findall(chinese), "links differ"
    assert [ANSWER.findall(p) for p in PREDICTION.findall(english)] == [
        ANSWER.findall(p) for p in PREDICTION.findall(chinese)
    ], "predictions differ"
    assert english.count("??? ") == chinese.count("??? "), "solutions differ"
    assert english.count("!!! ") == chinese.count("!!! "), "callouts differ"


@pytest.mark.parametrize("name", BOTH)
def test_every_heading_has_an_anchor_of_its_own(name: str) -> None:
    names = [anchor for _, anchor in anchors(read(name))]
    assert None not in names, f"a heading without {{ #anchor }}, number {names.index(None) + 1}"
    assert len(names) == len(set(names)), f"an anchor stands twice: {names}"


@pytest.mark.parametrize("path", EVERY_TEXT, ids=lambda path: path.relative_to(blocks.ROOT).as_posix())
def test_no_python_fence_is_passed_over(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    infos = [info for info, _ in fences(text)]
    unknown = {info for info in infos if info not in FENCE_INFO and not FAILS_ON.fullmatch(info)}
    assert not unknown, f"a fence that nothing runs or checks: {unknown}"
    assert "diff" not in infos or path.name == "versions.md"
    found = [region.evaluator for region in blocks.blocks(Document(text, str(path)))]
    run = [evaluator for evaluator in found if isinstance(evaluator, blocks.Block)]
    compared = [evaluator for evaluator in found if evaluator is blocks.check_output]
    drawn = [evaluator for evaluator in found if evaluator is blocks.check_figure]
    assert len(run) == sum("python" in info for info in infos)
    assert len(compared) == infos.count("output")
    assert len(drawn) == text.count('.svg"')
    assert "<!--" not in text, "a reader does not see what stands in a comment"
    commands = "".join(text for info, text in fences(text) if info == "console").splitlines()
    assert all(COMMAND.match(line) for line in commands), f"a console fence is for commands: {commands}"


@pytest.mark.parametrize("name", [name for name in BOTH if not is_generated(name)])
def test_code_on_a_page_comes_from_a_file(name: str) -> None:
    for info, text in fences(read(name)):
        if "python" in info:
            assert INCLUDE.fullmatch(text.rstrip("\n")), f"code typed on the page:\n{text}"
            lines = blocks.expand(text).rstrip("\n").count("\n") + 1
            assert lines <= 12 or text.startswith('--8<-- "models.py'), f"{lines} lines in {text}"


@pytest.mark.parametrize("name", BOTH)
def test_exactly_one_answer_is_in_the_output(name: str) -> None:
    text = read(name)
    for prediction in PREDICTION.finditer(text):
        answers = ANSWER.findall(prediction[1])
        assert len(answers) >= 2, f"a prediction needs answers in backticks: {prediction[1]}"
        output = OUTPUT.search(text, prediction.end())
        assert output, f"no output follows the prediction {prediction[1]}"
        right = [answer for answer in answers if answer in output[2]]
        assert len(right) == 1, f"of {answers}, the output has {right}:\n{output[2]}"


@pytest.mark.parametrize("name", BOTH)
def test_a_page_says_what_it_is_about_and_what_recorded_it(name: str) -> None:
    text = read(name)
    front = blocks.FRONT_MATTER.match(text)
    assert front, "no front matter with a description at the top; CONTRIBUTING.md has a page to start from"
    assert re.search(r'^description: ".{40,200}"$', front[1], re.MULTILINE)
    if "```python" in text or "```{.python" in text:
        assert f'recorded:\n  torch: "{blocks.PINNED}"\n  date: "' in front[1]


LESSONS = [name for name in BOTH if any(f"/{folder}/" in name for folder in ("learn", "conv2d", "practice"))]


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_has_a_length_that_people_read(name: str) -> None:
    counted = len(COUNTED.findall(prose(read(name))))
    low, high = (500, 1600) if name.startswith("en/") else (800, 2600)
    assert low <= counted <= high, f"{counted} words or characters of prose; wanted are {low} to {high}"


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_has_its_parts(name: str) -> None:
    text = read(name)
    code = "".join(blocks.expand(block) for info, block in fences(text) if "python" in info)
    parts = {
        "one answer, marked { .lead }": text.count("\n{ .lead }\n") == 1,
        "one list marked { .needs }": text.count("\n{ .needs }\n") == 1,
        "at the end, headings with the anchors recap and exercises": [a for _, a in anchors(text)][-2:]
        == ["recap", "exercises"],
        'a prediction, <div class="predict" markdown>': bool(PREDICTION.search(text)),
        "two or three solutions, ??? success": text.count("??? success") in (2, 3),
        "at most two callouts": text.count("!!! ") <= 2,
        "a block that uses gradfn_tutorial": "gradfn_tutorial" in code,
    }
    assert all(parts.values()), f"missing: {[part for part, there in parts.items() if not there]}"


def test_a_plot_is_drawn_alike_each_time_and_fits_in_a_page() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    drawn = []
    for height in 2.0, 2.0000001, 3.0:
        axes = pyplot.subplots()[1]
        axes.bar(range(2), [1.0, height])
        axes.set_ylabel("a < b")
        drawn.append(blocks.plot_as_svg(axes, "bars"))
        pyplot.close()
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0].startswith('<svg role="img" aria-label="a &lt; b" ')
    # Nothing that the page's other figures would get, or that would not show on a dark page.
    assert "<style" not in drawn[0]
    assert all(name.startswith("bars-") for name in re.findall(r' id="(.*?)"', drawn[0]))
    assert not re.search("#000000|#ffffff|<dc:date>", drawn[0])


@pytest.mark.parametrize("name", BOTH)
def test_a_drawing_links_to_sections_of_its_page(name: str) -> None:
    # Not href: instant navigation rewrites every href, and in SVG that cannot be written.
    text = read(name)
    assert not re.search(r"<a href=", text)
    assert set(re.findall(r'xlink:href="#(.+?)"', text)) <= {anchor for _, anchor in anchors(text)}


def test_no_recording_is_left_over() -> None:
    included = {name.partition(":")[0] for page in BOTH for name in INCLUDE.findall(read(page))}
    # What was measured is what a tool makes its page of; the glossary's links are added to every page.
    read_otherwise = ("names/", "versions/", "glossary/")
    there = {path.relative_to(blocks.RECORDINGS).as_posix() for path in blocks.RECORDINGS.rglob("*.*")}
    assert {name for name in there - included if not name.startswith(read_otherwise)} == set()
    assert {name for name in included if name.endswith(".svg")} - there == set()
