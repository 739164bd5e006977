"""The graph as a Mermaid flowchart, which GitHub draws in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradfn_tutorial.fold import Group, fold
from gradfn_tutorial.text import captions

if TYPE_CHECKING:
    from gradfn_tutorial.graph import Node
    from gradfn_tutorial.text import Drawn

# Mermaid draws no more unless the page that shows it says so (measured on 11.17 and 12.3).
MOST_EDGES = 500
MOST_CHARACTERS = 50_000
LONGEST_LINE = 60
CLASSES = """\
  classDef leaf stroke:#3f8f5f,stroke-width:2px
  classDef filled fill:#d9f2e1,stroke:#1f7a43,stroke-width:2px,color:#1f2328
  classDef none fill:none,stroke:none,font-style:italic"""


def write(nodes: Sequence[Node], roots: Sequence[Node]) -> str:
    if sum(len(node.inputs) for node in nodes) <= MOST_EDGES:
        text = _flowchart(nodes, [])
        if len(text) <= MOST_CHARACTERS:
            return text
    # 15 boxes have at most 105 wires, so the last one is small enough.
    for most in (60, 30, 15):
        groups, _ = fold(nodes, roots, most)
        text = _flowchart(groups, [f"  %% {len(nodes):,} nodes in {len(groups)} boxes"])
        if sum(len(group.inputs) for group in groups) <= MOST_EDGES and len(text) <= MOST_CHARACTERS:
            break
    return text


def _flowchart(nodes: Sequence[Drawn], notes: list[str]) -> str:
    lines = ["flowchart TD", *notes, CLASSES, *map(_box, nodes)]
    for node in nodes:
        for slot, edge in enumerate(node.inputs):
            label = f"{slot}, output_nr {edge.output_nr}" if edge and edge.output_nr else f"{slot}"
            arrow = "-->" if isinstance(node, Group) else f'-- "{label}" -->'
            target = f"n{edge.node.index}" if edge else f'n{node.index}_{slot}["None"]:::none'
            lines.append(f"  n{node.index} {arrow} {target}")
    return "\n".join(lines)


def _box(node: Drawn) -> str:
    label = "<br>".join(map(_escape, captions(node)))
    kind = "" if node.grad in (None, "None") else ":::filled"
    if node.name == "AccumulateGrad":
        kind = kind or ":::leaf"
        shape = f'(["{label}"])'
    elif isinstance(node, Group) and node.size > 1:
        shape = f'[["{label}"]]'
    else:
        shape = f'["{label}"]'
    return f"  n{node.index}{shape}{kind}"


def _escape(text: str) -> str:
    if len(text) > LONGEST_LINE:
        text = text[: LONGEST_LINE - 1] + "…"
    return "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    # Mermaid measures a text in UTF-16, where a character past 0xFFFF counts twice.
    if character in " .…" or (character.isalnum() and ord(character) < 0x10000):
        return character
    # Mermaid reads labels as Markdown and HTML; a character given by its number means itself. Line breaks (\n), icons
    # (fa:fa-x) and TeX ($$) it finds even then, unless a space of no width is in between.
    return f"#{ord(character)};" + ("#8203;" if character in "\\:$" else "")
