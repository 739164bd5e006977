"""Which module was running when a node was made: ``owners(module)`` takes it down during the forward pass."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from threading import get_ident
from weakref import WeakKeyDictionary

import torch
from torch import nn


class Calls:
    """From which sequence number on nodes were made inside which module, as ``owners`` saw it."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._names: list[str | None] = []

    def change(self, name: str | None) -> None:
        # _get_sequence_nr is private (measured on torch 2.6 to 2.15): the number that this thread's next node will have.
        # No public name tells it; where it is gone, owners() fails.
        self._starts.append(torch.autograd._get_sequence_nr())  # type: ignore[attr-defined,unused-ignore]
        self._names.append(name)

    def span(self, number: int) -> tuple[int, float, str | None]:
        """The numbers, from the first up to but without the second, that the innermost module made round ``number``."""
        place = bisect_right(self._starts, number)
        first = self._starts[place - 1] if place else -1
        end = self._starts[place] if place < len(self._starts) else inf
        return first, end, self._names[place - 1] if place else None


_calls: WeakKeyDictionary[nn.Module, Calls] = WeakKeyDictionary()


def calls_of(module: nn.Module) -> Calls | None:
    """What the latest ``owners(module)`` saw, or None if there was none."""
    return _calls.get(module)


@contextmanager
def owners(module: nn.Module) -> Iterator[None]:
    """Round a forward pass: afterwards ``trace(loss, module)`` knows in which layer each node was made.

    Without it, ``trace`` tells layers by the parameters that lead into them. With it, ``node.module`` is the innermost
    module whose ``forward`` was running, for activations, pooling, reshapes and everything else too; None for nodes
    made outside of ``module``, such as the loss. Hooks are registered on every module inside and removed at the end.
    What a block saw is kept until the next ``owners(module)`` or until the module is gone.

    Args:
        module: the model that the block will call, the same object that ``trace`` is given afterwards.

    Raises:
        TypeError: ``module`` is not an ``nn.Module``, or is what ``torch.compile`` returned.

    Limits. A compiled region is one node, made by no module. Under ``torch.utils.checkpoint`` with
    ``use_reentrant=True`` the block is one node too, of the module that called it. A module whose ``forward`` is never
    called, such as ``out_proj`` in ``nn.MultiheadAttention``, owns only what its parameters tell. Only the thread that
    entered the block is watched: each thread numbers its nodes from 0 (sequence numbers, measured on torch 2.6 to
    2.15), so trace what was made in this thread.

    ```python
    import torch
    from torch import nn
    from gradfn_tutorial import owners, trace

    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    with owners(model):
        loss = model(torch.ones(1, 2)).sum()
    print(trace(loss, model).layers(nn.ReLU))
    ```
    ```output
    (<ReluBackward0 1>,)
    ```
    """
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"owners() takes a module, got {type(module).__name__}. Pass the model that you call."
        )
    if hasattr(module, "_orig_mod"):
        raise TypeError(
            "owners() takes a module as you wrote it, got what torch.compile() returned: that runs as one node, "
            "which belongs to no layer. Pass and call the model before compiling it."
        )
    calls = _calls[module] = Calls()
    thread = get_ident()
    running: list[str] = []

    def is_watched() -> bool:
        # In this order: torch.compile, which traces the hooks too, cannot trace get_ident().
        return not torch.compiler.is_compiling() and get_ident() == thread

    def enter(name: str) -> Callable[..., None]:
        def hook(*_: object) -> None:
            if is_watched():
                running.append(name)
                calls.change(name)

        return hook

    def leave(*_: object) -> None:
        if is_watched():
            running.pop()
            calls.change(running[-1] if running else None)

    hooks = []
    try:
        for name, inner in module.named_modules():
            # First and last of the module's hooks, so that what its other hooks compute counts as its own. And after an
            # exception too, so that every start has its end.
            hooks.append(inner.register_forward_pre_hook(enter(name), prepend=True))
            hooks.append(inner.register_forward_hook(leave, always_call=True))
        yield
    finally:
        for hook in hooks:
            hook.remove()
