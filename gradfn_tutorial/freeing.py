"""Keep torch from crashing when a deep graph that Python has walked is freed.

From torch 2.13 on (measured up to 2.15), reading ``next_functions`` leaves a Python object at each node, and freeing a
chain of such nodes recurses in C: about 208 bytes of stack a node, so that a walked chain of 40,000 nodes ends the process
with a segmentation fault on an 8 MiB stack. A list of the nodes, kept by the first of them, breaks the recursion: the list
lets go of one node at a time while it still holds the nodes behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from torch.autograd.graph import Node as TorchNode

if TYPE_CHECKING:
    from gradfn_tutorial.graph import Node

KEY = "gradfn_tutorial: freed one by one"
# Recursion this deep takes a fifth of the smallest stack in common use, 1 MiB.
DEPTH = 1_000


def make_safe_to_free(nodes: Sequence[Node]) -> None:
    """Hang lists of the later nodes on some of ``nodes`` (given in the engine's order), if the graph is deep.

    A list only ever holds nodes made before its owner, so no two traces can close a cycle.
    """
    if _depth(nodes) <= DEPTH:
        return
    # An AccumulateGrad leads nowhere, so no recursion goes through it.
    operations = [node.fn for node in nodes if node.name != "AccumulateGrad"]
    operations.sort(key=_made, reverse=True)
    # Windows of fixed numbers, so that traces from different places choose the same owners but for the first.
    owners = [fn for fn, before in zip(operations, [None, *operations]) if _window(fn) != _window(before)]
    place = {fn: i for i, fn in enumerate(operations)}
    for owner, following in zip(owners, [*owners[1:], None]):
        end = len(operations) if following is None else place[following] + 1
        held = [fn for fn in operations[place[owner] + 1 : end] if _made(fn) < _made(owner)]
        metadata = cast("dict[str, list[TorchNode]]", owner.metadata)
        kept = metadata.get(KEY, [])
        metadata[KEY] = sorted({*held, *kept}, key=_made) if kept else held[::-1]


def _depth(nodes: Sequence[Node]) -> int:
    if len(nodes) <= DEPTH:
        return 0
    depth = [0] * len(nodes)
    for node in nodes:
        below = depth[node.index] + 1
        for edge in node.inputs:
            if edge is not None and depth[edge.node.index] < below:
                depth[edge.node.index] = below
    return max(depth)


def _window(fn: TorchNode | None) -> int | None:
    return None if fn is None else _made(fn) // DEPTH


def _made(fn: TorchNode) -> int:
    # Private, measured on torch 1.4 to 2.15: counts the nodes that a thread makes, so later ones have larger numbers.
    return fn._sequence_nr()
