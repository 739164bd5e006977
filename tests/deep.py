"""Trace deep graphs and drop them in every order; a crash ends the process, so test_graph.py runs this in one of its own.

``python tests/deep.py 1000000`` does the same with chains of a million nodes, which takes minutes.
"""

from __future__ import annotations

import gc
import resource
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import torch

from gradfn_tutorial import trace


def chain(length: int, drop_first: str) -> None:
    y = torch.ones(1, requires_grad=True)
    for i in range(length):
        y = y + 1
        if i == length // 2:
            middle = y
    kept = {"loss": y, "middle": middle, "graph": trace(y), "overlap": trace(middle)}
    assert len(kept["graph"].nodes) == length + 1
    assert kept["graph"].to_text(limit=3).count("AddBackward0") == 2
    del y, middle
    for name in [drop_first, *kept]:
        kept.pop(name, None)
        gc.collect()


def two_branches(length: int, drop_first: str) -> None:
    first = second = torch.ones(1, requires_grad=True)
    for _ in range(length // 2):
        first, second = first + 1, second + 1
    kept = {"first": first, "second": second}
    trace(first + second)
    del first, second, kept[drop_first]
    gc.collect()
    kept.clear()


def grid(length: int, _: str) -> None:
    # Every cell goes on to two, so that few nodes have the same ways on.
    side = int(length**0.5)
    x = torch.ones(1, requires_grad=True)
    row = [x] * side
    for _ in range(side):
        cell = x
        row = [cell := cell + above for above in row]
    loss = row[-1]
    del row, cell
    assert len(trace(loss).nodes) == side * side + 1


def main(length: int) -> None:
    cases = [(chain, name) for name in ("loss", "middle", "graph", "overlap")]
    cases += [(two_branches, name) for name in ("first", "second")] + [(grid, "grid")]
    for case, drop_first in cases:
        print(case.__name__, drop_first, "first", flush=True)
        case(length, drop_first)
    threading.stack_size(1 << 20)
    for case, drop_first in cases:
        print(case.__name__, drop_first, "first, on a stack of 1 MiB", flush=True)
        with ThreadPoolExecutor(1) as thread:
            thread.submit(case, min(length, 100_000), drop_first).result()
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert kibibytes < 2 << 20, f"it took {kibibytes / 2**20:.2f} GiB, and should take less than 2"
    print(f"all dropped, {kibibytes / 2**20:.2f} GiB at most")


if __name__ == "__main__":
    main(int(sys.argv[1]))
