"""owners() knows where every node was made, and leaves the module as it was."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from gradfn_tutorial import Graph, owners, trace
from gradfn_tutorial.models import ConvNet
from gradfn_tutorial.owners import calls_of


class Block(nn.Module):
    """Makes nodes of its own before, between and after those of the modules inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.linear = nn.Linear(4, 4)
        self.act = nn.ReLU()

    def forward(self, x):
        return x + self.act(self.linear(self.norm(x * 2))).exp()


def operations(graph) -> dict[str | None, list[str]]:
    made: dict[str | None, list[str]] = {}
    for node in graph.nodes:
        if node.name != "AccumulateGrad":
            made.setdefault(node.module, []).append(node.name)
    return made


def test_every_node_belongs_to_the_innermost_module_that_ran() -> None:
    model = nn.Sequential(Block(), nn.Flatten(), nn.Dropout(0.5))
    with owners(model):
        loss = model(torch.randn(2, 3, 4)).sum()
    graph = trace(loss, model)
    # The last view of a Linear on 3-D data is an UnsafeViewBackward0 on torch 2.15.
    assert operations(graph)["0.linear"][1:] == ["AddmmBackward0", "TBackward0", "ViewBackward0"]
    assert {name: made for name, made in operations(graph).items() if name != "0.linear"} == {
        None: ["SumBackward0"],
        "2": ["MulBackward0"],
        "1": ["ViewBackward0"],
        "0": ["AddBackward0", "ExpBackward0"],
        "0.act": ["ReluBackward0"],
        "0.norm": ["NativeLayerNormBackward0"],
    }
    assert [node.name for node in graph.layer("0")] == ["AddBackward0", "ExpBackward0"]
    assert [node.name for node in graph.layer("0.act")] == ["ReluBackward0"]
    assert [node.name for node in graph.layer("0.linear")] == ["AddmmBackward0"]
    assert [node.name for node in graph.layer("1")] == ["ViewBackward0"]
    assert [node.name for node in graph.layers(nn.Dropout)] == ["MulBackward0"]


def transformer() -> tuple[nn.Module, torch.Tensor]:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.TransformerEncoder(layer, 12), torch.randn(2, 3, 8)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)

    def forward(self, sequence):
        h = c = torch.zeros(2, 4)
        for step in sequence:
            h, c = self.cell(step, (h, c))
        return h


MODELS = {
    "ConvNet": lambda: (ConvNet(), torch.randn(1, 3, 32, 32)),
    "transformer": transformer,
    "LSTM, one node": lambda: (nn.LSTM(3, 4), torch.randn(5, 2, 3)),
    "LSTM, many nodes": lambda: (
        nn.LSTM(3, 4, dtype=torch.float64),
        torch.randn(5, 2, 3, dtype=torch.float64),
    ),
    "LSTM cell": lambda: (Recurrent(), torch.randn(50, 2, 3)),
    "weight norm": lambda: (
        nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))),
        torch.randn(2, 4),
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_every_node_but_the_loss_has_an_owner(kind: str) -> None:
    model, data = MODELS[kind]()
    with owners(model):
        out = model(data)
    loss = (out[0] if isinstance(out, tuple) else out).sum()
    made_outside = [node for node in trace(loss, model).nodes if node.module is None]
    assert {node.name for node in made_outside} == {"SumBackward0", "AccumulateGrad"}
    assert trace(loss, model).roots[0].module is None


@pytest.mark.parametrize("kind", MODELS)
def test_the_layers_that_parameters_tell_are_the_same(kind: str) -> None:
    model, data = MODELS[kind]()
    out = model(data)
    told = trace(out[0] if isinstance(out, tuple) else out, model)
    with owners(model):
        out = model(data)
    known = trace(out[0] if isinstance(out, tuple) else out, model)
    names = {node.module for node in told.nodes} - {None}
    assert names
    for name in names:
        places = [node.index for node in told.layer(name)]
        assert set(places) <= {node.index for node in known.nodes if node.module == name}


def test_a_layer_whose_forward_is_never_called_is_still_told_by_its_parameters() -> None:
    model, data = transformer()
    with owners(model):
        loss = model(data).sum()
    graph = trace(loss, model)
    assert [node.name for node in graph.layer("layers.3.self_attn.out_proj")] == ["AddmmBackward0"]
    assert "BmmBackward0" in [node.name for node in graph.layer("layers.3.self_attn")]


def test_what_parameters_tell_wrongly_is_told_rightly() -> None:
    model = nn.Sequential(nn.utils.parametrizations.orthogonal(nn.Linear(4, 4)), nn.ReLU())
    with owners(model):
        loss = model(torch.randn(2, 4)).sum()
    graph = trace(loss, model)
    assert [node.name for node in graph.layer("0")] == ["AddmmBackward0"]
    assert "LinalgMatrixExpBackward0" in operations(graph)["0.parametrizations.weight.0"]


def test_a_module_called_twice_or_under_two_names() -> None:
    shared = nn.Tanh()
    model = nn.ModuleDict({"one": shared, "two": shared, "linear": nn.Linear(3, 3)})
    x = torch.randn(2, 3)
    with owners(model):
        loss = model["two"](model["linear"](model["one"](model["linear"](x)))).sum()
    graph = trace(loss, model)
    assert (
        [node.name for node in graph.layer("one")]
        == ["TanhBackward0"] * 2
        == [n.name for n in graph.layer("two")]
    )
    assert [node.module for node in graph.layers(nn.Linear)] == ["linear", "linear"]


def test_several_forward_passes_in_one_block_and_only_the_latest_block_counts() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    with owners(model):
        first, second = model(torch.randn(1, 3)), model(torch.randn(1, 3))
    assert len(trace(first + second, model).layers(nn.ReLU)) == 2
    later = model(torch.randn(1, 3))
    with pytest.raises(LookupError, match=r"'1': no node was made while it ran under owners\(model\)"):
        trace(later, model).layer("1")
    with owners(model):
        pass
    assert trace(first, model).nodes[0].module is None


def test_hooks_are_gone_afterwards_and_were_outermost() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    model[1].register_forward_pre_hook(lambda _, args: (args[0] * 2,))
    model[1].register_forward_hook(lambda _, args, out: out.exp())
    before = [
        (len(m._forward_hooks), len(m._forward_pre_hooks), len(m._forward_hooks_always_called))
        for m in model.modules()
    ]
    with owners(model):
        loss = model(torch.randn(1, 3))
    after = [
        (len(m._forward_hooks), len(m._forward_pre_hooks), len(m._forward_hooks_always_called))
        for m in model.modules()
    ]
    assert before == after
    assert operations(trace(loss, model))["1"] == ["ExpBackward0", "ReluBackward0", "MulBackward0"]


def test_an_exception_in_forward_leaves_nothing_behind() -> None:
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    model = nn.Sequential(nn.Linear(3, 3), Fails())
    with owners(model):
        with pytest.raises(ValueError, match="no"):
            model(torch.randn(1, 3))
        outside = torch.randn(1, 3, requires_grad=True).exp()
        inside = model[0](outside)
    with pytest.raises(ValueError, match="no"), owners(model):
        model(torch.randn(1, 3))
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    with owners(model):
        with pytest.raises(ValueError, match="no"):
            model(torch.randn(1, 3))
        outside = torch.randn(1, 3, requires_grad=True).exp()
        inside = model[0](outside)
    assert operations(trace(inside, model))[None] == ["ExpBackward0"]


def test_what_is_kept_goes_with_the_module() -> None:
    model = nn.Sequential(nn.Linear(3, 3))
    with owners(model):
        model(torch.randn(1, 3))
    calls, gone = weakref.ref(calls_of(model)), weakref.ref(model)
    assert calls() is not None
    del model
    gc.collect()
    assert gone() is None
    assert calls() is None


def test_each_thread_has_a_record_of_its_own() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))

    def another_forward_pass() -> torch.Tensor:
        # Nodes in front of the model's, so that the numbers differ from those of the other thread.
        x = (torch.ones(1, 2, requires_grad=True) * 2).exp()
        with owners(model):
            return model(x).sum()

    def in_a_thread_that_has_made_no_node() -> Graph:
        with owners(model):
            loss = model(torch.ones(1, 2)).sum()
        with ThreadPoolExecutor(1) as other:
            other.submit(another_forward_pass).result()
        return trace(loss, model)

    with ThreadPoolExecutor(1) as thread:
        graph = thread.submit(in_a_thread_that_has_made_no_node).result()
    assert operations(graph)["1"] == ["ReluBackward0"]
    assert [node.name for node in graph.layer("2")] == ["AddmmBackward0"]
    # Traced in a thread that has seen no forward pass, the same graph has the layers that parameters tell.
    with ThreadPoolExecutor(1) as thread:
        loss = thread.submit(another_forward_pass).result()
    with ThreadPoolExecutor(1) as thread:
        told = thread.submit(trace, loss, model).result()
    assert {node.module for node in told.nodes} == {None, "0", "2"}


def test_a_derivative_is_not_the_layers_operation() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    x = torch.randn(1, 2, requires_grad=True)
    with owners(model):
        out = model(x).sum()
    (grad,) = torch.autograd.grad(out, x, create_graph=True)
    graph = trace(grad.pow(2).sum(), model)
    with pytest.raises(LookupError, match="can be told to be layer '2'"):
        graph.layer("2")
    (node,) = graph.layer("0")
    assert node.name == "AddmmBackward0"
    assert {node.module for node in graph.find("PowBackward")} == {None}


def test_a_container_of_parameters_owns_nothing() -> None:
    class Lists(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = nn.ParameterList([nn.Parameter(torch.randn(3, 3)) for _ in range(2)])
            self.biases = nn.ParameterDict({"last": nn.Parameter(torch.randn(3))})

        def forward(self, x):
            hidden = nn.functional.linear(x, self.weights[0])
            return nn.functional.linear(hidden, self.weights[1], self.biases["last"])

    model = nn.ModuleDict({"inner": Lists()})
    with owners(model):
        loss = model["inner"](torch.randn(1, 3)).sum()
    assert [node.name for node in trace(loss, model).layer("inner")] == ["AddmmBackward0", "MmBackward0"]


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning", "ignore:`torch.jit:FutureWarning")
def test_a_scripted_part_belongs_to_the_module_round_it() -> None:
    scripted = torch.jit.script(nn.ReLU())
    model = nn.Sequential(nn.Linear(2, 3), scripted)
    with owners(model):
        loss = model(torch.ones(1, 2)).sum()
    assert operations(trace(loss, model))[""] == ["ReluBackward0"]
    with pytest.raises(TypeError, match="got RecursiveScriptModule, which torch"), owners(scripted):
        pass


def test_a_module_that_was_never_entered_leaves_nothing() -> None:
    class Falls(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(2, 2)
            self.second = nn.Linear(2, 2)

        def forward(self, x):
            try:
                return self.first(x)
            except ValueError:
                return self.second(x).relu()

    def refuse(*_):
        raise ValueError

    model = Falls()
    with owners(model):
        model.first.register_forward_pre_hook(refuse, prepend=True)
        out = model(torch.ones(1, 2))
    made = operations(trace(out, model))
    assert (made[""], made["second"]) == (["ReluBackward0"], ["AddmmBackward0", "TBackward0"])


def test_a_copy_made_inside_the_block_is_not_watched() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    with owners(model):
        copied, pickled = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
        loss = model(torch.ones(1, 2)).sum()
        copied(torch.ones(1, 2))
        pickled(torch.ones(1, 2))
    assert operations(trace(loss, model))["1"] == ["ReluBackward0"]
    copied(torch.ones(1, 2))
    assert [len(calls_of(model)._starts), calls_of(copied)] == [6, None]


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpointing(use_reentrant: bool) -> None:
    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

        def forward(self, x):
            return checkpoint(self.inner, x, use_reentrant=use_reentrant)

    model = Checkpointed()
    with owners(model):
        loss = model(torch.randn(1, 3, requires_grad=True)).sum()
    made = operations(trace(loss, model))
    if use_reentrant:
        assert made == {None: ["SumBackward0"], "": ["CheckpointFunctionBackward"]}
    else:
        assert made["inner.1"] == ["ReluBackward0"]
    loss.backward()


def test_a_compiled_region_is_one_node_of_no_module() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    compiled = torch.compile(model, backend="aot_eager")
    with owners(model):
        loss = compiled(torch.randn(1, 3)).sum()
    graph = trace(loss, model)
    assert operations(graph)[None] == ["SumBackward0", "CompiledFunctionBackward"]
    with pytest.raises(LookupError, match="it may be in the compiled part of the model"):
        graph.layer("0")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (3, "owners() takes a module, got int. Pass the model that you call."),
        (
            torch.compile(nn.ReLU(), backend="aot_eager"),
            "got OptimizedModule, which torch.compile() or torch.jit made of one",
        ),
    ],
    ids=["number", "compiled"],
)
def test_a_wrong_use_says_what_came_and_what_to_do(wrong, says: str) -> None:
    with pytest.raises(TypeError) as raised, owners(wrong):
        pass
    assert says in str(raised.value)
