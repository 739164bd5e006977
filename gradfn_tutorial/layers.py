"""Which layer an operation node belongs to, told from the parameters that lead into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.conv import _ConvNd

if TYPE_CHECKING:
    from gradfn_tutorial.graph import Edge, Node

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


class Layers:
    """The layers of ``module``, and the operation nodes of each. Making it fills in ``node.module``."""

    def __init__(self, module: nn.Module, nodes: Sequence[Node]) -> None:
        self._names: dict[str, nn.Module] = dict(module.named_modules(remove_duplicate=False))
        self._parameters = dict(module.named_parameters(remove_duplicate=False))
        # A module registered twice goes by its first name.
        self._first_name: dict[nn.Module, str] = {m: name for name, m in module.named_modules()}
        self._name_operations(nodes)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def nodes_of(self, name: str, nodes: Sequence[Node]) -> tuple[Node, ...]:
        if name not in self._names:
            raise LookupError(
                f"The module has no layer {name!r}. Its layers: {', '.join(filter(None, self._names))}."
            )
        first_name = self._first_name[self._names[name]]
        found = tuple(node for node in nodes if node.module == first_name)
        if not found:
            raise LookupError(
                f"No node in this graph can be told to be layer {name!r}: {self._why_none(name, nodes)}"
            )
        return found

    def nodes_of_kind(self, kind: type[nn.Module], nodes: Sequence[Node]) -> tuple[Node, ...]:
        names = [name for module, name in self._first_name.items() if isinstance(module, kind)]
        if not names:
            kinds = sorted({type(module).__name__ for module in self._first_name})
            raise LookupError(
                f"The module has no layer of class {kind.__name__}. Its classes: {', '.join(kinds)}."
            )
        wanted = set(names)
        found = tuple(node for node in nodes if node.module in wanted)
        if not found:
            reasons = " ".join(f"{name}: {self._why_none(name, nodes)}" for name in names)
            raise LookupError(f"No node in this graph can be told to be a {kind.__name__}. {reasons}")
        return found

    def why_no_parameter(self, name: str) -> str | None:
        """Why this parameter of the module is not in the graph, or None if the module has no such parameter."""
        parameter = self._parameters.get(name)
        if parameter is None:
            return None
        if not parameter.requires_grad:
            return "it is frozen (requires_grad is False), so no gradient goes to it."
        return "what was traced does not depend on it."

    def _name_operations(self, nodes: Sequence[Node]) -> None:
        # For each node that is made from parameters alone: the layers that all of those parameters belong to.
        made_from: dict[Node, frozenset[nn.Module]] = {}
        for node in reversed(nodes):
            if node.name == "AccumulateGrad":
                if node.parameters:
                    made_from[node] = frozenset(self._owner(name) for name in node.parameters)
                continue
            inputs = [edge.node for edge in node.inputs if edge is not None]
            owners = [made_from[below] for below in inputs if below in made_from]
            if not owners:
                continue
            common = frozenset.intersection(*owners)
            from_parameters_alone = len(owners) == len(inputs)
            data = _data_of_linear(node)
            takes_data = data is None or data.node not in made_from
            # A weight that an Embedding and a Linear share: only one of them has an operation of this name.
            users = [m for m in common if _is_operation(node, m, takes_data, from_parameters_alone)]
            if len(users) == 1:
                node.module = self._first_name[users[0]]
                continue
            owner = next(iter(common)) if len(common) == 1 else None
            if from_parameters_alone and (node.name in WRAPPERS or _operations_of(owner)):
                made_from[node] = common

    def _owner(self, parameter: str) -> nn.Module:
        # A parametrised weight lies in conv.parametrizations.weight, and the layer that uses it is conv.
        path = f".{parameter}".rpartition(".")[0].partition(".parametrizations.")[0]
        return self._names[path.removeprefix(".")]

    def _why_none(self, name: str, nodes: Sequence[Node]) -> str:
        layer = self._names[name]
        parameters = dict(layer.named_parameters())
        own = dict(layer.named_parameters(recurse=False))
        if not parameters:
            return "it has no parameters, and layers are told by theirs."
        if not own:
            return f"its parameters belong to the layers inside it, such as {next(iter(parameters))!r}."
        if not any(parameter.requires_grad for parameter in own.values()):
            return "its parameters are frozen (requires_grad is False), and layers are told by theirs."
        reached = {name for node in nodes for name in node.parameters}
        prefix = f"{name}." if name else ""
        if not any(prefix + parameter in reached for parameter in own):
            return "no edge of this graph leads to its parameters."
        return (
            "its parameters are used, but shared or used in a way that does not tell whose operation it is."
        )


def _operations_of(layer: nn.Module | None) -> tuple[str, ...]:
    return next((parts for kind, parts in OPERATIONS.items() if isinstance(layer, kind)), ())


def _is_operation(node: Node, layer: nn.Module, takes_data: bool, from_parameters_alone: bool) -> bool:
    if node.name in WRAPPERS:
        return False
    parts = _operations_of(layer)
    if parts:
        # A product of the weight with itself, as in a penalty, is no operation of the layer.
        return any(part in node.name for part in parts) and (takes_data or not isinstance(layer, nn.Linear))
    return not from_parameters_alone or None in node.inputs


def _data_of_linear(node: Node) -> Edge | None:
    """What stands in the place of the data in linear(data, weight, bias), mm(data, weight), addmm(bias, data, weight)."""
    if "LinearB" in node.name or len(node.inputs) < 2:
        return node.inputs[0]
    return node.inputs[-2]
