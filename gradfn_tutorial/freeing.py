"""Keep torch from crashing when a deep graph that Python has walked is freed.

From torch 2.13 on (measured up to 2.15), reading ``next_functions`` leaves a Python object at each node, and freeing a
chain of such nodes recurses in C: about 208 bytes of stack a node, so that a walked chain of 40,000 nodes ends the process
with a segmentation fault on an 8 MiB stack. Here the graph is cut into levels by height, and a node through which a way
enters a level holds the nodes through which its ways leave it. Freed, it lets go of them only after everything between has
been freed, so that no recursion crosses a level whole and goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from torch.autograd.graph import Node as TorchNode

if TYPE_CHECKING:
    from gradfn_tutorial.graph import Node

KEY = "gradfn_tutorial: freed level by level"
# A recursion goes through three levels at most: 0.3 MiB of stack, where the smallest in common use has 0.5 MiB.
DEPTH = 500


def make_safe_to_free(nodes: Sequence[Node]) -> None:
    """Hang short lists of nodes further down on some of ``nodes`` (given in the engine's order), if the graph is deep.

    A node's height, and so its list, depends on the graph behind it alone: every trace gives it the same one. It holds
    nothing but what its own edges hold anyway, so nothing lives longer and no cycle is closed.
    """
    if len(nodes) <= 2 * DEPTH:
        return
    height = [0] * len(nodes)
    # For each level, the nodes of lower levels that its ways down come to first, and a bit for each. Level 0 needs no
    # stop: nothing is behind it.
    bits: dict[int, dict[Node, int]] = {}
    # For each node, the bits of those that its own ways come to.
    ways_out = [0] * len(nodes)
    for node in reversed(nodes):
        own_height = 0
        for edge in node.inputs:
            if edge is not None:
                above_edge = height[edge.node.index] + 1
                if above_edge > own_height:
                    own_height = above_edge
        height[node.index] = own_height
        level = own_height // DEPTH
        if level < 2:
            continue
        ways = 0
        bit_of = bits.setdefault(level, {})
        for edge in node.inputs:
            if edge is None:
                continue
            below = edge.node
            level_below = height[below.index] // DEPTH
            if level_below == level:
                ways |= ways_out[below.index]
            elif level_below > 0:
                ways |= bit_of.setdefault(below, 1 << len(bit_of))
        ways_out[node.index] = ways
    for node in {node for bit_of in bits.values() for node in bit_of}:
        ways = ways_out[node.index]
        bit_of = bits.get(height[node.index] // DEPTH, {})
        metadata = cast("dict[str, list[TorchNode]]", node.fn.metadata)
        metadata[KEY] = [other.fn for other, bit in bit_of.items() if ways & bit]
