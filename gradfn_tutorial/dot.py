"""The graph in Graphviz's DOT language, for ``dot -Tsvg`` and every other program that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradfn_tutorial.text import captions

if TYPE_CHECKING:
    from gradfn_tutorial.graph import Node


def write(nodes: Sequence[Node], roots: Sequence[Node]) -> str:
    lines = [
        "digraph {",
        '  node [shape=box, style=filled, fontname="monospace", fontsize=11, fillcolor="#eef3fb", color="#6b85b5"];',
        '  edge [color="#8c959f", fontname="monospace", fontsize=9];',
    ]
    starts = set(roots)
    lines += [f"  n{node.index} [{_look(node, node in starts)}];" for node in nodes]
    for node in nodes:
        for slot, edge in enumerate(node.inputs):
            if edge is None:
                target = f"n{node.index}_{slot}"
                lines.append(f'  {target} [label="None", shape=plaintext, style=""];')
            else:
                target = f"n{edge.node.index}"
            label = f"{slot}, output_nr {edge.output_nr}" if edge and edge.output_nr else f"{slot}"
            lines.append(f'  n{node.index} -> {target} [label="{label}"];')
    return "\n".join([*lines, "}"])


def _look(node: Node, is_root: bool) -> str:
    label = "\\n".join(map(_escape, captions(node)))
    look = [f'label="{label}"']
    if node.name == "AccumulateGrad":
        fill = "#ffffff" if node.grad == "None" else "#d9f2e1"
        look.append(f'style="filled,rounded", fillcolor="{fill}", color="#3f8f5f"')
    elif node.grad not in (None, "None"):
        look.append('fillcolor="#d9f2e1", color="#3f8f5f"')
    if is_root:
        look.append("penwidth=2")
    return ", ".join(look)


def _escape(text: str) -> str:
    # In a label, a backslash begins an escape and an ampersand an HTML entity.
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
