"""Why a tensor's ``.grad`` is None: one cause out of a closed list, each proven by what can be seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import torch
from torch import nn
from torch.autograd.function import BackwardCFunction
from torch.autograd.graph import Node as TorchNode
from torch.nn.utils.parametrize import ParametrizationList

from gradfn_tutorial.causes import COMMA, FAULT_OF_LOSS, NAMES, RETAIN_TOO, TEXTS
from gradfn_tutorial.graph import Graph, trace
from gradfn_tutorial.state import (
    COMPILED,
    base_of,
    check_arguments,
    grad_in_words,
    has_gradient_edge,
    is_stale_view,
    is_wrapped,
    node_name,
    read_grad,
    shape_of,
)

# Each stands for a whole function. The second is what TorchScript makes of what it has run a few times (measured on torch 2.6
# to 2.15).
ONE_NODE = (COMPILED, "DifferentiableGraphBackward")


@dataclass(frozen=True)
class Diagnosis:
    """What ``why_no_grad`` found: ``cause`` is a code that ``why_no_grad`` lists, ``message`` says what it means, ``fix`` what to do."""

    cause: str
    message: str
    fix: str
    lang: str = field(default="en", repr=False)

    def __str__(self) -> str:
        return f"{self.message}\n{self.fix}"


def why_no_grad(
    tensor: torch.Tensor,
    loss: torch.Tensor | None = None,
    module: nn.Module | None = None,
    lang: str = "en",
) -> Diagnosis:
    """Say why ``tensor.grad`` is None, and change nothing.

    The cause is one of a closed list, and each is proven by what can be seen from outside. Where several look alike, one
    cause names them all. Of several that hold at once, it is the one to mend first.

    The causes are ``has-grad``, ``torch-func``, ``stale-view``, ``inference-tensor``, ``dtype``,
    ``turned-off-after-forward``, ``requires-grad-off``, ``no-grad-view``, ``loss-has-no-graph``, ``parametrized``,
    ``compiled``, ``hidden-in-function``, ``not-in-module``, ``not-reached``, ``non-leaf``,
    ``nothing-since-retain-grad``, ``backward-not-run-or-cleared`` and ``loss-not-given``.

    Whether ``backward()`` has run cannot be seen: what it frees is told only by reading saved tensors, which may run
    somebody's code.

    Args:
        tensor: the tensor whose ``.grad`` is None, of any shape.
        loss: what ``backward()`` is, or was, called on, of any shape. Without it, only causes that lie in the tensor
            itself are found.
        module: the model. It gives the tensor its name, and tells weights that are computed or were replaced.
        lang: ``"en"`` or ``"zh"``, the language of message and fix.

    Raises:
        TypeError: ``tensor`` or ``loss`` is not a tensor, or ``module`` is not a module.
        ValueError: ``lang`` is neither ``"en"`` nor ``"zh"``, or ``tensor`` or ``loss`` belongs to a lazy module that has
            not run yet.

    In a function that ``torch.compile`` compiles, the graph is broken here, which ``fullgraph=True`` forbids: torch
    raises its own error then.

    Who gets a gradient is from the note "Autograd mechanics" of the PyTorch documentation; each cause was measured on
    torch 2.6 and 2.13.

    ```python
    import torch
    from gradfn_tutorial import why_no_grad

    w = torch.ones(3, requires_grad=True) * 0.1
    loss = w.sum()
    loss.backward()
    why = why_no_grad(w, loss)
    print(why.cause)
    print(why)
    ```
    ```output
    non-leaf
    This tensor of shape (3,) is no leaf: MulBackward0 made it, and backward() keeps only the gradients of leaves.
    Call tensor.retain_grad() before backward(). If it was meant as a leaf, compute it first and call requires_grad_() last.
    ```
    """
    if torch.compiler.is_dynamo_compiling():
        # As in explain(): while torch.compile traces there are no tensors to look at.
        return cast(Diagnosis, torch.compiler.disable(why_no_grad)(tensor, loss, module, lang))
    check_arguments(tensor, lang, "why_no_grad")
    if loss is not None:
        _check_loss(loss)
        check_arguments(loss, lang, "why_no_grad")
    if module is not None and not isinstance(module, nn.Module):
        raise TypeError(
            f"why_no_grad() takes the model, an nn.Module, as module; got {type(module).__name__}."
        )
    cause, facts = _find(tensor, loss, module, lang)
    words = {"tensor": _name(tensor, module, lang), **facts}
    if "names" in words:
        words["names"] = COMMA[lang].join(cast("list[str]", words["names"]))
    message, fix = (text.format(**words) for text in TEXTS[cause][lang])
    if cause in FAULT_OF_LOSS and not tensor.is_leaf and not tensor.retains_grad:
        fix += RETAIN_TOO[lang]
    if lang == "en":
        message = message[0].upper() + message[1:]
    return Diagnosis(cause, message, fix, lang)


def _check_loss(loss: object) -> None:
    if isinstance(loss, torch.Tensor):
        return
    hint = ""
    if isinstance(loss, nn.Module):
        hint = " Pass the model as module=model."
    elif isinstance(loss, (int, float)):
        hint = " A number has no graph: pass the tensor, not its item()."
    raise TypeError(
        "why_no_grad() takes as loss the tensor that backward() is called on, "
        f"got {type(loss).__name__}.{hint}"
    )


def _find(
    tensor: torch.Tensor, loss: torch.Tensor | None, module: nn.Module | None, lang: str
) -> tuple[str, dict[str, object]]:
    """The cause, and what its texts say of this case."""
    stale = is_stale_view(tensor)
    # Of a stale view, torch tells .grad only where it was retained.
    if (tensor.retains_grad or not stale) and read_grad(tensor) is not None:
        return "has-grad", {"grad": grad_in_words(tensor, lang)}
    if is_wrapped(tensor):
        return "torch-func", {}
    if stale:
        return "stale-view", {}
    if tensor.is_inference():
        return "inference-tensor", {}
    if loss is not None and (is_wrapped(loss) or is_stale_view(loss)):
        cause = "torch-func" if is_wrapped(loss) else "stale-view"
        return cause, {"tensor": NAMES[lang]["loss"].format(shape=shape_of(loss))}
    if not tensor.requires_grad:
        if not tensor.is_floating_point() and not tensor.is_complex():
            return "dtype", {"dtype": tensor.dtype}
        turned_off = loss is not None and loss.grad_fn is not None and _leads_to(trace(loss), loss, tensor)
        return "turned-off-after-forward" if turned_off else "requires-grad-off", {}
    base = base_of(tensor)
    if tensor.is_leaf and base is not None and not has_gradient_edge(tensor):
        return "no-grad-view", {"base": shape_of(base)}
    if loss is None:
        keeps = tensor.is_leaf or tensor.retains_grad
        return ("loss-not-given", {}) if keeps else _why_no_leaf(tensor, module)
    if loss.grad_fn is None and loss is not tensor:
        return "loss-has-no-graph", {}
    graph = trace(loss, module)
    if not _leads_to(graph, loss, tensor):
        return _why_not_reached(tensor, graph, loss, module)
    if tensor.is_leaf:
        return "backward-not-run-or-cleared", {}
    return ("nothing-since-retain-grad", {}) if tensor.retains_grad else _why_no_leaf(tensor, module)


def _leads_to(graph: Graph, loss: torch.Tensor, tensor: torch.Tensor) -> bool:
    if tensor.is_leaf:
        leaves = [node.fn for node in graph.nodes if node.name == "AccumulateGrad"]
        return any(fn.variable is tensor for fn in leaves)  # type: ignore[attr-defined]
    # The node alone is not enough: of an operation with several results, the loss may use another one.
    place = (tensor.grad_fn, tensor.output_nr)
    if place == (loss.grad_fn, loss.output_nr):
        return True
    return any((edge.node.fn, edge.output_nr) == place for edge in graph.edges)


def _why_no_leaf(tensor: torch.Tensor, module: nn.Module | None) -> tuple[str, dict[str, object]]:
    node = node_name(cast(TorchNode, tensor.grad_fn))
    originals = _originals(tensor, module)
    if originals:
        return "parametrized", {"node": node, "names": originals}
    return "non-leaf", {"node": node}


def _why_not_reached(
    tensor: torch.Tensor, graph: Graph, loss: torch.Tensor, module: nn.Module | None
) -> tuple[str, dict[str, object]]:
    reached = {name for node in graph.nodes for name in node.parameters}
    if tensor.grad_fn is not None and reached.intersection(_originals(tensor, module)):
        return _why_no_leaf(tensor, module)
    # A compiled function lists the tensors that it uses as inputs of its node; other Functions need not. But views of those,
    # and of its results, it may return as if they had been taken outside.
    compiled = {node.fn: node.name for node in graph.nodes if node.name in ONE_NODE}
    base = base_of(tensor)
    made = [t.grad_fn for t in (tensor, base) if t is not None]
    if compiled.keys() & made or (compiled and base is not None and _leads_to(graph, loss, base)):
        return "compiled", {"names": sorted(set(compiled.values()))}
    functions = [node for node in graph.nodes if isinstance(node.fn, BackwardCFunction)]
    opaque = {node.name for node in functions} - {COMPILED}
    if opaque:
        return "hidden-in-function", {"names": sorted(opaque)}
    if module is not None and isinstance(tensor, nn.Parameter):
        own = any(parameter is tensor for parameter in module.parameters())
        if not own and reached:
            return "not-in-module", {}
    return "not-reached", {}


def _originals(tensor: torch.Tensor, module: nn.Module | None) -> list[str]:
    """The parameters from which ``tensor`` is made, if all are those of one parametrized tensor of ``module``."""
    if module is None:
        return []
    nodes = [node for node in trace(tensor, module).nodes if node.name == "AccumulateGrad"]
    leaves = {node.fn.variable for node in nodes}  # type: ignore[attr-defined]
    parametrized = (part for part in module.modules() if isinstance(part, ParametrizationList))
    if not any(leaves and leaves.issubset(part.parameters()) for part in parametrized):
        return []
    return sorted(node.parameters[0] for node in nodes)


def _name(tensor: torch.Tensor, module: nn.Module | None, lang: str) -> str:
    shape = shape_of(tensor)
    if module is not None:
        for kind, all_named in (("Parameter", module.named_parameters), ("Buffer", module.named_buffers)):
            names = [name for name, other in all_named(remove_duplicate=False) if other is tensor]
            if names:
                return NAMES[lang][kind].format(name=" = ".join(names), shape=shape)
    return NAMES[lang]["Tensor"].format(shape=shape)
