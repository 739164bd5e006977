"""Write reference/cheat_sheet.md in both languages. Every row is run: a state's cells are what its run gives, and an action
has a check that must be True, or nothing is written.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from shown import ROOT, recorded, write

# What each row begins with. The page says it above its tables, for BEFORE is long and says little more.
PROGRAM = "layer = nn.Linear(1, 1); x = torch.tensor(1.0, requires_grad=True); h = x * 3; loss = h ** 2"
BEFORE = f"""
import torch
from torch import nn
from gradfn_tutorial import explain, record_backward, trace, why_no_grad
{PROGRAM}
model = nn.Sequential(layer)
optimizer = torch.optim.SGD(model.parameters())
"""


class State(NamedTuple):
    """A kind of tensor: the line that makes it as ``t``, and the section that is about it."""

    code: str
    en: str
    zh: str
    at: str


class Action(NamedTuple):
    """A line of code, what it does, and the check that it does: an expression that is True after ``given``, the line and ``then``.

    In the check, ``it`` is what the line gives and ``raises(f)`` says whether f() is a RuntimeError.
    """

    code: str
    en: str
    zh: str
    at: str
    check: str
    given: str = ""
    then: str = ""


STATES = (
    State(
        "t = torch.ones(1, requires_grad=True)",
        "made by you, requires grad",
        "新建，需要梯度",
        "learn/leaf_tensors#default",
    ),
    State("t = layer.weight", "a parameter", "参数", "learn/leaf_tensors#default"),
    State(
        "t = layer.requires_grad_(False).weight",
        "a frozen parameter",
        "冻结的参数",
        "practice/turning_it_off#freeze",
    ),
    State("t = torch.ones(1)", "data", "数据", "learn/leaf_tensors#default"),
    State("t = torch.tensor([1, 2])", "integers", "整数", "practice/why_no_grad#off"),
    State("t = x * 2", "a result", "运算结果", "learn/retain_grad#read"),
    State(
        "t = x * 2; t.retain_grad()",
        "a result that retains its gradient",
        "申请过保留的结果",
        "learn/retain_grad#keep",
    ),
    State("t = loss", "the loss itself", "loss 本身", "learn/retain_grad#loss"),
    State("t = layer.weight[0]", "a part of a parameter", "参数的一部分", "learn/leaf_tensors#slices"),
    State(
        "t = torch.ones(1) * 2", "a result of data alone", "只由数据算出的结果", "learn/leaf_tensors#results"
    ),
    State("t = h.detach()", "a detached result", "detach 过的结果", "learn/building_the_graph#detach"),
    State(
        "with torch.no_grad(): t = x * 2",
        "a result under no_grad",
        "no_grad 里的结果",
        "learn/building_the_graph#when",
    ),
    State(
        "with torch.no_grad(): t = layer.weight[0]",
        "a view under no_grad",
        "no_grad 里的视图",
        "learn/leaf_tensors#no-grad-view",
    ),
    State(
        "with torch.inference_mode(): t = x * 2",
        "an inference tensor",
        "推理张量",
        "practice/turning_it_off#inference",
    ),
)

ACTIONS = {
    "clear": (
        Action(
            "optimizer.zero_grad()",
            "the optimizer's parameters: `.grad` is then None",
            "优化器管的参数，`.grad` 变成 None",
            "learn/accumulation#clear",
            "had and layer.weight.grad is None",
            given="layer(torch.ones(1)).backward(); had = layer.weight.grad is not None",
        ),
        Action(
            "model.zero_grad()",
            "every parameter of the model: the same",
            "模型的所有参数，同上",
            "learn/accumulation#clear",
            "had and layer.weight.grad is None",
            given="layer(torch.ones(1)).backward(); had = layer.weight.grad is not None",
        ),
        Action(
            "optimizer.zero_grad(set_to_none=False)",
            "fills with 0; a step still counts it as a gradient",
            "填 0；走一步时仍算作有梯度",
            "learn/accumulation#none-or-zeros",
            "layer.weight.grad.item() == 0 and layer.weight.item() != old",
            given="optimizer = torch.optim.SGD(model.parameters(), weight_decay=1); layer(torch.ones(1)).backward(); "
            "old = layer.weight.item()",
            then="optimizer.step()",
        ),
        Action(
            "x.grad = None",
            "one tensor",
            "单个张量",
            "learn/accumulation#clear",
            "had and x.grad is None",
            given="loss.backward(); had = x.grad is not None",
        ),
    ),
    "read": (
        Action(
            "x.grad",
            "the gradient, after `backward()`",
            "梯度，`backward()` 之后才有",
            "learn/two_attributes#backward",
            "before is None and it.item() == 18",
            given="before = x.grad; loss.backward()",
        ),
        Action(
            "loss.grad_fn",
            "the node, before and after",
            "节点，`backward()` 前后都在",
            "learn/two_attributes#forward",
            'it.name() == "PowBackward0" and it is loss.grad_fn',
            then="loss.backward()",
        ),
        Action(
            "loss.grad_fn.next_functions",
            "its edges: a (node, int) for each slot",
            "它的边，每个 slot 一个（节点, 整数）",
            "learn/walking_the_graph#next-functions",
            "it == ((h.grad_fn, 0),)",
        ),
        Action(
            "h.output_nr",
            "which output of its node",
            "是节点的第几个输出",
            "learn/walking_the_graph#output-nr",
            "it == 0",
        ),
        Action(
            "loss.grad_fn._saved_self",
            "what the node saved, until `backward()`",
            "节点存下的张量，`backward()` 前可读",
            "learn/what_backward_frees#saved",
            "it is h and raises(lambda: loss.grad_fn._saved_self)",
            then="loss.backward()",
        ),
        Action(
            "explain(h)",
            "leaf or not, and will `.grad` be filled?",
            "是不是叶子，`.grad` 会不会填",
            "learn/leaf_tensors#table",
            'not it.is_leaf and "leaves .grad alone" in str(it)',
        ),
        Action(
            "why_no_grad(h, loss)",
            "why `.grad` is None, and the cure",
            "`.grad` 为什么是 None，怎么改",
            "practice/why_no_grad#list",
            'it.cause == "non-leaf" and "retain_grad()" in it.fix',
        ),
        Action(
            "trace(loss)",
            "the whole graph; `record_backward` runs it",
            "整张图；要执行用 `record_backward`",
            "learn/walking_the_graph#whole",
            "len(it.nodes) == 3 and x.grad.item() == 18",
            then="record_backward(loss)",
        ),
    ),
    "keep": (
        Action(
            "h.retain_grad()",
            "before `backward()`: fills `h.grad`",
            "在 `backward()` 之前调用，会填 `h.grad`",
            "learn/retain_grad#keep",
            "h.grad.item() == 6",
            then="loss.backward()",
        ),
        Action(
            "h.register_hook(print)",
            "calls `print` with the gradient of `h`",
            "拿 `h` 的梯度调用 `print`",
            "learn/retain_grad#ways",
            "got == [6]",
            given="got = []; print = lambda gradient: got.append(gradient.item())",
            then="loss.backward()",
        ),
        Action(
            "torch.autograd.grad(loss, h)",
            "returns it, fills no leaf's `.grad`",
            "作为返回值，不填叶子的 `.grad`",
            "learn/backward#autograd-grad",
            "it[0].item() == 6 and x.grad is None",
        ),
        Action(
            "loss.backward(inputs=[h])",
            "fills `h.grad` and no leaf's",
            "填 `h.grad`，不填叶子的",
            "learn/backward#inputs",
            "h.grad.item() == 6 and x.grad is None",
        ),
        Action(
            "loss.backward(retain_graph=True)",
            "can be run again, and adds up",
            "还能再跑一次，梯度会累加",
            "learn/what_backward_frees#retain",
            "x.grad.item() == 2 * 18",
            then="loss.backward()",
        ),
        Action(
            "torch.autograd.grad(loss, x, create_graph=True)",
            "a gradient with a graph",
            "梯度带着自己的图",
            "practice/double_backward#create-graph",
            "torch.autograd.grad(it[0], x)[0].item() == 18",
        ),
    ),
    "stop": (
        Action(
            "layer.requires_grad_(False)",
            "freezes: gets no `.grad`, passes gradients on",
            "冻结：自己没有 `.grad`，梯度照样往回传",
            "practice/turning_it_off#freeze",
            "layer.weight.grad is None and x.grad is not None",
            then="layer(x.reshape(1)).backward()",
        ),
        Action(
            "y = h.detach()",
            "no gradient goes back through `y`",
            "梯度不会经过 `y` 传回去",
            "learn/building_the_graph#detach",
            "x.grad.item() == 3",
            then="(x * y).backward()",
        ),
        Action(
            "with torch.no_grad(): y = x * 3",
            "records nothing",
            "不记录",
            "practice/turning_it_off#cut",
            "y.grad_fn is None and not y.requires_grad",
        ),
        Action(
            "with torch.inference_mode(): y = x * 3",
            "records nothing, and no node may save `y` later",
            "不记录，`y` 以后也不能存下来求导",
            "practice/turning_it_off#inference",
            "y.grad_fn is None and raises(lambda: x * y)",
        ),
        Action(
            "model.eval()",
            "stops nothing, recording goes on",
            "不影响记录",
            "practice/turning_it_off#eval",
            "not layer.training and layer(torch.ones(1)).requires_grad",
        ),
    ),
}

WORDS = {
    "en": {
        "description": "PyTorch autograd on one page, to print: what happens to .grad in each state of a tensor; how to clear it, keep it, "
        "read the graph and stop recording.",
        "title": "What happens to `.grad`, at a glance?",
        "lead": "Each cell was filled or checked by a run after `{program}`. `explain`, `why_no_grad`, `trace` and `record_backward` are "
        "this site's helpers.",
        "states": "Which tensors get one?",
        "state_columns": "`t` is | made by | `is_leaf` | `requires_grad` | `grad_fn` | `.grad` after `(t + x).sum().backward()`",
        "clear": "How do I clear it?",
        "stop": "How do I stop recording?",
        "keep": "How do I keep a gradient?",
        "read": "How do I read it all?",
        "action_columns": "code | what it does",
        "filled": "**filled**",
        "None": "None",
        "warns": "None, with a warning",
    },
    "zh": {
        "description": "PyTorch autograd 速查表，一页纸，可打印：张量处在各种状态时 .grad 会怎样；怎么清零、怎么保留、怎么读计算图、怎么停止记录。",
        "title": "`.grad` 会怎样，一眼看完",
        "lead": "每一格都是运行填出来或核对过的，运行前先执行 `{program}`。`explain`、`why_no_grad`、`trace`、`record_backward` 来自本站的辅助包。",
        "states": "哪些张量会有 `.grad`？",
        "state_columns": "`t` 是 | 怎么来的 | `is_leaf` | `requires_grad` | `grad_fn` | `(t + x).sum().backward()` 之后的 `.grad`",
        "clear": "怎么清零？",
        "stop": "怎么不让它记录？",
        "keep": "怎么把梯度留下来？",
        "read": "怎么查看？",
        "action_columns": "代码 | 做什么",
        "filled": "**填上**",
        "None": "None",
        "warns": "None，有警告",
    },
}


def pages() -> dict[Path, str]:
    cells = [look_at(state) for state in STATES]
    for actions in ACTIONS.values():
        for action in actions:
            check(action)
    made = {}
    for language in WORDS:
        path = ROOT / "docs" / language / "reference" / "cheat_sheet.md"
        made[path] = recorded(path, page(language, cells))
    return made


def look_at(state: State) -> tuple[str, str, str, str]:
    """What a run finds: ``is_leaf``, ``requires_grad``, the name of ``grad_fn``, and what became of ``.grad``."""
    names = run(BEFORE, state.code)
    t = names["t"]
    node = f"`{t.grad_fn.name()}`" if t.grad_fn else "None"
    run("(t + x).sum().backward()", names=names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grad = "None" if t.grad is None else "filled"
    return str(t.is_leaf), str(t.requires_grad), node, "warns" if caught else grad


def check(action: Action) -> None:
    """Run an action. It is an error if its check is not True afterwards."""
    names = run(BEFORE, action.given)
    names["raises"] = raises
    try:
        names["it"] = eval(action.code, names)
    except SyntaxError:
        run(action.code, names=names)
    run(action.then, names=names)
    found = eval(action.check, names)
    if found is not True:
        raise AssertionError(
            f"after {action.code!r}, {action.check!r} is {found!r}; the row says: {action.en}"
        )


def raises(call: Callable[[], object]) -> bool:
    try:
        call()
    except RuntimeError:
        return True
    return False


def run(*programs: str, names: dict[str, Any] | None = None) -> dict[str, Any]:
    names = {} if names is None else names
    for program in programs:
        exec(program, names)
    return names


def page(language: str, cells: list[tuple[str, str, str, str]]) -> str:
    words = WORDS[language]
    states = [
        f"| {link(state, language)} | `{state.code}` | {leaf} | {requires} | {node} | {words[grad]} |"
        for state, (leaf, requires, node, grad) in zip(STATES, cells)
    ]
    actions = {
        name: [f"| `{action.code}` | {link(action, language)} |" for action in rows]
        for name, rows in ACTIONS.items()
    }
    front = f"""\
        ---
        description: "{words["description"]}"
        generated: tools/cheat_sheet.py
        hide: [navigation, toc]
        ---
    """
    return "\n".join(
        [
            textwrap.dedent(front),
            '<div class="cheat" markdown>',
            "",
            f"# {words['title']} {{ #cheat-sheet }}",
            "",
            words["lead"].format(program=PROGRAM),
            "",
            *section("states", words["states"], words["state_columns"], states),
            '<div class="cheat-actions" markdown>',
            "",
            *(
                line
                for name, rows in actions.items()
                for line in section(name, words[name], words["action_columns"], rows)
            ),
            "</div>",
            "",
            "</div>",
            "",
        ]
    )


def section(anchor: str, title: str, columns: str, rows: list[str]) -> list[str]:
    rule = "|" + "---|" * (columns.count("|") + 1)
    return [
        "<div markdown>",
        "",
        f"## {title} {{ #{anchor} }}",
        "",
        f"| {columns} |",
        rule,
        *rows,
        "",
        "</div>",
        "",
    ]


def link(row: State | Action, language: str) -> str:
    text = row.en if language == "en" else row.zh
    return f"[{text}](../{row.at.replace('#', '.md#')})"


if __name__ == "__main__":
    write(pages())
