"""The command: ``python -m gradfn_tutorial``.

``graph FILE.py:VARIABLE`` runs a script and prints the graph of a variable. ``error "MESSAGE"`` tells what a message of
torch means and how to repair what raised it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
import traceback
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import torch
from torch import nn

from gradfn_tutorial.errors import ERRORS, find, rank
from gradfn_tutorial.errors.entry import Error, shown
from gradfn_tutorial.graph import Graph, trace
from gradfn_tutorial.state import is_stale_view

WORDS = {
    "en": {
        "no target": "{target!r} is not of the form FILE.py:VARIABLE.",
        "no file": "There is no file {file!r}.",
        "no variable": "{file} has no variable {name!r} at its top level. It has {near}.",
        "no tensor": "{name} is a {kind}. A graph starts at a tensor, a tuple of tensors or a node.",
        "no graph": "{name} has no graph: it was not computed, with grad mode on, from a tensor that requires grad.",
        "stale": "{name} is a view whose base was modified in place since, and torch no longer tells its graph. "
        "Take the view after the modification.",
        "no module": "--module takes a variable that holds a module, and {name} is a {kind}.",
        "not written": "{file!r} cannot be written: {reason}.",
        "exited": "{file} ended with exit status {code!r}, so no graph is shown.",
        "no text": "Pass the message, error 'element 0 of tensors ...', or pipe it: python train.py 2>&1 | ... error",
        "no error": "None of the {count} known messages is in this text. The nearest: {near}",
        "also": "On other versions of torch: {text}",
        "meaning": "What it means: {text}",
        "repair": "Repair {number}: {text}",
        "page": "Explained on the site's page {text}",
        "others": "Other messages like it: {text}",
    },
    "zh": {
        "no target": "{target!r} 不是“文件.py:变量”的形式。",
        "no file": "没有文件 {file!r}。",
        "no variable": "{file} 的顶层没有变量 {name!r}，有 {near}。",
        "no tensor": "{name} 是 {kind}。计算图要从张量、张量元组或节点开始。",
        "no graph": "{name} 没有计算图：它不是在开启梯度模式时由需要梯度的张量算出来的。",
        "stale": "{name} 是视图，取出之后它的原张量被原地修改过，torch 不再给出它的图。在修改之后再取视图。",
        "no module": "--module 要的是存有模块的变量，而 {name} 是 {kind}。",
        "not written": "无法写入 {file!r}：{reason}。",
        "exited": "{file} 以退出状态 {code!r} 结束，因此不显示图。",
        "no text": "请给出错误信息：error 'element 0 of tensors ...'，或用管道：python train.py 2>&1 | ... error",
        "no error": "这段文字里没有已收录的 {count} 条信息。最接近的：{near}",
        "also": "其他版本的 torch：{text}",
        "meaning": "含义：{text}",
        "repair": "修法 {number}：{text}",
        "page": "网站上的讲解：{text}",
        "others": "相近的信息：{text}",
    },
}


class Failed(Exception):
    """There is nothing to show. It holds the exit status, a key of ``WORDS``, and what to fill in."""

    def __init__(self, status: int, key: str, **values: object) -> None:
        super().__init__(status, key, values)


def main() -> int:
    options = _parser().parse_args()
    # The script may close or replace sys.stderr.
    options.errors = open(2, "w", encoding=sys.stderr.encoding, errors="backslashreplace", closefd=False)  # noqa: SIM115
    out = os.dup(1)
    try:
        file = None if options.output is None else _writable(options.output)
        _write(options.run(options) + "\n", file, out)
    except Failed as failed:
        status, key, values = failed.args
        print(
            f"gradfn_tutorial: {WORDS[options.lang][key].format(**values)}", file=options.errors, flush=True
        )
        return int(status)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gradfn_tutorial",
        description="Look into the graph that autograd recorded, or look up an error message.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    graph = commands.add_parser(
        "graph",
        help="run a script and print the graph of one of its variables",
        description="Run a script as `python FILE.py` does, and print the graph of one of its variables. "
        "What the script itself prints goes to stderr, so that stdout holds the graph alone.",
        epilog="Exit status: 0, or 1 when the script failed, or 2 when the command was used in a wrong way.",
    )
    graph.set_defaults(run=_graph)
    graph.add_argument("target", metavar="FILE.py:VARIABLE", help="for example train.py:loss")
    graph.add_argument("--format", choices=["text", "svg", "dot", "mermaid", "json"], default="text")
    graph.add_argument(
        "--lang", choices=["en", "zh"], default="en", help="language of the text and of errors"
    )
    graph.add_argument("--limit", type=_lines, default=200, metavar="N", help="most lines of the text (200)")
    graph.add_argument(
        "--module",
        metavar="NAME",
        help="the variable with the model that gives layers and parameters their names; by default the only one that "
        "the graph goes through, or, with several or none, the names are those of the script's variables",
    )
    graph.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of stdout")
    error = commands.add_parser(
        "error",
        help="say what an error message of torch means, with two repairs",
        description="Say what an error message or a warning of torch means on the graph, with two repairs. "
        "Paths, numbers, shapes and names in it do not matter.",
        epilog="Exit status: 0, or 1 when no known message is in the text, or 2 when the command was used in a wrong way.",
    )
    error.set_defaults(run=_error, output=None)
    error.add_argument(
        "text",
        metavar="TEXT",
        nargs="?",
        help="the message, a traceback with it, or an entry's id; without TEXT, or for -, it is read from stdin",
    )
    error.add_argument("--lang", choices=["en", "zh"], default="en", help="language of the text")
    return parser


def _lines(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of lines is at least 1, got {text!r}")
    return int(text)


def _graph(options: argparse.Namespace) -> str:
    # What the script and its children print goes to stderr, whatever means they print with.
    os.dup2(2, 1)
    file, colon, name = options.target.rpartition(":")
    if not colon or not name.isidentifier():
        raise Failed(2, "no target", target=options.target)
    if not Path(file).is_file():
        raise Failed(2, "no file", file=file)
    variables = _run(file, options.errors)
    graph = _trace(file, name, variables, options.module)
    if options.format == "text":
        return graph.to_text(options.limit, options.lang)
    if options.format == "json":
        return json.dumps(graph.to_dict(), ensure_ascii=False, indent=1)
    return str(getattr(graph, f"to_{options.format}")())


def _run(file: str, errors: TextIO) -> dict[str, Any]:
    """The variables of the script after a run. runpy would lose them where the script ends by ``sys.exit()``."""
    script = ModuleType("__main__")
    script.__file__ = str(Path(file).absolute())
    sys.modules["__main__"] = script
    sys.argv = [file]
    # With -P, Python looks for modules neither here nor beside the script.
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = str(Path(file).resolve().parent)
    try:
        exec(compile(Path(file).read_bytes(), script.__file__, "exec", dont_inherit=True), script.__dict__)
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise Failed(1, "exited", file=file, code=ended.code) from ended
    except BaseException as error:
        # The first frame is this one.
        frames = error.__traceback__ and error.__traceback__.tb_next
        traceback.print_exception(type(error), error, frames, file=errors)
        errors.flush()
        sys.exit(1)
    finally:
        # The script may have closed them or put anything in their place, and Python flushes them once more at the end.
        with suppress(Exception):
            sys.stdout.flush()
        sys.stdout = sys.stderr = errors
    return script.__dict__


def _trace(file: str, name: str, variables: dict[str, Any], module: str | None) -> Graph:
    start = _variable(file, name, variables)
    model = None if module is None else _variable(file, module, variables)
    if module is not None and not isinstance(model, nn.Module):
        raise Failed(2, "no module", name=module, kind=type(model).__name__)
    if any(_is_stale(part) for part in (start if isinstance(start, (tuple, list)) else [start])):
        raise Failed(2, "stale", name=name)
    try:
        graph = trace(start, model)
    except TypeError as error:
        raise Failed(2, "no tensor", name=name, kind=type(start).__name__) from error
    except ValueError as error:
        raise Failed(2, "no graph", name=name) from error
    return graph if model is not None else trace(start, _names(graph, variables))


def _variable(file: str, name: str, variables: dict[str, Any]) -> Any:
    if name not in variables:
        tensors = [known for known, value in variables.items() if isinstance(value, torch.Tensor)]
        near = get_close_matches(name, variables) or tensors[:5] or ["—"]
        raise Failed(2, "no variable", file=file, name=name, near=", ".join(near))
    return variables[name]


def _names(graph: Graph, variables: dict[str, Any]) -> nn.Module | dict[str, torch.Tensor]:
    """The one model that the graph goes through; or else all tensors that the script's variables hold, by name."""
    leaves = {node.fn.variable for node in graph.nodes if node.name == "AccumulateGrad"}  # type: ignore[attr-defined]
    models = {
        value: name
        for name, value in variables.items()
        if isinstance(value, nn.Module) and not leaves.isdisjoint(value.parameters())
    }
    inner = {part for model in models for part in model.modules() if part is not model}
    outer = [model for model in models if model not in inner]
    if len(outer) == 1:
        return outer[0]
    names = {
        f"{models[model]}.{part}": tensor for model in outer for part, tensor in model.named_parameters()
    }
    tensors = {name: value for name, value in variables.items() if isinstance(value, torch.Tensor)}
    return {**names, **{name: tensor for name, tensor in tensors.items() if not is_stale_view(tensor)}}


def _is_stale(value: object) -> bool:
    return isinstance(value, torch.Tensor) and is_stale_view(value)


def _writable(file: str) -> Path:
    """The path as it is meant before the script goes elsewhere, after a try that leaves everything as it was."""
    path = Path(file).absolute()
    is_new = not os.path.lexists(path)
    try:
        # To open a pipe and close it again would tell its reader that this was all.
        if not path.is_fifo():
            path.open("ab").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise Failed(2, "not written", file=file, reason=error.strerror) from error
    return path


def _write(text: str, file: Path | None, out: int) -> None:
    """Write UTF-8 on every system, and end quietly where the reader, such as ``head``, has had enough."""
    try:
        with os.fdopen(out, "wb") if file is None else file.open("wb") as stream:
            stream.write(text.encode(errors="backslashreplace"))
    except BrokenPipeError:
        pass
    except OSError as error:
        where = "stdout" if file is None else str(file)
        raise Failed(2, "not written", file=where, reason=error.strerror) from error


def _error(options: argparse.Namespace) -> str:
    text = options.text
    if text is None and (sys.stdin is None or sys.stdin.isatty()):
        raise Failed(2, "no text")
    if text in (None, "-"):
        text = sys.stdin.buffer.read().decode(errors="replace")
    by_id = {error.id: error for error in ERRORS}
    found = [by_id[text.strip()]] if text.strip() in by_id else find(text, limit=3)
    if not found:
        near = dict.fromkeys([*get_close_matches(text, by_id), *(error.id for _, error in rank(text))])
        raise Failed(1, "no error", count=len(ERRORS), near=", ".join(list(near)[:3]))
    return _told(found[0], found[1:], options.lang)


def _told(error: Error, others: list[Error], lang: str) -> str:
    words = WORDS[lang]
    lines = [error.id, "", shown(error.message)]
    lines += [words["also"].format(text=shown(message)) for message in error.also]
    lines += ["", words["meaning"].format(text=getattr(error, lang))]
    for number, repair in enumerate(error.repairs, 1):
        lines += ["", words["repair"].format(number=number, text=getattr(repair, lang)), ""]
        lines.append(textwrap.indent(repair.code, "    ").rstrip())
    lines += ["", words["page"].format(text=error.page)]
    if others:
        lines.append(words["others"].format(text=", ".join(other.id for other in others)))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
