"""Which layer a node belongs to: told from the parameters that lead into it, and from what ``owners`` saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.conv import _ConvNd
from torch.nn.utils.parametrize import ParametrizationList

from gradfn_tutorial.owners import Calls, calls_of
from gradfn_tutorial.state import COMPILED

if TYPE_CHECKING:
    from gradfn_tutorial.graph import Node

# What the operation of a layer is called, in parts of the name that the torch versions from 1.4 to 2.15 and their devices
# share. A layer of another class owns every node into which its parameters lead together with something else.
OPERATIONS: dict[type[nn.Module], tuple[str, ...]] = {
    _ConvNd: ("Conv",),
    _NormBase: ("BatchNorm",),
    nn.LayerNorm: ("LayerNorm",),
    nn.GroupNorm: ("GroupNorm",),
    nn.Embedding: ("Embedding",),
    nn.EmbeddingBag: ("EmbeddingBag",),
    nn.Linear: ("AddmmB", "MmB", "BmmB", "BaddbmmB", "LinearB"),
    nn.RNNBase: ("Rnn", "RNN", "Lstm", "AddmmB", "MmB"),
    nn.RNNCellBase: ("AddmmB", "MmB"),
    nn.PReLU: ("Prelu", "PRelu", "PreLU"),
}
# Nodes that only reshape, convert or copy what they are given.
WRAPPERS = frozenset(
    f"{name}Backward{digit}"
    for name in (
        *(
            "T",
            "Transpose",
            "Permute",
            "View",
            "UnsafeView",
            "ReshapeAlias",
            "Expand",
            "Unsqueeze",
            "Squeeze",
        ),
        *("ToCopy", "Clone", "Alias", "AsStrided", "Slice", "Select", "Split", "SplitWithSizes", "Unbind"),
    )
    for digit in "01234"
)


class Layer:
    """A module by its first dotted name, and parts of the names of its operation; none where its class has none."""

    def __init__(self, name: str, module: nn.Module) -> None:
        self.name = name
        self.operations = _operations_of(module)
        self.is_linear = isinstance(module, nn.Linear)
        self.alone = frozenset([self])


class Layers:
    """The layers of ``module``: ``parameters`` holds all names of each parameter, ``name`` fills in ``node.module``."""

    def __init__(self, module: nn.Module) -> None:
        try:
            self._modules = dict(module.named_modules(remove_duplicate=False))
        except RecursionError:  # A module that holds one that holds it has no end of names.
            self._modules = dict(module.named_modules())
        self._calls = calls_of(module)
        self.parameters: dict[torch.Tensor, tuple[str, ...]] = {}
        self._owner: dict[str, Layer] = {}
        layers: dict[nn.Module, Layer] = {}
        for name, inner in self._modules.items():
            # _parameters is private (since torch 0.1.12, measured up to 2.15). named_parameters(recurse=False) says the
            # same and takes as long as the walk of a graph; where it is gone, trace(loss, module) fails.
            if not inner._parameters:
                continue
            used_in = self._user(name)
            user = self._modules[used_in]
            layer = layers.get(user)
            if layer is None:
                # A module registered twice goes by its first name.
                layer = layers[user] = Layer(used_in, user)
            for parameter, tensor in inner._parameters.items():
                if tensor is not None:
                    dotted = f"{name}.{parameter}" if name else parameter
                    self._owner[dotted] = layer
                    self.parameters[tensor] = (*self.parameters.get(tensor, ()), dotted)

    def name(self, nodes: Sequence[Node]) -> None:
        self._name_operations(nodes)
        if self._calls is not None:
            self._name_what_was_called(nodes, self._calls)

    def _user(self, name: str) -> str:
        """The dotted name of the module whose forward uses the parameters that lie in the module of this name."""
        before, found, after = f".{name}".partition(".parametrizations.")
        if found:
            outer = before.removeprefix(".")
            weight = f"{outer}.".lstrip(".") + f"parametrizations.{after.partition('.')[0]}"
            # A parametrised weight lies in conv.parametrizations.weight, and the layer that uses it is conv.
            if isinstance(self._modules[weight], ParametrizationList):
                return outer
        while isinstance(self._modules[name], (nn.ParameterList, nn.ParameterDict)) and name:
            name = name.rpartition(".")[0]
        return name

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def nodes_of(self, name: str, nodes: Sequence[Node]) -> tuple[Node, ...]:
        if name not in self._modules:
            raise LookupError(
                f"The module has no layer {name!r}. Its layers: {', '.join(filter(None, self._modules))}."
            )
        found = self._operations_among(nodes, {self._first_names()[self._modules[name]]})
        if not found:
            raise LookupError(
                f"No node in this graph can be told to be layer {name!r}: {self._why_none(name, nodes)}"
            )
        return found

    def nodes_of_kind(self, kind: type[nn.Module], nodes: Sequence[Node]) -> tuple[Node, ...]:
        names = [name for module, name in self._first_names().items() if isinstance(module, kind)]
        if not names:
            kinds = sorted({type(module).__name__ for module in self._modules.values()})
            raise LookupError(
                f"The module has no layer of class {kind.__name__}. Its classes: {', '.join(kinds)}."
            )
        found = self._operations_among(nodes, set(names))
        if not found:
            reasons = " ".join([f"{name}: {self._why_none(name, nodes)}" for name in names[:3]])
            if len(names) > 3:
                reasons += f" And so on, for {len(names):,} layers."
            raise LookupError(f"No node in this graph can be told to be a {kind.__name__}. {reasons}")
        return found

    def why_no_parameter(self, name: str) -> str | None:
        """Why this parameter of the module is not in the graph, or None if the module has no such parameter."""
        for parameter, names in self.parameters.items():
            if name in names:
                if parameter.requires_grad:
                    return "what was traced does not depend on it."
                return "it is frozen (requires_grad is False), so no gradient goes to it."
        return None

    def _first_names(self) -> dict[nn.Module, str]:
        return {module: name for name, module in reversed(self._modules.items())}

    def _operations_among(self, nodes: Sequence[Node], names: set[str]) -> tuple[Node, ...]:
        made_in: dict[str, list[Node]] = {}
        for node in nodes:
            if node.module in names:
                made_in.setdefault(node.module, []).append(node)
        operations: set[Node] = set()
        for name, made in made_in.items():
            parts = _operations_of(self._modules[name])
            named_so = [node for node in made if _is_called(node.name, parts)]
            found = named_so or [node for node in made if node.name not in WRAPPERS]
            # All that nn.Flatten makes is a view, and that is its operation.
            operations.update(found or (made if not parts else ()))
        return tuple([node for node in nodes if node in operations])

    def _name_operations(self, nodes: Sequence[Node]) -> None:
        # For each node that is made from parameters alone: the layers that all of those parameters belong to.
        made_from: dict[Node, frozenset[Layer]] = {}
        for node in reversed(nodes):
            common: frozenset[Layer] | None = None
            from_parameters_alone = True
            for edge in node.inputs:
                if edge is None:
                    continue
                owners = made_from.get(edge.node)
                if owners is None:
                    from_parameters_alone = False
                elif common is None:
                    common = owners
                elif owners is not common:
                    common &= owners
            if common is None:
                if node.parameters:
                    made_from[node] = self._owners(node.parameters)
                continue
            is_wrapper = node.name in WRAPPERS
            if not is_wrapper:
                # A weight that an Embedding and a Linear share: only one of them has an operation of this name.
                users = [layer for layer in common if _is_operation(node, layer, from_parameters_alone)]
                if len(users) == 1:
                    node.module = users[0].name
                    continue
            if from_parameters_alone and (is_wrapper or (len(common) == 1 and next(iter(common)).operations)):
                made_from[node] = common

    def _name_what_was_called(self, nodes: Sequence[Node], calls: Calls) -> None:
        first_made = next((node for node in reversed(nodes) if node.name != "AccumulateGrad"), None)
        if first_made is None or first_made.fn._sequence_nr() >= calls.end:
            return  # A later forward pass made this graph.
        called_of: dict[Node, str | None] = {}
        first, end, called = calls.span(0)
        for node in nodes:
            # An AccumulateGrad belongs to its tensor, and its number (the highest there is) tells nothing.
            if node.name == "AccumulateGrad":
                continue
            if not first <= (number := node.fn._sequence_nr()) < end:
                first, end, called = calls.span(number)
            called_of[node] = called
        if not any(name is not None for name in called_of.values()):
            return
        for node, called in called_of.items():
            # The forward of an inner module may never be called though its parameters are used (out_proj in
            # nn.MultiheadAttention): then the parameters tell more.
            inside = called == "" or (called and node.module and node.module.startswith(called + "."))
            if node.module is None or not inside:
                node.module = called

    def _owners(self, parameters: tuple[str, ...]) -> frozenset[Layer]:
        if len(parameters) == 1:
            return self._owner[parameters[0]].alone
        return frozenset([self._owner[name] for name in parameters])

    def _why_none(self, name: str, nodes: Sequence[Node]) -> str:
        if any(node.name == COMPILED for node in nodes):
            return f"it may be in the compiled part of the model, which is one node, {COMPILED}, and shows no layers."
        layer = self._modules[name]
        parameters = dict(layer.named_parameters())
        own = dict(layer.named_parameters(recurse=False))
        if not parameters and self._calls is not None:
            return "no node was made while it ran under owners(model)."
        if not parameters:
            return (
                "it has no parameters, and layers are told by theirs. "
                "With owners(model) round the forward pass it would be known."
            )
        if not own:
            return f"its parameters belong to the layers inside it, such as {next(iter(parameters))!r}."
        if not any(parameter.requires_grad for parameter in own.values()):
            return "its parameters are frozen (requires_grad is False), and layers are told by theirs."
        reached = {name for node in nodes for name in node.parameters}
        prefix = f"{name}." if name else ""
        if not any(prefix + parameter in reached for parameter in own):
            return "no edge of this graph leads to its parameters."
        return (
            "its parameters are used, but shared or used in a way that does not tell whose operation it is. "
            "With owners(model) round the forward pass it would be known."
        )


def _operations_of(layer: nn.Module) -> tuple[str, ...]:
    return next((parts for kind, parts in OPERATIONS.items() if isinstance(layer, kind)), ())


def _is_operation(node: Node, layer: Layer, from_parameters_alone: bool) -> bool:
    if not layer.operations:
        # A None beside parameters alone may be data or a number, as in a penalty.
        return not from_parameters_alone
    return _is_called(node.name, layer.operations) and (not layer.is_linear or _takes_transposed(node))


@cache
def _is_called(name: str, parts: tuple[str, ...]) -> bool:
    # ConvolutionBackwardBackward0 is the derivative of a derivative.
    return any(part in name for part in parts) and "BackwardBackward" not in name


def _takes_transposed(node: Node) -> bool:
    """Whether the last input of this product is a transpose, as a Linear's weight is.

    A derivative of the layer, or what makes a parametrised weight, takes the weight as it lies or transposed twice.
    """
    if "LinearB" in node.name:
        return True
    transposes = 0
    edge = node.inputs[-1]
    while edge is not None and edge.node.name in WRAPPERS:
        transposes += edge.node.name.startswith(("TB", "Transpose", "Permute"))
        edge = edge.node.inputs[0]
    return transposes % 2 == 1
