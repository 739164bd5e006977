"""The API pages say what the package has, in both languages, and the tool that writes them notices what has changed."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import api
import griffe
import pytest
import tomllib

import gradfn_tutorial

LANGUAGES = ("en", "zh")
RAISES = re.compile(r"^Raises:\n((?:    .*\n)+)", re.MULTILINE)
EXCEPTION = re.compile(r"^    (\w+):", re.MULTILINE)
CODE = '''
from typing import Union
import torch
from torch import nn
from torch.autograd.graph import Node as TorchNode

def {name}({parameters}):
    """{docstring}"""
'''


def chinese() -> dict[str, Any]:
    return tomllib.loads(api.CHINESE.read_text(encoding="utf-8"))


def page(language: str) -> str:
    return api.page_path(language).read_text(encoding="utf-8")


def section(language: str, anchor: str) -> str:
    """What stands below the heading with this anchor."""
    return re.split(
        r"^#+ ", page(language).partition(f"{{ #{anchor} }}\n")[2], maxsplit=1, flags=re.MULTILINE
    )[0]


def documented() -> dict[str, Any]:
    """Every public function, class and method, as Python itself knows them."""
    found: dict[str, Any] = {}
    for name in gradfn_tutorial.__all__:
        entity = found[name] = getattr(gradfn_tutorial, name)
        if inspect.isclass(entity):
            methods = {k: v for k, v in vars(entity).items() if inspect.isfunction(v) and k[0] != "_"}
            found |= {f"{name}.{method}": function for method, function in methods.items()}
    return found


@pytest.mark.parametrize("name", gradfn_tutorial.__all__)
def test_what_a_function_returned_cannot_be_changed(name: str) -> None:
    entity = getattr(gradfn_tutorial, name)
    for field in dataclasses.fields(entity) if dataclasses.is_dataclass(entity) else ():
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(object.__new__(entity), field.name, None)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", documented())
def test_both_languages_tell_the_parameters_and_exceptions(name: str, language: str) -> None:
    entity = documented()[name]
    text = section(language, name.lower().replace(".", "-"))
    assert text, f"there is no heading for {name}"
    docstring = inspect.getdoc(entity)
    raises = RAISES.search(docstring + "\n")
    wanted = EXCEPTION.findall(raises[1]) if raises else []
    if inspect.isfunction(entity):
        wanted += [parameter for parameter in inspect.signature(entity).parameters if parameter != "self"]
    assert [word for word in wanted if not re.search(rf"(^- |: |：|, |、)`{word}`", text, re.MULTILINE)] == []
    assert text.count("```python") == docstring.count("```python")


@pytest.mark.parametrize("name", [name for name, entity in documented().items() if inspect.isclass(entity)])
def test_every_attribute_of_an_object_is_told(name: str) -> None:
    kind = documented()[name]
    attributes = {*inspect.get_annotations(kind), *getattr(kind, "__slots__", ())}
    attributes |= {key for key, value in vars(kind).items() if isinstance(value, property)}
    told = re.findall(r"`(\w+)` \(`", section("en", name.lower()))
    assert {key for key in attributes if key[0] != "_"} - set(told) == set()


def test_the_chinese_page_has_no_sentence_in_english() -> None:
    lines = [line for line in api.plain(page("zh")).partition("\n# ")[2].splitlines() if line]
    texts = [line.rpartition("：")[2] if line.startswith("- `") else line for line in lines]
    words = [
        re.sub(r"`[^`]*`|\*\*.*?\*\*", "", text) for text in texts if not text.startswith(("#", "|--", "- `"))
    ]
    assert [text for text in words if re.search(r"[A-Za-z]+ [a-z]+ [a-z]+", text)] == []


# What is done to api_zh.toml, and what the tool then says.
OUT_OF_DATE = {
    "the English has changed": (
        lambda texts: texts["trace"].update(read="00000000"),
        r'\["trace"\]: the English has changed\. Read both, and then write read = "\w{8}"',
    ),
    "a method without Chinese": (
        lambda texts: texts.pop("Graph.path"),
        r'\["Graph.path"\]: the English has changed(.*\n)+\["Graph.path"\]: text is missing',
    ),
    "a parameter without Chinese": (
        lambda texts: texts["trace"]["parameters"].pop("start"),
        r'\["trace"\]: parameters\.start is missing',
    ),
    "an exception without Chinese": (
        lambda texts: texts["trace"]["raises"].pop(),
        r'\["trace"\]: raises\.1 is missing',
    ),
    "a text that is left over": (
        lambda texts: texts["trace"]["parameters"].update(gone="旧参数"),
        r'\["trace"\]: parameters\.gone is left over',
    ),
    "a method that is left over": (
        lambda texts: texts.update({"Graph.gone": {}}),
        r'\["Graph\.gone"\]: nothing public has this name',
    ),
    "a function without Chinese": (lambda texts: texts.pop("trace"), r"Missing: \['trace'\]"),
    "a function that is left over": (lambda texts: texts.update(gone={}), r"Left over: \['gone'\]"),
}


@pytest.mark.parametrize("case", OUT_OF_DATE)
def test_the_tool_says_what_is_out_of_date(case: str) -> None:
    change, message = OUT_OF_DATE[case]
    texts = chinese()
    change(texts)
    with pytest.raises(SystemExit, match=message):
        api.texts(texts)


def test_a_docstring_broken_into_other_lines_is_no_change() -> None:
    one, other = entry("Say\n    what it is."), entry("Say what\n    it is.")
    assert one.version == other.version != entry("Say what it was.").version


@pytest.mark.parametrize(
    ("docstring", "message"),
    [
        ("", "f is public and has no docstring"),
        ("Do.\n\n    Args:\n        b: what.\n    ", r"describes \['b'\], and the code has no such thing"),
        ("Do.\n\n    ```python\n    print('\\n')\n    ```\n    ", "a fence is not at the docstring's margin"),
        (
            "Do.\n\n    Yields:\n        int: what.\n    ",
            "a section 'yields', which the page has no place for",
        ),
    ],
)
def test_a_docstring_that_the_page_cannot_tell_is_an_error(docstring: str, message: str) -> None:
    with pytest.raises(SystemExit, match=message):
        entry(docstring)


def entry(docstring: str, parameters: str = "a") -> api.Entry:
    code = CODE.format(name="f", parameters=parameters, docstring=docstring)
    with griffe.temporary_visited_module(code if docstring else code.replace('""""""', "pass")) as module:
        module.docstring_parser = None
        function = module["f"]
        if function.docstring:
            function.docstring.parser = griffe.Parser.google
        return api.read_entry("f", function)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        ("int", "int"),
        ("torch.Tensor | None", "torch.Tensor | None"),
        ("type[nn.Module]", "type[nn.Module]"),
        ("tuple[TorchNode, ...]", "tuple[torch.autograd.graph.Node, ...]"),
        ("Union[int, 'str', None]", "int | str | None"),
        ("dict[str, list[int]]", "dict[str, list[int]]"),
    ],
)
def test_types_are_spelled_as_a_reader_needs_them(annotation: str, text: str) -> None:
    assert entry("Do.", f"a: {annotation} = 'x'").parameters == [api.Item("a", text, "")]


def test_an_alias_of_the_package_is_spelled_out() -> None:
    assert "`start` (`torch.Tensor | Sequence[torch.Tensor] | torch.autograd.graph.Node | Node`)" in page(
        "en"
    )


def test_the_signature_shows_defaults_and_keywords() -> None:
    assert entry("Do.", "a, b='x', *, c=None").signature == '`f(a, b="x", *, c=None)` → `None`'
