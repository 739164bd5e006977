"""Write docs/<language>/reference/versions.md from what runs on other versions of torch have recorded, and say so on the pages.

A page's front matter gets the versions on which it differs, which its foot shows. A block that raises on an older torch, and not
on the page, gets a class, which is shown as a badge.
"""

from __future__ import annotations

import difflib
import json
import os.path
import re
from collections.abc import Iterator
from itertools import groupby, zip_longest
from pathlib import Path
from typing import NamedTuple

import blocks
from blocks import Outcome
from shown import DIFFERS, FRONT_MATTER, PINNED, ROOT, write
from sybil import Document
from topics import HEADING, lessons

PAGE = "reference/versions.md"
LANGUAGES = ("en", "zh")
BADGE = re.compile(r"(?<=```)\{\.python \.fails-on-[\d-]+\}$", re.MULTILINE)
LONG = 100  # characters
CONTEXT = 4  # words

INTRODUCTION = {
    "en": """\
---
description: "Where the outputs of these pages differ on other versions of PyTorch: each block that prints or raises something else, with both texts."
generated: tools/versions.py
search:
  boost: 0.5
---

# What differs on other versions of torch? {{ #versions }}

Every block of this site was also run on {versions}; what it gives there and not on torch {pinned} stands below.
{{ .lead }}

- **Needed first:** nothing.
- **Afterwards:** you can tell whether your output differs because of your torch.
{{ .needs }}

A line that begins with `-` is on the page; one with `+` is what the other torch gives instead. Of a long line, the part that
differs is shown, and `…` stands for the rest. A test on these versions wants each block to give what is recorded here, and every other block to give what its page
shows. {recorded}

| page | {columns} |
|---|{rules}
""",
    "zh": """\
---
description: "换一个 PyTorch 版本，本站哪些输出会不同：逐个代码块列出打印或报错不一样的地方，两边的文字都有，还有各版本的运行日期。"
generated: tools/versions.py
search:
  boost: 0.5
---

# 换一个 torch 版本，哪些输出会不同？ {{ #versions }}

本站的每个代码块还在 {versions} 上运行过，和 torch {pinned} 不一样的结果都列在下面。
{{ .lead }}

- **需要先会：** 什么都不需要。
- **读完之后：** 你能判断自己的输出不一样，是不是 torch 版本造成的。
{{ .needs }}

`-` 开头的行是页面上的，`+` 开头的行是另一个版本给出的。行太长时只显示不同的部分，其余用 `…` 代替。在这些版本上跑测试时，这里有记录的代码块必须给出记录的结果，其他代码块必须给出页面上的结果。{recorded}

| 页面 | {columns} |
|---|{rules}
""",
}
WORDS = {
    "en": {
        "and": " and ",
        "comma": ", ",
        "recorded": "Recorded with {}.",
        "on": "torch {version} on {date}",
        "raises": "raises",
        "raises nothing": "raises nothing",
        "figure": "words of the figure",
    },
    "zh": {
        "and": " 和 ",
        "comma": "，",
        "recorded": "记录日期：{}。",
        "on": "torch {version} 为 {date}",
        "raises": "报错",
        "raises nothing": "不报错",
        "figure": "图中的文字",
    },
}


class Shown(NamedTuple):
    """A block or a figure of a page: its place, the section it is in, and what the page shows."""

    start: int
    heading: str
    anchor: str
    outcome: Outcome


def pages() -> dict[Path, str]:
    record = read()
    texts = {}
    for language in LANGUAGES:
        folder = ROOT / "docs" / language
        for path in sorted(folder.rglob("*.md")):
            text = path.read_text(encoding="utf-8")
            if "\nrecorded:\n" in text:
                texts[path] = stated(path, text, record)
        texts[folder / PAGE] = page(language, record)
    return texts


def read() -> dict[str, dict[str, dict[str, Outcome]]]:
    """For each version of torch, the oldest first, and each page, what differs."""
    versions = sorted((path.stem for path in blocks.VERSIONS.glob("*.json")), key=number)
    return {version: blocks.read_differing(version) for version in versions}


def number(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def shown(path: Path, text: str) -> dict[str, Shown]:
    """What a page shows, by what names it in a record."""
    headings = list(HEADING.finditer(text))
    found = {}
    for region in blocks.blocks(Document(text, str(path))):
        above = [heading for heading in headings if heading.start() < region.start]
        heading, anchor = above[-1].groups() if above else (path.name, "")
        if isinstance(region.evaluator, blocks.Block):
            found[region.parsed.strip()] = Shown(region.start, heading, anchor, region.evaluator.shown)
        elif region.evaluator is blocks.check_figure:
            words = blocks.words((blocks.RECORDINGS / region.parsed["path"]).read_text(encoding="utf-8"))
            found[region.parsed["path"]] = Shown(region.start, heading, anchor, Outcome(False, words))
    return found


def stated(path: Path, text: str, record: dict[str, dict[str, dict[str, Outcome]]]) -> str:
    """The page with what it says of other versions: in its front matter, and at the blocks that need a newer torch."""
    name = blocks.page_name(path)
    differs = [version for version, differing in record.items() if name in differing]
    line = f"  differs: {json.dumps(differs)}\n" if differs else ""
    text = FRONT_MATTER.sub(lambda front: f"---\n{DIFFERS.sub('', front[1])}{line}---\n", text)
    text = BADGE.sub("python", text)
    there = shown(path, text)
    fails = {
        block: version
        for version in differs
        if number(version) < number(PINNED)
        for block, outcome in record[version][name].items()
        if outcome.raises and block in there and not there[block].outcome.raises
    }
    for block in sorted(fails, key=lambda block: there[block].start, reverse=True):
        start = there[block].start
        marked = f"```{{.python .fails-on-{fails[block].replace('.', '-')}}}"
        text = text[:start] + text[start:].replace("```python", marked, 1)
    return text


def page(language: str, record: dict[str, dict[str, dict[str, Outcome]]]) -> str:
    words = WORDS[language]
    names = sorted({name for differing in record.values() for name in differing})
    order = ["README", "index", *lessons()]
    names.sort(key=lambda name: order.index(name) if name in order else len(order))
    dates = {
        version: json.loads((blocks.VERSIONS / f"{version}.json").read_text(encoding="utf-8"))["date"]
        for version in record
    }
    recorded = words["comma"].join(
        words["on"].format(version=version, date=date) for version, date in dates.items()
    )
    text = INTRODUCTION[language].format(
        versions=words["and"].join(f"torch {version}" for version in record),
        pinned=PINNED,
        recorded=words["recorded"].format(recorded),
        columns=" | ".join(f"torch {version}" for version in record),
        rules="---|" * len(record),
    )
    rows, sections = [], []
    for name in names:
        path = file_of(name, language)
        there = shown(path, path.read_text(encoding="utf-8"))
        title = next(iter(HEADING.findall(path.read_text(encoding="utf-8"))), (name,))[0]
        anchor = re.sub(r"[^\w-]", "-", name)
        counts = [str(len(differing.get(name, {})) or "") for differing in record.values()]
        rows.append(f"| [{title}](#{anchor}) | {' | '.join(counts)} |\n")
        sections.append(f"\n## {title} {{ #{anchor} }}\n")
        for version, differing in record.items():
            entries = differing.get(name, {})
            # What is no longer on the page, tests/test_versions.py names.
            for block in sorted(entries.keys() & there.keys(), key=lambda block: there[block].start):
                sections.append(section(name, version, there[block], entries[block], words, block))
    return text + "".join(rows + sections)


def file_of(name: str, language: str) -> Path:
    if name.endswith(".py"):
        return ROOT / name
    if name == "README":
        return ROOT / {"en": "README.md", "zh": "README.zh.md"}[language]
    return ROOT / "docs" / language / f"{name}.md"


def section(
    name: str, version: str, there: Shown, outcome: Outcome, words: dict[str, str], block: str
) -> str:
    link = f"{os.path.relpath(name, 'reference')}.md#{there.anchor}"
    # A README has no place on the site.
    where = [f"torch {version}", f"[{there.heading}]({link})" if there.anchor else there.heading]
    if block.endswith(".svg"):
        where.append(words["figure"])
    elif outcome.raises != there.outcome.raises:
        where.append(words["raises" if outcome.raises else "raises nothing"])
    lines = "\n".join(changed_lines(there.outcome.output, outcome.output))
    return f"\n{' · '.join(where)}\n\n```diff\n{lines}\n```\n"


def changed_lines(old: str, new: str) -> Iterator[str]:
    before, after = old.splitlines(), new.splitlines()
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            pairs = [
                shortened(*pair) if None not in pair else pair
                for pair in zip_longest(before[a:b], after[c:d])
            ]
            for sign, lines in zip("-+", zip(*pairs)):
                for line, same in groupby(line for line in lines if line is not None):
                    times = len(list(same))
                    yield f"{sign}{line}" + (f" (×{times})" if times > 1 else "")


def shortened(old: str, new: str) -> tuple[str, str]:
    """Two long lines from a few words before to a few words after where they differ."""
    if min(len(old), len(new)) <= LONG:
        return old, new
    before, after = old.split(" "), new.split(" ")
    start = alike(before, after)
    end = min(alike(before[::-1], after[::-1]), min(len(before), len(after)) - start)
    start, end = max(start - CONTEXT, 0), max(end - CONTEXT, 0)
    dots = ["…"]
    return tuple(
        " ".join([*dots[:start], *line[start : len(line) - end], *dots[:end]]) for line in (before, after)
    )


def alike(before: list[str], after: list[str]) -> int:
    """How many words the two begin with alike."""
    return next(count for count, (one, other) in enumerate(zip_longest(before, after)) if one != other)


if __name__ == "__main__":
    write(pages())
