"""What a tensor is to autograd: leaf or not, what made it, and whether ``backward()`` fills its ``.grad``."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

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
        "comma": ", ",
        "zeros": "zeros of shape {shape}",
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
        "comma": "，",
        "zeros": "全零张量，形状 {shape}",
        "tensor": "张量，形状 {shape}",
        "view": "视图，原张量形状 {shape}",
    },
}


@dataclass(frozen=True)
class TensorState:
    """What ``explain`` found. Printed, it is a small card.

    ``is_leaf``, ``requires_grad`` and ``retains_grad`` are the tensor's own attributes; ``grad_fn`` is the
    node's name or None; ``kind`` is ``"Tensor"``, ``"Parameter"`` or ``"Buffer"`` (an ``nn.Buffer``; what
    ``register_buffer`` was given stays a ``"Tensor"``); ``view_of`` is the shape of the
    tensor it is a view of, or None; ``grad`` says in words what ``.grad`` holds. ``backward_fills_grad`` is True
    when ``backward()`` from a result that depends on the tensor writes to its ``.grad``. ``why_leaf`` and
    ``why_filled`` are the reasons, as keys that do not depend on the language.
    """

    kind: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    view_of: tuple[int, ...] | None
    is_leaf: bool
    why_leaf: str
    requires_grad: bool
    grad_fn: str | None
    retains_grad: bool
    grad: str
    backward_fills_grad: bool
    why_filled: str
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
        return "\n".join([head, *(f"  {name:13}  {value}" for name, value in rows.items())])


def explain(tensor: torch.Tensor, lang: str = "en") -> TensorState:
    """Say what ``tensor`` is to autograd, and change nothing about it.

    Args:
        tensor: any tensor, of any shape.
        lang: ``"en"`` or ``"zh"``, the language of the printed card.

    Raises:
        TypeError: ``tensor`` is not a tensor.
        ValueError: ``lang`` is neither ``"en"`` nor ``"zh"``.

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
    if not isinstance(tensor, torch.Tensor):
        hint = " Pass one of its parameters." if isinstance(tensor, nn.Module) else ""
        raise TypeError(f"explain() takes a tensor, got {type(tensor).__name__}.{hint}")
    if lang not in WORDS:
        raise ValueError(f"lang is one of {sorted(WORDS)}, got {lang!r}.")
    why_leaf, why_filled = _reasons(tensor)
    # _is_view and _base are private (measured on torch 2.6 and 2.13); no public name says what a tensor is a view of.
    base = tensor._base if not tensor.is_inference() and tensor._is_view() else None
    return TensorState(
        kind=_kind(tensor),
        shape=tuple(tensor.shape),
        dtype=tensor.dtype,
        view_of=None if base is None else tuple(base.shape),
        is_leaf=tensor.is_leaf,
        why_leaf=why_leaf,
        requires_grad=tensor.requires_grad,
        grad_fn=None if tensor.grad_fn is None else node_name(tensor.grad_fn),
        retains_grad=tensor.retains_grad,
        grad=_grad_in_words(tensor, lang),
        backward_fills_grad=why_filled.startswith("fills"),
        why_filled=why_filled,
        lang=lang,
    )


def has_gradient_edge(tensor: torch.Tensor) -> bool:
    """Whether the backward graph has a place for this tensor's gradient.

    False for a view made under ``no_grad`` of a tensor that requires grad: it says ``requires_grad=True``, yet
    no node leads to it (measured on torch 2.6 and 2.13).
    """
    if not tensor.requires_grad or tensor.is_inference():
        return False
    return not tensor._is_view() or gradient_edge(tensor) is not None


def gradient_edge(tensor: torch.Tensor) -> GradientEdge | None:
    """torch's ``get_gradient_edge``, also in inference mode; None where torch finds no edge."""
    try:
        # torch takes a view of a leaf and asks the view for its node.
        with torch.inference_mode(False):
            return get_gradient_edge(tensor)
    except (AssertionError, RuntimeError):
        return None


def node_name(fn: torch.autograd.graph.Node) -> str:
    """The node's name without C++ namespaces: ``AccumulateGrad``, not ``torch::autograd::AccumulateGrad``."""
    # Not fn.name(): a custom Function may have set ctx.name, and ctx is the node.
    return type(fn).name(fn).rpartition("::")[2]


def read_grad(tensor: torch.Tensor) -> torch.Tensor | None:
    """``tensor.grad`` without the warning that torch prints for a non-leaf."""
    if tensor.is_leaf or tensor.retains_grad:
        return tensor.grad
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor")
        return tensor.grad


def number_in(grad: torch.Tensor) -> float | None:
    """The value of a gradient of one element, where reading it is a plain look at CPU memory; else None."""
    readable = type(grad) is torch.Tensor and grad.device.type == "cpu" and grad.is_floating_point()
    if not readable or grad.layout != torch.strided or grad.numel() != 1:
        return None
    return float(grad.detach())


def _kind(tensor: torch.Tensor) -> str:
    if isinstance(tensor, nn.Parameter):
        return "Parameter"
    return "Buffer" if isinstance(tensor, nn.Buffer) else "Tensor"


def _reasons(tensor: torch.Tensor) -> tuple[str, str]:
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


def _grad_in_words(tensor: torch.Tensor, lang: str) -> str:
    grad = read_grad(tensor)
    if grad is None:
        return "None"
    number = number_in(grad)
    if number is not None:
        return f"{number:.4g}"
    dense = type(grad) is torch.Tensor and grad.layout == torch.strided and not grad.is_meta
    zeros = dense and not grad.detach().any()
    return WORDS[lang]["zeros" if zeros else "tensor"].format(shape=tuple(grad.shape))
