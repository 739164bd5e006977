"""A large graph in few boxes: each stands for nodes that follow one another in the engine's order, mostly one module's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gradfn_tutorial.graph import Node

# How many boxes stand for a graph whose modules do not help.
BLOCKS = 12


class Wire(NamedTuple):
    """One or more edges between the nodes of two boxes."""

    slot: int
    node: Group
    output_nr: int = 0


class Group:
    """A box for ``nodes``, with the attributes of a ``Node`` that a picture shows. One node keeps its own name."""

    def __init__(self, nodes: Sequence[Node], module: str, index: int) -> None:
        first, last = nodes[0], nodes[-1]
        self.index = index
        self.inputs: tuple[Wire, ...] = ()
        self.size = len(nodes)
        if self.size == 1:
            self.name, self.label, self.grad = first.name, first.label, first.grad
            return
        ends = dict.fromkeys(node.name for node in (first, last))
        self.name = f"{self.size:,} nodes"
        self.label = module or " … ".join(ends)
        grads = [node.grad for node in nodes if node.grad is not None]
        filled = sum(grad != "None" for grad in grads)
        self.grad = f"{filled:,} of {len(grads):,}" if filled else "None" if grads else None


def fold(nodes: Sequence[Node], roots: Sequence[Node], most: int) -> tuple[list[Group], list[Group]]:
    """At most ``most`` boxes (or ``BLOCKS``, if that is more) for all the nodes of a graph, and those of its roots.

    A run of the engine's order is folded where it shares the first parts of its module names, as many parts as
    possible. Edges lead forward in that order, so the boxes form no cycle.
    """
    groups: list[Group] = []
    group_of: list[Group] = []
    for module, size in _runs(_owners(nodes), most):
        start = len(group_of)
        groups.append(Group(nodes[start : start + size], module, len(groups)))
        group_of += [groups[-1]] * size
    below: list[dict[Group, None]] = [{} for _ in groups]
    for node, group in zip(nodes, group_of):
        for edge in node.inputs:
            if edge is not None and group_of[edge.node.index] is not group:
                below[group.index][group_of[edge.node.index]] = None
    for group in groups:
        group.inputs = tuple(Wire(slot, target) for slot, target in enumerate(below[group.index]))
    return groups, list(dict.fromkeys(group_of[root.index] for root in roots))


def _owners(nodes: Sequence[Node]) -> list[str]:
    """Each node's module; a parameter goes with its layer, and a node without a module with the node before it."""
    owners: list[str] = []
    owner = ""
    for node in nodes:
        layer = node.parameters[0].rpartition(".")[0] if node.parameters else ""
        owner = node.module or layer or owner
        owners.append(owner)
    return owners


def _runs(owners: list[str], most: int) -> list[tuple[str, int]]:
    """The module and the number of nodes of each box."""
    parts = {owner: owner.split(".") for owner in set(owners)}
    for level in range(max(map(len, parts.values())), 0, -1):
        prefix = {owner: ".".join(names[:level]) for owner, names in parts.items()}
        runs = [(name, sum(1 for _ in run)) for name, run in groupby(prefix[owner] for owner in owners)]
        if 1 < len(runs) <= most:
            return runs
    size = -(-len(owners) // BLOCKS)
    return [("", len(owners[start : start + size])) for start in range(0, len(owners), size)]
