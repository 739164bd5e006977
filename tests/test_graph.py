"""What trace() finds is what is there: against a plain walk, against the engine, and for every kind of graph."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import random
import subprocess
import sys
import warnings
import weakref
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from gradfn_tutorial import Graph, explain, trace
from gradfn_tutorial.freeing import DEPTH, KEY
from gradfn_tutorial.models import ConvNet


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x + 1

    @staticmethod
    def backward(ctx, first, second):
        return first * 2 + second


def conv_net() -> tuple[torch.Tensor, nn.Module]:
    model = ConvNet()
    return nn.functional.mse_loss(model(torch.randn(1, 3, 32, 32)), torch.zeros(1, 10)), model


def leaf(*shape: int) -> torch.Tensor:
    return torch.randn(shape, requires_grad=True)


def lstm(dtype: torch.dtype) -> torch.Tensor:
    return nn.LSTM(3, 4).to(dtype)(torch.randn(5, 2, 3, dtype=dtype))[0]


def transformer() -> torch.Tensor:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2)(torch.randn(2, 3, 8))


def in_place() -> torch.Tensor:
    x = leaf(4) * 1
    x[1:3] = leaf(2)
    return x.mul_(2)


def tied() -> torch.Tensor:
    embedding, decoder = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
    decoder.weight = embedding.weight
    return decoder(embedding(torch.tensor([0, 2])))


def ladder(rungs: int) -> torch.Tensor:
    x = leaf(1)
    for _ in range(rungs):
        x = x + x
    return x


def custom() -> torch.Tensor:
    first, second = Double.apply(leaf(3))
    return first * second


def residual_block() -> tuple[torch.Tensor, nn.Module]:
    model = nn.ModuleDict(
        {"conv1": nn.Conv2d(2, 2, 3, padding=1), "bn": nn.BatchNorm2d(2), "relu": nn.ReLU()}
    )
    x = torch.randn(2, 2, 4, 4, requires_grad=True)
    return (model["relu"](model["bn"](model["conv1"](x))) + x).sum(), model


def double_backward() -> torch.Tensor:
    x = leaf(3)
    (grad,) = torch.autograd.grad((x.exp() * x.sin()).sum(), x, create_graph=True)
    return grad.sum()


def across_threads() -> torch.Tensor:
    x = leaf(3)
    for _ in range(20):
        x = x * 2
    # Each thread counts the nodes that it makes from 0, so these have lower numbers than those behind them.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: x.exp() + x.sin()).result()


def random_graph(seed: int) -> torch.Tensor:
    choose = random.Random(seed)
    pool = [leaf(4) for _ in range(3)] + [torch.randn(4)]
    unary: list[Callable[[torch.Tensor], torch.Tensor]] = [
        torch.exp,
        torch.relu,
        lambda t: t.split(2)[choose.randrange(2)].repeat(2),
        lambda t: t.view(2, 2).t().reshape(4),
        lambda t: Double.apply(t)[choose.randrange(2)],
        lambda t: (t * 1).mul_(2),
        lambda t: t.detach() * 2,
        lambda t: t.unbind()[choose.randrange(4)].expand(4),
    ]
    for _ in range(choose.randrange(1, 30)):
        if choose.random() < 0.5:
            pool.append(choose.choice(unary)(choose.choice(pool)))
        else:
            pool.append(choose.choice([torch.add, torch.mul])(choose.choice(pool), choose.choice(pool)))
    return sum(tensor.sum() for tensor in pool)


KINDS: dict[str, Callable[[], torch.Tensor]] = {
    "CNN": lambda: conv_net()[0],
    "LSTM, one node": lambda: lstm(torch.float32),
    "LSTM, many nodes": lambda: lstm(torch.float64),
    "transformer": transformer,
    "in-place": in_place,
    "tied weights": tied,
    "ladder": lambda: ladder(40),
    "custom Function": custom,
    "checkpoint": lambda: checkpoint(lambda x: x.exp().sin(), leaf(3), use_reentrant=False),
    "re-entrant checkpoint": lambda: checkpoint(lambda x: x.exp().sin(), leaf(3), use_reentrant=True),
    "compiled": lambda: torch.compile(lambda x: x.exp().sin(), backend="aot_eager")(leaf(3)),
    "GRU": lambda: nn.GRU(3, 4, num_layers=2, dtype=torch.float64)(torch.randn(5, 2, 3, dtype=torch.float64))[
        0
    ],
    "ResNet block": lambda: residual_block()[0],
    "double backward": double_backward,
    "two threads": across_threads,
    "several outputs": lambda: torch.linalg.svd(leaf(3, 2), full_matrices=False)[2],
    **{f"random {seed}": lambda seed=seed: random_graph(seed) for seed in range(500)},
}

# Enough for what depends on the shape of a graph alone.
SOME_KINDS = [kind for kind in KINDS if kind not in {f"random {seed}" for seed in range(50, 500)}]


def plain_walk(root: torch.autograd.graph.Node) -> tuple[set, list]:
    nodes, edges, todo = {root}, [], [root]
    while todo:
        node = todo.pop()
        for slot, (below, output_nr) in enumerate(node.next_functions):
            edges.append((node, slot, below, output_nr))
            if below is not None and below not in nodes:
                nodes.add(below)
                todo.append(below)
    return nodes, edges


@pytest.mark.parametrize("kind", KINDS)
def test_nodes_and_edges_are_those_of_a_plain_walk(kind: str) -> None:
    result = KINDS[kind]()
    nodes, edges = plain_walk(result.grad_fn)
    graph = trace(result)
    assert len(graph.nodes) == len(nodes)
    assert {node.fn for node in graph.nodes} == nodes
    traced = [
        (node.fn, slot, edge.node.fn if edge else None, edge.output_nr if edge else 0)
        for node in graph.nodes
        for slot, edge in enumerate(node.inputs)
    ]
    assert sorted(map(repr_of_edge, traced)) == sorted(map(repr_of_edge, edges))
    assert all(edge.slot == node.inputs.index(edge) for node in graph.nodes for edge in node.inputs if edge)
    assert len(graph.edges) == sum(below is not None for _, _, below, _ in edges)


def repr_of_edge(edge: tuple) -> tuple:
    node, slot, below, output_nr = edge
    return id(node), slot, id(below), output_nr


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "checkpoint" not in kind])
def test_nodes_are_in_the_order_in_which_the_engine_runs_them(kind: str) -> None:
    result = KINDS[kind]()
    graph = trace(result)
    ran: list[int] = []
    hooks = [node.fn.register_prehook(lambda _, i=i: ran.append(i)) for i, node in enumerate(graph.nodes)]
    result.backward(torch.ones_like(result))
    for hook in hooks:
        hook.remove()
    assert sorted(ran) == list(range(len(graph.nodes)))
    # Between two operations the engine takes AccumulateGrads of equal rank in an order of its own.
    assert runs_of(graph, ran) == runs_of(graph, range(len(graph.nodes)))


def runs_of(graph: Graph, order) -> list[frozenset[int]]:
    runs: list[set[int]] = [set()]
    for i in order:
        if graph.nodes[i].name == "AccumulateGrad":
            runs[-1].add(i)
        else:
            runs += [{i}, set()]
    return [frozenset(run) for run in runs if run]


@pytest.mark.parametrize("kind", KINDS)
def test_every_path_leads_to_its_node(kind: str) -> None:
    loss = KINDS[kind]()
    graph = trace(loss)
    distance = {loss.grad_fn: 0}
    todo = [loss.grad_fn]
    for node in todo:
        for below, _ in node.next_functions:
            if below is not None and below not in distance:
                distance[below] = distance[node] + 1
                todo.append(below)
    for node in graph.nodes[:: max(1, len(graph.nodes) // 60)]:
        path = graph.path(node)
        assert eval(str(path), {"loss": loss}) is node.fn
        assert len(path) == distance[node.fn], "not the shortest way"
        assert path.node is node


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_a_path_says_how_many_other_ways_there_are(kind: str) -> None:
    graph = trace(KINDS[kind]())
    ways = {graph.roots[0]: 1}
    for node in graph.nodes:
        for edge in filter(None, node.inputs):
            ways[edge.node] = ways.get(edge.node, 0) + ways[node]
    for node in graph.nodes[:: max(1, len(graph.nodes) // 20)]:
        assert graph.path(node).others == ways[node] - 1


def test_other_ways_are_counted_by_hand() -> None:
    x = leaf(1)
    y = x * x
    assert trace(y + y.exp() + x).path(x).others == 4
    ladder_of_40 = trace(ladder(40))
    assert ladder_of_40.path(ladder_of_40.nodes[-1]).others == 2**40 - 1
    assert trace((y, x.exp())).path(x).others == 2


def snapshot(tensors: list[torch.Tensor]) -> list[tuple]:
    return [
        (t.requires_grad, t.is_leaf, t.retains_grad, t._version, id(t.grad), str(t._backward_hooks))
        for t in tensors
        if t.is_leaf
    ]


def test_looking_changes_nothing() -> None:
    loss, model = conv_net()
    loss.backward(retain_graph=True)
    parameters = list(model.parameters())
    parameters[0].register_hook(lambda grad: grad)
    nodes, _ = plain_walk(loss.grad_fn)
    before = snapshot(parameters), [dict(node.metadata) for node in nodes]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = trace(loss, model)
        graph.to_text()
        graph.to_svg()
        graph.path("conv1.weight")
        for tensor in (*parameters, loss):
            str(explain(tensor))
    assert (snapshot(parameters), [dict(node.metadata) for node in nodes]) == before
    loss.backward()


def test_a_saved_tensor_is_not_unpacked() -> None:
    unpacked: list[torch.Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(t) or t):
        loss, model = conv_net()
    graph = trace(loss, model)
    graph.to_text()
    graph.to_svg()
    graph.layers(nn.Conv2d)
    assert unpacked == []
    loss.backward()
    assert unpacked


def test_layers_of_the_convnet() -> None:
    loss, model = conv_net()
    graph = trace(loss, model)
    assert [node.module for node in graph.layers(nn.Conv2d)] == ["conv2", "conv1"]
    assert [node.name for node in graph.layers(nn.Conv2d)] == ["ConvolutionBackward0"] * 2
    assert [node.module for node in graph.layers(nn.Linear)] == ["fc3", "fc2", "fc1"]
    for name in ("conv1", "conv2", "fc1", "fc2", "fc3"):
        (node,) = graph.layer(name)
        weights = [n for n in graph.nodes if f"{name}.weight" in n.parameters]
        assert weights[0].fn.variable is model.get_submodule(name).weight
        assert node in owners_of(graph, weights[0])
    assert {p for node in graph.nodes for p in node.parameters} == set(dict(model.named_parameters()))


def owners_of(graph: Graph, accumulate) -> list:
    """The nodes that take the parameter, or its transpose, as an input."""
    takes = [n for n in graph.nodes if any(e and e.node is accumulate for e in n.inputs)]
    return takes + [n for n in graph.nodes if any(e and e.node in takes for e in n.inputs)]


LAYERS: dict[str, tuple[nn.Module, torch.Tensor]] = {
    "Conv1d": (nn.Conv1d(2, 3, 2), torch.randn(1, 2, 5)),
    "Conv2d without bias": (nn.Conv2d(2, 3, 2, bias=False), torch.randn(1, 2, 5, 5)),
    "Conv2d, unbatched": (nn.Conv2d(2, 3, 2), torch.randn(2, 5, 5)),
    "Conv2d, circular": (nn.Conv2d(2, 3, 2, padding=1, padding_mode="circular"), torch.randn(1, 2, 5, 5)),
    "ConvTranspose2d": (nn.ConvTranspose2d(2, 3, 2), torch.randn(1, 2, 5, 5)),
    "Linear": (nn.Linear(3, 2), torch.randn(4, 3)),
    "Linear without bias": (nn.Linear(3, 2, bias=False), torch.randn(4, 3)),
    "Linear on 1-D": (nn.Linear(3, 2), torch.randn(3)),
    "Linear on 3-D": (nn.Linear(3, 2), torch.randn(4, 5, 3)),
    "Linear on 3-D without bias": (nn.Linear(3, 2, bias=False), torch.randn(4, 5, 3)),
    "Linear, weight norm": (
        nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)),
        torch.randn(4, 3),
    ),
    "BatchNorm2d": (nn.BatchNorm2d(2), torch.randn(3, 2, 4, 4)),
    "InstanceNorm2d": (nn.InstanceNorm2d(2, affine=True), torch.randn(3, 2, 4, 4)),
    "LayerNorm": (nn.LayerNorm(3), torch.randn(4, 3)),
    "GroupNorm": (nn.GroupNorm(1, 3), torch.randn(4, 3)),
    "Embedding": (nn.Embedding(4, 3), torch.tensor([1, 2])),
    "EmbeddingBag": (nn.EmbeddingBag(4, 3), torch.tensor([[1, 2]])),
    "PReLU": (nn.PReLU(), torch.randn(4, 3)),
}


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("data_needs_grad", [False, True])
def test_a_layer_has_one_operation_node(kind: str, data_needs_grad: bool) -> None:
    layer, data = LAYERS[kind]
    if data.is_floating_point():
        data = data.clone().requires_grad_(data_needs_grad)
    model = nn.ModuleDict({"layer": layer})
    (node,) = trace(layer(data).sum(), model).layer("layer")
    assert node.name not in ("TBackward0", "ViewBackward0", "AccumulateGrad")


def test_a_penalty_on_a_weight_is_not_the_layers_operation() -> None:
    loss, model = conv_net()
    graph = trace(loss + 0.1 * model.conv1.weight.pow(2).sum() + model.fc1.weight.norm(), model)
    assert [node.name for node in graph.layer("conv1")] == ["ConvolutionBackward0"]
    assert [node.name for node in graph.layer("fc1")] == ["AddmmBackward0"]


def test_a_penalty_on_a_layer_of_any_class_is_not_its_operation() -> None:
    lstm, x = nn.LSTM(3, 4), torch.randn(5, 2, 3)
    (node,) = trace(lstm(x)[0].sum() + (lstm.weight_ih_l0 * 0.1).sum(), lstm).layer("")
    assert "Mul" not in node.name
    model = nn.Sequential(nn.Linear(2, 2), nn.PReLU())
    (node,) = trace(model(torch.randn(1, 2)).sum() + (model[1].weight - 0.25).abs().sum(), model).layer("1")
    assert "Sub" not in node.name


def test_what_makes_a_parametrised_weight_is_not_the_layers_operation() -> None:
    for bias in (True, False):
        model = nn.Sequential(nn.utils.parametrizations.orthogonal(nn.Linear(3, 3, bias=bias)))
        graph = trace(model(torch.randn(2, 3)).sum(), model)
        (node,) = graph.layer("0")
        assert node is graph.roots[0].inputs[0].node


def test_a_derivative_of_a_layer_is_not_the_layers_operation() -> None:
    model = nn.Sequential(nn.Conv1d(1, 2, 1), nn.Tanh(), nn.Conv1d(2, 1, 1), nn.Flatten(), nn.Linear(2, 1))
    x = torch.randn(1, 1, 2, requires_grad=True)
    (grad,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
    graph = trace(grad.pow(2).sum(), model)
    assert graph.find("BackwardBackward")
    assert [node.name for node in graph.layers(nn.Conv1d)] == ["ConvolutionBackward0"]
    with pytest.raises(LookupError, match="can be told to be layer '4'"):
        graph.layer("4")


def test_leaves_that_are_complete_at_once_stand_by_slot() -> None:
    a, b = leaf(2), leaf(2)
    both = torch.stack([a, b]).sum(0)
    graph = trace((b * 3 + both).sum(), {"a": a, "b": b})
    assert [node.label for node in graph.nodes[-2:]] == ["a", "b"]


def test_a_module_that_holds_itself_can_be_traced() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    model[0].parent = model
    assert [node.name for node in trace(model(torch.ones(1, 2)).sum(), model).layer("0")] == [
        "AddmmBackward0"
    ]


def test_a_module_called_parametrizations_is_a_module_like_others() -> None:
    model = nn.ModuleDict({"parametrizations": nn.ModuleDict({"fc": nn.Linear(2, 2)})})
    loss = model["parametrizations"]["fc"](torch.ones(1, 2)).sum()
    assert [node.module for node in trace(loss, model).layers(nn.Linear)] == ["parametrizations.fc"]


def test_a_node_of_another_trace_is_the_same_node() -> None:
    loss, _ = conv_net()
    first, second = trace(loss), trace(loss)
    assert second.path(first.nodes[5]).node is second.nodes[5]


def test_a_result_that_is_not_used_has_no_path() -> None:
    x = leaf(3)
    used, unused, _ = (x * 2).unbind()
    graph = trace(used * 1)
    assert graph.path(used).node.name == "UnbindBackward0"
    with pytest.raises(LookupError, match="This tensor is not in the graph"):
        graph.path(unused)


def test_a_graph_is_not_copied_or_pickled_half() -> None:
    graph = trace(leaf(1) * 2)
    for attempt in (copy.deepcopy, pickle.dumps):
        with pytest.raises(
            TypeError, match=r"A node cannot be pickled or deep-copied.* Keep graph.to_dict()"
        ):
            attempt(graph)


def test_a_layer_used_twice_has_two_nodes_and_a_shared_weight_both_names() -> None:
    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    second.weight = first.weight
    model = nn.ModuleDict({"first": first, "second": second})
    graph = trace(second(first(first(torch.randn(2, 3)))).sum(), model)
    assert [node.module for node in graph.layers(nn.Linear)] == ["second", "first", "first"]
    (weight,) = [node for node in graph.nodes if "first.weight" in node.parameters]
    assert weight.parameters == ("first.weight", "second.weight")
    assert graph.path("second.weight").node is weight


def test_a_module_registered_twice_answers_to_both_names() -> None:
    layer = nn.Linear(3, 3)
    model = nn.ModuleDict({"one": layer, "two": layer})
    graph = trace(layer(torch.randn(2, 3)).sum(), model)
    assert graph.layer("one") == graph.layer("two") != ()


def test_several_roots() -> None:
    x = leaf(3)
    first, second = x * 2, x.exp()
    graph = trace((first, second), {"x": x})
    assert [node.name for node in graph.roots] == ["MulBackward0", "ExpBackward0"]
    assert len(graph.nodes) == 3
    assert eval(str(graph.path(second.grad_fn, root="pair")), {"pair": (first, second)}) is second.grad_fn


def test_start_at_a_node_and_at_a_leaf() -> None:
    x = leaf(3)
    y = x * 2
    assert [node.name for node in trace(y.grad_fn).nodes] == ["MulBackward0", "AccumulateGrad"]
    assert str(trace(y.grad_fn).path(x)) == "node.next_functions[0][0]"
    (node,) = trace(y).find("Mul")
    assert eval(str(trace(node).path(x)), {"node": node}) is trace(x).nodes[0].fn
    graph = trace(x, {"x": x})
    assert [node.parameters for node in graph.nodes] == [("x",)]
    assert eval(str(graph.path("x", root="x")), {"x": x, "torch": torch}) is graph.nodes[0].fn


def test_named_results_and_their_grad() -> None:
    x = leaf()
    y = x * 3
    y.retain_grad()
    z = y * 2
    names = {"x": x, "y": y, "z": z}
    assert [node.grad for node in trace(z, names).nodes] == ["None", "None", "None"]
    z.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = trace(z, names)
    assert {node.label: node.grad for node in graph.nodes} == {"z": "None", "y": "2", "x": "6"}


def chain(length: int) -> torch.Tensor:
    y = torch.ones(1, requires_grad=True)
    for _ in range(length):
        y = y + 1
    return y


def test_a_deep_graph_can_be_dropped_in_any_order() -> None:
    script = Path(__file__).with_name("deep.py")
    done = subprocess.run(
        [sys.executable, script, "100000"],
        env=os.environ | {"PYTHONPATH": str(script.parent.parent)},
        capture_output=True,
        text=True,
    )
    said = f"exit status {done.returncode} after:\n{done.stdout}{done.stderr[-500:]}"
    assert done.returncode == 0, said
    assert "all dropped" in done.stdout, said


class Packed:
    """What torch saves in the place of a tensor, so that a test can see how long it lives."""

    alive = weakref.WeakSet()

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        Packed.alive.add(self)


def squares(x: torch.Tensor, times: int) -> torch.Tensor:
    with torch.autograd.graph.saved_tensors_hooks(Packed, lambda packed: packed.tensor):
        for _ in range(times):
            x = x * x
    return x


def test_trace_keeps_no_branch_alive_that_was_dropped() -> None:
    x = torch.ones(1, requires_grad=True)
    dropped, kept = squares(x, 3_000), chain(3_000)
    trace((dropped, kept))
    assert len(Packed.alive) == 6_000
    del dropped
    assert len(Packed.alive) == 0
    assert kept.grad_fn is not None


def test_a_leaf_comes_after_both_nodes_that_use_it_though_two_threads_gave_them_one_number() -> None:
    w = torch.ones(1, requires_grad=True)
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as two:
        a, b = one.submit(lambda: w * 2).result(), two.submit(lambda: w * 3).result()
    assert a.grad_fn._sequence_nr() == b.grad_fn._sequence_nr()
    nodes = [node.name for node in trace((a, b)).nodes]
    assert nodes == ["MulBackward0", "MulBackward0", "AccumulateGrad"]


def test_a_deep_graph_that_two_threads_made_is_freed() -> None:
    # Each thread counts its nodes from 0, so a later node may have a lower number.
    x = squares(torch.ones(1, requires_grad=True), 3_000)
    with ThreadPoolExecutor(1) as thread:
        x = thread.submit(squares, x, 3_000).result()
    trace(x)
    assert len(Packed.alive) == 12_000
    del x
    gc.collect()
    assert len(Packed.alive) == 0


def test_a_second_trace_adds_to_what_keeps_the_graph_safe_and_replaces_nothing() -> None:
    y = chain(2_500)
    z = y * y
    trace(y)
    held = {owner: list(owner.metadata[KEY]) for owner in plain_walk(y.grad_fn)[0] if KEY in owner.metadata}
    assert held
    trace(z)
    trace(z)
    for owner, nodes in held.items():
        kept = owner.metadata[KEY]
        assert set(nodes) <= set(kept)
        assert len(kept) == len(set(kept))
        assert all(node._sequence_nr() < owner._sequence_nr() for node in kept)


def test_no_way_down_a_deep_graph_is_long_without_a_stop() -> None:
    y = chain(6 * DEPTH)
    nodes = [node.fn for node in trace(y).nodes]
    held = {fn for owner in nodes for fn in owner.metadata.get(KEY, ())}
    stops = [index for index, fn in enumerate(nodes) if fn in held]
    ways = [end - start for start, end in zip([0, *stops], [*stops, len(nodes)])]
    assert max(ways) <= 2 * DEPTH


def test_a_shallow_graph_gets_no_entry_at_all() -> None:
    y = chain(900)
    trace(y)
    assert not any(KEY in node.metadata for node in plain_walk(y.grad_fn)[0])


def test_garbage_collection_is_left_as_it_was() -> None:
    assert gc.isenabled()
    trace(chain(3))
    assert gc.isenabled()
    gc.disable()
    try:
        trace(chain(3))
        assert not gc.isenabled()
    finally:
        gc.enable()


def stale_view() -> torch.Tensor:
    base = leaf(4, 2) * 1
    view, _ = base.split(2)
    base.mul_(2)
    return view


def frozen_convnet() -> Graph:
    model = ConvNet()
    model.conv1.requires_grad_(False)
    return trace(model(torch.randn(1, 3, 32, 32)).sum(), model)


def graph_of_convnet() -> Graph:
    return trace(*conv_net())


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: trace([]), TypeError, "takes a tensor, a tuple of tensors or a node, got an empty tuple."),
        (lambda: trace(3), TypeError, "takes a tensor, a tuple of tensors or a node, got int."),
        (lambda: trace(ConvNet()), TypeError, "got ConvNet. Pass what the model returned for an input."),
        (lambda: trace((leaf(1) * 2, 3)), TypeError, "takes a tuple of tensors; in it is a int."),
        (lambda: trace(torch.ones(2)), ValueError, "of shape (2,) has no graph: its grad_fn is None and req"),
        (lambda: trace((leaf(1) * 2).detach()), ValueError, "requires_grad is False. Trace a result that"),
        (lambda: trace(leaf(1) * 2, "model"), TypeError, "a dictionary from names to tensors, as its second"),
        (lambda: trace(leaf(1) * 2, {"x": 1}), TypeError, "second argument; in it is 'x': int."),
        (lambda: trace(leaf(1) * 2, {1: leaf(1)}), TypeError, "second argument; in it is 1: Tensor."),
        (lambda: graph_of_convnet().layers("Conv2d"), TypeError, "such as nn.Conv2d, got 'Conv2d'."),
        (
            lambda: trace(leaf(1) * 2).layer("a"),
            ValueError,
            "traced without a module. Pass it: trace(loss, model).",
        ),
        (lambda: trace(leaf(1) * 2).layers(nn.Linear), ValueError, "layers() needs to know the layers"),
        (
            lambda: graph_of_convnet().layer("conv3"),
            LookupError,
            "has no layer 'conv3'. Its layers: conv1, conv2",
        ),
        (
            lambda: graph_of_convnet().layers(nn.LSTM),
            LookupError,
            "no layer of class LSTM. Its classes: Conv2d, ",
        ),
        (
            lambda: graph_of_convnet().path("conv1.wieght"),
            LookupError,
            "called 'conv1.wieght'. Close to it: conv1.w",
        ),
        (
            lambda: frozen_convnet().path("conv1.bias"),
            LookupError,
            "Parameter 'conv1.bias' is not in this graph: it is fr",
        ),
        (lambda: graph_of_convnet().path(leaf(2)), LookupError, "This tensor is not in the graph"),
        (lambda: graph_of_convnet().path(leaf(2).exp().grad_fn), LookupError, "ExpBackward0 object"),
        (lambda: graph_of_convnet().path(3), TypeError, "takes a node, a tensor or a dotted name, got int."),
        (lambda: trace(stale_view()), ValueError, "(2, 2) is a view whose base was modified in place since"),
        (
            lambda: trace(leaf(1) * 2, {"view": stale_view()}),
            ValueError,
            "Take the view after the modification.",
        ),
        (lambda: trace(leaf(1) * 2).path(stale_view()), ValueError, "and torch refuses to tell its grad_fn."),
        (lambda: trace(leaf(1) * 2).to_text(limit=0), ValueError, "and at least 1, got 0."),
        (lambda: trace(leaf(1) * 2).to_text(lang="fr"), ValueError, "lang is one of ['en', 'zh'], got 'fr'."),
    ],
)
def test_a_wrong_use_says_what_came_and_what_to_do(wrong, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as raised:
        wrong()
    assert says in str(raised.value)


def test_a_layer_without_a_node_says_why() -> None:
    model = ConvNet()
    model.conv1.requires_grad_(False)
    loss = model(torch.randn(1, 3, 32, 32)).sum()
    graph = trace(loss, model)
    with pytest.raises(LookupError, match="can be told to be layer 'conv1': its parameters are frozen"):
        graph.layer("conv1")
    assert [node.module for node in graph.layers(nn.Conv2d)] == ["conv2"]
    with pytest.raises(LookupError, match="no edge of this graph leads to its parameters"):
        trace(model.fc1.weight.sum(), model).layer("fc2")
    block = nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.ReLU())
    graph = trace(block(torch.randn(1, 2)).sum(), block)
    with pytest.raises(LookupError, match=r"belong to the layers inside it, such as '0\.weight'"):
        graph.layer("0")
    with pytest.raises(LookupError, match="it has no parameters"):
        graph.layer("1")
    with pytest.raises(LookupError, match=r"can be told to be a ReLU\. 1: it has no parameters"):
        graph.layers(nn.ReLU)


def test_a_weight_shared_by_layers_without_bias_is_not_guessed() -> None:
    first, second = nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False)
    second.weight = first.weight
    model = nn.ModuleDict({"first": first, "second": second})
    graph = trace(second(first(torch.randn(2, 3))).sum(), model)
    with pytest.raises(LookupError, match="shared or used in a way that does not tell"):
        graph.layer("first")


def test_a_name_of_several_nodes_is_not_guessed() -> None:
    model = nn.ModuleDict({"fc": nn.Linear(3, 3)})
    graph = trace(model["fc"](model["fc"](torch.randn(2, 3))).sum(), model)
    with pytest.raises(ValueError, match="'fc' stands for 2 nodes of this graph"):
        graph.path("fc")


def test_text_of_a_split() -> None:
    x = leaf(6)
    a, b, c = (x * 1).split(2)
    assert trace(c + a * b, {"x": x, "c": c}).to_text().splitlines() == [
        "AddBackward0",
        "├─0 SplitBackward0 #2  output_nr 2  c  .grad None",
        "│ 0 MulBackward0",
        "│ ├─0 AccumulateGrad  x  .grad None",
        "│ └─1 None",
        "1 MulBackward0",
        "├─1 SplitBackward0 #2  output_nr 1  c  see above",
        "0 SplitBackward0 #2  c  see above",
    ]


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_text_has_every_node_once(kind: str) -> None:
    graph = trace(KINDS[kind]())
    lines = graph.to_text(limit=100_000).splitlines()
    assert len(described(lines)) == len(graph.nodes)
    *head, last = graph.to_text(limit=1).splitlines()
    assert head == lines[:1]
    assert last == f"… and {len(graph.nodes) - len(described(head)):,} more nodes"


def described(lines: list[str]) -> list[str]:
    """The lines that are not about a None slot, or a node met before."""
    return [line for line in lines if ".grad" in line or not line.endswith(("None", "see above"))]


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_dictionary_holds_the_whole_graph(kind: str) -> None:
    graph = trace(KINDS[kind]())
    found = json.loads(json.dumps(graph.to_dict()))
    assert [root["node"] for root in found["roots"]] == [root.index for root in graph.roots]
    assert [(node["index"], node["name"], node["grad"]) for node in found["nodes"]] == [
        (node.index, node.name, node.grad) for node in graph.nodes
    ]
    inputs = [
        edge and (edge["slot"], edge["node"], edge["output_nr"])
        for n in found["nodes"]
        for edge in n["inputs"]
    ]
    assert inputs == [
        edge and (edge.slot, edge.node.index, edge.output_nr) for node in graph.nodes for edge in node.inputs
    ]


def test_dictionary_has_names_and_the_way_to_each_root() -> None:
    loss, model = conv_net()
    found = trace((loss, loss * 2), model).to_dict()
    assert [root["expression"] for root in found["roots"]] == ["loss[0].grad_fn", "loss[1].grad_fn"]
    assert {name for node in found["nodes"] for name in node["parameters"]} == set(
        dict(model.named_parameters())
    )
    assert {node["module"] for node in found["nodes"]} == {None, "conv1", "conv2", "fc1", "fc2", "fc3"}


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_picture_has_every_node_and_no_box_on_another(kind: str) -> None:
    graph = trace(KINDS[kind]())
    picture = ElementTree.fromstring(graph.to_svg())
    boxes = {
        int(group.get("data-node")): [float(group[1].get(key)) for key in ("x", "y", "width", "height")]
        for group in picture.iter("{http://www.w3.org/2000/svg}g")
        if group.get("data-node")
    }
    assert sorted(boxes) == list(range(len(graph.nodes)))
    x, y, width, height = map(float, picture.get("viewBox").split())
    placed = list(boxes.values())
    for i, (left, top, w, h) in enumerate(placed):
        assert x <= left <= left + w <= x + width
        assert y <= top <= top + h <= y + height
        for other_left, other_top, other_w, other_h in placed[i + 1 :]:
            apart = left + w < other_left or other_left + other_w < left
            assert apart or top + h < other_top or other_top + other_h < top


def test_picture_is_the_same_every_time_and_safe_for_any_name() -> None:
    x = leaf(2)
    name = '<b & "c" \x01 中文>'
    first, second = (trace(x * x, {name: x}).to_svg() for _ in range(2))
    assert first == second
    texts = [text.text for text in ElementTree.fromstring(first).iter("{http://www.w3.org/2000/svg}text")]
    assert name.replace("\x01", "\N{REPLACEMENT CHARACTER}") in texts
    assert trace(x * x)._repr_svg_() == trace(x * x).to_svg()
    assert "in 12 boxes" in trace(chain(300))._repr_svg_()
