"""The backward graph behind a tensor: its nodes, its edges, its layers, and the way to each of them."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import Any, NamedTuple, Union, cast

import torch
from torch import nn
from torch.autograd.graph import Node as TorchNode

from gradfn_tutorial import dot, mermaid, svg, text
from gradfn_tutorial.freeing import make_safe_to_free
from gradfn_tutorial.layers import Layers
from gradfn_tutorial.state import gradient_edge, is_stale_view, node_name, number_in, read_grad, shape_of

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

    def __init__(self, fn: TorchNode, name: str, index: int) -> None:
        self.fn = fn
        self.name = name
        self.index = index
        self.inputs: tuple[Edge | None, ...] = ()
        self.parameters: tuple[str, ...] = ()
        self.module: str | None = None
        self.tensors: tuple[str, ...] = ()
        self.grad: str | None = None

    def __reduce__(self) -> Any:
        raise TypeError(
            "A node cannot be pickled or deep-copied, nor can what holds it: it stands for an object of torch's that is part of "
            "a graph. Keep graph.to_dict(), or trace the copy."
        )

    @property
    def label(self) -> str:
        """The name that a reader knows it by: of the layer, of the parameter, of the tensor; may be empty."""
        return " = ".join(self.parameters) or ", ".join(self.tensors) or self.module or ""

    def __repr__(self) -> str:
        return f"<{self.name} {self.label}>" if self.label else f"<{self.name}>"


@dataclass(frozen=True)
class Path:
    """The way from where the trace started to ``node``. ``str()`` of it is the expression that leads there.

    ``steps`` are the edges on the way. ``others`` says how many other ways lead to the node, longer ones included; an
    exact integer, which doubles with every residual connection in a row.
    """

    steps: tuple[Edge, ...]
    node: Node
    expression: str
    # Left out of repr(): Python refuses to write an integer of over 4,300 digits.
    others: int = field(repr=False)

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
        return tuple([edge for node in self.nodes for edge in node.inputs if edge is not None])

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

        AccumulateGrad, and the transposes and views that a layer wraps round its operation, are left out. Layers are told
        by the parameters that lead into their operation; a layer without parameters is known where the forward pass ran
        inside ``owners(module)``.

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
        trace started at a node. Of several shortest ways, it is the one through the lowest slots; ``Path.others`` says
        how many other ways there are.

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
        return Path(tuple(steps), node, start + hops, self._count_ways(node) - 1)

    def to_text(self, limit: int = 200, lang: str = "en") -> str:
        """The graph as a tree of at most ``limit`` lines, the way back to the deepest input straight down.

        A line begins with the slot through which its node is reached; without a branch mark, it goes on from the node
        above. A node met a second time says "see above". ``lang`` is ``"en"`` or ``"zh"``.

        Raises:
            ValueError: ``limit`` is no whole number of at least 1, or ``lang`` is neither ``"en"`` nor ``"zh"``.

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
        return text.write(self.nodes, self.roots, limit, lang)

    def to_svg(self) -> str:
        """The graph as an SVG picture that needs nothing else: it follows light and dark mode and reads aloud.

        Of a graph of more than 2,000 nodes, the picture shows groups: one for each layer and its number of nodes.

        ```python
        import torch
        from gradfn_tutorial import trace

        picture = trace(torch.ones(3, requires_grad=True).sum()).to_svg()
        print(picture[:40])
        ```
        ```output
        <svg xmlns="http://www.w3.org/2000/svg"
        ```
        """
        return svg.draw(self.nodes, self.roots)

    def to_dot(self) -> str:
        r"""The whole graph in the DOT language, which Graphviz draws: ``dot -Tsvg graph.dot > graph.svg``.

        An edge goes from the node whose input it is to the node that made this input, as ``next_functions`` does, and is
        marked with the slot and, where it is not 0, with ``output_nr``.

        ```python
        import torch
        from gradfn_tutorial import trace

        print(trace(torch.ones(3, requires_grad=True).sum()).to_dot())
        ```
        ```output
        digraph {
          node [shape=box, style=filled, fontname="monospace", fontsize=11, fillcolor="#eef3fb", color="#6b85b5"];
          edge [color="#8c959f", fontname="monospace", fontsize=9];
          n0 [label="SumBackward0", penwidth=2];
          n1 [label="AccumulateGrad\n.grad None", style="filled,rounded", fillcolor="#ffffff", color="#3f8f5f"];
          n0 -> n1 [label="0"];
        }
        ```
        """
        return dot.write(self.nodes, self.roots)

    def to_mermaid(self) -> str:
        """The graph as a Mermaid flowchart, which GitHub and many editors draw from the text.

        Mermaid refuses more than 500 edges or 50,000 characters (its defaults, measured on Mermaid 12.3). A larger graph
        is folded into groups, one for each layer and its number of nodes, until it keeps within both.

        ```python
        import torch
        from gradfn_tutorial import trace

        print(trace(torch.ones(3, requires_grad=True).sum()).to_mermaid())
        ```
        ```output
        flowchart TD
          classDef leaf stroke:#3f8f5f,stroke-width:2px
          classDef filled fill:#d9f2e1,stroke:#1f7a43,stroke-width:2px,color:#1f2328
          classDef none fill:none,stroke:none,font-style:italic
          n0["SumBackward0"]
          n1(["AccumulateGrad<br>.grad None"]):::leaf
          n0 -- "0" --> n1
        ```
        """
        return mermaid.write(self.nodes, self.roots)

    def to_dict(self) -> dict[str, Any]:
        """The whole graph as dictionaries, lists, strings and numbers, for ``json.dumps``.

        ``"roots"`` has the index of each node that the trace started from and the expression that leads to it.
        ``"nodes"`` has the attributes of each ``Node`` but ``fn``; in ``"inputs"``, a node is named by its index.

        ```python
        import torch
        from gradfn_tutorial import trace

        graph = trace(torch.ones(3, requires_grad=True).sum())
        print(graph.to_dict()["nodes"][0])
        ```
        ```output
        {'index': 0, 'name': 'SumBackward0', 'module': None, 'parameters': [], 'tensors': [], 'grad': None, 'inputs': [{'slot': 0, 'node': 1, 'output_nr': 0}]}
        ```
        """
        return {
            "roots": [
                {"node": root.node.index, "expression": root.expression.format(root=root.usual_name)}
                for root in self._roots
            ],
            "nodes": [
                {
                    "index": node.index,
                    "name": node.name,
                    "module": node.module,
                    "parameters": list(node.parameters),
                    "tensors": list(node.tensors),
                    "grad": node.grad,
                    "inputs": [
                        edge and {"slot": edge.slot, "node": edge.node.index, "output_nr": edge.output_nr}
                        for edge in node.inputs
                    ],
                }
                for node in self.nodes
            ],
        }

    def _repr_svg_(self) -> str:
        # A picture of more nodes says little in a notebook.
        return svg.draw(self.nodes, self.roots, most=200)

    def _count_ways(self, target: Node) -> int:
        ways: dict[Node, int] = dict.fromkeys(self.roots, 1)
        for node in self.nodes[: target.index]:
            # What has been counted goes: in a deep graph each number has thousands of digits.
            count = ways.pop(node, 0)
            for edge in node.inputs if count else ():
                if edge is not None:
                    ways[edge.node] = ways.get(edge.node, 0) + count
        return ways[target]

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
            found = [node for node in self.nodes if node.fn is target.fn]
        elif isinstance(target, torch.Tensor):
            made_by = _made_by(target)
            # An operation with several results may be here for the sake of another one.
            reached = made_by is not None and any(
                edge.node.fn is made_by and edge.output_nr == target.output_nr for edge in self.edges
            )
            found = [
                node
                for node in self.nodes
                if _leaf_of(node) is target or (node.fn is made_by and (reached or node in self.roots))
            ]
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
        ValueError: a tensor in ``start`` has no graph, or a tensor here is a view that torch refuses to look at, because
            its base was modified in place.

    The order of ``Graph.nodes`` is the engine's: of the nodes whose gradient is complete, the one made last runs first,
    and an AccumulateGrad runs at once (PyTorch's C++ engine sorts its queue by ``sequence_nr``). AccumulateGrads that
    become complete together stand by slot; from three on, the engine may take them in another order (measured on
    torch 2.13).

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
    layers = Layers(module) if isinstance(module, nn.Module) else None
    if layers is not None:
        names = layers.parameters
    elif module is None or isinstance(module, Mapping):
        names = _tensor_names(module or {})
    else:
        raise TypeError(
            "trace() takes the model, or a dictionary from names to tensors, as its second argument; "
            f"got {type(module).__name__}."
        )
    with collection_paused():
        found, upward = _walk([fn for fn, _ in starts])
        nodes = _engine_order(found.values(), upward)
        _name_tensors(found, names)
        if layers is not None:
            layers.name(nodes)
        make_safe_to_free(nodes)
    return Graph([_Root(found[fn], expression) for fn, expression in starts], nodes, layers)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Without garbage collection, which would look at ever more objects that live on, and costs more than a walk."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class _Root(NamedTuple):
    node: Node
    expression: str

    @property
    def usual_name(self) -> str:
        return "node" if self.expression in ("{root}", "{root}.fn") else "loss"


def _tensor_names(names: Mapping[str, torch.Tensor]) -> dict[torch.Tensor, tuple[str, ...]]:
    known: dict[torch.Tensor, tuple[str, ...]] = {}
    for name, tensor in names.items():
        if not isinstance(name, str) or not isinstance(tensor, torch.Tensor):
            raise TypeError(
                "trace() takes a dictionary from names to tensors as its second argument; "
                f"in it is {name!r}: {type(tensor).__name__}."
            )
        known[tensor] = (*known.get(tensor, ()), name)
    return known


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


def _made_by(tensor: torch.Tensor) -> TorchNode | None:
    if is_stale_view(tensor):
        raise ValueError(
            f"This tensor of shape {shape_of(tensor)} is a view whose base was modified in place since, and torch refuses "
            "to tell its grad_fn. Take the view after the modification."
        )
    return tensor.grad_fn


def _root_of(tensor: torch.Tensor, expression: str) -> tuple[TorchNode, str]:
    made_by = _made_by(tensor)
    if made_by is not None:
        return made_by, expression + ".grad_fn"
    edge = gradient_edge(tensor)
    if edge is not None:
        return edge.node, f"torch.autograd.graph.get_gradient_edge({expression}).node"
    raise ValueError(
        f"This tensor of shape {tuple(tensor.shape)} has no graph: its grad_fn is None and "
        f"requires_grad is {tensor.requires_grad}. Trace a result that was computed, with grad mode on, from a "
        "tensor that requires grad; print(explain(tensor)) says more about this one."
    )


def _walk(starts: list[TorchNode]) -> tuple[dict[TorchNode, Node], list[tuple[Node, Node]]]:
    """Each node once, with its inputs; and the edges to a node that is numbered no lower than the one above it.

    Until the order is known, ``index`` is the node's sequence number.
    """
    # _sequence_nr is private (measured on torch 1.4 to 2.15): it counts the nodes that a thread makes, and the engine sorts
    # by it. Nothing else tells the order, so trace() fails where it is gone.
    kinds: dict[type, str] = {}
    # The key is torch's object, which this dictionary keeps alive: an id is used again on torch before 2.13.
    found = {fn: Node(fn, node_name(fn), fn._sequence_nr()) for fn in starts}
    upward: list[tuple[Node, Node]] = []
    # Calling Edge() would cost as much again as the rest of the loop spends on an edge.
    new_tuple = tuple.__new__
    order = list(found.values())
    for node in order:
        number = node.index
        inputs: list[Edge | None] = []
        slot = -1
        for fn, output_nr in node.fn.next_functions:
            slot += 1
            if fn is None:
                inputs.append(None)
                continue
            below = found.get(fn)
            if below is None:
                kind = type(fn)
                name = kinds.get(kind)
                if name is None:
                    name = node_name(fn)
                    # Nodes that have no class of their own in Python share one, and differ in their names.
                    if kind.__name__ != "CppFunction":
                        kinds[kind] = name
                below = found[fn] = Node(fn, name, fn._sequence_nr())
                order.append(below)
            if below.index >= number:
                upward.append((node, below))
            inputs.append(new_tuple(Edge, (slot, below, output_nr)))
        node.inputs = tuple(inputs)
    return found, upward


def _engine_order(found: Iterable[Node], upward: list[tuple[Node, Node]]) -> list[Node]:
    operations = [node for node in found if node.name != "AccumulateGrad"]
    operations.sort(key=attrgetter("index"), reverse=True)
    if any(below.name != "AccumulateGrad" for _, below in upward):
        operations = _order_across_threads(operations)
        for index, node in enumerate(reversed(operations)):
            node.index = index
    # An AccumulateGrad has the highest number there is, so it runs as soon as its last contribution is in.
    last_use: dict[Node, Node] = {}
    for node, leaf in upward:
        if leaf.name == "AccumulateGrad" and (leaf not in last_use or node.index <= last_use[leaf].index):
            last_use[leaf] = node
    is_last = set(last_use.values())
    order = [node for node in found if node.name == "AccumulateGrad" and node not in last_use]
    for node in operations:
        order.append(node)
        if node in is_last:
            # By slot; of several slots, a leaf is complete at the last one.
            leaves = [e.node for e in reversed(node.inputs) if e is not None and last_use.get(e.node) is node]
            order += reversed(dict.fromkeys(leaves))
    for index, node in enumerate(order):
        node.index = index
    return order


def _order_across_threads(operations: list[Node]) -> list[Node]:
    """The engine's own way, for nodes whose numbers do not tell it: each thread counts the nodes that it makes."""
    missing = dict.fromkeys(operations, 0)
    for node in operations:
        for edge in node.inputs:
            if edge is not None and edge.node in missing:
                missing[edge.node] += 1
    ready = [(-node.index, place, node) for place, node in enumerate(operations) if missing[node] == 0]
    heapify(ready)
    order: list[Node] = []
    pushed = len(ready)
    while ready:
        node = heappop(ready)[2]
        order.append(node)
        for edge in node.inputs:
            if edge is None or edge.node not in missing:
                continue
            missing[edge.node] -= 1
            if missing[edge.node] == 0:
                pushed += 1
                heappush(ready, (-edge.node.index, pushed, edge.node))
    return order


def _name_tensors(found: dict[TorchNode, Node], names: Mapping[torch.Tensor, tuple[str, ...]]) -> None:
    for node in found.values():
        if node.name == "AccumulateGrad":
            leaf = node.fn.variable  # type: ignore[attr-defined]
            node.parameters = names.get(leaf, ())
            node.grad = _in_words(leaf.grad)
    for tensor, given in names.items():
        made_by = _made_by(tensor)
        node_of = found.get(made_by) if made_by is not None else None
        if node_of is not None:
            node_of.tensors += given
            # An operation with several results has a gradient for each.
            grad = _in_words(read_grad(tensor))
            node_of.grad = grad if node_of.grad in (None, grad) else f"{node_of.grad}, {grad}"


def _leaf_of(node: Node) -> torch.Tensor | None:
    return cast(torch.Tensor, node.fn.variable) if node.name == "AccumulateGrad" else None  # type: ignore[attr-defined]


def _in_words(grad: torch.Tensor | None) -> str:
    if grad is None:
        return "None"
    number = number_in(grad)
    return str(shape_of(grad)) if number is None else f"{number:.4g}"
