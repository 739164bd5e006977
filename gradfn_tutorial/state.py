"""What a tensor is to autograd: leaf or not, what made it, and whether ``backward()`` fills its ``.grad``."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import cast

import torch
import torch.utils._python_dispatch as python_dispatch
from torch import nn

# Private (measured on torch 2.6 to 2.13), and loaded by torch itself; the import fails where it is gone.
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd.graph import GradientEdge, get_gradient_edge

# Private (measured on torch 2.6 to 2.13): no public name keeps a FakeTensorMode or a logging mode from meeting the operations
# that are run here to look at a tensor. Where it is gone, they do meet them.
unseen_by_modes = getattr(python_dispatch, "_disable_current_modes", nullcontext)

# The node of a function that torch.compile compiled (measured on torch 2.6 and 2.13, with aot_eager).
COMPILED = "CompiledFunctionBackward"
WORDS = {
    "en": {
        "not recorded": "no recorded operation made it",
        "no grad needed": "does not require grad, and every such tensor counts as a leaf",
        "made by": "made by {grad_fn}",
        "no_grad view": "a view, made under no_grad, of a tensor that requires grad",
        "inference": "made in inference_mode, outside autograd for good",
        "fills leaf": "adds to .grad, if the graph leads to this tensor",
        "fills retained": "fills .grad, because retain_grad() was called",
        "skips non-leaf": "leaves .grad alone: not a leaf, and retain_grad() was not called",
        "skips no grad": "leaves .grad alone: requires_grad is False",
        "skips dtype": "leaves .grad alone: only floating-point and complex tensors can require grad",
        "skips no_grad view": "leaves .grad alone: no graph leads here, the flag was only inherited",
        "skips inference": "leaves .grad alone: an inference tensor takes no part in autograd",
        "skips func": "leaves .grad alone: torch.func returns gradients and fills no .grad",
        "in func": "what this torch.func wrapper wraps, and the graph outside the transform",
        "in fake": "the values, and the run for which this FakeTensor only stands in",
        "in compiled": "the operations inside a compiled function, which has one node for all of them",
        "comma": ", ",
        "zeros": "zeros of shape {shape}",
        "sparse": "sparse tensor of shape {shape}",
        "tensor": "tensor of shape {shape}",
        "view": "view of a tensor of shape {shape}",
    },
    "zh": {
        "not recorded": "不是有记录的运算算出来的",
        "no grad needed": "不需要梯度；不需要梯度的张量一律算叶子",
        "made by": "由 {grad_fn} 对应的运算产生",
        "no_grad view": "在 no_grad 里对一个需要梯度的张量取的视图",
        "inference": "在 inference_mode 里产生，从此与 autograd 无关",
        "fills leaf": "会累加到 .grad，前提是图通到这个张量",
        "fills retained": "会填 .grad，因为调用过 retain_grad()",
        "skips non-leaf": "不会填 .grad：不是叶子，也没有调用过 retain_grad()",
        "skips no grad": "不会填 .grad：requires_grad 是 False",
        "skips dtype": "不会填 .grad：只有浮点和复数张量才能需要梯度",
        "skips no_grad view": "不会填 .grad：没有计算图通到这里，标志只是继承来的",
        "skips inference": "不会填 .grad：推理张量不参与 autograd",
        "skips func": "不会填 .grad：torch.func 直接返回梯度，不填任何 .grad",
        "in func": "torch.func 的包装里面的张量，以及变换外面的图",
        "in fake": "值，以及真正的运行：这个 FakeTensor 只是替身",
        "in compiled": "编译后的函数里面的运算：它们在图里合成了一个节点",
        "comma": "，",
        "zeros": "全零张量，形状 {shape}",
        "sparse": "稀疏张量，形状 {shape}",
        "tensor": "张量，形状 {shape}",
        "view": "视图，原张量形状 {shape}",
    },
}


@dataclass(frozen=True)
class TensorState:
    """What ``explain`` found. Printed, it is a small card.

    ``is_leaf``, ``requires_grad`` and ``retains_grad`` are the tensor's own attributes; ``grad_fn`` is the
    node's name or None; ``kind`` is ``"Tensor"``, ``"Parameter"`` or ``"Buffer"`` (an ``nn.Buffer``; what
    ``register_buffer`` was given stays a ``"Tensor"``); ``shape`` has None where the rows of a nested tensor differ;
    ``view_of`` is the shape of the tensor it is a view of, or None; ``grad`` says in words what ``.grad`` holds.
    ``backward_fills_grad`` is True when ``backward()`` from a result that depends on the tensor writes to its
    ``.grad``. ``why_leaf`` and ``why_filled`` are the reasons, and ``unseen`` is what cannot be seen of this tensor, or
    None: ``"in func"`` for ``torch.func``, ``"in compiled"`` for ``torch.compile`` and ``"in fake"`` for a tensor of
    ``torch.export``'s tracing. They are keys that do not depend on the language.
    """

    kind: str
    shape: tuple[int | None, ...]
    dtype: torch.dtype
    view_of: tuple[int | None, ...] | None
    is_leaf: bool
    why_leaf: str
    requires_grad: bool
    grad_fn: str | None
    retains_grad: bool
    grad: str
    backward_fills_grad: bool
    why_filled: str
    unseen: str | None = None
    lang: str = field(default="en", repr=False)

    def __str__(self) -> str:
        words = WORDS[self.lang]
        head = f"{self.kind} {self.shape} {str(self.dtype).removeprefix('torch.')}"
        if self.view_of is not None:
            head += words["comma"] + words["view"].format(shape=self.view_of)
        rows = {
            "is_leaf": f"{self.is_leaf}" + words["comma"] + words[self.why_leaf].format(grad_fn=self.grad_fn),
            "requires_grad": self.requires_grad,
            "grad_fn": self.grad_fn,
            "retains_grad": self.retains_grad,
            ".grad": self.grad,
            "backward()": words[self.why_filled],
        }
        if self.unseen is not None:
            rows["not seen"] = words[self.unseen]
        return "\n".join([head, *(f"  {name:13}  {value}" for name, value in rows.items())])


def explain(tensor: torch.Tensor, lang: str = "en") -> TensorState:
    """Say what ``tensor`` is to autograd, and change nothing about it.

    Args:
        tensor: any tensor, of any shape.
        lang: ``"en"`` or ``"zh"``, the language of the printed card.

    Raises:
        TypeError: ``tensor`` is not a tensor.
        ValueError: ``lang`` is neither ``"en"`` nor ``"zh"``, or ``tensor`` is a parameter of a lazy module that has not
            run yet.
        RuntimeError: ``tensor`` is a view that torch refuses to look at, because its base was modified in place.

    In a function that ``torch.compile`` compiles, the graph is broken here, which ``fullgraph=True`` forbids: torch
    raises its own error then.

    Which tensors are leaves is from the note "Autograd mechanics" of the PyTorch documentation.

    ```python
    import torch
    from gradfn_tutorial import explain

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    print(explain(x * 2))
    ```
    ```output
    Tensor (2,) float32
      is_leaf        False, made by MulBackward0
      requires_grad  True
      grad_fn        MulBackward0
      retains_grad   False
      .grad          None
      backward()     leaves .grad alone: not a leaf, and retain_grad() was not called
    ```
    """
    if torch.compiler.is_dynamo_compiling():
        # Let torch.compile end one compiled part here and begin another afterwards: while it traces there are no tensors.
        return cast(TensorState, torch.compiler.disable(explain)(tensor, lang))
    check_arguments(tensor, lang, "explain")
    if is_stale_view(tensor):
        raise RuntimeError(
            f"explain() cannot answer for this view of shape {shape_of(tensor)}: its base was modified in place "
            "since, and torch then refuses to read its grad_fn or to compute with it. Take the view after the "
            "modification, or replace the in-place operation by one that makes a new tensor."
        )
    why_leaf, why_filled = _reasons(tensor)
    grad_fn = None if tensor.grad_fn is None else node_name(tensor.grad_fn)
    base = base_of(tensor)
    return TensorState(
        kind=_kind(tensor),
        shape=shape_of(tensor),
        dtype=tensor.dtype,
        view_of=None if base is None else shape_of(base),
        is_leaf=tensor.is_leaf,
        why_leaf=why_leaf,
        requires_grad=tensor.requires_grad,
        grad_fn=grad_fn,
        retains_grad=tensor.retains_grad,
        grad=grad_in_words(tensor, lang),
        backward_fills_grad=why_filled.startswith("fills"),
        why_filled=why_filled,
        unseen=_unseen(tensor, grad_fn),
        lang=lang,
    )


def check_arguments(tensor: object, lang: object, caller: str) -> None:
    """Raise where ``caller``, the name of a function, cannot answer for ``tensor`` in ``lang``."""
    if not isinstance(tensor, torch.Tensor):
        hint = " Pass one of its parameters." if isinstance(tensor, nn.Module) else ""
        raise TypeError(f"{caller}() takes a tensor, got {type(tensor).__name__}.{hint}")
    languages = sorted(WORDS)
    if lang not in languages:
        raise ValueError(f"lang is one of {languages}, got {lang!r}.")
    if nn.parameter.is_lazy(tensor):
        raise ValueError(
            f"{caller}() takes a tensor that has a shape, got an {type(tensor).__name__}: a lazy module's, which has "
            "not run yet. Run the module once on an input."
        )


def shape_of(tensor: torch.Tensor) -> tuple[int | None, ...]:
    """The shape, with None where a nested tensor's rows differ: torch has no size there."""
    if not tensor.is_nested or tensor.layout != torch.strided:
        return tuple(tensor.shape)
    sizes: list[int | None] = []
    for dim in range(tensor.dim()):
        try:
            sizes.append(tensor.size(dim))
        except RuntimeError:
            sizes.append(None)
    return tuple(sizes)


def base_of(tensor: torch.Tensor) -> torch.Tensor | None:
    """The tensor that this one is a view of, or None."""
    # _is_view and _base are private (measured on torch 2.6 and 2.13); no public name says what a tensor is a view of, so
    # explain() fails where they are gone.
    return tensor._base if not tensor.is_inference() and tensor._is_view() else None


def is_stale_view(tensor: torch.Tensor) -> bool:
    """Whether this is a view that torch refuses, because its base was modified in place.

    So it is with a view made under ``no_grad`` or ``inference_mode``, by a custom Function, or by an operation that
    returns several views, such as ``split`` (PyTorch's C++ source, ``handle_view_on_rebase``; measured on 2.6 and 2.13).
    """
    try:
        _ = tensor.grad_fn
    except RuntimeError:
        return True
    return False


def is_wrapped(tensor: torch.Tensor) -> bool:
    """Whether this is what a ``torch.func`` transform passes to its function in place of a tensor."""
    # Private (measured on torch 2.6 and 2.13); the type of the wrapper is torch.Tensor, so no public name tells. It fails
    # where the name is gone.
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)


def has_gradient_edge(tensor: torch.Tensor) -> bool:
    """Whether the backward graph has a place for this tensor's gradient.

    False for a view made under ``no_grad`` of a tensor that requires grad: it says ``requires_grad=True``, yet
    no node leads to it (measured on torch 2.6 and 2.13).
    """
    if not tensor.requires_grad or tensor.is_inference():
        return False
    base = base_of(tensor)
    # Where the base requires no grad, the flag is the view's own, so that it is a leaf of its own.
    return base is None or not base.requires_grad or gradient_edge(tensor) is not None


def gradient_edge(tensor: torch.Tensor) -> GradientEdge | None:
    """torch's ``get_gradient_edge``, also in inference mode; None where torch finds no edge."""
    try:
        # torch takes a view of a leaf and asks the view for its node. _DisableFuncTorch is private (measured on torch 2.6 and
        # 2.13), as nothing public leaves a torch.func transform for a while; this fails where it is gone.
        with torch.inference_mode(False), torch._C._DisableFuncTorch(), unseen_by_modes():
            return get_gradient_edge(tensor)
    except (AssertionError, RuntimeError):
        return None


def node_name(fn: torch.autograd.graph.Node) -> str:
    """The node's name without C++ namespaces: ``AccumulateGrad``, not ``torch::autograd::AccumulateGrad``."""
    # Not fn.name(): a custom Function may have set ctx.name, and ctx is the node.
    return type(fn).name(fn).rpartition("::")[2]


def read_grad(tensor: torch.Tensor) -> torch.Tensor | None:
    """``tensor.grad`` without the warning that torch prints for a non-leaf."""
    if tensor.retains_grad or tensor.is_leaf:
        return tensor.grad
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor")
        return tensor.grad


def grad_in_words(tensor: torch.Tensor, lang: str) -> str:
    """What ``.grad`` holds: None, the value where it is one number, else its shape, and whether it is all zeros."""
    grad = read_grad(tensor)
    if grad is None:
        return "None"
    number = number_in(grad)
    if number is not None:
        return f"{number:.4g}"
    kind = "tensor"
    if str(grad.layout).startswith("torch.sparse"):
        kind = "sparse"
    elif _is_plain(grad):
        with unseen_by_modes():
            kind = "tensor" if grad.any() else "zeros"
    return WORDS[lang][kind].format(shape=shape_of(grad))


def number_in(grad: torch.Tensor) -> float | None:
    """The value of a gradient of one element, where reading it is a plain look at CPU memory; else None."""
    if not _is_plain(grad) or not grad.is_floating_point() or grad.numel() != 1:
        return None
    # Unlike item(), tolist() is no operation that a mode would see.
    value = grad.tolist()
    while isinstance(value, list):
        value = value[0]
    return float(value)


def _is_plain(grad: torch.Tensor) -> bool:
    on_cpu = type(grad) is torch.Tensor and grad.device.type == "cpu"
    return on_cpu and grad.layout == torch.strided and not grad.is_nested and not is_wrapped(grad)


def _kind(tensor: torch.Tensor) -> str:
    if isinstance(tensor, nn.Parameter):
        return "Parameter"
    return "Buffer" if isinstance(tensor, nn.Buffer) else "Tensor"


def _unseen(tensor: torch.Tensor, grad_fn: str | None) -> str | None:
    if is_wrapped(tensor):
        return "in func"
    if isinstance(tensor, FakeTensor):
        return "in fake"
    return "in compiled" if grad_fn == COMPILED else None


def _reasons(tensor: torch.Tensor) -> tuple[str, str]:
    if is_wrapped(tensor):
        why_leaf = (
            "no grad needed" if not tensor.requires_grad else "not recorded" if tensor.is_leaf else "made by"
        )
        return why_leaf, "skips func"
    if tensor.is_inference():
        return "inference", "skips inference"
    if not tensor.is_leaf:
        return "made by", "fills retained" if tensor.retains_grad else "skips non-leaf"
    if not tensor.requires_grad:
        can_require = tensor.is_floating_point() or tensor.is_complex()
        return "no grad needed", "skips no grad" if can_require else "skips dtype"
    if not has_gradient_edge(tensor):
        return "no_grad view", "skips no_grad view"
    return "not recorded", "fills leaf"
