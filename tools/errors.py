"""Write docs/<language>/reference/errors.md, the box and the list of all error messages, and errors/<kind>.md with the entries.

The texts are those of the helper package, the outputs come from runs.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import torch
from blocks import captured
from shown import ROOT, as_shown, mask, recorded, write

from gradfn_tutorial.errors import ERRORS, KINDS
from gradfn_tutorial.errors.entry import Error, parts

CLAUSE_END = re.compile(r"[.:;,](?= [A-Za-z`\[])| \(")

INTRODUCTION = {
    "en": """\
---
description: "PyTorch autograd error messages: paste a traceback, see what it means on the graph, and copy a repair that runs."
generated: tools/errors.py
---

# What does this autograd error mean, and how do I repair it? {{ #errors }}

Paste the message or the whole traceback to find its entry: what it means on the graph, and two repairs.
{{ .lead }}

<div class="find-error" markdown="span">The box for this needs JavaScript. Without it, let your browser search this page for the first words of the message.</div>

Paths, numbers, shapes and names in your text do not matter. It stays on your machine: this page sends nothing.

{count} messages, {warnings} of them warnings, each raised by a run: the tests execute the program of every entry, compare what it raises with the
message here, and execute both repairs. With [the helper package](api.md) installed, the command line finds the same:

```console
python train.py 2>&1 | python -m gradfn_tutorial error
python -m gradfn_tutorial error "element 0 of tensors does not require grad"
```

## Which messages are here? {{ #all }}
""",
    "zh": """\
---
description: "PyTorch autograd 报错怎么办：把报错信息或整段 traceback 粘贴进来，看它在计算图上是什么意思，再复制一种能运行的修法。"
generated: tools/errors.py
---

# autograd 的这条报错是什么意思，怎么修？ {{ #errors }}

粘贴报错信息或整段 traceback，就能找到它在计算图上的含义和两种修法。
{{ .lead }}

<div class="find-error" markdown="span">粘贴框需要 JavaScript。没有它的话，可以用浏览器的页内查找，搜报错开头的几个词。</div>

文字里的路径、数字、形状和名字都不影响查找。粘贴的内容只留在你的机器上，本页不向任何地方发送。

共 {count} 条，其中警告 {warnings} 条，每一条都由运行得出：测试会执行各条的程序，把抛出的内容和这里写的比对，两种修法也都执行。装了[辅助包](api.md)的话，命令行里也能查：

```console
python train.py 2>&1 | python -m gradfn_tutorial error
python -m gradfn_tutorial error "element 0 of tensors does not require grad"
```

## 收录了哪些信息？ {{ #all }}
""",
}
WORDS = {
    "en": {
        "backward": "Calling backward",
        "leaves": "Leaves and requires_grad",
        "in-place": "In-place operations and views",
        "modes": "Inference mode, checkpoints, torch.func and torch.compile",
        "functions": "Custom Functions, hooks and missing derivatives",
        "title": "{}: which errors, and what repairs them?",
        "description": "{}: PyTorch autograd error messages, what each means on the graph, and two repairs that run.",
        "lead": "{count} messages, each raised by a run, with what it means on the graph and two repairs.",
        "find": "[Paste a message](../errors.md) to find its entry.",
        "also": "On other supported versions of torch: ",
        "since": "From torch {} on.",
        "until": "Up to torch {}.",
        "raises": "The program that raises it",
        "warns": "The program that sets it off",
        "meaning": "{} More: [{}]({})",
        "repair": "**Repair {}.** {}",
    },
    "zh": {
        "backward": "调用 backward",
        "leaves": "叶子张量与 requires_grad",
        "in-place": "原地操作与视图",
        "modes": "推理模式、检查点、torch.func 与 torch.compile",
        "functions": "自定义 Function、hook 与没有实现的导数",
        "title": "{}：有哪些报错，怎么修？",
        "description": "{}：PyTorch autograd 在这方面的报错和警告，每条都说明它在计算图上是什么意思，并给出两种能运行的修法。",
        "lead": "共 {count} 条，都由运行得出，各附计算图上的含义和两种修法。",
        "find": "[粘贴报错信息](../errors.md)可以直接找到对应的条目。",
        "also": "在受支持的其他 torch 版本上：",
        "since": "从 torch {} 开始有。",
        "until": "到 torch {} 为止。",
        "raises": "会抛出它的程序",
        "warns": "会发出它的程序",
        "meaning": "{}详见：[{}]({})",
        "repair": "**修法 {}。** {}",
        "number": "数字",
        "shape": "形状",
        "name": "名字",
        "node": "节点",
        "device": "设备",
        "text": "文字",
    },
}


class Run(NamedTuple):
    """What a program prints, the warnings and the exception included."""

    code: str
    output: str
    raised: bool

    def fences(self, indent: str = "") -> str:
        kind = "{.python .raises}" if self.raised else "python"
        return textwrap.indent(f"```{kind}\n{self.code}```\n```output\n{self.output}```\n", indent)


def pages() -> dict[Path, str]:
    warned = torch.is_warn_always_enabled()
    # torch prints some warnings once in a process.
    torch.set_warn_always(True)
    runs = {error.id: run(error.code) for error in ERRORS}
    repairs = {error.id: [run(repair.code) for repair in error.repairs] for error in ERRORS}
    torch.set_warn_always(warned)
    texts: dict[Path, str] = {}
    for language in INTRODUCTION:
        folder = ROOT / "docs" / language / "reference"
        texts[folder / "errors.md"] = index(language, runs)
        for kind in KINDS:
            path = folder / "errors" / f"{kind}.md"
            texts[path] = recorded(path, entries(kind, language, runs, repairs))
    return texts


def run(code: str) -> Run:
    raised = None
    with captured() as printed:
        try:
            exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})
        except Exception as error:
            raised = as_shown(error)
    return Run(code, mask(printed.getvalue() + (raised or "")), raised is not None)


def index(language: str, runs: dict[str, Run]) -> str:
    words = WORDS[language]
    warnings = sum(not run.raised for run in runs.values())
    text = INTRODUCTION[language].format(count=len(ERRORS), warnings=warnings)
    titles = headings(runs)
    messages = []
    for kind, errors in KINDS.items():
        # An address that ends in #id leads here, whichever page the entry is on.
        links = "".join(
            f"- [{titles[error.id]}](errors/{kind}.md#{error.id}){{ #{error.id} }}\n" for error in errors
        )
        text += f"\n**{words[kind]}**\n\n{links}"
        messages += [marked(message, language, error.id) for error in errors for message in error.messages]
    return f"{text}\n<div hidden>\n{''.join(messages)}</div>\n"


def entries(kind: str, language: str, runs: dict[str, Run], repairs: dict[str, list[Run]]) -> str:
    words, titles = WORDS[language], headings(runs)
    text = f"""\
---
description: "{words["description"].format(words[kind])}"
generated: tools/errors.py
---

# {words["title"].format(words[kind])} {{ #{kind}-errors }}

{words["lead"].format(count=len(KINDS[kind]))}
{{ .lead }}

{words["find"]}
"""
    for error in KINDS[kind]:
        text += "\n" + entry(error, titles[error.id], language, runs[error.id], repairs[error.id])
    return text


def entry(error: Error, heading: str, language: str, run: Run, repairs: list[Run]) -> str:
    words = WORDS[language]
    path, _, anchor = error.page.partition("#")
    more = title(ROOT / "docs" / language / f"{path}.md", anchor)
    meaning = words["meaning"].format(getattr(error, language), more, f"../../{path}.md#{anchor}")
    blocks = [f"## {heading} {{ #{error.id} }}\n"]
    blocks += [marked(error.message, language)]
    blocks += [marked(message, language, label=words["also"]) for message in error.also]
    if error.since != "2.6":
        meaning = f"{words['since'].format(error.since)} {meaning}"
    if error.until:
        meaning = f"{words['until'].format(error.until)} {meaning}"
    blocks += [meaning + "\n"]
    for number, (repair, repaired) in enumerate(zip(error.repairs, repairs), 1):
        blocks += [words["repair"].format(number, getattr(repair, language)) + "\n", repaired.fences()]
    summary = words["raises" if run.raised else "warns"]
    blocks += [f'??? failure "{summary}"\n', run.fences("    ")]
    return "\n".join(blocks)


def headings(runs: dict[str, Run]) -> dict[str, str]:
    """For each entry how its message begins: what people type into a search."""
    short = {error.id: beginning(said(error, runs[error.id]), 100) for error in ERRORS}
    count = Counter(short.values())
    # Two messages that begin alike are told apart by what follows.
    return {
        error.id: beginning(said(error, runs[error.id]), 160)
        if count[short[error.id]] > 1
        else short[error.id]
        for error in ERRORS
    }


def said(error: Error, run: Run) -> str:
    """The message as the run gave it, without its class."""
    message = "\n".join(line.rstrip() for line in error.message.partition(": ")[2].splitlines())
    pattern = "".join(re.escape(fixed) + (".*?" if name else "") for fixed, name in parts(message))
    found = re.search(
        rf"^\w+: ({pattern})(?: \(Triggered internally|$)", run.output, re.MULTILINE | re.DOTALL
    )
    if not found:
        raise ValueError(f"{error.id}: the program gives\n{run.output}and not\n{error.message}")
    return " ".join(found[1].split())


def beginning(text: str, limit: int) -> str:
    """The text in code, up to the end of a clause where there is one in its second half, or of a word."""
    if len(text) > limit:
        ends = [end.start() for end in CLAUSE_END.finditer(text, limit // 2) if end.start() <= limit]
        text = text[: ends[-1]] if ends else textwrap.shorten(text, limit, placeholder=" …")
    text = text.rstrip(".")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def marked(message: str, language: str, of: str = "", label: str = "") -> str:
    """The whole message, each part that varies in a tag of its own: the box reads those that say ``of`` which error they are."""
    pieces = []
    for fixed, name in parts(message):
        pieces.append(html.escape(fixed, quote=False))
        if name:
            pieces.append(f'<var data-varies="{name}">{WORDS[language].get(name, name)}</var>')
    error = f' data-error="{of}"' if of else ""
    return f'<p class="message"{error}>{label}<code>{"".join(pieces)}</code></p>\n'


def title(path: Path, anchor: str) -> str:
    found = re.search(
        rf"^#+ (.*?) \{{ #{re.escape(anchor)} \}}$", path.read_text(encoding="utf-8"), re.MULTILINE
    )
    if not found:
        raise ValueError(
            f"An entry leads to #{anchor} of {path.relative_to(ROOT)}, which has no such heading."
        )
    return found[1]


if __name__ == "__main__":
    write(pages())
