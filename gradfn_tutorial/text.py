"""The graph as text: a tree whose trunk is the way back to the deepest input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradfn_tutorial.graph import Edge, Node


def write(nodes: Sequence[Node], roots: Sequence[Node], limit: int) -> str:
    trunk = trunks(nodes)
    uses = _uses(nodes, roots)
    lines: list[str] = []
    met: set[Node] = set()
    # Lines still to write, the next one last: what stands before the line, what stands before those under it, the slot
    # (None for a root), the node (None for an input without one), and its output_nr.
    todo: list[tuple[str, str, int | None, Node | None, int]] = [
        ("", "", None, root, 0) for root in reversed(roots)
    ]
    while todo and len(lines) < limit:
        before, under, slot, node, output_nr = todo.pop()
        before += "" if slot is None else f"{slot} "
        if node is None:
            lines.append(before + "None")
            continue
        lines.append(before + _describe(node, output_nr, uses[node.index] > 1, node in met))
        if node in met:
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
        lines.append(f"… and {len(nodes) - len(met):,} more nodes")
    elif todo:
        lines.append("…")
    return "\n".join(lines)


def trunks(nodes: Sequence[Node]) -> dict[Node, Edge]:
    """For each node with a way on from it, the edge towards its deepest input; of equals, the lowest slot."""
    height = [0] * len(nodes)
    trunk: dict[Node, Edge] = {}
    for node in reversed(nodes):
        edges = [edge for edge in node.inputs if edge is not None]
        if not edges:
            continue
        deepest = max(edges, key=lambda edge: height[edge.node.index])
        height[node.index] = height[deepest.node.index] + 1
        if height[node.index] > 1 or len(node.inputs) == 1:
            trunk[node] = deepest
    return trunk


def _uses(nodes: Sequence[Node], roots: Sequence[Node]) -> list[int]:
    uses = [0] * len(nodes)
    for node in roots:
        uses[node.index] += 1
    for node in nodes:
        for edge in node.inputs:
            if edge is not None:
                uses[edge.node.index] += 1
    return uses


def _describe(node: Node, output_nr: int, shared: bool, met: bool) -> str:
    parts = [f"{node.name} #{node.index}" if shared else node.name]
    if output_nr:
        parts.append(f"output_nr {output_nr}")
    if node.label:
        parts.append(node.label)
    if met:
        parts.append("see above")
    elif node.grad is not None:
        parts.append(f".grad {node.grad}")
    return "  ".join(parts)
