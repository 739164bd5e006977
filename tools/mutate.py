"""Change one thing at a time, at random but seeded, and report the changes that no test notices.

It works on two copies of the repository. Each change runs the tests that it can affect, until one of them fails. What is known
is kept in .mutate/, so that a run that was stopped goes on where it was; once a page, a program,
the package, a test or a tool has changed, it begins anew. tests/equivalent.toml names the changes that change nothing. A whole
run of 300 or more is written to docs/recordings/mutate/, for the page that says how the site is tested.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import tomllib
from sealed import RECORDINGS, write_sealed
from shown import FRONT_MATTER, ROOT

sys.path.append(str(ROOT / "tests"))
from forks import Forks

KEPT = ROOT / ".mutate"
EQUIVALENT = ROOT / "tests" / "equivalent.toml"
RESULTS = RECORDINGS / "mutate"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "site", ".mutate", "*cache*", "*.egg-info")
# A change may make a loop endless.
SECONDS = 300
PAGES = ("tests/test_pages.py", "tests/test_topics.py")
WITHOUT_CHANGE = "without a change"
# What the table of a run says.
WORDS = {
    "en": (
        "what was changed",
        "changes",
        "noticed",
        "{date}, seed {seed}. Left out: {equivalent} changes that change nothing.",
    ),
    "zh": ("改了什么", "次数", "发现", "{date}，种子 {seed}。改了也等于没改的 {equivalent} 处不算在内。"),
}
IN_CHINESE = {
    "an output": "一处输出",
    "a snippet": "程序里的一处",
    "an anchor": "一个锚点",
    "a link": "一个链接",
    "an answer": "预测题的一个选项",
    "a word of one language": "一种语言里的一个词",
    "a recording": "一份记录",
    "a recorded version": "记下的译文版本",
    "a term of the glossary": "术语表里的一项",
    "the data of a page": "页面的一项数据",
    "the helper package": "辅助包里的一处",
    "an output in a docstring": "docstring 里的一处输出",
}
OUTPUT = re.compile(r"^ *```output\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ANCHOR = re.compile(r"\{ #([\w-]+) \}$", re.MULTILINE)
LINK = re.compile(r"\]\(([\w./#-]+)\)")
ANSWER = re.compile(r"^- `(.+)`$", re.MULTILINE)
DIGIT = re.compile(r"\d")
SWAPS = {
    "==": "!=",
    "!=": "==",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "and": "or",
    "or": "and",
    "True": "False",
    "False": "True",
    "is": "is not",
    "in": "not in",
}


class Change(NamedTuple):
    kind: str
    path: str
    start: int
    before: str
    after: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before!r} -> {self.after!r}"


Places = Iterator[tuple[int, str, str]]
"""Where a text can be changed: the offset, what stands there, and what will."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=int, default=300, help="how many changes (300)")
    parser.add_argument("--minutes", type=float, default=60, help="begin no change after this time (60)")
    parser.add_argument("--seed", type=int, default=0, help="which changes (0)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (2)")
    options = parser.parse_args()
    changes = chosen(options.limit, options.seed)
    known = Known()
    todo = [change for change in changes if str(change) not in known.outcomes]
    print(
        f"{len(changes)} changes, {len(changes) - len(todo)} of them known from an earlier run.", flush=True
    )
    run_all(todo, known, options.jobs, time.monotonic() + 60 * options.minutes)
    return report(changes, known.outcomes, options.seed)


# ---- What can be changed


def outputs(text: str) -> Places:
    for output in OUTPUT.finditer(text):
        for digit in DIGIT.finditer(output[1]):
            yield output.start(1) + digit.start(), digit[0], str((int(digit[0]) + 1) % 10)


def anchors(text: str) -> Places:
    for anchor in ANCHOR.finditer(text):
        yield anchor.start(1), anchor[1], f"{anchor[1]}-x"


def links(text: str) -> Places:
    for link in LINK.finditer(text):
        page, mark, anchor = link[1].partition("#")
        yield link.start(1), link[1], f"{page}#{anchor}-x" if mark else f"{page.removesuffix('.md')}_x.md"


def answers(text: str) -> Places:
    for answer in ANSWER.finditer(text):
        yield answer.start(1), answer[1], f"{answer[1]}0"


def prose(text: str) -> Places:
    """A word of the prose, in one language alone."""
    body = FRONT_MATTER.sub(lambda front: " " * len(front[0]), text)
    body = re.sub(r"^( *)(```+).*?^\1\2$", lambda fence: " " * len(fence[0]), body, flags=re.M | re.S)
    for word in re.finditer(r"(?<![\w`#/(])[a-z]{4,}(?![\w`/)])|[\u4e00-\u9fff]{2}", body):
        yield word.start(), word[0], word[0][1:]


def digits(text: str) -> Places:
    for digit in DIGIT.finditer(text):
        yield digit.start(), digit[0], str((int(digit[0]) + 1) % 10)


def strings(text: str) -> Places:
    """A letter of what stands in quotation marks, in a data file.

    Not of a word that no page may write: without a letter it forbids the whole word as well.
    """
    for string in re.finditer(r'^(?!avoid_)[\w"/]+ = (?:\{ en = )?\[?"([^"\n]{3,})"', text, re.MULTILINE):
        yield string.start(1), string[1], string[1][1:]


def code(text: str) -> Places:
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start = lines[token.start[0] - 1] + token.start[1]
        if token.type in (tokenize.OP, tokenize.NAME) and token.string in SWAPS:
            yield start, token.string, SWAPS[token.string]
        elif token.type == tokenize.NUMBER and token.string.isdecimal():
            yield start, token.string, str(int(token.string) + 1)
    for call in ast.walk(ast.parse(text)):
        if (
            isinstance(call, ast.Call)
            and len(call.args) >= 2
            and call.args[0].lineno == call.args[1].end_lineno
        ):
            first, second = call.args[:2]
            if text.isascii() and not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                start = lines[first.lineno - 1] + first.col_offset
                end = lines[second.lineno - 1] + second.end_col_offset
                one, two = ast.get_source_segment(text, first), ast.get_source_segment(text, second)
                if one != two:
                    between = text[start + len(one) : end - len(two)]
                    yield start, text[start:end], two + between + one


KINDS: dict[str, tuple[str, Callable[[str], Places]]] = {
    "an output": ("docs/*/**/*.md", outputs),
    "a snippet": ("snippets/**/*.py", code),
    "an anchor": ("docs/*/**/*.md", anchors),
    "a link": ("docs/*/**/*.md", links),
    "an answer": ("docs/*/**/*.md", answers),
    "a word of one language": ("docs/*/**/*.md", prose),
    "a recording": ("docs/recordings/**/*.*", digits),
    "a recorded version": ("docs/pairs.toml", digits),
    "a term of the glossary": ("docs/glossary.toml", strings),
    "the data of a page": ("docs/[ctr]*.toml", strings),
    "the helper package": ("gradfn_tutorial/**/*.py", code),
    "an output in a docstring": ("gradfn_tutorial/*.py", outputs),
}


def chosen(limit: int, seed: int) -> list[Change]:
    """Changes of each kind in turn, so that a small number has all kinds.

    Each has its place in the order by itself: an edit elsewhere in the repository leaves the others where they are.
    """
    equivalent = {(entry["path"], entry["line"], entry["after"]) for entry in equivalents()}
    piles = []
    for kind, (pattern, places) in KINDS.items():
        pile: list[tuple[str, Change]] = []
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            text = path.read_text(encoding="utf-8")
            lines = text.splitlines()
            for start, before, after in places(text):
                line = text.count("\n", 0, start) + 1
                whole = lines[line - 1].strip()
                if (name, whole, after) not in equivalent:
                    place = start - text.rfind("\n", 0, start)
                    draw = hashlib.sha256(f"{seed} {name} {whole} {place} {after}".encode()).hexdigest()
                    pile.append((draw, Change(kind, name, start, before, after, line)))
        piles.append([change for _, change in sorted(pile)])
    # The longest pile is last to be empty.
    order = [
        change for turn in range(max(map(len, piles))) for pile in piles for change in pile[turn : turn + 1]
    ]
    return order[:limit]


def equivalents() -> list[dict[str, str]]:
    return tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["change"]


# ---- Which tests a change can affect


def affected(change: Change) -> list[str]:
    """The tests that can notice it, the quickest first; those that look at the built site are left out."""
    path = Path(change.path)
    if change.kind == "an output in a docstring":
        return [change.path, "tests/test_generated.py"]
    if path.parts[0] == "gradfn_tutorial":
        return package_tests(path)
    if path.parts[0] == "snippets":
        page = path.relative_to("snippets").with_suffix("").as_posix()
        pages = (
            [f"docs/en/{page}.md"] if (ROOT / f"docs/en/{page}.md").exists() else ["tests/test_recipes.py"]
        )
        return [
            *pages,
            "tests/test_verdicts.py",
            "tests/test_snippets.py",
            "-k",
            f"not test_snippets or {path.stem}",
        ]
    if path.suffix == ".md" and path.parts[1] in ("en", "zh"):
        # test_pairs notices whatever is outside of the blocks, so that it would tell nothing of the other tests.
        prose = ["tests/test_pairs.py"] if change.kind == "a word of one language" else []
        return [*prose, *PAGES, "tests/test_generated.py", change.path]
    if path.suffix == ".svg":
        page = path.parent.relative_to("docs/recordings").as_posix()
        return [f"docs/en/{page}.md", "tests/test_pages.py"]
    others = ["pairs", "generated", "names", "versions"]
    return [*PAGES, *(f"tests/test_{name}.py" for name in others)]


def package_tests(path: Path) -> list[str]:
    """The tests of the module first, then the pages, which show what it gives, and then what else rests on it."""
    own = {
        "__main__": "command",
        "svg": "renderers",
        "dot": "renderers",
        "mermaid": "renderers",
        "text": "renderers",
    }
    own |= {"fold": "renderers", "causes": "diagnosis", "layers": "owners", "freeing": "graph"}
    stem = "errors" if "errors" in path.parts else own.get(path.stem, path.stem)
    every = ["state", "renderers", "diagnosis", "owners", "recording", "errors", "graph", "command", "api"]
    first = [name for name in every if name == stem]
    others = [name for name in every if name != stem]
    return [
        *(f"tests/test_{name}.py" for name in first),
        *("gradfn_tutorial", "docs/en/learn", "docs/en/conv2d", "docs/en/practice"),
        *(f"tests/test_{name}.py" for name in others),
    ]


# ---- Running


class Known:
    """What earlier runs over the same files have found out."""

    def __init__(self) -> None:
        digest = hashlib.sha256()
        for pattern in (
            "conftest.py",
            "*.toml",
            "mkdocs*.yml",
            "docs/**/*.*",
            "snippets/**/*.*",
            "gradfn_tutorial/**/*.*",
            "tests/**/*.*",
            "tools/**/*.*",
        ):
            for path in sorted(ROOT.glob(pattern)):
                # What the run itself writes does not make it another one, nor does a change that is named now.
                if (
                    path.is_file()
                    and "__pycache__" not in path.parts
                    and path.parent != RESULTS
                    and path != EQUIVALENT
                ):
                    digest.update(path.read_bytes())
        KEPT.mkdir(exist_ok=True)
        self.path = KEPT / f"{digest.hexdigest()[:12]}.jsonl"
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.outcomes: dict[str, str] = dict(json.loads(line) for line in lines)

    def add(self, change: Change | str, outcome: str) -> None:
        self.outcomes[str(change)] = outcome
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([str(change), outcome], ensure_ascii=False) + "\n")


def run_all(changes: list[Change], known: Known, jobs: int, deadline: float) -> None:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        copies = [
            (Path(shutil.copytree(ROOT, Path(folder, str(job)), ignore=LEFT_OUT)), Forks())
            for job in range(jobs)
        ]
        check_without_change(changes, known, copies, pool)
        free: SimpleQueue[tuple[Path, Forks]] = SimpleQueue()
        for copy in copies:
            free.put(copy)

        def run_one(change: Change) -> None:
            if time.monotonic() > deadline:
                return
            copy, forks = free.get()
            start = time.monotonic()
            try:
                outcome = tried(change, copy, forks)
            finally:
                free.put((copy, forks))
            known.add(change, outcome)
            print(f"{outcome:8} {time.monotonic() - start:4.0f} s  {change.kind}: {change}", flush=True)

        list(pool.map(run_one, changes))
        for _, forks in copies:
            forks.close()


def check_without_change(
    changes: list[Change], known: Known, copies: list[tuple[Path, Forks]], pool: ThreadPoolExecutor
) -> None:
    """Where the tests fail without a change, or are not there, they would notice any."""
    names = sorted({name for change in changes for name in affected(change) if "." in name or "/" in name})
    checked = f"{WITHOUT_CHANGE}: {' '.join(names)}"
    if checked in known.outcomes or not changes:
        return
    print("Running all these tests without a change ...", flush=True)
    # pytest runs everything where it is given no name.
    shares = [share for job in range(len(copies)) if (share := names[job :: len(copies)])]
    for done in pool.map(lambda share, copy: run_tests(share, *copy), shares, copies):
        if done.returncode:
            sys.exit(f"The tests fail without any change:\n{done.stdout}")
    known.add(checked, "passed")


def tried(change: Change, copy: Path, forks: Forks) -> str:
    path = copy / change.path
    original = path.read_text(encoding="utf-8")
    end = change.start + len(change.before)
    path.write_text(original[: change.start] + change.after + original[end:], encoding="utf-8")
    try:
        done = run_tests(affected(change), copy, forks, SECONDS)
    finally:
        path.write_text(original, encoding="utf-8")
    if done.returncode == 5:
        sys.exit(f"{change}: no test was found that it could affect.\n{done.stdout}")
    # Whatever pytest ends with: a test has failed, a tool or a module cannot be read, an endless loop was ended.
    return "noticed" if done.returncode else "MISSED"


def run_tests(
    names: list[str], copy: Path, forks: Forks, seconds: int = 0
) -> subprocess.CompletedProcess[str]:
    options = ("-xq", "-p", "no:cacheprovider", "-m", "not site")
    return forks.run("-m", "pytest", *options, *names, cwd=copy, seconds=seconds)


def report(changes: list[Change], outcomes: dict[str, str], seed: int) -> int:
    told = [(change, outcomes.get(str(change), "not run")) for change in changes]
    for kind in KINDS:
        count = Counter(outcome for change, outcome in told if change.kind == kind)
        print(f"{kind}: " + ", ".join(f"{number} {outcome}" for outcome, number in sorted(count.items())))
    missed = [change for change, outcome in told if outcome == "MISSED"]
    for change in missed:
        print(f"Missed: {change}")
    count = Counter(outcome for _, outcome in told)
    print(
        f"{len(told)} changes: {count['noticed']} noticed, {count['MISSED']} missed, {count['not run']} not run."
    )
    if not count["not run"] and len(told) >= 300:
        for language in WORDS:
            write_sealed(f"mutate/{language}.md", table(told, seed, language))
    return count["noticed"] < len(told)


def table(told: list[tuple[Change, str]], seed: int, language: str) -> str:
    """How many changes of each kind there were, and how many of them were noticed."""
    *columns, summary = WORDS[language]
    rows = [f"| {' | '.join(columns)} |", "|---|---:|---:|"]
    for kind in KINDS:
        outcomes = [outcome for change, outcome in told if change.kind == kind]
        name = kind if language == "en" else IN_CHINESE[kind]
        rows.append(f"| {name} | {len(outcomes)} | {outcomes.count('noticed')} |")
    about = {"date": datetime.date.today(), "seed": seed, "equivalent": len(equivalents())}
    return "\n".join([*rows, "", summary.format(**about), ""])


if __name__ == "__main__":
    sys.exit(main())
