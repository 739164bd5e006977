"""Write reference/snippets.md in both languages: the recipes of docs/recipes.toml, each with its program and what it prints,
and the whole programs of the other pages.
"""

from __future__ import annotations

import functools
import re
import runpy
from pathlib import Path
from typing import Any

import tomllib
from blocks import captured
from shown import ROOT, mask, recorded, write
from topics import HEADING, place_link
from topics import WORDS as OF_TOPICS

SNIPPETS = ROOT / "snippets"
SOURCE = ROOT / "docs" / "recipes.toml"
# The site has the programs beside its two languages.
PROGRAMS = "../../../snippets"
# Sections that every lesson has.
EVERYWHERE = {"recap", "exercises"}
IN_NAVIGATION = re.compile(r": ([\w/]+)\.md$", re.MULTILINE)

WORDS = {
    "en": {
        "description": "PyTorch autograd code to copy: gradient of a Conv2d, an activation or the input image, one gradient "
        "per sample, freezing, clipping, NaN gradients, Jacobians.",
        "title": "Where is the code for my task?",
        "lead": "{recipes} short programs, one for each task, and the {programs} whole programs of the other pages. Each runs by "
        "itself and stands with what it prints; “True” in a last line is a check against an independent computation.",
        "zip": 'All {files} files in one archive: <a download href="{path}.zip">snippets.zip</a>. They need torch; those that '
        "import `gradfn_tutorial` need [the helper package](../index.md#install) too.",
        "more": "More: ",
        "comma": ", ",
        "download": "Download",
        "programs": "Whole programs of the pages",
        "sections": "What is in it",
        "output": "What it prints",
    },
    "zh": {
        "description": "可直接复制的 PyTorch autograd 代码：取 Conv2d、激活值、输入图像的梯度，逐样本梯度，冻结、裁剪、NaN 梯度、雅可比矩阵。",
        "title": "我要做的事，代码在哪里？",
        "lead": "{recipes} 个短程序，一个程序做一件事，另有其他页面的 {programs} 个完整程序。每个都能单独运行，并附上它打印的内容；最后一行的"
        "“True”是和另一种独立算法对照的结果。",
        "zip": '全部 {files} 个文件打包下载：<a download href="{path}.zip">snippets.zip</a>。它们都需要 torch；导入了 `gradfn_tutorial` '
        "的还需要[辅助包](../index.md#install)。",
        "more": "详见：",
        "comma": "、",
        "download": "下载",
        "programs": "各页的完整程序",
        "sections": "里面有什么",
        "output": "打印的内容",
    },
}


def pages() -> dict[Path, str]:
    paths = {language: ROOT / "docs" / language / "reference" / "snippets.md" for language in WORDS}
    return {path: recorded(path, page(language)) for language, path in paths.items()}


def page(language: str) -> str:
    words, given = WORDS[language], read_recipes()
    recipes, programs = given["recipe"], programs_of_pages()
    parts = [
        f'---\ndescription: "{words["description"]}"\ngenerated: tools/{Path(__file__).name}\n---',
        f"# {words['title']} {{ #snippets }}",
        words["lead"].format(recipes=len(recipes), programs=len(programs)) + "\n{ .lead }",
        words["zip"].format(files=len(recipes) + len(programs), path=PROGRAMS),
        '<form class="filter" data-for="programs" data-facets="group" markdown="0"></form>',
        '<div id="programs" markdown="block">',
    ]
    for group, label in given["groups"].items():
        items = {
            recipe["file"]: recipe_text(recipe, language) for recipe in recipes if recipe["group"] == group
        }
        parts.append(section(group, label[language], items))
    items = {name: program_text(name, language) for name in programs}
    # It has the headings of every page, so the search would find it before the pages themselves.
    parts.append(section("whole-programs", words["programs"], items, " data-search-exclude"))
    return "\n\n".join([*parts, "</div>"]) + "\n"


def section(group: str, label: str, items: dict[str, str], more: str = "") -> str:
    attributes = f'class="item" data-group="{group}" data-group-label="{label}"{more}'
    # Material names a block of code after the element with an id that it stands in, and copies by that name.
    texts = [
        f'<div id="item-{name}" {attributes} markdown="block">\n\n{text}\n\n</div>'
        for name, text in items.items()
    ]
    return "\n\n".join([f"## {label} {{ #{group} }}", *texts])


def recipe_text(recipe: dict[str, Any], language: str) -> str:
    words, file = WORDS[language], recipe["file"]
    where = [place_link(place, headings(language), OF_TOPICS[language]) for place in recipe["at"]]
    return f"""\
### {recipe[language]} {{ #{file.replace("_", "-")} }}

{recipe[f"about_{language}"]}

```python
--8<-- "recipes/{file}.py"
```
```output
{printed_by(file)}```

{words["download"]} <a download href="{PROGRAMS}/recipes/{file}.py">{file}.py</a> · {words["more"]}{words["comma"].join(where)}
{{ .more }}"""


def program_text(name: str, language: str) -> str:
    words = WORDS[language]
    title, *_ = headings(language)[name].values()
    _, *parts = HEADING.split(text_of(name, language))
    sections = "\n".join(
        f"    - [{heading}](../{name}.md#{anchor})"
        for heading, anchor, below in zip(parts[::3], parts[1::3], parts[2::3])
        if "```python" in below and anchor not in EVERYWHERE
    )
    return f"""\
**[{title}](../{name}.md)**

{words["download"]} <a download data-copy href="{PROGRAMS}/{name}.py">{name}.py</a> · <a type="text/plain" href="{PROGRAMS}/{name}.txt">{words["output"]}</a>
{{ .more }}

??? abstract "{words["sections"]}"

{sections}"""


def read_recipes() -> dict[str, Any]:
    return tomllib.loads(SOURCE.read_text(encoding="utf-8"))


def programs_of_pages() -> list[str]:
    """The programs that are no recipes, in the order of their pages: ``learn/two_attributes`` and so on."""
    names = IN_NAVIGATION.findall((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    return [name for name in names if (SNIPPETS / f"{name}.py").exists()]


@functools.cache
def headings(language: str) -> dict[str, dict[str, str]]:
    """For each page its headings by their anchors."""
    docs = ROOT / "docs" / language
    return {
        path.relative_to(docs).with_suffix("").as_posix(): {
            anchor: heading for heading, anchor in HEADING.findall(path.read_text(encoding="utf-8"))
        }
        for path in docs.rglob("*.md")
    }


@functools.cache
def printed_by(file: str) -> str:
    with captured() as printed:
        runpy.run_path(str(SNIPPETS / "recipes" / f"{file}.py"), run_name="__main__")
    return mask(printed.getvalue())


def text_of(page: str, language: str) -> str:
    return (ROOT / "docs" / language / f"{page}.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    write(pages())
