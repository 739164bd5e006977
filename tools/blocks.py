"""Find and run the Python blocks of pages, READMEs and docstrings, and hold what is shown against what the run gives.

``conftest.py`` at the top makes pytest use this. CONTRIBUTING.md says how a block, an output and a figure are written.
"""

from __future__ import annotations

import ast
import contextlib
import datetime
import difflib
import html
import io
import json
import linecache
import re
import textwrap
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from shown import FRONT_MATTER, PINNED, ROOT, RUNNING, TORCH, as_shown, expand, mask, read_if_there, stamped
from sybil import Document, Example, Region
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer
from sybil.region import Lexeme

from gradfn_tutorial import Graph

RECORDINGS = ROOT / "docs" / "recordings"
# What differs on other versions of torch than the pinned one, a file each.
VERSIONS = RECORDINGS / "versions"
IS_PINNED = RUNNING == PINNED
PINNED_ONLY = f"it compares with what torch {PINNED} gives, and this is torch {RUNNING}"
FENCES = RawFencedCodeBlockLexer(re.compile(r"[ \t]*(?P<info>[^\n]*)$\n", re.MULTILINE))
LANGUAGE = re.compile(r"\{?\s*\.?([\w-]*)")
FIGURE = re.compile(r'^--8<-- "(?P<path>[\w/]+/(?P<variable>\w+)\.svg)"$', re.MULTILINE)
DECIMALS = re.compile(r"-?\d+\.\d\d+")
SVG_TEXT = re.compile(r"<text[^>]*>([^<]+)</text>")


class Outcome(NamedTuple):
    """Whether a block raises, and what is shown below it; of a figure, its words."""

    raises: bool
    output: str


class Recording(NamedTuple):
    """A stretch of a file that ``--record`` replaces."""

    start: int
    end: int
    text: str


recordings: dict[Path, list[Recording]] = {}
# For each figure's file, the page that it is on and what the run drew.
figures: dict[Path, tuple[Path, str]] = {}
found_blocks: Counter[str] = Counter()
ran_blocks: Counter[str] = Counter()
pages_run: set[Path] = set()
pages_failed: set[Path] = set()
# With --record on another torch than the pinned one: for each page, what differs from it.
differing: dict[str, dict[str, Outcome]] = {}


@contextlib.contextmanager
def captured() -> Iterator[io.StringIO]:
    """Gather what a block prints and the warnings it sets off, in their order."""
    printed = io.StringIO()

    def show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
        printed.write(f"{category.__name__}: {message}\n")

    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        # Python hides these from readers, unless the program itself is to blame.
        for hidden in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", hidden)
        warnings.filterwarnings("always", category=DeprecationWarning, module="__main__")
        warnings.showwarning = show_warning
        yield printed


def blocks(document: Document) -> Iterator[Region]:
    """Find the Python blocks, their outputs and the figures of a page, a README or a docstring."""
    fences = list(FENCES(document))
    outer = [f for f in fences if not any(o.start < f.start and f.end <= o.end for o in fences)]
    outer.sort(key=lambda fence: fence.start)
    languages = [LANGUAGE.match(fence.lexemes["info"])[1] for fence in outer]
    for number, (fence, language) in enumerate(zip(outer, languages), 1):
        evaluator: Callable[[Example], str | None] | None = None
        if language == "python":
            raises = ".raises" in fence.lexemes["info"].split("}")[0].replace("{", " ").split()
            is_shown = languages[number : number + 1] == ["output"]
            evaluator = Block(raises=raises, output=outer[number].lexemes["source"] if is_shown else None)
        elif language == "output":
            evaluator = check_output
        if evaluator:
            yield Region(fence.start, fence.end, fence.lexemes["source"], evaluator)
    for match in FIGURE.finditer(document.text):
        if not any(fence.start <= match.start() < fence.end for fence in outer):
            yield Region(match.start(), match.end(), match, check_figure)


class Block:
    """Runs a Python block."""

    def __init__(self, *, raises: bool, output: str | None) -> None:
        self.shown = Outcome(raises, (output or "").rstrip("\n"))
        self.has_output = output is not None

    def __call__(self, example: Example) -> str | None:
        __tracebackhide__ = True
        if earlier := example.namespace.get("_failed"):
            return f"In {where(example)}: not run, because an earlier block failed: {earlier}."
        written = example.parsed
        example.parsed = Lexeme(expand(written), written.offset, written.line_offset)
        expected = expected_here(example, written, self.shown)
        is_recording = example.namespace["_record"] and not IS_PINNED
        error = None
        with captured() as printed:
            try:
                run(example)
            except Exception as raised:
                if not (expected.raises or is_recording):
                    fail(example)
                    raised.add_note(f"In {where(example)}, which is:\n{written}")
                    raise
                error = raised
        output = mask(printed.getvalue() + (as_shown(error) if error else "")).rstrip("\n")
        ran_blocks[kind(example)] += 1
        pages_run.add(Path(example.path))
        ran = Outcome(error is not None, output)
        if is_recording:
            expected = note_difference(example, written, self.shown, ran)
        elif ran == self.shown and without_warnings(expected) == without_warnings(ran):
            # torch warns of some things once in a process, and another page was the first.
            expected = ran
        if expected.raises and error is None:
            fail(example)
            return f"In {where(example)}: the block is {as_expected('marked')} as one that raises, and it does not."
        if error and expected == self.shown and (line := first_line_left_out(example, error)):
            fail(example)
            return f"In {where(example)}: the block raises before its last statement, so nothing has run this:\n{line}"
        if self.has_output:
            example.namespace["_output"] = expected.output, output
        elif output != expected.output:
            return (
                f"In {where(example)}: the block prints this, and no output fence shows it:\n{output}"
                if expected == self.shown
                else f"In {where(example)}: not {as_expected('shown')}:\n{difference(expected.output, output)}"
            )
        return None


def run(example: Example) -> None:
    # A name of its own, and what torch and tracebacks find below it: the page itself is no Python.
    name = where(example)
    linecache.cache[name] = len(example.parsed), None, example.parsed.splitlines(keepends=True), name
    code = compile(example.parsed, name, "exec", dont_inherit=True)
    try:
        exec(code, example.namespace)
    finally:
        del example.namespace["__builtins__"]


# ---- Another torch than the pinned one


def page_name(path: Path) -> str:
    """A page by its path below its language; README and the files of docstrings by their own."""
    if not path.is_relative_to(ROOT):
        return path.name
    name = path.relative_to(ROOT).as_posix()
    return re.sub(r"^docs/(?:en|zh)/|(?:\.zh)?\.md$", "", name)


def read_differing(torch: str) -> dict[str, dict[str, Outcome]]:
    """What is recorded for a version of torch: for each page, the blocks and figures that differ from it."""
    record = read_if_there(VERSIONS / f"{torch}.json")
    return {
        page: {
            block: Outcome(outcome["raises"], "\n".join(outcome["output"]))
            for block, outcome in entries.items()
        }
        for page, entries in (json.loads(record)["pages"] if record else {}).items()
    }


# On a torch without a record, such as a nightly one, every difference fails.
differing_here = {} if IS_PINNED else read_differing(RUNNING)


def expected_here(example: Example, name: str, shown: Outcome) -> Outcome:
    """What a block or a figure gives on the running torch: what its page shows, unless something else is recorded."""
    return differing_here.get(page_name(Path(example.path)), {}).get(name.strip(), shown)


def as_expected(word: str) -> str:
    return word if IS_PINNED else f"{word}, or recorded for torch {RUNNING},"


def without_warnings(outcome: Outcome) -> Outcome:
    lines = [line for line in outcome.output.split("\n") if not re.match(r"\w*Warning: ", line)]
    return outcome._replace(output="\n".join(lines))


def note_difference(example: Example, name: str, shown: Outcome, ran: Outcome) -> Outcome:
    """Note what a run gives where it is not what its page shows."""
    if ran != shown:
        differing.setdefault(page_name(Path(example.path)), {})[name.strip()] = ran
    return ran


def write_differing() -> list[str]:
    """Write what differs on the running torch, for the pages that were run, and return the file's name if it changed."""
    pages = read_differing(RUNNING)
    for path in pages_run:
        pages.pop(page_name(path), None)
    pages |= differing
    if pages == read_differing(RUNNING):
        return []
    record = {
        "date": str(datetime.date.today()),
        "pages": {
            page: {
                block: {"raises": outcome.raises, "output": outcome.output.split("\n")}
                for block, outcome in entries.items()
            }
            for page, entries in sorted(pages.items())
        },
    }
    path = VERSIONS / f"{RUNNING}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return [path.relative_to(ROOT).as_posix()]


def first_line_left_out(example: Example, error: Exception) -> str | None:
    """The statement after the one that raised."""
    lines = [n for frame, n in traceback.walk_tb(error.__traceback__) if frame.f_globals is example.namespace]
    if not lines:
        return None  # It does not even compile.
    for statement in ast.parse(example.parsed).body:
        if statement.lineno > lines[0]:
            return ast.unparse(statement)
    return None


def fail(example: Example) -> None:
    """Let the rest of the page stand: what it would print depends on what has failed."""
    example.namespace["_failed"] = where(example)
    pages_failed.add(Path(example.path))


def check_output(example: Example) -> str | None:
    if "_failed" in example.namespace:
        return f"In {where(example)}: not compared, because a block failed: {example.namespace['_failed']}."
    expected, output = example.namespace.pop("_output", (None, None))
    if expected is None:
        return f"In {where(example)}: there is no Python block right above this output."
    if output == expected:
        return None
    if example.namespace["_record"]:
        text = Path(example.path).read_text(encoding="utf-8")[example.start : example.end]
        opening, *_, closing = text.splitlines()
        indent = opening[: len(opening) - len(opening.lstrip())]
        body = textwrap.indent(f"{output}\n" if output else "", indent)
        recordings.setdefault(Path(example.path), []).append(
            Recording(example.start, example.end, f"{opening}\n{body}{closing}")
        )
        return None
    return (
        f"In {where(example)}: what is {as_expected('shown')} is not what the run prints. If the run is right: "
        f"{'make record' if IS_PINNED else 'pytest --record'}.\n{difference(expected, output)}"
    )


def check_figure(example: Example) -> str | None:
    if "_failed" in example.namespace:
        return f"In {where(example)}: not drawn, because a block failed: {example.namespace['_failed']}."
    path = RECORDINGS / example.parsed["path"]
    variable = example.parsed["variable"]
    held = example.namespace.get(variable)
    if isinstance(held, Graph):
        expected = held.to_svg() + "\n"
    elif hasattr(held, "get_figure"):
        expected = plot_as_svg(held, variable)
    else:
        return (
            f"In {where(example)}: the figure {path.name} shows what is in the variable {variable!r}, a graph or "
            f"the axes of a plot, and that holds {held!r}."
        )
    if example.namespace["_record"] and IS_PINNED:
        figures[path] = Path(example.path), expected
        return None
    if not path.exists():
        return f"In {where(example)}: {path.relative_to(ROOT)} is not there. Run: pytest --record"
    drawn = path.read_text(encoding="utf-8")
    if drawn == expected:
        return None
    if not IS_PINNED:
        here = Outcome(False, words(expected))
        if example.namespace["_record"]:
            differing.setdefault(page_name(Path(example.path)), {})[example.parsed["path"]] = here
            return None
        if expected_here(example, example.parsed["path"], Outcome(False, drawn)) == here:
            return None
    return f"In {where(example)}: {path.relative_to(ROOT)} is not what the run draws.\n" + difference(
        drawn, expected
    )


def words(svg: str) -> str:
    """What is written in a figure, a line for each box or label."""
    return "\n".join(SVG_TEXT.findall(svg))


def plot_as_svg(axes: Any, name: str) -> str:
    """What is drawn on matplotlib's axes: the same text from every run, and black is the colour of the page's text."""
    import matplotlib as mpl

    figure, written = axes.get_figure(), io.StringIO()
    no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(written, format="svg", metadata=no_metadata, transparent=True)
    svg = written.getvalue()
    svg = svg[svg.index("<svg ") :]
    # On a page with other figures, matplotlib's style sheet would be theirs too, and so would its ids.
    svg = re.sub(r" <defs>\s*<style.*?</style>\s*</defs>\n", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r' id="[\w.]+_\d+"', "", svg)
    for number, hashed in enumerate(dict.fromkeys(re.findall(r' id="(\w+)"', svg))):
        svg = re.sub(rf"\b{hashed}\b", f"{name}-{number}", svg)
    svg = re.sub('; font-family: [^;"]*', "", svg)
    svg = re.sub("<[^>]+>", shortened, svg)
    svg = svg.replace("#000000", "currentColor").replace("fill: #ffffff", "fill: none")
    label = html.escape(
        ", ".join(name for one in figure.axes for name in (one.get_title(), one.get_ylabel()) if name)
    )
    return svg.replace(
        "<svg ",
        f'<svg role="img" aria-label="{label}" fill="currentColor" stroke-linejoin="round" '
        'style="max-width: 100%; height: auto" ',
        1,
    )


def shortened(tag: re.Match[str]) -> str:
    """A tag on one line, its lengths with one decimal: the last digits of a norm differ between processors."""
    return DECIMALS.sub(lambda number: f"{float(number[0]):.1f}", " ".join(tag[0].split()))


def where(example: Example) -> str:
    path = Path(example.path)
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return f"{name}:{example.line}"


def difference(shown_text: str, run_text: str) -> str:
    lines = difflib.unified_diff(
        shown_text.rstrip("\n").splitlines(),
        run_text.rstrip("\n").splitlines(),
        "shown",
        "run",
        lineterm="",
    )
    return "\n".join(lines)


def kind(example: Example) -> str:
    path = Path(example.path)
    if path.suffix == ".py":
        return "docstrings"
    folder = path.parent.relative_to(ROOT).parts if path.is_relative_to(ROOT) else ()
    if folder[:1] != ("docs",):
        return "README"
    return f"docs/{folder[1]}"


def write_recordings() -> list[str]:
    """Write what a run with ``--record`` gathered, and return the names of the files that changed."""
    new = {path: drawn for path, (page, drawn) in figures.items() if page not in pages_failed}
    redrawn = {figures[path][0] for path in new if read_if_there(path) != new[path]}
    for path, changes in recordings.items():
        if path in pages_failed:
            continue
        text = path.read_text(encoding="utf-8")
        for change in sorted(changes, reverse=True):
            text = text[: change.start] + change.text + text[change.end :]
        new[path] = text
    for path in pages_run - pages_failed:
        text = new[path] if path in new else path.read_text(encoding="utf-8")
        front = FRONT_MATTER.match(text)
        if front and (path in new or path in redrawn or TORCH not in front[1]):
            new[path] = f"---\n{stamped(front[1])}---\n{text[front.end() :]}"
    changed = [path for path, text in new.items() if read_if_there(path) != text]
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(new[path], encoding="utf-8")
    return sorted(str(path.relative_to(ROOT)) for path in changed)
