"""why_no_grad() names the true cause, and its fix brings the gradient."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Union

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm
from torch.utils.checkpoint import checkpoint

from gradfn_tutorial.causes import CAUSES, NAMES, RETAIN_TOO, TEXTS
from gradfn_tutorial.diagnosis import Diagnosis, why_no_grad

LANGUAGES = ("en", "zh")
# A program first yields what why_no_grad() is asked: tensor, loss, module. Run on, it does what the fix says, and yields the
# tensor that must have a gradient then.
Question = tuple[torch.Tensor, Union[torch.Tensor, None], Union[nn.Module, None]]
Program = Callable[[], Iterator[Union[Question, torch.Tensor]]]
PROGRAMS: list[tuple[str, Program]] = []


def program(cause: str) -> Callable[[Program], Program]:
    def add(make: Program) -> Program:
        PROGRAMS.append((cause, make))
        return make

    return add


def leaf(*shape: int) -> torch.Tensor:
    return torch.ones(*(shape or (4,)), requires_grad=True)


@program("has-grad")
def filled():
    x = leaf()
    x.sum().backward()
    yield x, None, None
    x.grad = None
    x.sum().backward()
    yield x


@program("has-grad")
def filled_and_stale():
    x = leaf() * 1
    part = x.split(2)[0]
    part.retain_grad()
    part.sum().backward()
    with torch.no_grad():
        x.mul_(2)
    yield part, None, None
    yield part


def inside_transform() -> list[torch.Tensor]:
    seen = []

    def function(x):
        loss = (x * 2).sum()
        seen.extend([x, loss])
        return loss

    seen.append(torch.func.grad(function)(torch.ones(4)))
    return seen


@program("torch-func")
def wrapper():
    x, loss, _ = inside_transform()
    yield x, loss, None
    y = leaf()
    (y * 2).sum().backward()
    yield y


@program("torch-func")
def loss_is_a_wrapper():
    _, loss, _ = inside_transform()
    y = leaf()
    yield y, loss, None
    (y * 2).sum().backward()
    yield y


@program("stale-view")
def part_of_a_modified_base():
    x = leaf() * 1
    part = x.split(2)[0]
    x.mul_(2)
    yield part, x.sum(), None
    x = leaf() * 1
    x.mul_(2)
    part = x.split(2)[0]
    part.retain_grad()
    part.sum().backward()
    yield part


@program("stale-view")
def no_grad_view_of_a_modified_base():
    x = leaf() * 1
    with torch.no_grad():
        part = x[:2]
    x.mul_(2)
    yield part, None, None
    part = (x * 2)[:2]
    part.retain_grad()
    part.sum().backward()
    yield part


@program("stale-view")
def stale_loss():
    x = leaf()
    y = x * 1
    loss = y.split(1)[0]
    y.mul_(2)
    yield x, loss, None
    y = (x * 1) * 2
    y.split(1)[0].backward()
    yield x


@program("inference-tensor")
def inference():
    with torch.inference_mode():
        x = torch.ones(4)
    yield x, leaf().sum(), None
    x = x.clone().requires_grad_()
    x.sum().backward()
    yield x


@program("inference-tensor")
def inference_parameter():
    with torch.inference_mode():
        x = leaf()
    yield x, None, None
    x = leaf()
    x.sum().backward()
    yield x


@program("dtype")
def integers():
    x = torch.arange(4)
    yield x, (x * leaf()).sum(), None
    x = x.float().requires_grad_()
    x.sum().backward()
    yield x


@program("turned-off-after-forward")
def frozen_too_late():
    layer = nn.Linear(2, 1)
    loss = layer(torch.ones(1, 2)).sum()
    layer.requires_grad_(False)
    loss.backward(retain_graph=True)
    yield layer.weight, loss, layer
    layer.weight.requires_grad_()
    loss.backward()
    yield layer.weight


@program("requires-grad-off")
def input_image():
    x = torch.ones(4)
    loss = (x * leaf()).sum()
    loss.backward()
    yield x, loss, None
    x.requires_grad_()
    (x * leaf()).sum().backward()
    yield x


@program("requires-grad-off")
def complex_input():
    x = torch.ones(4, dtype=torch.complex64)
    yield x, None, None
    x.requires_grad_()
    x.abs().sum().backward()
    yield x


@program("requires-grad-off")
def frozen():
    layer = nn.Linear(2, 1)
    layer.weight.requires_grad_(False)
    loss = layer(torch.ones(1, 2)).sum()
    loss.backward()
    yield layer.weight, loss, layer
    layer.weight.requires_grad_()
    layer(torch.ones(1, 2)).sum().backward()
    yield layer.weight


@program("requires-grad-off")
def detached():
    x = leaf()
    y = (x * 2).detach()
    yield y, y.sum(), None
    y = x * 2
    y.retain_grad()
    y.sum().backward()
    yield y


@program("requires-grad-off")
def result_under_no_grad():
    x = leaf()
    with torch.no_grad():
        y = x * 2
    yield y, None, None
    y = x * 2
    y.retain_grad()
    y.sum().backward()
    yield y


@program("no-grad-view")
def view_under_no_grad():
    x = leaf()
    with torch.no_grad():
        part = x[:2]
    loss = (part * leaf(2)).sum()
    loss.backward()
    yield part, loss, None
    part = x[:2]
    part.retain_grad()
    part.sum().backward()
    yield part


@program("no-grad-view")
def view_under_no_grad_beside_the_loss():
    y = leaf() * 1
    with torch.no_grad():
        part = y[:2]
    yield part, y.sum(), None
    y.retain_grad()
    y.sum().backward()
    yield y


@program("loss-has-no-graph")
def loss_under_no_grad():
    x = leaf()
    with torch.no_grad():
        loss = x.sum()
    yield x, loss, None
    x.sum().backward()
    yield x


@program("loss-has-no-graph")
def loss_marked_by_hand():
    layer = nn.Linear(3, 2)
    loss = layer(torch.ones(4, 3)).argmax(1).float().mean().requires_grad_()
    loss.backward()
    yield layer.weight, loss, layer
    layer(torch.ones(4, 3)).mean().backward()
    yield layer.weight


@program("loss-has-no-graph")
def loss_detached_from_a_result():
    x = leaf()
    y = x * 2
    yield y, y.sum().detach(), None
    y = x * 2
    y.retain_grad()
    y.sum().backward()
    yield y


@program("parametrized")
def weight_normed():
    layer = weight_norm(nn.Linear(2, 1))
    loss = layer(torch.ones(1, 2)).sum()
    loss.backward()
    yield layer.weight, loss, layer
    with parametrize.cached():
        weight = layer.weight
        weight.retain_grad()
        layer(torch.ones(1, 2)).sum().backward()
    yield weight


@program("parametrized")
def weight_normed_without_loss():
    model = nn.Sequential(weight_norm(nn.Linear(2, 1)))
    yield model[0].weight, None, model
    model(torch.ones(1, 2)).sum().backward()
    yield model[0].parametrizations.weight.original0


@program("parametrized")
def weight_normed_and_retained_outside_of_cached():
    layer = weight_norm(nn.Linear(2, 1))
    weight = layer.weight
    weight.retain_grad()
    loss = layer(torch.ones(1, 2)).sum()
    loss.backward()
    yield weight, loss, layer
    yield layer.parametrizations.weight.original1


class KeepsHidden(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        self.hidden = self.layer(x)
        return self.hidden.relu().sum()


@program("compiled")
def inside_a_compiled_function():
    torch.compiler.reset()
    model = KeepsHidden()
    with warnings.catch_warnings():
        # torch's own, on some versions.
        warnings.simplefilter("ignore")
        loss = torch.compile(model, backend="aot_eager")(torch.ones(1, 2))
    model.hidden.retain_grad()
    loss.backward()
    yield model.hidden, loss, model
    loss = model(torch.ones(1, 2))
    model.hidden.retain_grad()
    loss.backward()
    yield model.hidden


def doubled_and_more(x):
    double = x * 2
    return double, double.tanh() * double


@program("compiled")
def inside_a_scripted_function():
    with warnings.catch_warnings():
        # On some versions torch says that it is deprecated.
        warnings.simplefilter("ignore")
        function = torch.jit.script(doubled_and_more)
        # TorchScript makes one node of it only once it has seen some runs.
        for _ in range(5):
            double, more = function(leaf())
    double.retain_grad()
    loss = more.sum()
    loss.backward()
    yield double, loss, None
    double, more = doubled_and_more(leaf())
    double.retain_grad()
    more.sum().backward()
    yield double


def returns_a_view(of_input: bool) -> Program:
    def function(x):
        double = x if of_input else x * 2
        view = double.view(-1)
        return view, view.tanh() * view, double

    def ask():
        torch.compiler.reset()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            view, more, _ = torch.compile(function, backend="aot_eager")(leaf(2, 2))
        view.retain_grad()
        loss = more.sum()
        loss.backward()
        yield view, loss, None
        view, more, _ = function(leaf(2, 2))
        view.retain_grad()
        more.sum().backward()
        yield view

    ask.__name__ = f"view_of_{'an_input' if of_input else 'a_result'}_of_a_compiled_function"
    return ask


PROGRAMS += [("compiled", returns_a_view(of_input)) for of_input in (True, False)]


class DoubledAndMore(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return doubled_and_more(x)

    @staticmethod
    def backward(ctx, *grads):
        return sum(grads)


@program("hidden-in-function")
def another_result_of_a_function():
    double, more = DoubledAndMore.apply(leaf())
    yield double, more.sum(), None
    double, more = doubled_and_more(leaf())
    double.retain_grad()
    more.sum().backward()
    yield double


@program("hidden-in-function")
def reentrant_checkpoint():
    layer = nn.Linear(2, 2)
    loss = checkpoint(layer, leaf(1, 2), use_reentrant=True).sum()
    yield layer.weight, loss, layer
    loss.backward()
    yield layer.weight


@program("hidden-in-function")
def result_used_in_a_reentrant_checkpoint():
    y = leaf(1, 2) * 2
    loss = checkpoint(lambda x: x * y, leaf(1, 2), use_reentrant=True).sum()
    yield y, loss, None
    y.retain_grad()
    checkpoint(lambda x: x * y, leaf(1, 2), use_reentrant=False).sum().backward()
    yield y


@program("not-in-module")
def replaced_by_loading():
    layer = nn.Linear(2, 1)
    old = layer.weight
    layer.load_state_dict(nn.Linear(2, 1).state_dict(), assign=True)
    loss = layer(torch.ones(1, 2)).sum()
    loss.backward()
    yield old, loss, layer
    yield layer.weight


@program("not-in-module")
def weight_of_the_original_of_a_copy():
    layer = nn.Linear(2, 1)
    twin = copy.deepcopy(layer)
    loss = twin(torch.ones(1, 2)).sum()
    loss.backward()
    yield layer.weight, loss, twin
    yield twin.weight


@program("not-reached")
def unused_layer():
    model = nn.ModuleDict({"used": nn.Linear(2, 1), "spare": nn.Linear(2, 1)})
    x = torch.ones(1, 2)
    loss = model["used"](x).sum()
    loss.backward()
    yield model["spare"].weight, loss, model
    (model["used"](x) + model["spare"](x)).sum().backward()
    yield model["spare"].weight


@program("not-reached")
def unused_parametrized_layer():
    model = nn.ModuleDict({"used": nn.Linear(2, 1), "spare": weight_norm(nn.Linear(2, 1))})
    weight = model["spare"].weight
    loss = model["used"](torch.ones(1, 2)).sum()
    yield weight, loss, model
    weight.retain_grad()
    (model["used"](torch.ones(1, 2)).sum() + weight.sum()).backward()
    yield weight


@program("not-reached")
def parameter_that_needs_no_module():
    # None of the module's either, but the loss has nothing to do with the module.
    weight = nn.Parameter(torch.ones(4))
    yield weight, leaf().sum(), nn.Linear(2, 1)
    weight.sum().backward()
    yield weight


@program("not-reached")
def cut_on_the_way():
    x, w = leaf(), leaf()
    loss = (x.detach() * w).sum()
    loss.backward()
    yield x, loss, None
    (x * w).sum().backward()
    yield x


@program("not-reached")
def marked_after_the_forward_pass():
    x = torch.ones(4)
    loss = (x * leaf()).sum()
    x.requires_grad_()
    loss.backward()
    yield x, loss, None
    (x * leaf()).sum().backward()
    yield x


@program("not-reached")
def modified_after_the_forward_pass():
    y = leaf() * 2
    loss = y.sum()
    y.mul_(2)
    y.retain_grad()
    loss.backward()
    yield y, loss, None
    y = leaf() * 2
    y.mul_(2)
    y.retain_grad()
    y.sum().backward()
    yield y


@program("not-reached")
def another_result_of_the_same_operation():
    x = leaf()
    first, second = x.split(2)
    first.retain_grad()
    loss = second.sum()
    loss.backward()
    yield first, loss, None
    first.sum().backward()
    yield first


@program("not-reached")
def result_from_which_its_operation_makes_another():
    std, mean = torch.std_mean(leaf())
    yield mean, std, None
    mean.retain_grad()
    (std + mean).backward()
    yield mean


@program("not-reached")
def averaged_attention_weights():
    attention = nn.MultiheadAttention(4, 2)
    x = torch.ones(1, 1, 4)
    result, weights = attention(x, x, x)
    loss = result.sum()
    yield weights, loss, attention
    weights.retain_grad()
    (result.sum() + weights.sum()).backward()
    yield weights


@program("not-reached")
def unused_beside_a_compiled_function():
    torch.compiler.reset()
    layer, x = nn.Linear(2, 1), leaf(1, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss = torch.compile(layer, backend="aot_eager")(torch.ones(1, 2)).sum()
    yield x, loss, layer
    layer(x).sum().backward()
    yield x


@program("not-reached")
def result_of_another_compiled_function():
    torch.compiler.reset()
    layer, other = nn.Linear(2, 1), nn.Linear(2, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = torch.compile(other, backend="aot_eager")(torch.ones(1, 2))
        loss = torch.compile(layer, backend="aot_eager")(torch.ones(1, 2)).sum()
    yield y, loss, layer
    y.retain_grad()
    (loss + y.sum()).backward()
    yield y


@program("non-leaf")
def scaled_when_made():
    x = leaf() * 0.1
    loss = x.sum()
    loss.backward()
    yield x, loss, None
    x = (torch.ones(4) * 0.1).requires_grad_()
    x.sum().backward()
    yield x


@program("non-leaf")
def converted():
    x = leaf().double()
    yield x, None, nn.Linear(1, 1)
    x.retain_grad()
    x.sum().backward()
    yield x


@program("non-leaf")
def module_that_is_only_called_parametrizations():
    model = nn.Module()
    model.parametrizations = nn.ModuleDict({"weight": nn.Linear(2, 1)})
    hidden = model.parametrizations["weight"](torch.ones(1, 2))
    yield hidden, hidden.sum(), model
    hidden.retain_grad()
    hidden.sum().backward()
    yield hidden


@program("non-leaf")
def loss_itself():
    loss = leaf().sum()
    loss.backward()
    yield loss, loss, None
    loss = leaf().sum()
    loss.retain_grad()
    loss.backward()
    yield loss


@program("non-leaf")
def made_from_a_parametrized_weight_and_more():
    layer = weight_norm(nn.Linear(2, 1))
    hidden = layer(torch.ones(1, 2))
    yield hidden, hidden.sum(), layer
    hidden.retain_grad()
    hidden.sum().backward()
    yield hidden


@program("non-leaf")
def made_from_two_parametrized_weights():
    model = nn.Sequential(weight_norm(nn.Linear(2, 1)), weight_norm(nn.Linear(2, 1)))
    both = model[0].weight + model[1].weight
    yield both, both.sum(), model
    both.retain_grad()
    both.sum().backward()
    yield both


@program("nothing-since-retain-grad")
def retained_too_late():
    y = leaf() * 2
    loss = y.sum()
    loss.backward()
    y.retain_grad()
    yield y, loss, None
    y = leaf() * 2
    y.retain_grad()
    y.sum().backward()
    yield y


@program("backward-not-run-or-cleared")
def not_run_yet():
    layer = nn.Linear(2, 1)
    loss = layer(torch.ones(1, 2)).sum()
    yield layer.weight, loss, layer
    loss.backward()
    yield layer.weight


@program("backward-not-run-or-cleared")
def cleared():
    layer = nn.Linear(2, 1)
    loss = layer(torch.ones(1, 2)).sum()
    loss.backward()
    layer.zero_grad()
    yield layer.weight, loss, layer
    layer(torch.ones(1, 2)).sum().backward()
    yield layer.weight


@program("backward-not-run-or-cleared")
def taken_elsewhere():
    x = leaf()
    loss = x.sum()
    torch.autograd.grad(loss, x)
    yield x, loss, None
    x.sum().backward()
    yield x


class GivesNone(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return None


@program("backward-not-run-or-cleared")
def function_that_gives_none():
    x, w = leaf(), leaf()
    loss = (GivesNone.apply(x) * w).sum()
    loss.backward()
    yield x, loss, None
    x.exp().sum().backward()
    yield x


@program("backward-not-run-or-cleared")
def leaf_as_loss():
    x = leaf(1)
    yield x, x, None
    x.backward()
    yield x


@program("loss-not-given")
def leaf_alone():
    x = leaf()
    yield x, None, None
    x.sum().backward()
    yield x


@program("loss-not-given")
def retained_alone():
    y = leaf() * 2
    y.retain_grad()
    yield y, None, None
    y.sum().backward()
    yield y


def asked(make: Program) -> Question:
    return next(make())


@pytest.fixture(params=PROGRAMS, ids=[f"{cause}-{make.__name__}" for cause, make in PROGRAMS])
def case(request: pytest.FixtureRequest) -> tuple[str, Program]:
    return request.param


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_cause_is_found_and_its_fix_brings_the_gradient(case: tuple[str, Program], lang: str) -> None:
    cause, make = case
    running = make()
    tensor, loss, module = next(running)
    found = why_no_grad(tensor, loss, module, lang)
    assert found.cause == cause
    if cause != "has-grad":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert tensor.grad is None
    if RETAIN_TOO[lang] in found.fix:
        assert not tensor.is_leaf
        assert not tensor.retains_grad
    assert next(running).grad is not None


def test_every_cause_has_a_program() -> None:
    assert {cause for cause, _ in PROGRAMS} == set(CAUSES)
    documented = re.search(r"The causes are (.+?)\.\n", why_no_grad.__doc__, re.S).group(1)
    assert re.findall(r"``(.+?)``", documented) == list(CAUSES)


def test_what_a_leaf_lacks_is_said_of_the_loss_too() -> None:
    for make in (
        loss_detached_from_a_result,
        result_used_in_a_reentrant_checkpoint,
        averaged_attention_weights,
    ):
        for lang in LANGUAGES:
            assert why_no_grad(*asked(make), lang).fix.endswith(RETAIN_TOO[lang])


@pytest.mark.parametrize("lang", LANGUAGES)
def test_texts_are_whole_sentences_in_their_language(case: tuple[str, Program], lang: str) -> None:
    found = why_no_grad(*asked(case[1]), lang)
    assert str(found) == f"{found.message}\n{found.fix}"
    for text in (found.message, found.fix):
        assert not re.search(r"[{}]|None of shape|  ", text)
        assert text.endswith("." if lang == "en" else "。")
        chinese = re.findall(r"[\u4e00-\u9fff]", text)
        if lang == "en":
            assert not chinese
            assert text[0].isupper() or text.startswith(".grad")
        else:
            assert chinese
            # Beside a Chinese character, punctuation is full-width and Latin text stands apart.
            assert not re.search(r"[\u4e00-\u9fff][,.:;()!?]|[,:;!?][\u4e00-\u9fff]", text)
            assert not re.search(r"[\u4e00-\u9fff][A-Za-z]|[A-Za-z][\u4e00-\u9fff]", text)


def test_both_languages_say_of_every_cause_the_same_facts() -> None:
    for cause, texts in TEXTS.items():
        assert texts.keys() == set(LANGUAGES)
        for english, chinese in zip(texts["en"], texts["zh"]):
            places = [sorted(set(re.findall(r"{\w+}", text))) for text in (english, chinese)]
            assert places[0] == places[1], cause
    assert NAMES["en"].keys() == NAMES["zh"].keys()


# What stands in the message or the fix, beside the words of the cause.
@pytest.mark.parametrize(
    ("make", "english", "chinese"),
    [
        (
            filled,
            "This tensor of shape (4,) has a gradient; .grad is: tensor of shape (4,).",
            "张量，形状 (4,)。",
        ),
        (
            wrapper,
            "This tensor of shape (4,) is a wrapper",
            "这个张量（形状 (4,)）是 torch.func 的变换做的包装",
        ),
        (loss_is_a_wrapper, "The loss of shape () is a wrapper", "loss（形状 ()）是 torch.func"),
        (stale_loss, "The loss of shape (1,) is a view whose base", "loss（形状 (1,)）是视图"),
        (integers, "has dtype torch.int64", "dtype 是 torch.int64"),
        (frozen, "Parameter weight of shape (1, 2) has requires_grad=False", "参数 weight（形状 (1, 2)）"),
        (view_under_no_grad, "of a tensor of shape (4,)", "原张量形状 (4,)"),
        (view_under_no_grad, "on it, and compute the loss from it.", "并用它来算 loss。"),
        (
            weight_normed_without_loss,
            "made by WeightNormInterfaceBackward0 from 0.parametrizations.weight.original0, "
            "0.parametrizations.weight.original1 alone",
            "只用 0.parametrizations.weight.original0、0.parametrizations.weight.original1 算出",
        ),
        (
            inside_a_compiled_function,
            "it holds CompiledFunctionBackward, one node",
            "图里有 CompiledFunctionBackward",
        ),
        (inside_a_scripted_function, "it holds DifferentiableGraphBackward", "DifferentiableGraphBackward"),
        (another_result_of_a_function, "do without the custom Function", "不用自定义 Function"),
        (another_result_of_the_same_operation, "another result of the same", "同一个运算的另一个结果"),
        (reentrant_checkpoint, "it holds CheckpointFunctionBackward", "图里有 CheckpointFunctionBackward"),
        (unused_layer, "lead to parameter spare.weight of shape (1, 2)", "不通到参数 spare.weight（形状"),
        (scaled_when_made, "is no leaf: MulBackward0 made it", "它由 MulBackward0 对应的运算产生"),
        (converted, "is no leaf: ToCopyBackward0 made it", "它由 ToCopyBackward0 对应的运算产生"),
    ],
)
def test_the_text_names_what_it_is_about(make: Program, english: str, chinese: str) -> None:
    assert english in str(why_no_grad(*asked(make), "en"))
    assert chinese in str(why_no_grad(*asked(make), "zh"))


def test_a_shared_parameter_and_a_buffer_go_by_their_names() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.BatchNorm1d(2))
    model[1].weight = model[0].weight
    assert "parameter 0.weight = 1.weight of" in why_no_grad(model[0].weight, leaf().sum(), model).message
    assert why_no_grad(model[2].running_mean, None, model).message.startswith(
        "Buffer 2.running_mean of shape (2,)"
    )


def test_functions_that_hide_are_named_in_order() -> None:
    loss = leaf()
    for name in "DBECA":
        loss = type(name, (GivesNone,), {}).apply(loss)
    found = why_no_grad(leaf(), loss)
    assert "ABackward, BBackward, CBackward, DBackward, EBackward" in found.message
    assert "ABackward、BBackward、" in why_no_grad(leaf(), loss, lang="zh").message


def state_of(tensor: torch.Tensor) -> tuple:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = tensor.grad
    version = None if tensor.is_inference() else tensor._version
    return (
        (
            tensor.requires_grad,
            tensor.retains_grad,
            id(grad),
            None if grad is None else grad._version,
            version,
        ),
        (tensor._backward_hooks, tensor._post_accumulate_grad_hooks),
    )


def test_nothing_is_changed(case: tuple[str, Program]) -> None:
    tensor, loss, module = asked(case[1])
    watched = [t for t in (tensor, loss) if t is not None]
    watched += [] if module is None else [*module.parameters(), *module.buffers()]
    before = [state_of(t) for t in watched]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        why_no_grad(tensor, loss, module)
    assert [state_of(t) for t in watched] == before


def test_no_saved_tensor_is_unpacked_and_backward_still_runs() -> None:
    layer, unpacked = weight_norm(nn.Linear(2, 1)), []

    def unpack(packed: torch.Tensor) -> torch.Tensor:
        unpacked.append(packed)
        return packed

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        weight = layer.weight
        loss = layer(leaf(1, 2)).exp().sum()
    for tensor in (layer.bias, weight, torch.ones(1), leaf()):
        why_no_grad(tensor, loss, layer)
    assert unpacked == []
    loss.backward()
    assert unpacked
    assert layer.bias.grad is not None


def test_it_answers_inside_a_transform() -> None:
    outside, causes = leaf(), []

    def function(x):
        loss = (x * outside).sum()
        causes.extend(why_no_grad(t, loss).cause for t in (x, outside))
        return loss

    torch.func.grad(function)(torch.ones(4))
    torch.vmap(function)(torch.ones(2, 4))
    assert causes == ["torch-func"] * 2 + ["torch-func", "torch-func"]


def test_it_answers_between_the_parts_of_a_compiled_function() -> None:
    torch.compiler.reset()
    layer = nn.Linear(2, 1)

    @torch.compile(backend="aot_eager")
    def function(x):
        y = layer(x)
        why = why_no_grad(y, None, layer)
        return (y * 2).sum(), why

    with warnings.catch_warnings():
        # torch.compile itself reads it, for a result that is no leaf.
        warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor")
        loss, why = function(torch.ones(1, 2))
    assert why == Diagnosis("non-leaf", why.message, why.fix)
    assert "CompiledFunctionBackward made it" in why.message
    assert why_no_grad(layer.weight, loss, layer).cause == "backward-not-run-or-cleared"


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: why_no_grad(1.0), TypeError, "why_no_grad() takes a tensor, got float."),
        (
            lambda: why_no_grad(nn.Linear(1, 1)),
            TypeError,
            "why_no_grad() takes a tensor, got Linear. Pass one of its parameters.",
        ),
        (
            lambda: why_no_grad(leaf(), 3.0),
            TypeError,
            "why_no_grad() takes as loss the tensor that backward() is called on, got float. "
            "A number has no graph: pass the tensor, not its item().",
        ),
        (
            lambda: why_no_grad(leaf(), nn.Linear(1, 1)),
            TypeError,
            "that backward() is called on, got Linear. Pass the model as module=model.",
        ),
        (lambda: why_no_grad(leaf(), [leaf()]), TypeError, "that backward() is called on, got list."),
        (
            lambda: why_no_grad(leaf(), None, {"x": leaf()}),
            TypeError,
            "why_no_grad() takes the model, an nn.Module, as module; got dict.",
        ),
        (lambda: why_no_grad(leaf(), lang="de"), ValueError, "lang is one of ['en', 'zh'], got 'de'."),
        (lambda: why_no_grad(leaf(), lang=["en"]), ValueError, "lang is one of ['en', 'zh'], got ['en']."),
        (lambda: why_no_grad(leaf(), lazy_weight()), ValueError, "Run the module once on an input."),
        (
            lambda: why_no_grad(lazy_weight()),
            ValueError,
            "why_no_grad() takes a tensor that has a shape, got an UninitializedParameter: a lazy module's, which has "
            "not run yet. Run the module once on an input.",
        ),
    ],
)
def test_a_wrong_use_says_what_came_and_what_to_do(wrong, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as raised:
        wrong()
    assert str(raised.value).endswith(says)


def lazy_weight() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nn.LazyLinear(2).weight
