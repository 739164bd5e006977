"""Write docs/<language>/reference/claims.md from docs/claims.toml and the sections of snippets/reference/claims.py.

The outputs stay those that are on the page; `pytest --record` writes them from a run, and tests/test_claims.py holds them
against the verdicts.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import tomllib
import topics
from shown import ROOT, read_if_there, recorded, write

CLAIMS = ROOT / "docs" / "claims.toml"
PROGRAM = ROOT / "snippets" / "reference" / "claims.py"
SECTION = re.compile(r"^# --8<-- \[start:([\w-]+)\]$", re.MULTILINE)

PAGES = {
    "en": """\
---
description: "{n} sentences about PyTorch autograd as they are commonly taught: which are true, which are false, which only under a condition, each with the run that decides it."
generated: tools/claims.py
program: true
search:
  boost: 0.5
---

# Which sentences about autograd are true? {{ #claims }}

{n} sentences that are commonly taught, each put to a run: {true} are true, {false} are false, and {only_if} hold only under a condition.
{{ .lead }}

## How do I read an entry? {{ #how-to-read }}

The heading is the sentence as it is taught. Below it stand the verdict, the reason, the run, and the sections that explain it.
Each line of an output that ends in `True` or `False` says whether the sentence holds there: a true one has only `True`, a false one only
`False`, one that holds only under a condition has both. The runs give these verdicts on torch 2.6, 2.13 and 2.15 alike.
They are sections of one program; its link is at the foot of the page.

??? example "What the runs begin with"

{setup}

{claims}
""",
    "zh": """\
---
description: "关于 PyTorch autograd 的 {n} 条常见说法：哪些对，哪些错，哪些要看条件，每一条都附上能判定它的代码和运行结果，可以按结论和主题筛选。"
generated: tools/claims.py
program: true
search:
  boost: 0.5
---

# 关于 autograd 的说法，哪些是真的？ {{ #claims }}

{n} 条常见的说法，条条都跑过代码：{true} 条对，{false} 条错，{only_if} 条要看条件。
{{ .lead }}

## 怎么看每一条？ {{ #how-to-read }}

标题就是通常的说法，下面依次是结论、理由、代码和运行结果，以及讲解它的章节。输出里凡是以 `True` 或 `False` 结尾的行，说的都是这句话在那里成不成立：对的说法只有 `True`，错的只有 `False`，要看条件的两种都有。在 torch 2.6、2.13 和 2.15 上，结论都一样。所有代码合起来是一个程序，链接在页脚。

??? example "各段代码共用的准备"

{setup}

{claims}
""",
}
# A verdict has its name, and what stands between the name and the reason.
WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "true": ("True", ". "),
        "false": ("False", ". "),
        "only if": ("Only if", " "),
        "run": "The run",
        "places": "Explained in: {places}",
        "between": ", ",
        "of_page": topics.WORDS["en"]["of_page"],
    },
    "zh": {
        "true": ("对", "。"),
        "false": ("错", "。"),
        "only if": ("看条件", "。"),
        "run": "代码和运行结果",
        "places": "讲解：{places}",
        "between": "、",
        "of_page": topics.WORDS["zh"]["of_page"],
    },
}


def pages() -> dict[Path, str]:
    paths = {language: ROOT / "docs" / language / "reference" / "claims.md" for language in PAGES}
    return {path: recorded(path, page(language, path)) for language, path in paths.items()}


def read_claims() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(CLAIMS.read_text(encoding="utf-8"))


def page(language: str, path: Path) -> str:
    claims, there = read_claims(), read_if_there(path) or ""
    headings = topics.headings(language)
    counts = Counter(claim["verdict"] for claim in claims["claim"])
    lines = [
        '<form class="filter" data-for="claims-list" data-facets="verdict topic" markdown="0"></form>',
        "",
        '<div id="claims-list" markdown="1">',
        "",
    ]
    for topic in claims["topic"]:
        lines += [f"## {topic[language]} {{ #{topic['id']} }}", ""]
        for claim in claims["claim"]:
            if claim["topic"] == topic["id"]:
                lines += entry(claim, topic, language, headings, there)
    return PAGES[language].format(
        n=len(claims["claim"]),
        true=counts["true"],
        false=counts["false"],
        only_if=counts["only if"],
        setup="\n\n".join("\n".join(block(section, indent=4)) for section in setup_sections(claims["claim"])),
        claims="\n".join([*lines, "</div>"]),
    )


def entry(
    claim: dict[str, Any],
    topic: dict[str, str],
    language: str,
    headings: dict[str, dict[str, str]],
    there: str,
) -> list[str]:
    words = WORDS[language]
    verdict = claim["verdict"]
    name, stop = words[verdict]
    badge = f"**{name}**{{ .verdict .{verdict.replace(' ', '-')} }}"
    places = [topics.place_link(place, headings, words) for place in claim["at"]]
    label = topic[language].replace("`", "")
    # Material's copy button copies the first block below the nearest id, and each run needs one of its own.
    return [
        f'<section class="item" id="run-{claim["id"]}" data-verdict="{verdict}" data-verdict-label="{name}" '
        f'data-topic="{topic["id"]}" data-topic-label="{label}" markdown="1">',
        "",
        f"### {claim[language]} {{ #{claim['id']} }}",
        "",
        badge + stop + claim[f"why_{language}"],
        "",
        f'??? example "{words["run"]}"',
        "",
        *block(claim["id"], indent=4),
        "    ```output",
        *output(claim["id"], there),
        "    ```",
        "",
        words["places"].format(places=words["between"].join(places)),
        "",
        "</section>",
        "",
    ]


def setup_sections(claims: list[dict[str, Any]]) -> list[str]:
    """The sections that are no claim's: the imports and the helpers that the runs share."""
    ids = {claim["id"] for claim in claims}
    return [name for name in SECTION.findall(PROGRAM.read_text(encoding="utf-8")) if name not in ids]


def block(section: str, *, indent: int) -> list[str]:
    lines = "```python", f'--8<-- "reference/claims.py:{section}"', "```"
    return [" " * indent + line for line in lines]


def output(section: str, there: str) -> list[str]:
    """What stands on the page below the section."""
    _, _, below = there.partition(f'claims.py:{section}"\n    ```\n    ```output\n')
    return below.partition("    ```\n")[0].splitlines()


if __name__ == "__main__":
    write(pages())
