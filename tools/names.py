"""Write docs/<language>/reference/node_names.md from the recordings of the nodes' names, and make these recordings.

    python tools/names.py                                     the page, from docs/recordings/names
    python tools/names.py --versions 2.6.0 2.13.0 2.15.0      measure with each torch first (make names)
    python tools/names.py --python other/bin/python           measure with the torch of an interpreter first

The names come from tools/measure_names.py, which runs every operation. Those of versions that the package no longer supports
are in older.json: they were measured once, with the program that older.json describes.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, NamedTuple

import torch
from blocks import captured
from measure_names import CONSTANTS, table
from shown import ROOT, expand, mask, recorded, write

from gradfn_tutorial.layers import WRAPPERS

Row = dict[str, Any]
RECORDINGS = ROOT / "docs" / "recordings" / "names"
SNIPPET = ROOT / "snippets" / "reference" / "node_names.py"
MEASURE = ROOT / "tools" / "measure_names.py"
PINNED = re.search(r"^torch==(.*)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]
# A chain of nodes is shown up to here, and a slot with more arguments than this by its first.
LONGEST, MOST = 7, 3

FAMILIES = {
    "arithmetic": (
        "Arithmetic: AddBackward0, MulBackward0",
        "四则运算：AddBackward0、MulBackward0",
    ),
    "pointwise": (
        "Functions of one number: ExpBackward0, LogBackward0",
        "一元函数：ExpBackward0、LogBackward0",
    ),
    "activations": (
        "Activations: ReluBackward0, SoftmaxBackward0",
        "激活函数：ReluBackward0、SoftmaxBackward0",
    ),
    "reductions": (
        "Sums, maxima, sorting: SumBackward0, MeanBackward0",
        "求和、最大值、排序：SumBackward0、MeanBackward0",
    ),
    "views": (
        "Shape and views: ViewBackward0, CloneBackward0",
        "形状与视图：ViewBackward0、CloneBackward0",
    ),
    "joining": (
        "Joining and splitting: CatBackward0, SplitBackward0",
        "拼接与拆分：CatBackward0、SplitBackward0",
    ),
    "indexing": (
        "Indexing: SelectBackward0, IndexBackward0",
        "索引：SelectBackward0、IndexBackward0",
    ),
    "in-place": (
        "In-place operations and assignment: add_, CopySlices",
        "原地操作与赋值：add_、CopySlices",
    ),
    "products": (
        "Linear and matrix products: AddmmBackward0, MmBackward0",
        "Linear 与矩阵乘法：AddmmBackward0、MmBackward0",
    ),
    "linalg": ("Linear algebra: torch.linalg", "线性代数：torch.linalg"),
    "fourier": ("Complex numbers and spectra: torch.fft", "傅里叶变换与复数：torch.fft"),
    "convolution": (
        "Convolution: Conv2d, F.conv2d, ConvolutionBackward0, ThnnConv2DBackward",
        "卷积：Conv2d、F.conv2d、ConvolutionBackward0、ThnnConv2DBackward",
    ),
    "pooling": (
        "Pooling: MaxPool2d, MaxPool2DWithIndicesBackward0",
        "池化：MaxPool2d、MaxPool2DWithIndicesBackward0",
    ),
    "normalization": (
        "Normalization and dropout: BatchNorm2d, LayerNorm",
        "归一化与 dropout：BatchNorm2d、LayerNorm",
    ),
    "recurrent": (
        "Recurrent layers: LSTM, GRU",
        "循环层：LSTM、GRU",
    ),
    "attention": (
        "Attention and embeddings: MultiheadAttention, EmbeddingBackward0",
        "注意力与嵌入：MultiheadAttention、EmbeddingBackward0",
    ),
    "losses": (
        "Losses: MseLossBackward0, NllLossBackward0",
        "损失函数：MseLossBackward0、NllLossBackward0",
    ),
    "resizing": (
        "Padding and resizing: ConstantPadNdBackward0, interpolate",
        "填充与缩放：ConstantPadNdBackward0、interpolate",
    ),
}


class Device(NamedTuple):
    """An operation of torch's that has no kernel for the CPU, but a derivative formula: its node can be made on other devices only."""

    used_by: str
    devices: str
    function: str
    node: str


# From native_functions.yaml and derivatives.yaml of torch. tests/test_names.py holds each against the copies inside torch.
DEVICES = [
    Device("nn.LSTM, nn.GRU, nn.RNN", "CUDA", "_cudnn_rnn", "CudnnRnnBackward0"),
    Device("nn.LSTM, nn.GRU, nn.RNN", "CUDA (ROCm)", "miopen_rnn", "MiopenRnnBackward0"),
    Device("nn.LSTM", "MPS", "_lstm_mps", "LstmMpsBackward0"),
    Device("nn.LSTMCell", "CUDA", "_thnn_fused_lstm_cell", "ThnnFusedLstmCellBackward0"),
    Device("nn.GRUCell", "CUDA", "_thnn_fused_gru_cell", "ThnnFusedGruCellBackward0"),
    Device("nn.BatchNorm2d", "CUDA", "cudnn_batch_norm", "CudnnBatchNormBackward0"),
    Device("nn.BatchNorm2d", "CUDA (ROCm)", "miopen_batch_norm", "MiopenBatchNormBackward0"),
    Device(
        "F.scaled_dot_product_attention",
        "CUDA, XPU",
        "_scaled_dot_product_flash_attention",
        "ScaledDotProductFlashAttentionBackward0",
    ),
    Device(
        "F.scaled_dot_product_attention",
        "CUDA",
        "_scaled_dot_product_efficient_attention",
        "ScaledDotProductEfficientAttentionBackward0",
    ),
    Device(
        "F.scaled_dot_product_attention",
        "CUDA",
        "_scaled_dot_product_cudnn_attention",
        "ScaledDotProductCudnnAttentionBackward0",
    ),
    Device("F.ctc_loss", "CUDA", "_cudnn_ctc_loss", "CudnnCtcLossBackward0"),
    Device("F.grid_sample", "CUDA", "cudnn_grid_sampler", "CudnnGridSamplerBackward0"),
    Device("nn.Linear", "MPS", "linear", "LinearBackward0"),
]

PAGE = {
    "en": """\
---
description: "Which node PyTorch's autograd makes for which operation: ConvolutionBackward0, AddmmBackward0, ThnnConv2DBackward, by torch version, with slots and saved tensors."
generated: tools/names.py
program: true
---

# Which operation does this node stand for? { #node-names }

A node is named after a function inside torch, which is not always the one that you called and may change from version to version. Here are
{operations} cases, written in {ways} ways, as torch {version} ran them: {names} different names.
{ .lead }

- **Needed first:** [How do I walk the graph by hand?](../learn/walking_the_graph.md), for what a slot is.
- **Afterwards:** you can look up an operation's node, its slots and its saved tensors, and find a layer's node without knowing its name. [Look it up](#look-up).
{ .needs }

## May I search for a node by its name? { #rule }

Not in code that has to last. The node of [`nn.Conv2d`](#conv2d) has had at least four names since torch 1.4, the result of [`nn.Linear` on a 3-D input](#linear-3d)
has ViewBackward0 on 2.13.0 and UnsafeViewBackward0 on 2.15.0, and [other devices](#devices) have names of their own. Ask for the layer instead:

{layers}

By hand, hold on to the layer's output: its `grad_fn` is the layer's last node, the same object that a walk from the loss meets. An AccumulateGrad holds the parameter itself,
as `variable`:

{by-hand}

## What do the parts of a name say? { #read }

The digit numbers formulas, not versions: called with other kinds of arguments, a function may have another formula. The sum of everything has one, the sum over a
dimension another; a power has three: with a number as exponent, with two tensors, with a number as base:

{digit}

A [custom Function](../practice/custom_function.md#graph) gives its class name with `Backward`, and no digit:

{custom}

Three names say what has happened rather than what was called. `CopySlices`: [a view of this tensor was edited](../practice/in_place_and_views.md#copy-slices). `AsStridedBackward0`, where nobody
called `as_strided` (`torch.stft` does so inside): this view was edited, or its base was. `NotImplemented`: torch has [no derivative](../learn/building_the_graph.md#no-derivative) for the operation.

{special}

`AccumulateGrad` is where a gradient is added into a leaf's `.grad`. `CompiledFunctionBackward` is a whole stretch of [compiled code](../practice/not_what_you_wrote.md#compile) in one node.

## Why does my Conv1d end in SqueezeBackward1? { #wrappers }

Because the operation has wrappers round it: nodes that compute nothing: they reshape, transpose, take a part, convert or copy. An input without a batch dimension gets one before the
convolution and loses it afterwards. `layers()` leaves wrappers out:

{wrappers}

In the tables, wrappers are grey, and the operation's own node is the first that is not. Where everything is a wrapper, as with `view`, it is the first. Of the {operations} rows,
{wrapped} have a wrapper round another node, and {composed} have two or more nodes of their own.

## What do the columns say? { #columns }

- **operation:** what was run. `F` is `torch.nn.functional`. A digit behind an argument is its number of dimensions: `input4` is a batch of images. Without a digit there are two; `bias`, `mean`, `variance` and `labels` have one, `query`, `key` and `value` four. `input`, `weight` and so on require
  grad; {constants} do not. Ways to write it that share a row gave the same in every column. Where it says `torch.f(input)` and there is a method `input.f()`, that gives the same.
- **node:** from the result back to an argument that requires grad, as a rule the first, without the AccumulateGrad at the end. Below it, what other versions had: torch {others} ran the same program; {measured} were measured once, on {older} of the rows and
  with convolutions on a batch of one; they are in italics and *not run here*. A version that is not named there had what stands above, if it was measured.
- **slots:** which argument each slot of the operation's own node leads to, from slot 0. `None` is an argument that requires no grad, is a number, or was left out.
- **saved tensors:** `self` stands for the attribute `_saved_self`. Numbers and shapes are saved under such names too; what is saved as a tensor has a `_raw_saved_` form as well. The attribute is
  None where nothing was given or no gradient needs it, like `_saved_self` of `input * 2`:

{saved}

All of it ran on the CPU of a Linux machine with x86-64. The names with `Mkldnn` depend on that: without oneDNN, an LSTM has other nodes.

## What changed between versions? { #versions }

{changes}

`make names` runs all operations with each version again and prints what differs.

## Which names are there on CUDA and MPS? { #devices }

These operations have no kernel of their own for ordinary tensors on the CPU, so their nodes are *not run here*. That a formula with this name exists is in torch's
[derivatives.yaml](https://github.com/pytorch/pytorch/blob/v{version}/tools/autograd/derivatives.yaml), and for which device in
[native_functions.yaml](https://github.com/pytorch/pytorch/blob/v{version}/aten/src/ATen/native/native_functions.yaml). Whether a call takes it
depends on more: the shape, the dtype, the build.

| node | on, in {version} | called by |
|---|---|---|
{devices}

## Look up an operation or a node { #look-up }

<form class="filter" data-for="operations" data-facets="family change" markdown="0"></form>

<div id="operations" markdown="1">
{families}
</div>
""",
    "zh": """\
---
description: "PyTorch 的哪个操作对应反向计算图里的哪个节点：ConvolutionBackward0、AddmmBackward0、ThnnConv2DBackward 等名字，按 torch 版本列出，附各个 slot 和已保存张量。"
generated: tools/names.py
program: true
---

# 这个节点名对应哪个操作？ { #node-names }

节点用的是 torch 内部函数的名字，不一定是你调用的那个，换个版本还可能变。这里列出 {operations} 种情形（{ways} 种写法）在 torch {version} 上实际运行得到的节点，共 {names} 个名字。
{ .lead }

- **需要先会：** [怎样手动遍历计算图？](../learn/walking_the_graph.md)，知道 slot 是什么。
- **读完之后：** 你能查到一个操作的节点、各个 slot 和已保存张量，也能不靠名字找到某一层的节点。[直接去查](#look-up)。
{ .needs }

## 能按名字找节点吗？ { #rule }

要长期用的代码不要这样写。[`nn.Conv2d`](#conv2d) 从 torch 1.4 到现在至少有过四个名字；[输入是三维的 `nn.Linear`](#linear-3d)，结果的节点在 2.13.0 上是 ViewBackward0，在 2.15.0 上是 UnsafeViewBackward0；[别的设备](#devices)还有自己的名字。直接按层来找：

{layers}

手动找的话，把层的输出留在手里：它的 `grad_fn` 就是这一层的最后一个节点，从 loss 走过去遇到的是同一个对象。AccumulateGrad 的 `variable` 就是参数本身：

{by-hand}

## 名字的各部分是什么意思？ { #read }

末尾的数字是求导公式的编号，跟版本无关：同一个函数，参数种类不同，公式可能就不同。全部求和是一个公式，沿某一维求和是另一个；乘方有三个，分指数是数、两个都是张量、底是数三种情况：

{digit}

[自定义 Function](../practice/custom_function.md#graph) 的节点名是类名加 `Backward`，没有数字：

{custom}

有三个名字说的是发生过什么，而不是调用了什么。`CopySlices`：这个张量的[某个视图被改过](../practice/in_place_and_views.md#copy-slices)。`AsStridedBackward0`（没有人调用 `as_strided` 时；`torch.stft` 内部会调用）：这个视图或者它的原张量被改过。`NotImplemented`：这个操作在 torch 里[没有导数](../learn/building_the_graph.md#no-derivative)。

{special}

`AccumulateGrad` 负责把梯度累加到叶子张量的 `.grad`。`CompiledFunctionBackward` 是[编译过的一整段代码](../practice/not_what_you_wrote.md#compile)，只有一个节点。

## Conv1d 的 `grad_fn` 为什么是 SqueezeBackward1？ { #wrappers }

因为操作外面包着别的节点。它们不做计算，只是变形、转置、取一部分、转换类型或复制，这里叫包装节点。输入没有 batch 维时，卷积之前加上一维，之后再去掉。`layers()` 会跳过包装节点：

{wrappers}

表格里包装节点是灰色的，第一个不是灰色的就是操作自己的节点。全是包装节点时（例如 `view`），取第一个。{operations} 行里，有 {wrapped} 行在别的节点外面包着包装节点，{composed} 行自己就有两个以上的节点。

## 各列是什么意思？ { #columns }

- **操作：** 实际运行的代码。`F` 是 `torch.nn.functional`。参数后面的数字是维数：`input4` 是一批图像。没有数字的是二维，不过 `bias`、`mean`、`variance`、`labels` 是一维，`query`、`key`、`value` 是四维。`input`、`weight` 等都需要梯度；{constants} 不需要。同一行里的几种写法，各列结果都一样。写着 `torch.f(input)` 的，如果有方法 `input.f()`，结果也一样。
- **节点：** 从结果往回走到一个需要梯度的参数（一般是第一个），末尾的 AccumulateGrad 不写。下面是别的版本的情况：torch {others} 运行的是同样的代码；{measured} 只实测过一次，用斜体表示，*此处未运行*，只有 {older} 行有数据，其中卷积的 batch 是 1。测过而没有列出的版本，和上面写的一样。
- **slot：** 操作自己的节点，从 slot 0 起依次通向哪个参数。`None` 表示这个参数不需要梯度、是一个数，或者没有给。
- **已保存张量：** 写的是 `self`，属性名就是 `_saved_self`。数和形状也用这样的名字保存；作为张量保存的，还有一个 `_raw_saved_` 开头的属性。没有给、或者求梯度用不到的，值是 None，例如 `input * 2` 的 `_saved_self`：

{saved}

全部在 Linux x86-64 的 CPU 上运行。带 `Mkldnn` 的名字与此有关：不用 oneDNN，LSTM 的节点就不一样。

## 各版本之间变了什么？ { #versions }

{changes}

`make names` 会用每个版本重新运行全部操作，并打印不同之处。

## CUDA 和 MPS 上有哪些名字？ { #devices }

下面这些操作，对普通的 CPU 张量没有自己的实现，所以它们的节点*此处未运行*。求导公式及其名字见 torch 的
[derivatives.yaml](https://github.com/pytorch/pytorch/blob/v{version}/tools/autograd/derivatives.yaml)，用于哪种设备见
[native_functions.yaml](https://github.com/pytorch/pytorch/blob/v{version}/aten/src/ATen/native/native_functions.yaml)。某次调用会不会用到它，还要看形状、dtype 和编译选项。

| 节点 | 设备（{version}） | 谁会用到 |
|---|---|---|
{devices}

## 查一个操作或节点 { #look-up }

<form class="filter" data-for="operations" data-facets="family change" markdown="0"></form>

<div id="operations" markdown="1">
{families}
</div>
""",
}
WORDS = {
    "en": {
        "columns": ("operation", "node on {version}", "slots", "saved tensors"),
        "between": "- From {before} to {after}, {count} of {operations} rows: {rows}.",
        "comma": ", ",
        "semicolon": "; ",
        "instead": "{new} in place of {old}",
        "slots": "slots {new}",
        "saved": "saved {new}",
        "more": "{first} and {count} more",
        "differs": "differ",
    },
    "zh": {
        "columns": ("操作", "{version} 上的节点", "slot", "已保存张量"),
        "between": "- 从 {before} 到 {after}，{operations} 行里变了 {count} 行：{rows}。",
        "comma": "、",
        "semicolon": "；",
        "instead": "{new}，而不是 {old}",
        "slots": "slot {new}",
        "saved": "已保存张量 {new}",
        "more": "{first} 等 {count} 个",
        "differs": "有不同",
    },
}


# ---- The page


class Operation(NamedTuple):
    """A row: its key, the ways to write it, what they gave with each version, and what versions not run here had."""

    key: str
    ways: list[str]
    by_version: dict[str, Row]
    older: dict[str, list[str]]

    @property
    def now(self) -> Row:
        return self.by_version[PINNED]


def pages() -> dict[Path, str]:
    families, outputs = operations(), run_snippet()
    made = {}
    for number, language in enumerate(PAGE):
        path = ROOT / "docs" / language / "reference" / "node_names.md"
        texts = facts(families, language) | outputs
        texts["families"] = "\n".join(
            f"\n## {FAMILIES[family][number]} {{ #{family} }}\n\n{html_table(family, rows, language)}"
            for family, rows in families.items()
        )
        made[path] = recorded(path, fill(PAGE[language], texts))
    return made


def fill(page: str, texts: dict[str, str]) -> str:
    """The page with its parts in the places that are marked for them."""
    return re.sub(r"\{([\w-]+)\}", lambda name: texts[name[1]], page)


def operations() -> dict[str, list[Operation]]:
    """The rows of every family, put together from the table of operations and the recordings."""
    versions = recordings()
    if PINNED not in versions:
        sys.exit(f"The pinned torch {PINNED} is not recorded: make names TORCHES={PINNED}")
    older = json.loads((RECORDINGS / "older.json").read_text(encoding="utf-8"))["rows"]
    families = {}
    for family, rows in table().items():
        families[family] = [
            Operation(
                key,
                ways,
                {version: one_for_all(ways, versions[version], version) for version in versions},
                older.get(key, {}),
            )
            for key, ways in rows.items()
        ]
    return families


def recordings() -> dict[str, dict[str, Row]]:
    """For each recorded version, oldest first, the rows by what was run."""
    read = [json.loads(path.read_text(encoding="utf-8")) for path in RECORDINGS.glob("[0-9]*.json")]
    return {one["torch"]: one["rows"] for one in sorted(read, key=lambda one: as_numbers(one["torch"]))}


def as_numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def one_for_all(ways: list[str], rows: dict[str, Row], version: str) -> Row:
    if missing := [way for way in ways if way not in rows]:
        sys.exit(
            f"The recording of torch {version} has no {missing[0]!r}. Make all recordings again: make names"
        )
    if different := [way for way in ways[1:] if rows[way] != rows[ways[0]]]:
        sys.exit(
            f"With torch {version}, {different[0]!r} gives other nodes, slots or saved tensors than {ways[0]!r}. Give it a line of its own in "
            f"{MEASURE.name}."
        )
    return rows[ways[0]]


def facts(families: dict[str, list[Operation]], language: str) -> dict[str, str]:
    """What the sentences of the page say, counted in the recordings."""
    rows = [row for family in families.values() for row in family]
    versions, comma = list(rows[0].by_version), WORDS[language]["comma"]
    own = [sum(is_own(row.now, place) for place in range(len(row.now["nodes"]))) for row in rows]
    return {
        "version": PINNED,
        "operations": str(len(rows)),
        "ways": str(sum(len(row.ways) for row in rows)),
        "names": str(len({name for row in rows for name in row.now["nodes"]})),
        "wrapped": str(sum(count < len(row.now["nodes"]) for count, row in zip(own, rows))),
        "composed": str(sum(count > 1 for count in own)),
        "older": str(sum(bool(row.older) for row in rows)),
        "others": comma.join(version for version in versions if version != PINNED),
        "measured": comma.join(dict.fromkeys(version for row in rows for version in row.older)),
        "constants": comma.join(f"`{name}`" for name in CONSTANTS if not name[-1].isdigit()),
        "changes": "\n".join(
            between(rows, before, after, language) for before, after in zip(versions, versions[1:])
        ),
        "devices": "\n".join(
            f"| `{device.node}` | {device.devices} | `{device.used_by.replace(', ', '`, `')}` |"
            for device in DEVICES
        ),
    }


def is_own(row: Row, place: int) -> bool:
    """Whether the node at this place of the chain is more than a wrapper."""
    return place == row["at"] or row["nodes"][place] not in WRAPPERS


def between(rows: list[Operation], before: str, after: str, language: str) -> str:
    """The sentence that says which rows differ between two versions."""
    words = WORDS[language]
    changed = [row for row in rows if row.by_version[before] != row.by_version[after]]
    return words["between"].format(
        before=before,
        after=after,
        count=len(changed),
        operations=len(rows),
        rows=words["comma"].join(f"[{row.key}](#{row.key})" for row in changed),
    )


def run_snippet() -> dict[str, str]:
    """The fences of each section of the snippet: its include, and what it prints."""
    names: dict[str, Any] = {"__name__": "__main__"}
    fences = {}
    with torch.random.fork_rng():
        for section in re.findall(r"\[start:([\w-]+)\]", SNIPPET.read_text(encoding="utf-8")):
            include = f'--8<-- "reference/node_names.py:{section}"'
            with captured() as printed:
                exec(expand(include), names)
            fences[section] = f"```python\n{include}\n```\n```output\n{mask(printed.getvalue())}```"
    return fences


def html_table(family: str, rows: list[Operation], language: str) -> str:
    columns = "".join(
        f'<th scope="col">{column.format(version=short(PINNED))}</th>'
        for column in WORDS[language]["columns"]
    )
    label = html.escape(FAMILIES[family][list(PAGE).index(language)].partition(":")[0].partition("：")[0])
    lines = [html_row(row, language) for row in rows]
    return (
        f'<table class="names" markdown="0" data-family="{family}" data-family-label="{label}">\n'
        f"<thead><tr>{columns}</tr></thead>\n<tbody>\n{''.join(lines)}</tbody>\n</table>"
    )


def html_row(row: Operation, language: str) -> str:
    versions = differences(row, language)
    change = f' data-change="yes" data-change-label="{WORDS[language]["differs"]}"' if versions else ""
    ways = "<br>".join(code(way) for way in row.ways)
    output = f" <code>output_nr={row.now['output_nr']}</code>" if row.now["output_nr"] else ""
    nodes = chain(row.now["nodes"], row.now) + output + "".join(f"<p>{line}</p>" for line in versions)
    cells = (
        ways,
        nodes,
        listed(slots(row.now, language)),
        listed(row.now["saved"]),
    )
    return f'<tr class="item" id="{row.key}"{change}>' + "".join(f"<td>{cell}" for cell in cells) + "\n"


def code(text: str) -> str:
    return f"<code>{html.escape(text, quote=False)}</code>"


def short(version: str) -> str:
    return version.rpartition(".")[0]


def chain(names: list[str], row: Row | None = None) -> str:
    """Nodes from the result back; with the row that they belong to, its wrappers are marked."""
    marked = [
        code(name) if row is None or is_own(row, place) else f"<i>{code(name)}</i>"
        for place, name in enumerate(names[:LONGEST])
    ]
    left_out = [f"… +{len(names) - LONGEST}"] if len(names) > LONGEST else []
    return " → ".join(marked + left_out)


def slots(row: Row, language: str) -> list[str]:
    """What each slot leads to, shortened where that is a whole layer's parameters."""
    texts = []
    for arguments in row["slots"]:
        first, *others = (arguments or "None").split(" + ")
        if len(others) < MOST:
            texts.append(arguments or "None")
        else:
            texts.append(WORDS[language]["more"].format(first=first, count=len(others)))
    return texts


def listed(names: list[str]) -> str:
    return code(", ".join(names)) if names else "–"


def differences(row: Operation, language: str) -> list[str]:
    """What other versions have in the place of this one's nodes, slots and saved tensors."""
    words, lines = WORDS[language], []
    for version, other in row.by_version.items():
        texts = []
        if other["nodes"] != row.now["nodes"]:
            texts.append(other_nodes(other, row.now, language))
        if other["slots"] != row.now["slots"]:
            texts.append(words["slots"].format(new=listed(slots(other, language))))
        if other["saved"] != row.now["saved"]:
            texts.append(words["saved"].format(new=listed(other["saved"])))
        if texts:
            lines.append(f"{short(version)}: {words['semicolon'].join(texts)}")
    measured: dict[str, list[str]] = {}
    for version, names in row.older.items():
        if names != row.now["nodes"][: len(names)]:
            measured.setdefault(chain(names), []).append(short(version))
    return lines + [
        f"<em>{words['comma'].join(versions)}</em>: {names}" for names, versions in measured.items()
    ]


def other_nodes(other: Row, now: Row, language: str) -> str:
    """The nodes of another version; only those that differ where the chain is as long as this one's."""
    if len(other["nodes"]) != len(now["nodes"]):
        return chain(other["nodes"], other)
    pairs = {(new, old) for new, old in zip(other["nodes"], now["nodes"]) if new != old}
    words = WORDS[language]
    return words["semicolon"].join(
        words["instead"].format(new=code(new), old=code(old)) for new, old in sorted(pairs)
    )


# ---- The recordings


def measure(python: str) -> None:
    """Run the operations with the torch of this interpreter, and record what they gave."""
    print(f"Running the operations with {python} ...", flush=True)
    done = subprocess.run(
        [python, MEASURE],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        sys.exit(f"{python} could not run {MEASURE.name}; its message stands above.")
    recording = json.loads(done.stdout)
    rows = [
        f"{json.dumps(program)}: {json.dumps(row, separators=(',', ':'))}"
        for program, row in sorted(recording["rows"].items())
    ]
    text = f'{{"torch": "{recording["torch"]}", "rows": {{\n' + ",\n".join(rows) + "\n}}\n"
    write({RECORDINGS / f"{recording['torch']}.json": text})


def interpreter_with(version: str) -> str:
    """Python with this torch, in an environment of its own, which is made where it is not there yet."""
    place = ROOT / ".venv" / f"torch-{version}"
    python = str(place / ("Scripts" if os.name == "nt" else "bin") / "python")
    if not place.exists():
        print(f"Installing torch {version} into {place.relative_to(ROOT)}. This takes minutes.", flush=True)
        venv.create(place, with_pip=True)
        # Whoever pins torch for everything that pip installs does not mean this one.
        unpinned = os.environ | {"PIP_CONSTRAINT": os.devnull}
        command = [python, "-m", "pip", "install", "--quiet", f"torch=={version}", "numpy"]
        if subprocess.run(command, env=unpinned, check=False).returncode:
            shutil.rmtree(place)
            sys.exit(
                f"pip found no way to install torch {version} for Python {sys.version.split()[0]}; its message stands above. Start this with "
                "a Python that this torch supports, or give an interpreter that has it: --python path/to/bin/python"
            )
    return python


def print_changes() -> None:
    """Say, row by row, what differs between each recorded version and the next."""
    versions = recordings()
    for (before, old), (after, new) in zip(versions.items(), list(versions.items())[1:]):
        print(f"\n{before} -> {after}")
        for program in sorted(old.keys() | new.keys()):
            if program not in old or program not in new:
                print(f"  {program}: only with {before if program in old else after}")
            for part in (
                key
                for key in old.get(program, {})
                if new.get(program, old[program])[key] != old[program][key]
            ):
                print(
                    f"  {program}: {part}\n    {as_text(old[program][part])}\n    {as_text(new[program][part])}"
                )


def as_text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Write the page of node names, after measuring where a torch is named."
    )
    parser.add_argument(
        "--versions", nargs="+", default=[], metavar="VERSION", help="measure with these releases of torch"
    )
    parser.add_argument(
        "--python", nargs="+", default=[], metavar="PATH", help="measure with the torch of these interpreters"
    )
    chosen = parser.parse_args()
    for python in [*map(interpreter_with, chosen.versions), *chosen.python]:
        measure(python)
    if chosen.versions or chosen.python:
        print_changes()
    write(pages())


if __name__ == "__main__":
    main()
