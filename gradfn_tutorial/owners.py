"""Which module was running when a node was made: ``owners(module)`` takes it down during the forward pass."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from threading import get_ident, local
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn


class Calls:
    """From which sequence number on nodes were made inside which module, as ``owners`` saw it in one thread."""

    def __init__(self) -> None:
        self.watching = True
        self._thread = get_ident()
        self._running: list[str] = []
        self._starts: list[int] = []
        self._names: list[str | None] = []

    def __reduce__(self) -> tuple[Any, ...]:
        # A model that is copied or saved inside the block takes its hooks along, and they are to do nothing there.
        return Calls._of_a_copy, ()

    @staticmethod
    def _of_a_copy() -> Calls:
        calls = Calls()
        calls.watching = False
        return calls

    def enter(self, name: str, *_: object) -> None:
        if self._is_watched():
            self._running.append(name)
            self._note(name)

    def leave(self, name: str, *_: object) -> None:
        # Where a hook before ours has raised, this module was never entered.
        if self._is_watched() and name in self._running:
            while self._running.pop() != name:
                pass
            self._note(self._running[-1] if self._running else None)

    def _is_watched(self) -> bool:
        # In this order: torch.compile, which traces the hooks too, cannot trace get_ident().
        return not torch.compiler.is_compiling() and self.watching and get_ident() == self._thread

    def _note(self, name: str | None) -> None:
        # _get_sequence_nr is private (measured on torch 2.6 to 2.15): the number that this thread's next node will have.
        # No public name tells it; where it is gone, owners() fails.
        self._starts.append(torch.autograd._get_sequence_nr())  # type: ignore[attr-defined,unused-ignore]
        self._names.append(name)

    @property
    def end(self) -> int:
        """The number of the first node that was made after the last call."""
        return self._starts[-1] if self._starts else 0

    def span(self, number: int) -> tuple[int, float, str | None]:
        """The numbers, from the first up to but without the second, that the innermost module made round ``number``."""
        place = bisect_right(self._starts, number)
        first = self._starts[place - 1] if place else -1
        end = self._starts[place] if place < len(self._starts) else inf
        return first, end, self._names[place - 1] if place else None


class _Seen(local):
    """What one thread has seen: each thread numbers the nodes that it makes from 0."""

    def __init__(self) -> None:
        self.calls: WeakKeyDictionary[nn.Module, Calls] = WeakKeyDictionary()


_seen = _Seen()


def calls_of(module: nn.Module) -> Calls | None:
    """What the latest ``owners(module)`` of this thread saw, or None if there was none."""
    return _seen.calls.get(module)


@contextmanager
def owners(module: nn.Module) -> Iterator[None]:
    """Round a forward pass: afterwards ``trace(loss, module)`` knows in which layer each node was made.

    Without it, ``trace`` tells layers by the parameters that lead into them. With it, ``node.module`` is the innermost
    module whose ``forward`` was running, for activations, pooling, reshapes and everything else too; None for nodes
    made outside of ``module`` or outside of the block, such as the loss. Hooks are registered on every module inside and
    removed at the end. What a block saw is kept until the next ``owners(module)`` or until the module is gone.

    Args:
        module: the model that the block will call, the same object that ``trace`` is given afterwards.

    Raises:
        TypeError: ``module`` is not an ``nn.Module``, or is what ``torch.compile`` or ``torch.jit`` returned.

    Limits. A compiled region is one node, made by no module. Under ``torch.utils.checkpoint`` with
    ``use_reentrant=True`` the block is one node too, of the module that called it. What a scripted or traced module makes
    belongs to the module round it. A module whose ``forward`` is never called, such as ``out_proj`` in
    ``nn.MultiheadAttention``, owns only what its parameters tell; a ``forward`` that is a generator owns nothing. Threads
    number their nodes separately (measured on torch 2.6 to 2.15): run the forward pass, the block and ``trace`` in one and
    the same thread; in another, ``trace`` tells layers by their parameters.

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
    if hasattr(module, "_orig_mod") or isinstance(module, torch.jit.ScriptModule):
        raise TypeError(
            f"owners() takes a module as you wrote it, got {type(module).__name__}, which torch.compile() or torch.jit "
            "made of one, and whose layers do not run one by one. Pass and call the module that it was made of."
        )
    calls = _seen.calls[module] = Calls()
    hooks = []
    try:
        for name, inner in module.named_modules():
            if isinstance(inner, torch.jit.ScriptModule):
                continue
            # First and last of the module's hooks, so that what its other hooks compute counts as its own. And after an
            # exception too, so that every start has its end.
            hooks.append(inner.register_forward_pre_hook(partial(calls.enter, name), prepend=True))
            hooks.append(inner.register_forward_hook(partial(calls.leave, name), always_call=True))
        yield
    finally:
        calls.watching = False
        for hook in hooks:
            hook.remove()
