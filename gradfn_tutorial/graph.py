"""The backward graph behind a tensor: its nodes, its edges, its layers, and the way to each of them."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from heapq import heappop, heappush
from typing import NamedTuple, Union, cast

import torch
from torch import nn
from torch.autograd.graph import Node as TorchNode

from gradfn_tutorial.freeing import make_safe_to_free
from gradfn_tutorial.layers import Layers
from gradfn_tutorial.state import gradient_edge, node_name, number_in, read_grad
from gradfn_tutorial.svg import draw
from gradfn_tutorial.text import write

Names = Union[nn.Module, Mapping[str, torch.Tensor]]
Start = Union[torch.Tensor, Sequence[torch.Tensor], TorchNode, "Node"]


class Edge(NamedTuple):
    """From an operation's input to the node that made this input.

    ``slot`` counts the inputs of the operation; ``output_nr`` counts the outputs of the operation behind ``node``
    that can have a gradient, and is the position at which the gradient arrives there.
    """

    slot: int
    node: Node
    output_nr: int


class Node:
    """One node of the backward graph.

    ``name`` is the node's name (``"ConvolutionBackward0"``) and ``fn`` torch's own object. ``inputs`` has an ``Edge``
    for every slot, or None where torch has None: an input that needs no gradient. ``parameters`` are the dotted names
    of an AccumulateGrad's tensor, all of them when it is shared. ``module`` is the dotted name of the layer whose
    operation this is, or None. ``tensors`` are the names of results of this operation, where ``trace`` was given them.
    ``grad`` says what ``.grad`` held when the graph was traced, ``"None"`` included; it is None itself where the
    node stands for no tensor that could hold one. ``index`` is the node's place in ``Graph.nodes``.
    """

    __slots__ = ("fn", "grad", "index", "inputs", "module", "name", "parameters", "tensors")

    def __init__(self, fn: TorchNode, name: str) -> None:
        self.fn = fn
        self.name = name
        self.inputs: tuple[Edge | None, ...] = ()
        self.parameters: tuple[str, ...] = ()
        self.module: str | None = None
        self.tensors: tuple[str, ...] = ()
        self.grad: str | None = None
        self.index = 0

    @property
    def label(self) -> str:
        """The name that a reader knows it by: of the layer, of the parameter, of the tensor; may be empty."""
        return " = ".join(self.parameters) or ", ".join(self.tensors) or self.module or ""

    def __repr__(self) -> str:
        return f"<{self.name} {self.label}>" if self.label else f"<{self.name}>"


@dataclass(frozen=True)
class Path:
    """The way from where the trace started to ``node``. ``str()`` of it is the expression that leads there."""

    steps: tuple[Edge, ...]
    node: Node
    expression: str

    def __str__(self) -> str:
        return self.expression

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Edge]:
        return iter(self.steps)


class Graph:
    """What ``trace`` found. ``nodes`` are in the order in which the engine runs them."""

    def __init__(self, roots: list[_Root], nodes: list[Node], layers: Layers | None) -> None:
        self.nodes: tuple[Node, ...] = tuple(nodes)
        self._roots = roots
        self._layers = layers

    @property
    def roots(self) -> tuple[Node, ...]:
        """The nodes that the trace started from, in the order given."""
        return tuple(root.node for root in self._roots)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, node by node and slot by slot; None slots left out."""
        return tuple(edge for node in self.nodes for edge in node.inputs if edge is not None)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        roots = ", ".join(root.node.name for root in self._roots)
        return f"<Graph of {roots}: {len(self.nodes)} nodes>"

    def find(self, name: str) -> tuple[Node, ...]:
        """The nodes whose name contains ``name``, in the graph's order; empty where none does.

        ```python
        import torch
        from gradfn_tutorial import trace

        x = torch.ones(3, requires_grad=True)
        print(trace(x.exp().sum()).find("Exp"))
        ```
        ```output
        (<ExpBackward0>,)
        ```
        """
        return tuple(node for node in self.nodes if name in node.name)

    def layer(self, name: str) -> tuple[Node, ...]:
        """The operation nodes of the layer with this dotted name; several when the layer ran several times.

        AccumulateGrad, and the transposes and views that a layer wraps round its operation, are left out.

        Raises:
            ValueError: the graph was traced without a module.
            LookupError: the module has no such layer, or the layer has no node in this graph.

        ```python
        import torch
        from gradfn_tutorial import trace
        from gradfn_tutorial.models import ConvNet

        model = ConvNet()
        loss = model(torch.randn(1, 3, 32, 32)).sum()
        print(trace(loss, model).layer("conv1"))
        ```
        ```output
        (<ConvolutionBackward0 conv1>,)
        ```
        """
        return self._known_layers("layer").nodes_of(name, self.nodes)

    def layers(self, kind: type[nn.Module]) -> tuple[Node, ...]:
        """The operation nodes of every layer of this class, in the graph's order: the last layer comes first.

        Raises:
            ValueError: the graph was traced without a module.
            LookupError: the module has no layer of this class, or none of them has a node in this graph.
            TypeError: ``kind`` is no class of layers.

        ```python
        import torch
        from torch import nn
        from gradfn_tutorial import trace
        from gradfn_tutorial.models import ConvNet

        model = ConvNet()
        loss = model(torch.randn(1, 3, 32, 32)).sum()
        print(trace(loss, model).layers(nn.Conv2d))
        ```
        ```output
        (<ConvolutionBackward0 conv2>, <ConvolutionBackward0 conv1>)
        ```
        """
        if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
            raise TypeError(f"layers() takes a class of layers such as nn.Conv2d, got {kind!r}.")
        return self._known_layers("layers").nodes_of_kind(kind, self.nodes)

    def path(self, target: Node | TorchNode | torch.Tensor | str, root: str | None = None) -> Path:
        """The shortest way to ``target``: a node, a parameter, or the dotted name of a parameter or a layer.

        ``root`` is what your program calls the thing that was traced: by default ``"loss"``, or ``"node"`` where the
        trace started at a node. Of several shortest ways, it is the one through the lowest slots.

        Raises:
            LookupError: nothing in this graph goes by that name, or the node or parameter is not in it.
            ValueError: the name stands for several nodes.

        ```python
        import torch
        from gradfn_tutorial import trace
        from gradfn_tutorial.models import ConvNet

        model = ConvNet()
        loss = model(torch.randn(1, 3, 32, 32)).sum()
        print(trace(loss, model).path("fc3.weight"))
        ```
        ```output
        loss.grad_fn.next_functions[0][0].next_functions[2][0].next_functions[0][0]
        ```
        """
        node = self._resolve(target)
        came: dict[Node, tuple[Node, Edge] | None] = dict.fromkeys(self.roots)
        queue = list(came)
        for at in queue:
            if at is node:
                break
            for edge in at.inputs:
                if edge is not None and edge.node not in came:
                    came[edge.node] = (at, edge)
                    queue.append(edge.node)
        steps: list[Edge] = []
        first = node
        while (step := came[first]) is not None:
            first, edge = step
            steps.append(edge)
        steps.reverse()
        at_root = next(root for root in self._roots if root.node is first)
        start = at_root.expression.format(root=root or at_root.usual_name)
        hops = "".join(f".next_functions[{edge.slot}][0]" for edge in steps)
        return Path(tuple(steps), node, start + hops)

    def to_text(self, limit: int = 200) -> str:
        """The graph as a tree of at most ``limit`` lines, the way back to the deepest input straight down.

        A line begins with the slot through which its node is reached; without a branch mark, it goes on from the node
        above. A node met a second time says "see above".

        ```python
        import torch
        from gradfn_tutorial import trace

        x, w = torch.ones(3), torch.ones(3, requires_grad=True)
        print(trace((x * w).sum(), {"w": w}).to_text())
        ```
        ```output
        SumBackward0
        0 MulBackward0
        ├─0 None
        └─1 AccumulateGrad  w  .grad None
        ```
        """
        return write(self.nodes, self.roots, limit)

    def to_svg(self) -> str:
        """The graph as an SVG picture that needs nothing else: it follows light and dark mode and reads aloud.

        Raises:
            ValueError: the graph has more nodes than a picture can show.
        """
        return draw(self.nodes, self.roots)

    def _repr_svg_(self) -> str | None:
        return self.to_svg() if len(self.nodes) <= 200 else None

    def _known_layers(self, method: str) -> Layers:
        if self._layers is None:
            raise ValueError(
                f"{method}() needs to know the layers, but this graph was traced without a module. "
                "Pass it: trace(loss, model)."
            )
        return self._layers

    def _resolve(self, target: Node | TorchNode | torch.Tensor | str) -> Node:
        if isinstance(target, str):
            return self._named(target)
        if isinstance(target, Node):
            found = [node for node in self.nodes if node is target]
        elif isinstance(target, torch.Tensor):
            found = [node for node in self.nodes if _leaf_of(node) is target]
            found = found or [node for node in self.nodes if node.fn is target.grad_fn]
        elif isinstance(target, TorchNode):
            found = [node for node in self.nodes if node.fn is target]
        else:
            raise TypeError(f"path() takes a node, a tensor or a dotted name, got {type(target).__name__}.")
        if not found:
            what = "tensor" if isinstance(target, torch.Tensor) else f"node {target!r}"
            raise LookupError(f"This {what} is not in the graph: no gradient goes from {self!r} to it.")
        return found[0]

    def _named(self, name: str) -> Node:
        named = [node for node in self.nodes if name in node.parameters or name in node.tensors]
        if not named and self._layers is not None and name in self._layers:
            named = list(self._layers.nodes_of(name, self.nodes))
        if len(named) > 1:
            raise ValueError(
                f"{name!r} stands for {len(named)} nodes of this graph. Pass one of them: {named}."
            )
        if not named:
            if self._layers is not None and (reason := self._layers.why_no_parameter(name)):
                raise LookupError(f"Parameter {name!r} is not in this graph: {reason}")
            known = [n for node in self.nodes for n in (*node.parameters, *node.tensors)]
            known += self._layers or ()
            close = get_close_matches(name, known, n=3)
            hint = f" Close to it: {', '.join(close)}." if close else ""
            raise LookupError(f"Nothing in this graph is called {name!r}.{hint}")
        return named[0]


def trace(start: Start, module: Names | None = None) -> Graph:
    """Walk the backward graph behind ``start`` and return it as a ``Graph``.

    Nothing that belongs to you changes: no flag, hook, ``.grad`` or saved tensor. Only in a graph more than a thousand
    nodes deep, ``node.metadata`` of some nodes gets a private entry, so that torch can free it safely.

    Args:
        start: a tensor with a graph, a tuple of such tensors, or a node, torch's or one of a ``Graph``.
        module: the model, whose parameters and layers then have their dotted names in the graph; or, where there is no
            model, a dictionary from names to tensors.

    Raises:
        TypeError: ``start`` or ``module`` is something else.
        ValueError: a tensor in ``start`` has no graph.

    The order of ``Graph.nodes`` is the engine's: of the nodes whose gradient is complete, the one made last runs first,
    and an AccumulateGrad runs at once (PyTorch's C++ engine sorts its queue by ``sequence_nr``).

    ```python
    import torch
    from gradfn_tutorial import trace

    x = torch.ones(3, requires_grad=True)
    y = x * 2
    for node in trace(y.sum(), {"x": x, "y": y}).nodes:
        print(node)
    ```
    ```output
    <SumBackward0>
    <MulBackward0 y>
    <AccumulateGrad x>
    ```
    """
    starts = _roots(start)
    names = _names(module)
    # A node is made once and lives as long as the graph, so a collection in the middle of the walk would look at ever
    # more objects and free none: it costs more than the walk.
    collecting = gc.isenabled()
    gc.disable()
    try:
        found = _walk([fn for fn, _ in starts])
        nodes = _engine_order(found)
        for index, node in enumerate(nodes):
            node.index = index
        _name_tensors(found, names)
        layers = Layers(module, nodes) if isinstance(module, nn.Module) else None
        make_safe_to_free(nodes)
    finally:
        if collecting:
            gc.enable()
    return Graph([_Root(found[fn], expression) for fn, expression in starts], nodes, layers)


class _Root(NamedTuple):
    node: Node
    expression: str

    @property
    def usual_name(self) -> str:
        return "node" if self.expression in ("{root}", "{root}.fn") else "loss"


def _names(module: Names | None) -> dict[torch.Tensor, list[str]]:
    if module is None:
        return {}
    if isinstance(module, nn.Module):
        pairs: list[tuple[str, torch.Tensor]] = list(module.named_parameters(remove_duplicate=False))
    elif isinstance(module, Mapping):
        pairs = list(module.items())
    else:
        raise TypeError(
            "trace() takes the model, or a dictionary from names to tensors, as its second argument; "
            f"got {type(module).__name__}."
        )
    for name, tensor in pairs:
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise TypeError(
                "trace() takes a dictionary from names to tensors as its second argument; "
                f"in it is {name!r}: {type(tensor).__name__}."
            )
    names: dict[torch.Tensor, list[str]] = {}
    for name, tensor in pairs:
        names.setdefault(tensor, []).append(name)
    return names


def _roots(start: Start) -> list[tuple[TorchNode, str]]:
    if isinstance(start, Node):
        return [(start.fn, "{root}.fn")]
    if isinstance(start, TorchNode):
        return [(start, "{root}")]
    if isinstance(start, torch.Tensor):
        return [_root_of(start, "{root}")]
    if isinstance(start, (tuple, list)) and start:
        for item in start:
            if not isinstance(item, torch.Tensor):
                raise TypeError(f"trace() takes a tuple of tensors; in it is a {type(item).__name__}.")
        return [_root_of(tensor, f"{{root}}[{i}]") for i, tensor in enumerate(start)]
    got = "an empty tuple" if isinstance(start, (tuple, list)) else type(start).__name__
    hint = " Pass what the model returned for an input." if isinstance(start, nn.Module) else ""
    raise TypeError(f"trace() takes a tensor, a tuple of tensors or a node, got {got}.{hint}")


def _root_of(tensor: torch.Tensor, expression: str) -> tuple[TorchNode, str]:
    if tensor.grad_fn is not None:
        return tensor.grad_fn, expression + ".grad_fn"
    edge = gradient_edge(tensor)
    if edge is not None:
        return edge.node, f"torch.autograd.graph.get_gradient_edge({expression}).node"
    raise ValueError(
        f"This tensor of shape {tuple(tensor.shape)} has no graph: its grad_fn is None and "
        f"requires_grad is {tensor.requires_grad}. Trace a result that was computed, with grad mode on, from a "
        "tensor that requires grad; print(explain(tensor)) says more about this one."
    )


def _walk(starts: list[TorchNode]) -> dict[TorchNode, Node]:
    # The key is torch's object, which this dictionary keeps alive: an id is used again on torch before 2.13.
    found = {fn: Node(fn, node_name(fn)) for fn in starts}
    order = list(found.values())
    for node in order:
        inputs: list[Edge | None] = []
        for slot, (fn, output_nr) in enumerate(node.fn.next_functions):
            if fn is None:
                inputs.append(None)
                continue
            below = found.get(fn)
            if below is None:
                below = found[fn] = Node(fn, node_name(fn))
                order.append(below)
            inputs.append(Edge(slot, below, output_nr))
        node.inputs = tuple(inputs)
    return found


def _engine_order(found: dict[TorchNode, Node]) -> list[Node]:
    # _sequence_nr is private (measured on torch 1.4 to 2.15): it counts the nodes that a thread makes, and the engine sorts
    # by it. Nothing else tells the order, so trace() fails where it is gone.
    missing = dict.fromkeys(found.values(), 0)
    for node in found.values():
        for edge in node.inputs:
            if edge is not None:
                missing[edge.node] += 1
    ready: list[tuple[int, int, Node]] = []
    for node, count in missing.items():
        if count == 0:
            heappush(ready, (-node.fn._sequence_nr(), len(ready), node))
    order: list[Node] = []
    pushed = len(ready)
    while ready:
        node = heappop(ready)[2]
        order.append(node)
        for edge in node.inputs:
            if edge is None:
                continue
            missing[edge.node] -= 1
            if missing[edge.node] > 0:
                continue
            if edge.node.name == "AccumulateGrad":
                order.append(edge.node)
            else:
                pushed += 1
                heappush(ready, (-edge.node.fn._sequence_nr(), pushed, edge.node))
    return order


def _name_tensors(found: dict[TorchNode, Node], names: dict[torch.Tensor, list[str]]) -> None:
    for node in found.values():
        leaf = _leaf_of(node)
        if leaf is not None:
            node.parameters = tuple(names.get(leaf, ()))
            node.grad = _grad_of(leaf)
    for tensor, given in names.items():
        node_of = found.get(tensor.grad_fn) if tensor.grad_fn is not None else None
        if node_of is not None:
            node_of.tensors += tuple(given)
            # An operation with several results has a gradient for each.
            grad = _grad_of(tensor)
            node_of.grad = grad if node_of.grad in (None, grad) else f"{node_of.grad}, {grad}"


def _leaf_of(node: Node) -> torch.Tensor | None:
    return cast(torch.Tensor, node.fn.variable) if node.name == "AccumulateGrad" else None  # type: ignore[attr-defined]


def _grad_of(tensor: torch.Tensor) -> str:
    grad = read_grad(tensor)
    if grad is None:
        return "None"
    number = number_in(grad)
    return str(tuple(grad.shape)) if number is None else f"{number:.4g}"
