"""What record_backward tells is what backward did, and backward does what it does without it."""

from __future__ import annotations

import gc
import json
import math
import random
import sys
import threading
import types
import weakref
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn
from torch.autograd.graph import GradientEdge
from torch.utils.checkpoint import checkpoint

from gradfn_tutorial.graph import trace
from gradfn_tutorial.models import ConvNet
from gradfn_tutorial.owners import owners
from gradfn_tutorial.recording import Gradient, Recording, Row, record_backward


class Case(NamedTuple):
    """A loss, with the gradient to begin with, and the leaves that it fills."""

    loss: Any
    leaves: list[torch.Tensor]
    gradient: Any = None
    module: Any = None


class Mixed(torch.autograd.Function):
    """Three outputs, the first one not differentiable, and gradients that torch has to fit to the inputs."""

    @staticmethod
    def forward(ctx, x, y, constant):
        positive = x > 0
        ctx.mark_non_differentiable(positive)
        ctx.save_for_backward(x)
        return positive, x * y, x + constant

    @staticmethod
    def backward(ctx, of_positive, of_product, of_sum):
        (x,) = ctx.saved_tensors
        return (of_product + of_sum).double(), of_product * x, of_sum


class Overwrites(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient.mul_(2)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 3)
        self.decoder = nn.Linear(3, 5, bias=False)
        self.decoder.weight = self.embedding.weight

    def forward(self, tokens):
        return self.decoder(self.embedding(tokens))


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(4)

    def forward(self, x):
        x = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(x + self.norm2(self.conv2(x)))


def leaf(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def of_model(model: nn.Module, *inputs: torch.Tensor, of: Callable = lambda output: output) -> Case:
    return Case(of(model(*inputs)).square().sum(), list(model.parameters()), module=model)


def convnet() -> Case:
    return of_model(ConvNet(), torch.randn(2, 3, 32, 32))


def frozen() -> Case:
    model = ConvNet()
    model.conv2.requires_grad_(False)
    model.fc1.bias.requires_grad_(False)
    return of_model(model, torch.randn(2, 3, 32, 32))


def transformer() -> Case:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return of_model(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.randn(2, 3, 8))


def recurrent(kind: type[nn.RNNBase], dtype: torch.dtype) -> Case:
    model = kind(3, 4, num_layers=2).to(dtype)
    return of_model(model, torch.randn(5, 2, 3, dtype=dtype), of=lambda output: output[0])


def unrolled() -> Case:
    cell, state = nn.LSTMCell(3, 4), None
    for x in torch.randn(6, 2, 3):
        state = cell(x, state)
    return Case(state[0].sum(), list(cell.parameters()), module=cell)


def ladder() -> Case:
    start = leaf(1)
    x = start
    for _ in range(20):
        x = x + x.sin()
    return Case(x, [start])


def unused_outputs() -> Case:
    x = leaf(3, 4)
    first, _, third = x.unbind()
    return Case((first * third.exp()).sum(), [x])


def in_place() -> Case:
    x, y = leaf(4), leaf(2)
    changed = x * 1
    changed[1:3] = y
    changed[0].mul_(3)
    return Case((changed.mul_(2) * changed.detach()).sum(), [x, y])


def custom() -> Case:
    x, y, constant = leaf(4), leaf(4), torch.randn(4)
    _, product, total = Mixed.apply(x, y, constant)
    return Case((product * total).sum(), [x, y])


def overwrites() -> Case:
    x = leaf(4)
    return Case((Overwrites.apply(x.exp()) * 3).sum(), [x])


def several_roots() -> Case:
    x, y = leaf(3), leaf(3)
    shared = x * y
    return Case((shared.sum(), shared.exp(), y), [x, y], (None, torch.randn(3), torch.randn(3)))


def complex_numbers() -> Case:
    x, y = leaf(3, dtype=torch.complex64), leaf(3)
    return Case(x * y + x.abs(), [x, y], torch.randn(3, dtype=torch.complex64))


def sparse() -> Case:
    model = nn.Embedding(6, 3, sparse=True)
    return of_model(model, torch.tensor([1, 4, 1]))


def mixed_precision() -> Case:
    x, y = leaf(3, dtype=torch.float16), leaf(3, dtype=torch.bfloat16)
    return Case((x.float() * y.double()).sum(), [x, y])


def leaf_as_loss() -> Case:
    x = leaf()
    return Case(x, [x])


def empty() -> Case:
    x = leaf(0, 3)
    return Case((x * 2).sum(), [x])


def accumulates() -> Case:
    case = convnet()
    for p in case.leaves[::2]:
        p.grad = torch.randn_like(p)
    return case


def tensor_hooks() -> Case:
    x = leaf(3)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    x.register_hook(lambda grad: grad.clamp(max=1))
    return Case((y * y).sum(), [x])


def checkpointed() -> Case:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = leaf(2, 3)
    return Case(checkpoint(model, x, use_reentrant=False).sum(), [x, *model.parameters()], module=model)


def checkpointed_reentrant() -> Case:
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    x = leaf(2, 3)
    loss = model(checkpoint(model, x, use_reentrant=True)).sum()
    return Case(loss, [x, *model.parameters()], module=model)


def compiled() -> Case:
    x = leaf(3)
    return Case(torch.compile(lambda t: (t.exp() * t.sin()).sum(), backend="aot_eager")(x), [x])


def random_graph(seed: int) -> Case:
    choose = random.Random(seed)
    leaves = [leaf(4) for _ in range(3)]
    pool = [*leaves, torch.randn(4)]
    unary: list[Callable[[torch.Tensor], torch.Tensor]] = [
        torch.sin,
        torch.relu,
        lambda t: t.split(2)[choose.randrange(2)].repeat(2),
        lambda t: t.view(2, 2).t().reshape(4),
        lambda t: Mixed.apply(t, t, torch.ones(4))[choose.randrange(1, 3)].sin(),
        lambda t: (t * 1).mul_(2),
        lambda t: t.detach() * 2,
        lambda t: t.unbind()[choose.randrange(4)].expand(4),
    ]
    for _ in range(choose.randrange(1, 25)):
        if choose.random() < 0.5:
            pool.append(choose.choice(unary)(choose.choice(pool)))
        else:
            pool.append(choose.choice([torch.add, torch.mul])(choose.choice(pool), choose.choice(pool)))
    return Case(sum(tensor.sum() for tensor in pool), leaves)


CASES: dict[str, Callable[[], Case]] = {
    "CNN": convnet,
    "CNN, parts frozen": frozen,
    "residual block": lambda: of_model(Residual(), torch.randn(2, 3, 6, 6)),
    "transformer": transformer,
    "LSTM": lambda: recurrent(nn.LSTM, torch.float32),
    "LSTM in float64": lambda: recurrent(nn.LSTM, torch.float64),
    "GRU": lambda: recurrent(nn.GRU, torch.float32),
    "LSTM cell, unrolled": unrolled,
    "tied weights": lambda: of_model(Tied(), torch.tensor([0, 2])),
    "shared nodes": ladder,
    "unused outputs": unused_outputs,
    "in-place": in_place,
    "custom Function": custom,
    "custom Function that overwrites": overwrites,
    "several roots": several_roots,
    "complex": complex_numbers,
    "sparse": sparse,
    "half precision": mixed_precision,
    "leaf as loss": leaf_as_loss,
    "empty": empty,
    "into a .grad that is there": accumulates,
    "tensor hooks": tensor_hooks,
    "checkpoint": checkpointed,
    "re-entrant checkpoint": checkpointed_reentrant,
    "compiled": compiled,
    **{f"random {seed}": lambda seed=seed: random_graph(seed) for seed in range(500)},
}
SOME = list(CASES)[:100]
NAMED = [kind for kind in CASES if "random" not in kind]


def make(kind: str) -> Case:
    torch.manual_seed(0)
    return CASES[kind]()


def equal(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    if one.layout == torch.sparse_coo:
        one, other = one.to_dense(), other.to_dense()
    return one.dtype == other.dtype and torch.equal(one, other)


def value(gradient: Gradient | None) -> torch.Tensor | None:
    return None if gradient is None else gradient.value


@pytest.mark.parametrize("kind", SOME)
@pytest.mark.parametrize("keep", ["shapes", "values"])
def test_grad_is_what_a_plain_backward_leaves(kind: str, keep: str) -> None:
    plain, recorded = make(kind), make(kind)
    torch.autograd.backward(plain.loss, plain.gradient)
    recording = record_backward(recorded.loss, recorded.module, recorded.gradient, keep=keep)
    for one, other in zip(plain.leaves, recorded.leaves):
        assert equal(one.grad, other.grad)
        if one.grad is not None:
            assert one.grad.layout == other.grad.layout
            assert one.grad.requires_grad == other.grad.requires_grad
            if one.grad.layout == torch.strided:
                assert one.grad.stride() == other.grad.stride()
    assert {row.node for row in recording.rows} == set(recording.graph.nodes)


# torch.autograd.grad does not go through a re-entrant checkpoint, hands out the very tensor that a node then overwrites,
# and, where it has more to compute behind a tensor, takes its gradient before its hooks.
NO_ORACLE = ("re-entrant checkpoint", "custom Function that overwrites", "tensor hooks")


@pytest.mark.parametrize("kind", [kind for kind in CASES if kind not in NO_ORACLE])
def test_what_entered_a_node_is_what_autograd_grad_gives(kind: str) -> None:
    plain, recorded = make(kind), make(kind)
    recording = record_backward(recorded.loss, recorded.module, recorded.gradient, keep="values")
    nodes = trace(plain.loss).nodes
    places = [(row, nr) for row in recording.rows for nr in range(len(row.entering))]
    edges = [GradientEdge(nodes[row.node.index].fn, nr) for row, nr in places]
    expected = torch.autograd.grad(plain.loss, edges, plain.gradient, allow_unused=True)
    assert len(recording.rows) == len(nodes)
    for (row, nr), gradient in zip(places, expected):
        assert nodes[row.node.index].name == row.node.name
        assert equal(value(row.entering[nr]), gradient), (row.node, nr)


def test_what_entered_a_node_is_recorded_before_the_node_overwrites_it() -> None:
    rows = record_backward(make("custom Function that overwrites").loss, keep="values").rows
    (row,) = [row for row in rows if row.node.name == "OverwritesBackward"]
    assert row.entering[0].value.tolist() == [3] * 4
    assert row.leaving[0].value.tolist() == [6] * 4


def test_what_entered_a_node_is_what_autograd_grad_gives_after_tensor_hooks() -> None:
    plain, recorded = make("tensor hooks"), make("tensor hooks")
    nodes = trace(plain.loss).nodes
    for row in record_backward(recorded.loss, keep="values").rows:
        edge = GradientEdge(nodes[row.node.index].fn, 0)
        (expected,) = torch.autograd.grad(plain.loss, [edge], retain_graph=True)
        assert equal(value(row.entering[0]), expected)


@pytest.mark.parametrize(
    "kind", [kind for kind in SOME if kind not in ("tensor hooks", "re-entrant checkpoint")]
)
def test_what_left_the_nodes_adds_up_to_what_entered_the_next(kind: str) -> None:
    case = make(kind)
    recording = record_backward(case.loss, case.module, case.gradient, keep="values")
    arrived: dict[tuple, list[torch.Tensor]] = {}
    roots = case.loss if isinstance(case.loss, tuple) else (case.loss,)
    begin = case.gradient if isinstance(case.gradient, tuple) else (case.gradient,) * len(roots)
    for node, root, gradient in zip(recording.graph.roots, roots, begin):
        first = torch.ones_like(root) if gradient is None else gradient
        arrived.setdefault((node, root.output_nr), []).append(first)
    for row in recording.rows:
        assert len(row.leaving) == len(row.node.inputs)
        for edge, gradient in zip(row.node.inputs, row.leaving):
            if edge is None:
                assert gradient is None
            elif gradient is not None:
                arrived.setdefault((edge.node, edge.output_nr), []).append(gradient.value)
    for row in recording.rows:
        for output_nr, gradient in enumerate(row.entering):
            parts = arrived.pop((row.node, output_nr), None)
            if parts is None or len(parts) == 1:
                assert equal(value(gradient), parts and parts[0])
            else:
                torch.testing.assert_close(value(gradient), sum(parts))
    assert arrived == {}


@pytest.mark.parametrize("kind", NAMED)
def test_shapes_are_those_of_the_values(kind: str) -> None:
    shapes, values = (
        record_backward(case.loss, case.module, case.gradient, keep=keep)
        for case, keep in ((make(kind), "shapes"), (make(kind), "values"))
    )
    assert [skeleton(row) for row in shapes.rows] == [skeleton(row) for row in values.rows]
    for row in values.rows:
        for gradient in all_of(row):
            assert (gradient.shape, gradient.dtype) == (tuple(gradient.value.shape), gradient.value.dtype)
            assert not gradient.value.requires_grad


def all_of(row: Row) -> list[Gradient]:
    done = row.accumulated
    around = (done.before, done.after) if done else ()
    return [gradient for gradient in (*row.entering, *row.leaving, *around) if gradient is not None]


def skeleton(row: Row) -> tuple:
    def outline(gradient: Gradient | None) -> tuple | None:
        return gradient and (gradient.shape, gradient.dtype)

    done = row.accumulated
    around = done and (outline(done.before), outline(done.added), outline(done.after))
    return row.node.index, [outline(g) for g in row.entering], [outline(g) for g in row.leaving], around


@pytest.mark.parametrize("kind", [kind for kind in NAMED if kind != "tensor hooks"])
def test_before_and_added_make_after(kind: str) -> None:
    case = make(kind)
    recording = record_backward(case.loss, case.module, case.gradient, keep="values")
    last: dict[object, Gradient | None] = {}
    for row in recording.rows:
        if row.node.name != "AccumulateGrad":
            assert row.accumulated is None
            continue
        done = row.accumulated
        before, added, after = map(value, (done.before, done.added, done.after))
        assert equal(after, added if before is None else before + added)
        last[row.node.fn.variable] = done.after
    for tensor in case.leaves:
        assert equal(value(last.get(tensor)), tensor.grad)


def test_rows_are_in_the_order_of_the_run() -> None:
    case = make("transformer")
    ran: list[object] = []
    for node in trace(case.loss).nodes:
        node.fn.register_prehook(lambda _, fn=node.fn: ran.append(fn))
    rows = record_backward(case.loss).rows
    assert [row.node.fn for row in rows] == ran


def hooks_of(case: Case) -> list[tuple]:
    return [
        (id(t._backward_hooks), t.retains_grad, t.requires_grad, t.is_leaf, t._version) for t in case.leaves
    ]


@pytest.mark.parametrize("kind", NAMED)
def test_nothing_of_it_stays(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradfn_tutorial import recording as module

    handles: list = []
    watch = module._Recorder.watch

    def spy(recorder, nodes):
        watch(recorder, nodes)
        handles.extend(recorder.handles)
        assert all(handle.id in handle.hooks_dict_ref() for handle in handles)

    monkeypatch.setattr(module._Recorder, "watch", spy)
    case = make(kind)
    before = hooks_of(case)
    metadata = [dict(node.fn.metadata) for node in trace(case.loss).nodes]
    recording = record_backward(case.loss, case.module, case.gradient)
    assert hooks_of(case) == before
    assert len(handles) >= len(recording.graph.nodes)
    assert gc.isenabled()
    assert not any(handle.id in (handle.hooks_dict_ref() or ()) for handle in handles)
    assert [dict(node.fn.metadata) for node in recording.graph.nodes] == metadata


def test_hooks_are_gone_and_the_error_is_torchs_when_backward_raises() -> None:
    x = leaf(3)
    y = x.exp()
    failing = y.register_hook(lambda grad: {}["what the hook raises"])
    calls: list[int] = []
    accumulate = trace(x).nodes[0].fn
    with pytest.raises(KeyError, match="what the hook raises"):
        record_backward(y.sum(), retain_graph=True)
    failing.remove()
    accumulate.register_hook(lambda *_: calls.append(len(trace(x).nodes)))
    first = record_backward((y * 1).sum(), retain_graph=True)
    y.sum().backward()
    assert calls == [1, 1]
    assert len(first.rows) == 4


def test_an_invalid_gradient_of_a_custom_function_raises_torchs_error() -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return torch.ones(5)

    with pytest.raises(RuntimeError, match="returned an invalid gradient at index 0"):
        record_backward(Wrong.apply(leaf(3)).sum(), keep="values")


def test_hooks_of_others_run_once_and_what_they_change_is_recorded() -> None:
    x = leaf(2)
    calls: list[str] = []
    y = x * 1
    y.grad_fn.register_prehook(lambda grads: calls.append("prehook") or (grads[0] * 2,))
    y.grad_fn.register_hook(lambda leaving, _: calls.append("hook") or (leaving[0] * 5, None))
    x.register_hook(lambda grad: calls.append("tensor") or grad + 1)
    x.register_post_accumulate_grad_hook(lambda t: calls.append(str(t.grad.mul_(100))))
    of_sum, of_mul, of_x = record_backward(y.sum(), keep="values").rows
    assert calls == ["prehook", "hook", "tensor", "tensor([1100., 1100.])"]
    assert of_sum.leaving[0].value.tolist() == [1, 1]
    assert of_mul.entering[0].value.tolist() == [2, 2]
    assert of_mul.leaving[0].value.tolist() == [10, 10]
    assert of_x.accumulated.before is None
    assert of_x.accumulated.added.value.tolist() == [11, 11]
    assert of_x.accumulated.after.value.tolist() == [1100, 1100]


def test_accumulated_after_is_none_where_a_hook_takes_grad_away() -> None:
    x = leaf(2)
    x.register_post_accumulate_grad_hook(lambda t: setattr(t, "grad", None))
    *_, row = record_backward(x.sum()).rows
    assert (row.accumulated.before, row.accumulated.after) == (None, None)
    assert row.accumulated.added.shape == (2,)


def test_before_is_not_overwritten_by_what_is_added_in_place() -> None:
    x = leaf(2)
    x.grad = torch.ones(2)
    held = x.grad
    *_, row = record_backward((x * 3).sum(), keep="values").rows
    assert x.grad is held
    assert row.accumulated.before.value.tolist() == [1, 1]
    assert row.accumulated.added.value.tolist() == [3, 3]
    assert row.accumulated.after.value.tolist() == [4, 4]


def test_a_leaf_that_no_gradient_reaches() -> None:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return None

    x = leaf(2)
    *_, row = record_backward(Nothing.apply(x).sum()).rows
    assert row.entering == (None,)
    assert (row.accumulated.before, row.accumulated.added, row.accumulated.after) == (None, None, None)
    assert x.grad is None


def test_tensors_that_kept_their_gradient() -> None:
    x = leaf(4)
    y = x * 2
    first, second, unused, _ = y.split(1)
    for tensor in (y, second, unused):
        tensor.retain_grad()
    names = {"x": x, "y": y, "first": first, "second": second, "unused": unused}
    recording = record_backward((first * second).sum(), names)
    assert {row.node.name: row.kept for row in recording.rows if row.kept} == {
        "SplitBackward0": ("second",),
        "MulBackward0": ("y",),
    }
    assert "kept by y" in recording.to_text()
    assert y.grad is not None
    assert unused.grad is None
    assert y.retains_grad
    assert not first.retains_grad


def test_checkpoint_runs_the_forward_pass_again_once() -> None:
    for reentrant in (False, True):
        runs: list[int] = []

        def forward(x, runs=runs):
            runs.append(1)
            return x.exp().sin()

        loss = checkpoint(forward, leaf(3), use_reentrant=reentrant).sum()
        recording = record_backward(loss, keep="values")
        str([row.freed for row in recording.rows])
        assert len(runs) == 2


def test_a_parameter_inside_and_outside_a_reentrant_checkpoint_has_a_row_for_each() -> None:
    w = leaf(2)
    loss = (checkpoint(lambda x: x * w, leaf(2), use_reentrant=True) * w).sum()
    rows = [row for row in record_backward(loss, {"w": w}, keep="values").rows if row.node.label == "w"]
    assert [row.accumulated.before is None for row in rows] == [True, False]
    assert equal(rows[0].accumulated.after.value, rows[1].accumulated.before.value)
    assert equal(rows[1].accumulated.after.value, w.grad)


def run_in_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@pytest.mark.parametrize("keep", ["shapes", "values"])
def test_what_another_thread_runs_through_the_same_leaf_is_no_row(keep: str) -> None:
    w = leaf(3)
    y = w * 2
    y.register_hook(lambda grad: run_in_thread(lambda: (w * 5).sum().backward()))
    rows = record_backward(y.sum(), {"w": w}, keep=keep).rows
    assert [row.node.name for row in rows] == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    assert w.grad.tolist() == [7] * 3
    if keep == "values":
        assert rows[2].accumulated.before.value.tolist() == [5] * 3
        assert rows[2].accumulated.added.value.tolist() == [2] * 3


def test_two_threads_record_losses_that_share_a_parameter() -> None:
    w = torch.ones(3, requires_grad=True)
    both = threading.Barrier(2)
    found: list[Counter] = []

    def go() -> None:
        for _ in range(100):
            loss = (w * 2).sin().sum()
            both.wait()
            found.append(
                Counter(row.node.name for row in record_backward(loss, {"w": w}, keep="values").rows)
            )

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = ["SumBackward0", "SinBackward0", "MulBackward0", "AccumulateGrad"]
    assert found == [Counter(names)] * 200


def test_a_recording_inside_a_recording() -> None:
    w = leaf(3)
    inner: list[Recording] = []
    y = w * 2
    other = (w * 5).sum()
    y.register_hook(lambda grad: inner.append(record_backward(other, {"w": w}, keep="values")))
    outer = record_backward(y.sum(), {"w": w}, keep="values")
    assert [row.node.name for row in inner[0].rows] == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    assert [row.node.name for row in outer.rows] == [
        "SumBackward0",
        "AccumulateGrad",
        "MulBackward0",
        "AccumulateGrad",
    ]
    assert [row.accumulated.added.value.tolist()[0] for row in (outer.rows[1], outer.rows[3])] == [5, 2]
    # Nothing is left that would record this.
    (w * 7).sum().backward()
    assert (len(outer.rows), len(inner[0].rows)) == (4, 3)


def test_a_node_that_runs_again_inside_its_own_run() -> None:
    w = leaf(2)
    node = trace(w).nodes[0].fn
    again = [(w * 3).sum()]
    node.register_hook(lambda *_: again.pop().backward() if again else None)
    rows = [row for row in record_backward((w * 2).sum(), {"w": w}, keep="values").rows if row.accumulated]
    inside, outside = (row.accumulated for row in rows)
    assert (inside.before.value[0], inside.added.value[0], inside.after.value[0]) == (2, 3, 5)
    assert (outside.before, outside.added.value[0], outside.after.value[0]) == (None, 2, 5)


def test_the_engine_goes_on_in_another_thread_where_reentrant_checkpoints_are_deep() -> None:
    w = leaf(2)
    threads: set[int] = set()
    w.register_hook(lambda _: threads.add(threading.get_ident()))

    def nest(x: torch.Tensor, depth: int) -> torch.Tensor:
        return checkpoint(lambda y: nest(y, depth - 1), x, use_reentrant=True) if depth else x * w

    loss = (nest(leaf(2), 70) * w).sum()
    rows = [row for row in record_backward(loss, {"w": w}, keep="values").rows if row.node.label == "w"]
    assert len(threads) == 2
    assert [row.accumulated.before is None for row in rows] == [True, False]
    assert equal(rows[1].accumulated.after.value, w.grad)


# What each kind of node saves. The expected attributes of torch's own nodes are those of its derivatives.yaml.
def saves_input_and_weight() -> torch.Tensor:
    return nn.Conv2d(1, 1, 2)(leaf(1, 1, 3, 3))


def saves_through_hooks() -> torch.Tensor:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), unpack):
        return leaf(3).exp()


def saves_with_a_hook_of_its_own() -> torch.Tensor:
    y = leaf(3).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t, unpack)
    return y


def custom_through_hooks() -> torch.Tensor:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), unpack):
        return Mixed.apply(leaf(3), leaf(3), torch.ones(3))[1]


unpacked: list[torch.Tensor] = []


def unpack(tensor: torch.Tensor) -> torch.Tensor:
    unpacked.append(tensor)
    return tensor


class SavesNone(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, what):
        ctx.note = torch.ones(3)
        if what is not None:
            ctx.save_for_backward(*what)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2, None


FREED: dict[str, tuple[Callable[[], torch.Tensor], tuple[str, ...]]] = {
    "Conv2d": (saves_input_and_weight, ("_saved_input", "_saved_weight")),
    "a product with a constant": (lambda: leaf(3) * torch.ones(3), ("_saved_other",)),
    "a product with a number": (lambda: leaf(3) * 2, ("_saved_other",)),
    "a sum": (lambda: leaf(3) + leaf(3), ()),
    "a sum of all": (lambda: leaf(3).sum(), ()),
    "an index": (lambda: leaf(3)[torch.tensor([1])], ("_saved_indices",)),
    "saved tensors hooks": (saves_through_hooks, ("_saved_result",)),
    "a hook on one saved tensor": (saves_with_a_hook_of_its_own, ("_saved_result",)),
    "checkpoint": (
        lambda: checkpoint(torch.exp, leaf(3), use_reentrant=False),
        ("_saved_result",),
    ),
    "a custom Function": (lambda: Mixed.apply(leaf(3), leaf(3), torch.ones(3))[1], ("saved_tensors",)),
    "a custom Function with hooks": (custom_through_hooks, ("saved_tensors",)),
    "a custom Function that saves nothing": (lambda: SavesNone.apply(leaf(3), None), ()),
    "a custom Function that saves an empty list": (lambda: SavesNone.apply(leaf(3), ()), ()),
    "compiled": (
        lambda: torch.compile(lambda x: x.exp(), backend="aot_eager")(leaf(3)),
        ("saved_tensors",),
    ),
}


@pytest.mark.parametrize("kind", FREED)
def test_saved_tensors_that_were_freed(kind: str) -> None:
    make_result, expected = FREED[kind]
    result = make_result()
    unpacked.clear()
    first = record_backward(result, gradient=torch.ones_like(result), retain_graph=True)
    assert [row.freed for row in first.rows] == [()] * len(first.rows)
    during = len(unpacked)
    recording = record_backward(result, gradient=torch.ones_like(result))
    assert len(unpacked) == 2 * during
    assert recording.rows[0].freed == expected
    assert all(row.freed == () for row in recording.rows[1:] if row.node.name == "AccumulateGrad")
    assert len(unpacked) == 2 * during, "reading ran an unpack hook"
    assert ("hook" in kind) == bool(unpacked)


def test_a_custom_function_that_was_freed_before_and_runs_again() -> None:
    loss = SavesNone.apply(leaf(3), (torch.ones(3),)).sum()
    assert record_backward(loss).rows[1].freed == ("saved_tensors",)
    assert record_backward(loss).rows[1].freed == ()


def tensors_alive() -> set[int]:
    gc.collect()
    return {id(thing) for thing in gc.get_objects() if issubclass(type(thing), torch.Tensor)}


def test_with_shapes_no_gradient_is_alive() -> None:
    x = leaf(3)
    seen: list[weakref.ref] = []
    y = x.exp()
    for tensor in (y, x):
        tensor.register_hook(lambda grad: seen.append(weakref.ref(grad)))
    loss = (y * y).sum()
    before = tensors_alive()
    gc.disable()
    try:
        recording = record_backward(loss, {"x": x, "y": y})
        dead = [ref() is None or ref() is x.grad for ref in seen]
    finally:
        gc.enable()
    assert dead == [True, True], "alive, or kept by a cycle"
    assert tensors_alive() - before == {id(x.grad)}
    assert all(gradient.value is None for row in recording.rows for gradient in all_of(row))


def test_backward_runs_again_with_retain_graph() -> None:
    case = make("CNN")
    record_backward(case.loss, case.module, retain_graph=True)
    once = [p.grad.clone() for p in case.leaves]
    record_backward(case.loss, case.module)
    assert all(torch.equal(p.grad, grad * 2) for p, grad in zip(case.leaves, once))


def test_names_of_saved_tensors_are_looked_up_once_for_each_kind_of_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gradfn_tutorial import recording as module

    kinds: list[type] = []
    monkeypatch.setattr(module, "dir", lambda kind: kinds.append(kind) or dir(kind), raising=False)
    recording = record_backward(torch.stack([leaf().acos().acos() for _ in range(50)]).sum())
    recording.to_dict()
    assert recording.rows[5].freed == ("_saved_self",)
    assert len(kinds) == len(set(kinds))


def test_one_hundred_thousand_nodes() -> None:
    x = leaf(1)
    y = x
    for _ in range(100_000):
        y = y + 1
    recording = record_backward(y)
    assert len(recording.rows) == 100_001
    assert recording.to_text(limit=3).endswith("… and 99,998 more rows")


NAN, INF = math.nan, math.inf
STATISTICS: dict[str, tuple[torch.Tensor, tuple]] = {
    "plain": (torch.tensor([3.0, -4.0]), (5.0, -4.0, 3.0, 0, 0)),
    "one number": (torch.tensor(-2.0), (2.0, -2.0, -2.0, 0, 0)),
    "NaN": (torch.tensor([1.0, NAN, NAN]), (NAN, NAN, NAN, 2, 0)),
    "Inf": (torch.tensor([1.0, -INF, INF]), (INF, -INF, INF, 0, 2)),
    "NaN and Inf": (torch.tensor([NAN, INF]), (NAN, NAN, NAN, 1, 1)),
    "a norm above the range of float32": (torch.tensor([3e38, 3e38]), (3e38 * 2**0.5, 3e38, 3e38, 0, 0)),
    "squares above the range": (torch.tensor([3e30, -4e30]), (5e30, -4e30, 3e30, 0, 0)),
    "squares below the range": (torch.tensor([3e-25, 4e-25]), (5e-25, 3e-25, 4e-25, 0, 0)),
    "squares that lose digits": (torch.tensor([3e-21, 4e-21]), (5e-21, 3e-21, 4e-21, 0, 0)),
    "subnormal": (torch.tensor([3e-40, -4e-40]), (5e-40, -4e-40, 3e-40, 0, 0)),
    "zeros": (torch.zeros(3), (0.0, 0.0, 0.0, 0, 0)),
    "float64, squares above": (
        torch.tensor([3e200, 4e200], dtype=torch.float64),
        (5e200, 3e200, 4e200, 0, 0),
    ),
    "float64, squares below": (
        torch.tensor([3e-200, 4e-200], dtype=torch.float64),
        (5e-200, 3e-200, 4e-200, 0, 0),
    ),
    "small half": (torch.tensor([6e-8], dtype=torch.float16), (2.0**-24, 2.0**-24, 2.0**-24, 0, 0)),
    "small bfloat16": (
        torch.tensor([2.0**-100], dtype=torch.bfloat16),
        (2.0**-100, 2.0**-100, 2.0**-100, 0, 0),
    ),
    "large complex": (torch.tensor([3e38 + 3e38j]), (3e38 * 2**0.5, None, None, 0, 0)),
    "small complex": (torch.tensor([3e-25j, 4e-25]).conj(), (5e-25, None, None, 0, 0)),
    "half": (torch.tensor([60000.0, 60000.0], dtype=torch.float16), (60000 * 2**0.5, 6e4, 6e4, 0, 0)),
    "bfloat16": (torch.tensor([3.0, 4.0], dtype=torch.bfloat16), (5.0, 3.0, 4.0, 0, 0)),
    "complex": (torch.tensor([3 + 4j, 12j]), (13.0, None, None, 0, 0)),
    "complex NaN": (torch.tensor([complex(NAN, 1), complex(INF, 0)]), (NAN, None, None, 1, 1)),
    "empty": (torch.ones(0, 3), (0.0, None, None, 0, 0)),
    "sparse": (
        torch.sparse_coo_tensor([[1, 1]], [3.0, 1.0], (3,), check_invariants=True),
        (4.0, 0.0, 4.0, 0, 0),
    ),
    "sparse, all stored": (
        torch.sparse_coo_tensor([[0, 1]], [3.0, 4.0], (2,), check_invariants=True),
        (5.0, 3.0, 4.0, 0, 0),
    ),
    "sparse, nothing stored": (
        torch.sparse_coo_tensor(torch.ones(1, 0), torch.ones(0), (3,), check_invariants=True),
        (0.0, 0.0, 0.0, 0, 0),
    ),
    "meta": (torch.ones(3, device="meta"), (None,) * 5),
}


@pytest.mark.parametrize("kind", STATISTICS)
def test_statistics(kind: str) -> None:
    gradient, expected = STATISTICS[kind]
    x = torch.zeros(gradient.shape, dtype=gradient.dtype, device=gradient.device, requires_grad=True)
    (row,) = record_backward(x, gradient=gradient, keep="statistics").rows
    for entry in (row.entering[0], row.accumulated.added, row.accumulated.after):
        found = (entry.norm, entry.minimum, entry.maximum, entry.nan, entry.inf)
        # An absolute tolerance would let zero pass for what is tiny.
        for number, wanted in zip(found, expected):
            assert number == (wanted and pytest.approx(wanted, rel=1e-5, abs=0, nan_ok=True))
        assert entry.value is None


def test_a_tensor_subclass_has_no_statistics() -> None:
    class Special(torch.Tensor):
        pass

    y = leaf(2) * 1
    y.register_hook(lambda grad: grad.as_subclass(Special))
    row = record_backward(y.sum(), keep="statistics").rows[1]
    assert row.node.name == "MulBackward0"
    assert row.entering[0] == Gradient((2,), torch.float32)


KEEP = pytest.mark.parametrize("keep", ["shapes", "statistics", "values"])
PROTOTYPE = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")


@KEEP
@PROTOTYPE
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_nested_tensors(layout: torch.layout, keep: str) -> None:
    rows = [torch.ones(2, 3), torch.ones(4, 3)]
    x = torch.nested.nested_tensor(rows, layout=layout, requires_grad=True)
    y = x * 2
    recording = record_backward(y, {"x": x}, torch.ones_like(y), keep=keep)
    assert [part.tolist() for part in x.grad.unbind()] == [(row * 2).tolist() for row in rows]
    for row in recording.rows:
        assert row.entering[0].shape == (2, None, 3)
        assert (row.entering[0].norm, row.entering[0].nan) == (None, None)
        assert (row.entering[0].value is not None) == (keep == "values")
    assert "(2, None, 3)" in recording.to_text()
    assert json.loads(json.dumps(recording.to_dict()))["rows"][0]["entering"][0]["shape"] == [2, None, 3]


@PROTOTYPE
def test_a_nested_loss_without_a_gradient_that_fits() -> None:
    x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True)
    with pytest.raises(ValueError, match=r"The loss is float32 of shape \(2, None\), and backward begins"):
        record_backward(x * 2)
    with pytest.raises(ValueError, match=r"must be like it, but is float32 of shape \(2,\)"):
        record_backward(x * 2, gradient=torch.ones(2))


@KEEP
def test_float8_has_no_statistics(keep: str) -> None:
    x = torch.ones(3).to(torch.float8_e4m3fn).requires_grad_()
    *_, row = record_backward(x.float().sum(), {"x": x}, keep=keep).rows
    added = row.accumulated.added
    assert (added.shape, added.dtype, added.norm) == ((3,), torch.float8_e4m3fn, None)
    assert x.grad.float().tolist() == [1] * 3


@KEEP
def test_a_gradient_that_refuses_everything_does_not_stop_backward(keep: str) -> None:
    class Refuses(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *_, **__):
            raise ValueError("not me")

    x = leaf(2)
    y = x * 3
    y.register_hook(lambda grad: torch.Tensor.as_subclass(grad, Refuses))
    rows = record_backward(y.sum(), keep=keep).rows
    assert [row.node.name for row in rows] == ["SumBackward0", "MulBackward0", "AccumulateGrad"]
    assert rows[1].entering == (None,)
    assert x.grad.tolist() == [3, 3]


def test_shapes_alone_have_no_statistics() -> None:
    (row,) = record_backward(leaf()).rows
    assert row.entering == (Gradient((), torch.float32, None, None, None, None, None, None),)


def test_gradients_of_a_layer() -> None:
    case = make("CNN")
    x = torch.randn(2, 3, 32, 32, requires_grad=True)
    outputs: dict[str, torch.Tensor] = {}
    inputs: dict[str, torch.Tensor] = {}
    for name, layer in case.module.named_children():

        def hook(layer, args, output, name=name):
            inputs[name], outputs[name] = args[0], output
            output.retain_grad()
            args[0].retain_grad()

        layer.register_forward_hook(hook)
    recording = record_backward(case.module(x).square().sum(), case.module, keep="values")
    for name in ("conv1", "conv2", "fc1", "fc2", "fc3"):
        layer, gradients = case.module.get_submodule(name), recording.layer(name)
        assert equal(gradients.weight.value, layer.weight.grad)
        assert equal(gradients.bias.value, layer.bias.grad)
        assert equal(gradients.output.value, outputs[name].grad)
        assert equal(gradients.input.value, inputs[name].grad)
        assert set(gradients.parameters) == {"weight", "bias"}


LAYERS: dict[str, tuple[Callable[[], nn.Module], torch.Tensor, set[str]]] = {
    "Conv1d": (lambda: nn.Conv1d(2, 3, 2), torch.randn(1, 2, 5), {"weight", "bias"}),
    "Conv2d, no bias": (lambda: nn.Conv2d(2, 3, 2, bias=False), torch.randn(1, 2, 5, 5), {"weight"}),
    "Linear": (lambda: nn.Linear(3, 2), torch.randn(4, 3), {"weight", "bias"}),
    "Linear, no bias": (lambda: nn.Linear(3, 2, bias=False), torch.randn(4, 3), {"weight"}),
    "Linear on 3-D": (lambda: nn.Linear(3, 2), torch.randn(4, 5, 3), {"weight", "bias"}),
    "Linear on 1-D": (lambda: nn.Linear(3, 2), torch.randn(3), {"weight", "bias"}),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3), torch.randn(4, 3), {"weight", "bias"}),
    "LayerNorm": (lambda: nn.LayerNorm(3), torch.randn(4, 3), {"weight", "bias"}),
    "PReLU": (lambda: nn.PReLU(), torch.randn(4, 3), {"weight"}),
    "weight norm": (
        lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)),
        torch.randn(4, 3),
        {"bias", "parametrizations.weight.original0", "parametrizations.weight.original1"},
    ),
}


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("data_needs_grad", [False, True])
@pytest.mark.parametrize("at_top", [False, True])
@pytest.mark.parametrize("with_owners", [False, True])
def test_gradients_of_every_kind_of_layer(
    kind: str, data_needs_grad: bool, at_top: bool, with_owners: bool
) -> None:
    make_layer, data, names = LAYERS[kind]
    layer, data = make_layer(), data.clone().requires_grad_(data_needs_grad)
    model = layer if at_top else nn.ModuleDict({"layer": layer})
    penalty = sum(p.square().sum() for p in layer.parameters())
    with owners(model) if with_owners else nullcontext():
        output = layer(data)
    recording = record_backward(output.square().sum() + penalty, model, keep="values")
    gradients = recording.layer("" if at_top else "layer")
    assert set(gradients.parameters) == names
    assert (gradients.weight is None) == ("weight" not in names)
    for name, parameter in layer.named_parameters():
        own = gradients.parameters[name].value
        torch.testing.assert_close(own + 2 * parameter.detach(), parameter.grad)
    assert (gradients.input is not None) == data_needs_grad
    if data_needs_grad:
        torch.testing.assert_close(gradients.input.value.reshape(data.shape), data.grad)


def test_the_input_of_a_layer_with_two_inputs_is_the_first() -> None:
    model = nn.ModuleDict({"layer": nn.Bilinear(2, 3, 4, bias=False)})
    first, second = leaf(5, 2), leaf(5, 3)
    recording = record_backward(model["layer"](first, second).sum(), model, keep="values")
    assert equal(recording.layer("layer").input.value, first.grad)


def test_each_layer_has_its_own_part_of_a_shared_weight() -> None:
    case = make("tied weights")
    recording = record_backward(case.loss, case.module, keep="values")
    embedding, decoder = recording.layer("embedding"), recording.layer("decoder")
    (shared,) = case.leaves
    assert embedding.weight.shape == decoder.weight.shape == shared.shape
    assert not equal(embedding.weight.value, decoder.weight.value)
    torch.testing.assert_close(embedding.weight.value + decoder.weight.value, shared.grad)
    assert embedding.input is None
    assert decoder.input.shape == (2, 3)
    # Token 1 was not looked up.
    assert not embedding.weight.value[1].any()
    assert decoder.weight.value[1].any()


def test_a_frozen_parameter_is_no_gradient() -> None:
    case = make("CNN, parts frozen")
    fc1 = record_backward(case.loss, case.module).layer("fc1")
    assert fc1.bias is None
    assert set(fc1.parameters) == {"weight"}


@pytest.mark.parametrize("told", [True, False])
def test_the_parameters_of_a_child_are_not_the_layers_own(told: bool) -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(3, 3)
            if not told:
                self.twin = nn.Linear(3, 3)
                self.twin.weight, self.twin.bias = self.inner.weight, self.inner.bias
            self.scale = nn.Parameter(torch.ones(3))

        def forward(self, x):
            return self.inner(x) * self.scale

    model = Scaled()
    whole = record_backward(model(torch.randn(2, 3)).sum(), model, keep="values").layer("")
    assert set(whole.parameters) == {"scale"}
    assert equal(whole.parameters["scale"].value, model.scale.grad)
    assert whole.input.shape == (2, 3)


def test_a_layer_registered_twice_answers_to_both_names() -> None:
    layer = nn.Linear(3, 3)
    model = nn.ModuleDict({"one": layer, "two": layer})
    with owners(model):
        output = layer(torch.randn(2, 3))
    recording = record_backward(output.sum(), model)
    assert recording.layer("two") == recording.layer("one")
    assert set(recording.layer("two").parameters) == {"weight", "bias"}


def test_a_layer_with_several_operations() -> None:
    layer = nn.Linear(3, 3)
    model = nn.ModuleDict({"layer": layer})
    recording = record_backward(layer(layer(torch.randn(2, 3))).sum(), model)
    with pytest.raises(ValueError, match=r"Layer 'layer' has 2 operation nodes.*row\.node in recording"):
        recording.layer("layer")
    assert len([row for row in recording.rows if row.node in recording.graph.layer("layer")]) == 2


def test_a_transpose_used_elsewhere() -> None:
    class Shares(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3, 3))
            self.transposed = None

        def forward(self, x):
            self.transposed = self.weight.t()
            return x @ self.transposed

    model = nn.ModuleDict({"layer": Shares()})
    with owners(model):
        result = model["layer"](torch.randn(2, 3))
    recording = record_backward(result.sum() + model["layer"].transposed.pow(3).sum(), model)
    with pytest.raises(ValueError, match=r"used by <PowBackward0>, too"):
        recording.layer("layer")


def test_layer_without_a_module_or_a_name() -> None:
    case = make("CNN")
    recording = record_backward(case.loss, retain_graph=True)
    with pytest.raises(ValueError, match="without a module"):
        recording.layer("conv1")
    with pytest.raises(LookupError, match="no layer 'conv9'"):
        record_backward(case.loss, case.module).layer("conv9")


def product() -> Recording:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = torch.ones(2)
    y = x * torch.ones(2)
    y.retain_grad()
    return record_backward(y.sum(), {"x": x, "y": y})


def test_text() -> None:
    assert product().to_text() == (
        "node            name  enters  leaves      .grad\n"
        "SumBackward0          ()      (2,)\n"
        "MulBackward0    y     (2,)    (2,), None  kept by y\n"
        "AccumulateGrad  x     (2,)                (2,) + (2,) → (2,)"
    )
    assert str(product()) == product().to_text()
    assert product().to_text(limit=1).splitlines()[1:] == [
        "SumBackward0        ()      (2,)",
        "… and 2 more rows",
    ]
    assert repr(product()) == "<Recording of <Graph of SumBackward0: 3 nodes>: 3 rows, shapes>"


def test_text_in_chinese_is_aligned() -> None:
    header, *rows = product().to_text(lang="zh").splitlines()
    assert header.split() == ["节点", "名称", "进入", "流出", ".grad"]
    # A Chinese letter is as wide as two Latin ones.
    assert header.index(".grad") + 8 == rows[2].index("(2,) + ")
    assert rows[1].endswith("由 y 保留")
    assert product().to_text(limit=1, lang="zh").endswith("… 还有 2 行")


@pytest.mark.parametrize("name", ["a\nb", "a\0b", "a\u202eb", "a\ud800b", "a\tb", "a\x1b[31mb"])
def test_a_name_cannot_break_the_table(name: str) -> None:
    x = leaf(2)
    y = x * 2
    y.retain_grad()
    text = record_backward(y.sum(), {name: x, name * 2: y}).to_text()
    assert len(text.splitlines()) == 4
    assert text.encode()
    assert text.count("a\N{REPLACEMENT CHARACTER}") == 5


def test_text_of_statistics_and_of_many_slots() -> None:
    x = leaf(1)
    text = record_backward(torch.stack([x] * 40).sum() * NAN, {"x": x}, keep="statistics").to_text()
    assert "40 × (1,) norm nan, 1 NaN" in text
    assert max(map(len, text.splitlines())) < 160


@pytest.mark.parametrize("kind", NAMED)
@pytest.mark.parametrize("keep", ["shapes", "statistics", "values"])
def test_dict_is_valid_json(kind: str, keep: str) -> None:
    case = make(kind)
    recording = record_backward(case.loss, case.module, case.gradient, keep=keep)
    told = json.loads(json.dumps(recording.to_dict(), allow_nan=False))
    assert told == recording.to_dict()
    assert told["keep"] == keep
    assert [row["node"] for row in told["rows"]] == [row.node.index for row in recording.rows]


def test_dict() -> None:
    x = leaf(2)
    rows = record_backward(x.sum() * INF, {"x": x}, keep="statistics").to_dict()["rows"]
    number = {"shape": [], "dtype": "float32", "nan": 0, "inf": 0}
    one, inf = ({"norm": n, "minimum": n, "maximum": n} for n in (1.0, "Infinity"))
    assert rows[0] == {
        "node": 0,
        "name": "MulBackward0",
        "label": "",
        "entering": [number | one],
        "leaving": [number | inf | {"inf": 1}, None],
        "accumulated": None,
        "kept": [],
        "freed": ["_saved_other"],
    }
    assert rows[2]["accumulated"]["before"] is None
    assert rows[2]["accumulated"]["added"] == rows[2]["accumulated"]["after"]
    assert rows[2]["accumulated"]["added"]["shape"] == [2]
    assert record_backward(leaf()).to_dict()["rows"][0]["entering"] == [{"shape": [], "dtype": "float32"}]


class Axes:
    """Stands for matplotlib's: it notes what is drawn."""

    def __init__(self) -> None:
        self.heights: list[float] = []
        self.labels: list[str] = []
        self.scale = ""

    def bar(self, x, heights):
        self.heights = list(heights)

    def set_xticks(self, ticks, labels, rotation):
        self.labels = labels

    def set_xlim(self, left, right):
        self.limits = left, right

    def set_yscale(self, scale):
        self.scale = scale

    def set_ylabel(self, label):
        pass


def test_plot_draws_the_norm_of_each_layer() -> None:
    case = make("CNN")
    recording = record_backward(case.loss, case.module, keep="statistics")
    axes = Axes()
    assert recording.plot(ax=axes) is axes
    assert axes.scale == "log"
    assert axes.limits[0] < 0 and axes.limits[1] > len(axes.heights) - 1, "a bar without a height is left out"
    assert axes.labels == ["conv1", "conv2", "fc1", "fc2", "fc3"]
    for name, height in zip(axes.labels, axes.heights):
        parameters = case.module.get_submodule(name).parameters()
        assert height == pytest.approx(torch.cat([p.grad.flatten() for p in parameters]).norm().item())


def test_plot_says_where_a_norm_is_zero_or_no_number() -> None:
    names = {"zero": leaf(2), "none": leaf(2), "fine": leaf(2)}
    loss = (names["zero"] * 0).sum() + (names["none"] * NAN).sum() + names["fine"].sum()
    axes = record_backward(loss, names, keep="values").plot(ax=Axes())
    assert sorted(axes.labels) == ["fine", "none: nan", "zero: 0"]
    drawn = {label: height for label, height in zip(axes.labels, axes.heights) if math.isfinite(height)}
    assert drawn == pytest.approx({"fine": 2**0.5})


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_plot_of_norms_whose_squares_are_no_float(size: float) -> None:
    model = nn.Linear(1, 1).double()
    loss = model(torch.ones(1, 1, dtype=torch.float64)).sum() * size
    axes = record_backward(loss, nn.Sequential(model), keep="statistics").plot(ax=Axes())
    assert axes.heights == pytest.approx([2**0.5 * size], rel=1e-6, abs=0)


def test_plot_makes_axes_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = Axes()
    pyplot = types.SimpleNamespace(subplots=lambda layout: (None, axes))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    x = leaf(2)
    assert record_backward(x.sum(), {"x": x}, keep="statistics").plot() is axes
    assert axes.labels == ["x"]


def test_plot_with_matplotlib() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    case = make("CNN")
    axes = record_backward(case.loss, case.module, keep="statistics").plot()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["conv1", "conv2", "fc1", "fc2", "fc3"]
    assert axes.get_yscale() == "log"
    assert all(bar.get_height() > 0 for bar in axes.patches)
    axes.figure.canvas.draw()


def test_plot_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    x = leaf(2)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        record_backward(x.sum(), {"x": x}, keep="statistics").plot()


def test_plot_of_what_was_not_kept_or_not_named() -> None:
    with pytest.raises(ValueError, match=r'kept only shapes\. Record with keep="statistics"'):
        record_backward(leaf()).plot()
    with pytest.raises(ValueError, match="no gradient in this recording has the name of a parameter"):
        record_backward(leaf(), keep="statistics").plot()


def freed() -> torch.Tensor:
    loss = leaf(3).exp().sum()
    loss.backward()
    return loss


WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "unknown keep": (
        lambda: record_backward(leaf(), keep="norms"),
        ValueError,
        "keep is one of shapes, statistics, values, got 'norms'.",
    ),
    "a model": (
        lambda: record_backward(nn.Linear(1, 1)),
        TypeError,
        "takes a tensor or a tuple of tensors, got Linear. Pass what was computed from the model's output.",
    ),
    "a node": (
        lambda: record_backward(leaf(1).exp().grad_fn),
        TypeError,
        "takes a tensor or a tuple of tensors, got ExpBackward0.",
    ),
    "a number in a tuple": (
        lambda: record_backward((leaf(), 1.0)),
        TypeError,
        "takes a tensor or a tuple of tensors, got float.",
    ),
    "an empty tuple": (lambda: record_backward(()), TypeError, "got an empty tuple."),
    "no graph": (lambda: record_backward(torch.ones(())), ValueError, "This tensor of shape () has no graph"),
    "one without a graph": (lambda: record_backward((leaf(), torch.ones(()))), ValueError, "has no graph"),
    "a module that is none": (
        lambda: record_backward(leaf(), module=["x"]),
        TypeError,
        "takes the model, or a dictionary from names to tensors",
    ),
    "no scalar": (
        lambda: record_backward(leaf(3)),
        ValueError,
        "The loss is float32 of shape (3,), and backward begins by itself only at one real number. Reduce it to one, for "
        "example with .sum() or .abs().sum(), or pass gradient, a tensor like it.",
    ),
    "a complex scalar": (
        lambda: record_backward(leaf(dtype=torch.complex64)),
        ValueError,
        "The loss is complex64 of shape (), and backward begins by itself only at one real number.",
    ),
    "no scalar in a tuple": (
        lambda: record_backward((leaf(), leaf(3))),
        ValueError,
        "Loss 1 is float32 of shape (3,)",
    ),
    "gradient is a number": (
        lambda: record_backward(leaf(), gradient=2.0),
        TypeError,
        "The loss is float32 of shape (), and gradient is a tensor like it; got float. For one number, leave it out or pass "
        "torch.tensor(number).",
    ),
    "gradient of another shape": (
        lambda: record_backward(leaf(3), gradient=torch.ones(1)),
        ValueError,
        "The loss is float32 of shape (3,), and gradient must be like it, but is float32 of shape (1,). Where that is what "
        "you mean, gradient.expand_as(loss) repeats it",
    ),
    "complex gradient": (
        lambda: record_backward(leaf(), gradient=torch.tensor(1j)),
        ValueError,
        "The loss is float32 of shape (), and gradient must be like it, but is complex64 of shape ().",
    ),
    "one gradient for two": (
        lambda: record_backward((leaf(), leaf()), gradient=torch.ones(())),
        TypeError,
        "For 2 losses, gradient is a tuple of 2, each a tensor, or None for a loss that is one number; got tensor(1.).",
    ),
    "three gradients for two": (
        lambda: record_backward((leaf(), leaf()), gradient=(None, None, None)),
        TypeError,
        "got (None, None, None).",
    ),
    "a freed graph": (
        lambda: record_backward(freed()),
        RuntimeError,
        "Backward has run through this graph before, or through a part of it, and has freed the saved tensors. Run the "
        "forward pass again for a new loss, or pass retain_graph=True to the backward that comes first.",
    ),
    "unknown language": (
        lambda: record_backward(leaf()).to_text(lang="fr"),
        ValueError,
        "lang is one of ['en', 'zh'], got 'fr'.",
    ),
    "no lines": (
        lambda: record_backward(leaf()).to_text(limit=0),
        ValueError,
        "limit is a number of lines and at least 1, got 0.",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_uses_say_what_came_and_what_to_do(kind: str) -> None:
    use, error, message = WRONG[kind]
    with pytest.raises(error) as raised:
        use()
    assert message in str(raised.value)
    assert "backward through the graph a second time" not in str(raised.value)


def test_a_wrong_gradient_leaves_grad_alone() -> None:
    x = leaf(3)
    with pytest.raises(ValueError, match="must be like it"):
        record_backward(x * 2, gradient=torch.ones(2))
    assert x.grad is None
