"""The graph as text: a tree whose trunk is the way back to the deepest input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from gradfn_tutorial.fold import Group, Wire
    from gradfn_tutorial.graph import Edge, Node

    # What a picture shows: a node, or a box that stands for many.
    Drawn = Union[Node, Group]
    Link = Union[Edge, Wire]

WORDS = {
    "en": {"met": "see above", "more": "… and {count:,} more nodes"},
    "zh": {"met": "见上文", "more": "…… 还有 {count:,} 个节点"},
}


def write(nodes: Sequence[Node], roots: Sequence[Node], limit: int, lang: str = "en") -> str:
    check_limit_and_language(limit, lang)
    words = WORDS[lang]
    trunk = trunks(nodes)
    uses = _uses(nodes, roots)
    lines: list[str] = []
    met: set[Drawn] = set()
    # Lines still to write, the next one last: what stands before the line, what stands before those under it, the slot
    # (None for a root), the node (None for an input without one), and its output_nr.
    todo: list[tuple[str, str, int | None, Drawn | None, int]] = [
        ("", "", None, root, 0) for root in reversed(roots)
    ]
    while todo and len(lines) < limit:
        before, under, slot, node, output_nr = todo.pop()
        before += "" if slot is None else f"{slot} "
        if node is None:
            lines.append(before + "None")
            continue
        again = words["met"] if node in met else None
        lines.append(before + _describe(node, output_nr, uses[node.index] > 1, again))
        if again:
            continue
        met.add(node)
        main = trunk.get(node)
        if main is not None:
            todo.append((under, under, main.slot, main.node, main.output_nr))
        branches = [(s, e) for s, e in enumerate(node.inputs) if e is None or e is not main]
        for i, (number, edge) in reversed(list(enumerate(branches))):
            last = main is None and i == len(branches) - 1
            before, below = (under + "└─", under + "  ") if last else (under + "├─", under + "│ ")
            node_and_output = (None, 0) if edge is None else (edge.node, edge.output_nr)
            todo.append((before, below, number, *node_and_output))
    if len(met) < len(nodes):
        lines.append(words["more"].format(count=len(nodes) - len(met)))
    elif todo:
        lines.append("…")
    return "\n".join(lines)


def check_limit_and_language(limit: object, lang: object) -> None:
    if lang not in list(WORDS):
        raise ValueError(f"lang is one of {sorted(WORDS)}, got {lang!r}.")
    if not isinstance(limit, int) or limit < 1:
        raise ValueError(f"limit is a number of lines and at least 1, got {limit!r}.")


def trunks(nodes: Sequence[Drawn]) -> dict[Drawn, Link]:
    """For each node with a way on from it, the edge towards its deepest input; of equals, the lowest slot."""
    height = [0] * len(nodes)
    trunk: dict[Drawn, Link] = {}
    for node in reversed(nodes):
        edges = [edge for edge in node.inputs if edge is not None]
        if not edges:
            continue
        deepest = max(edges, key=lambda edge: height[edge.node.index])
        height[node.index] = height[deepest.node.index] + 1
        if height[node.index] > 1 or len(node.inputs) == 1:
            trunk[node] = deepest
    return trunk


def captions(node: Drawn) -> list[str]:
    """What a picture says in a node's box, line by line."""
    lines = [node.label] if node.label else []
    lines.append(node.name)
    if node.grad is not None:
        lines.append(f".grad {node.grad}")
    return [printable(line) for line in lines]


def printable(text: str) -> str:
    """``text`` on one line and without control characters, for which no format here has a place."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )


def _uses(nodes: Sequence[Node], roots: Sequence[Node]) -> list[int]:
    uses = [0] * len(nodes)
    for node in roots:
        uses[node.index] += 1
    for node in nodes:
        for edge in node.inputs:
            if edge is not None:
                uses[edge.node.index] += 1
    return uses


def _describe(node: Drawn, output_nr: int, shared: bool, again: str | None) -> str:
    parts = [f"{node.name} #{node.index}" if shared else node.name]
    if output_nr:
        parts.append(f"output_nr {output_nr}")
    if node.label:
        parts.append(node.label)
    if again:
        parts.append(again)
    elif node.grad is not None:
        parts.append(f".grad {node.grad}")
    return printable("  ".join(parts))
