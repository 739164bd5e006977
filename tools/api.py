"""Write docs/<language>/reference/api.md from the docstrings of the helper package.

English is what the docstrings say. Chinese is in api_zh.toml, tied to the English that it was written from: whoever changes a
docstring has to read the Chinese again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import griffe
import tomllib
from shown import ROOT, recorded, write

PACKAGE = "gradfn_tutorial"
CHINESE = Path(__file__).with_name("api_zh.toml")
PAGE = "reference/api.md"
FENCE = re.compile(r"^```.*?^```\n?", re.MULTILINE | re.DOTALL)
SENTENCE = re.compile(r".*?(?:\.(?=\s|$)|。)", re.DOTALL)

INTRODUCTION = {
    "en": """\
---
description: "Every function and class of gradfn_tutorial: what it takes, returns and raises, with examples that run."
generated: tools/api.py
---

# What can I call, and what do I get? { #api }

Everything that `gradfn_tutorial` offers at its top level, with types, exceptions and examples.
{ .lead }

- **Needed first:** [how to walk the graph](../learn/walking_the_graph.md), for what a node, a slot and `output_nr` are.
- **Afterwards:** you can look up what a call takes, returns and raises.
{ .needs }

This page is made from the docstrings of the package, and its examples run like those of every other page.

| name | in one sentence |
|---|---|
""",
    "zh": """\
---
description: "gradfn_tutorial 的每个函数和类：接收什么参数、返回什么、会抛出什么异常，并配有每次测试都会运行、可以直接复制的例子。"
generated: tools/api.py
---

# 有哪些接口，调用后得到什么？ { #api }

`gradfn_tutorial` 顶层的全部接口，以及各自的类型、异常和例子。
{ .lead }

- **需要先会：** [怎么遍历计算图](../learn/walking_the_graph.md)，知道节点、slot 和 `output_nr` 指什么。
- **读完之后：** 你能查到每个调用接收什么、返回什么、抛出什么。
{ .needs }

本页由辅助包的 docstring 生成，其中的例子和其他页面的一样，每次测试都会运行。

| 名字 | 一句话 |
|---|---|
""",
}
WORDS = {
    "en": {
        "parameters": "Parameters",
        "attributes": "Attributes",
        "returns": "Returns",
        "raises": "Raises",
        "type": " ({})",
        "text": ": ",
        "comma": ", ",
    },
    "zh": {
        "parameters": "参数",
        "attributes": "属性",
        "returns": "返回",
        "raises": "异常",
        "type": "（{}）",
        "text": "：",
        "comma": "、",
    },
}


class Item(NamedTuple):
    """A parameter, an attribute or an exception."""

    name: str
    type: str
    text: str


class Entry(NamedTuple):
    """What the page says about one function, class or method."""

    name: str
    signature: str
    text: str
    parameters: list[Item]
    attributes: list[Item]
    returns: str
    raises: list[Item]
    notes: str
    fences: str

    @property
    def version(self) -> str:
        """Short for everything that is said in English."""
        lists = [[item.text for item in items] for items in (self.parameters, self.attributes, self.raises)]
        # Lines may be broken elsewhere, which changes nothing that is said.
        said = json.dumps([one_line(self.text), lists, self.returns, one_line(self.notes)])
        return hashlib.sha256(said.encode()).hexdigest()[:8]


def pages() -> dict[Path, str]:
    chinese = tomllib.loads(CHINESE.read_text(encoding="utf-8"))
    return {
        page_path(language): recorded(page_path(language), text) for language, text in texts(chinese).items()
    }


def page_path(language: str) -> Path:
    return ROOT / "docs" / language / PAGE


def texts(chinese: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The page in each language, without the stamp of the run that recorded its outputs."""
    package = griffe.load(PACKAGE, search_paths=[ROOT], docstring_parser="google", allow_inspection=False)
    entries = read_entries(package, [name for name in chinese if "." not in name])
    return {"en": page(entries, "en"), "zh": page(translate(entries, chinese), "zh")}


def read_entries(package: griffe.Module, order: list[str]) -> list[Entry]:
    exports = {str(name) for name in package.exports or ()}
    if exports != set(order):
        sys.exit(
            f"{CHINESE.name} has to have a table for each name in {PACKAGE}.__all__, in the order of the page. "
            f"Missing: {sorted(exports - set(order))}. Left over: {sorted(set(order) - exports)}."
        )
    entries = []
    for name in order:
        # package["owners"] is the module of this name.
        entity = package.modules_collection[package.imports[name]]
        entries.append(read_entry(name, entity))
        for method in public(entity):
            if method.is_function:
                entries.append(read_entry(f"{name}.{method.name}", method))
    return entries


def public(entity: griffe.Object) -> Iterator[griffe.Object]:
    if entity.is_class:
        yield from (member for name, member in entity.members.items() if not name.startswith("_"))


def read_entry(name: str, entity: griffe.Object) -> Entry:
    if entity.docstring is None:
        sys.exit(f"{entity.path} is public and has no docstring.")
    prose: list[str] = []
    texts: dict[str, str] = {}
    returns = ""
    raises: list[Item] = []
    notes: list[str] = []
    for section in entity.docstring.parsed:
        if section.kind is griffe.DocstringSectionKind.text:
            (notes if texts or returns or raises else prose).append(section.value)
        elif section.kind is griffe.DocstringSectionKind.raises:
            raises += [Item(type_text(i.annotation), "", one_line(i.description)) for i in section.value]
        elif section.kind is griffe.DocstringSectionKind.returns:
            returns = one_line(section.value[0].description)
        elif section.kind.value in ("parameters", "attributes"):
            texts |= {item.name: one_line(item.description) for item in section.value}
        else:
            sys.exit(
                f"{entity.path}: its docstring has a section {section.kind.value!r}, which the page has no place for."
            )
    parameters, attributes = list_parameters(entity, texts), list_attributes(entity, texts)
    if unknown := texts.keys() - {item.name for item in (*parameters, *attributes)}:
        sys.exit(f"{entity.path}: its docstring describes {sorted(unknown)}, and the code has no such thing.")
    written = "\n\n".join([*prose, *notes])
    if "```" in FENCE.sub("", written + "\n"):
        sys.exit(
            f'{entity.path}: a fence is not at the docstring\'s margin. With a backslash in it, write r"""...""".'
        )
    return Entry(
        name,
        signature(name, entity) if entity.is_function else "",
        plain("\n\n".join(prose)),
        parameters,
        attributes,
        returns,
        raises,
        plain("\n\n".join(notes)),
        "".join(FENCE.findall(written + "\n")).rstrip(),
    )


def list_parameters(entity: griffe.Object, texts: dict[str, str]) -> list[Item]:
    if not entity.is_function:
        return []
    given = [parameter for parameter in entity.parameters if parameter.name != "self"]
    return [Item(p.name, type_text(p.annotation), texts.get(p.name, "")) for p in given]


def list_attributes(entity: griffe.Object, texts: dict[str, str]) -> list[Item]:
    items = []
    for member in public(entity):
        if member.is_attribute:
            text = texts.get(member.name) or (one_line(member.docstring.value) if member.docstring else "")
            items.append(Item(member.name, attribute_type(member), text))
    return items


def attribute_type(attribute: griffe.Attribute) -> str:
    if attribute.annotation is not None:
        return type_text(attribute.annotation)
    # What __init__ was given under this name, or a literal.
    parameters = attribute.parent["__init__"].parameters
    value = str(attribute.value)
    if value in parameters:
        return type_text(parameters[value].annotation)
    return type(ast.literal_eval(value)).__name__


def signature(name: str, function: griffe.Function) -> str:
    parts, marked = [], False
    for parameter in function.parameters:
        if parameter.name == "self":
            continue
        if parameter.kind is griffe.ParameterKind.keyword_only and not marked:
            parts.append("*")
            marked = True
        default = "" if parameter.default is None else "=" + str(parameter.default).replace("'", '"')
        parts.append(parameter.name + default)
    call = f"{name}({', '.join(parts)})"
    if any(decorator.callable_path == "contextlib.contextmanager" for decorator in function.decorators):
        return f"`with {call}:`"
    returned = f"`{type_text(function.returns)}`"
    if isinstance(function.returns, griffe.ExprName) and function.returns.canonical_path.startswith(PACKAGE):
        returned = f"[{returned}](#{function.returns.name.lower()})"
    return f"`{call}` → {returned}"


def type_text(annotation: str | griffe.Expr | None) -> str:
    """The type as a reader needs it: the package's aliases spelled out, ``Union`` as ``|``, torch's names in full."""
    if isinstance(annotation, griffe.ExprName):
        return name_text(annotation)
    if isinstance(annotation, griffe.ExprAttribute):
        return str(annotation)
    if isinstance(annotation, griffe.ExprBinOp):
        return f"{type_text(annotation.left)} {annotation.operator} {type_text(annotation.right)}"
    if isinstance(annotation, griffe.ExprTuple):
        return ", ".join(type_text(part) for part in annotation.elements)
    if isinstance(annotation, griffe.ExprSubscript):
        inner = annotation.slice
        if annotation.canonical_path == "typing.Union":
            return " | ".join(type_text(part) for part in inner.elements)
        return f"{type_text(annotation.left)}[{type_text(inner)}]"
    # A name in quotes is one that the module defines further down.
    return str(annotation).strip("'\"")


def name_text(name: griffe.ExprName) -> str:
    path = name.canonical_path
    if path.startswith("torch."):
        return path
    if path.startswith(f"{PACKAGE}."):
        meant = name.parent.modules_collection[path]
        if meant.is_attribute:
            return type_text(meant.value)
    return name.name


def one_line(text: str) -> str:
    return plain(" ".join(text.split()))


def plain(text: str) -> str:
    """The docstring's prose as Markdown."""
    return re.sub(r"\n{3,}", "\n\n", FENCE.sub("", text + "\n")).replace("``", "`").strip()


def translate(entries: list[Entry], chinese: dict[str, dict[str, Any]]) -> list[Entry]:
    left_over = chinese.keys() - {entry.name for entry in entries}
    problems = [f'["{name}"]: nothing public has this name.' for name in sorted(left_over)]
    translated = []
    for entry in entries:
        texts = flat(chinese.get(entry.name, {}))
        wanted = texts_of(entry)
        if texts.pop("read", "") != entry.version:
            problems.append(
                f'["{entry.name}"]: the English has changed. Read both, and then write read = "{entry.version}".'
            )
        problems += [f'["{entry.name}"]: {key} is missing.' for key in wanted if key not in texts]
        problems += [f'["{entry.name}"]: {key} is left over.' for key in texts if key not in wanted]
        translated.append(with_texts(entry, wanted | texts))
    if problems:
        sys.exit("\n".join([f"{CHINESE.relative_to(ROOT)} has to be brought up to date:", *problems]))
    return translated


def flat(table: dict[str, Any]) -> dict[str, str]:
    """The texts of a table by keys of one part or two: ``text``, ``parameters.start``, ``raises.0``."""
    texts = {}
    for key, value in table.items():
        if isinstance(value, str):
            texts[key] = value.strip()
        else:
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            texts |= {f"{key}.{name}": text for name, text in parts}
    return texts


def texts_of(entry: Entry) -> dict[str, str]:
    texts = {"text": entry.text, "returns": entry.returns, "notes": entry.notes}
    texts |= {f"parameters.{item.name}": item.text for item in entry.parameters}
    texts |= {f"attributes.{item.name}": item.text for item in entry.attributes}
    texts |= {f"raises.{number}": item.text for number, item in enumerate(entry.raises)}
    return {key: text for key, text in texts.items() if text}


def with_texts(entry: Entry, texts: dict[str, str]) -> Entry:
    return entry._replace(
        text=texts.get("text", ""),
        returns=texts.get("returns", ""),
        notes=texts.get("notes", ""),
        parameters=[
            item._replace(text=texts.get(f"parameters.{item.name}", "")) for item in entry.parameters
        ],
        attributes=[
            item._replace(text=texts.get(f"attributes.{item.name}", "")) for item in entry.attributes
        ],
        raises=[item._replace(text=texts[f"raises.{number}"]) for number, item in enumerate(entry.raises)],
    )


def page(entries: list[Entry], language: str) -> str:
    rows = [
        f"| [`{entry.name}`](#{anchor(entry)}) | {first_sentence(entry.text)} |"
        for entry in entries
        if "." not in entry.name
    ]
    sections = [section(entry, WORDS[language]) for entry in entries]
    return INTRODUCTION[language] + "\n".join(rows) + "\n\n" + "\n\n".join(sections) + "\n"


def section(entry: Entry, words: dict[str, str]) -> str:
    level = "###" if "." in entry.name else "##"
    parts = [
        f"{level} `{entry.name}` {{ #{anchor(entry)} }}",
        entry.signature,
        entry.text,
        listed(words["parameters"], entry.parameters, words),
        listed(words["attributes"], entry.attributes, words),
        f"**{words['returns']}**{words['text']}{entry.returns}" if entry.returns else "",
        listed(words["raises"], entry.raises, words),
        entry.notes,
        entry.fences,
    ]
    return "\n\n".join(part for part in parts if part)


def anchor(entry: Entry) -> str:
    return entry.name.lower().replace(".", "-")


def first_sentence(text: str) -> str:
    sentence = SENTENCE.match(text)
    return " ".join((sentence[0] if sentence else text).split())


def listed(title: str, items: list[Item], words: dict[str, str]) -> str:
    """A list where there is something to say, and else a line: the text above says it, or the names do."""
    told = [
        f"`{item.name}`" + (words["type"].format(f"`{item.type}`") if item.type else "") for item in items
    ]
    if any(item.text for item in items):
        texts = [words["text"] + item.text if item.text else "" for item in items]
        return "\n".join([f"**{title}**", "", *(f"- {name}{text}" for name, text in zip(told, texts))])
    return f"**{title}**{words['text']}{words['comma'].join(told)}" if items else ""


if __name__ == "__main__":
    write(pages())
