"""explain() says of every kind of tensor what torch does with it."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

import gradfn_tutorial
from gradfn_tutorial import explain
from gradfn_tutorial.state import WORDS

PACKAGE = Path(gradfn_tutorial.__file__).parent
# torch's own, in backward() too.
pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")


def no_grad_view() -> torch.Tensor:
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        return x[:2]


def view_marked_later() -> torch.Tensor:
    base = torch.ones(3)
    view = base[:2].requires_grad_()
    base.requires_grad_()
    return view


def retained() -> torch.Tensor:
    y = torch.ones(2, requires_grad=True) * 2
    y.retain_grad()
    return y


def nested_leaf(layout: torch.layout) -> torch.Tensor:
    with warnings.catch_warnings():
        # torch warns that they may change.
        warnings.simplefilter("ignore")
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout, requires_grad=True)


def compiled_result() -> torch.Tensor:
    torch.compiler.reset()
    return torch.compile(lambda x: x * 2, backend="aot_eager")(torch.ones(2, requires_grad=True))


def under(mode: Callable, make: Callable[[], torch.Tensor]) -> torch.Tensor:
    with mode():
        return make()


# What to make, and the reasons expected: why it is a leaf or not, and why backward() fills its .grad or not.
KINDS: dict[str, tuple[Callable[[], torch.Tensor], str, str]] = {
    "plain": (lambda: torch.ones(2), "no grad needed", "skips no grad"),
    "result of plain": (lambda: torch.ones(2) + 1, "no grad needed", "skips no grad"),
    "leaf": (lambda: torch.ones(2, requires_grad=True), "not recorded", "fills leaf"),
    "complex leaf": (
        lambda: torch.ones(2, dtype=torch.complex64, requires_grad=True),
        "not recorded",
        "fills leaf",
    ),
    "Parameter": (lambda: nn.Parameter(torch.ones(2)), "not recorded", "fills leaf"),
    "frozen Parameter": (lambda: nn.Parameter(torch.ones(2), False), "no grad needed", "skips no grad"),
    "Buffer": (lambda: nn.Buffer(torch.ones(2)), "no grad needed", "skips no grad"),
    "integer": (lambda: torch.ones(2, dtype=torch.int64), "no grad needed", "skips dtype"),
    "detached": (lambda: torch.ones(2, requires_grad=True).detach(), "no grad needed", "skips no grad"),
    "non-leaf": (lambda: torch.ones(2, requires_grad=True) * 2, "made by", "skips non-leaf"),
    "view": (lambda: torch.ones(2, requires_grad=True)[:1], "made by", "skips non-leaf"),
    "retained": (retained, "made by", "fills retained"),
    "result under no_grad": (
        lambda: under(torch.no_grad, lambda: torch.ones(2, requires_grad=True) * 2),
        "no grad needed",
        "skips no grad",
    ),
    "view under no_grad": (no_grad_view, "no_grad view", "skips no_grad view"),
    "view marked later": (view_marked_later, "not recorded", "fills leaf"),
    "nested, jagged": (lambda: nested_leaf(torch.jagged), "not recorded", "fills leaf"),
    "nested, strided": (lambda: nested_leaf(torch.strided), "not recorded", "fills leaf"),
    "sparse leaf": (lambda: torch.eye(2).to_sparse().requires_grad_(), "not recorded", "fills leaf"),
    "meta leaf": (lambda: torch.ones(2, device="meta", requires_grad=True), "not recorded", "fills leaf"),
    "compiled result": (compiled_result, "made by", "skips non-leaf"),
    "inference": (lambda: under(torch.inference_mode, lambda: torch.ones(2)), "inference", "skips inference"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_state_is_torchs_own(kind: str) -> None:
    make, why_leaf, why_filled = KINDS[kind]
    tensor = make()
    state = explain(tensor)
    assert (state.why_leaf, state.why_filled) == (why_leaf, why_filled)
    assert (state.is_leaf, state.requires_grad) == (tensor.is_leaf, tensor.requires_grad)
    assert state.retains_grad == tensor.retains_grad
    assert (state.grad_fn is None) == (tensor.grad_fn is None)
    if kind != "nested, strided":
        assert state.shape == tuple(tensor.shape)
    assert state.dtype == tensor.dtype


@pytest.mark.parametrize("kind", KINDS)
def test_backward_fills_grad_exactly_where_it_is_said(kind: str) -> None:
    tensor = KINDS[kind][0]()
    state = explain(tensor)
    anchor = torch.ones(1, requires_grad=True, device=tensor.device)
    if tensor.is_inference():
        tensor = tensor.clone()
    padded = torch.nested.to_padded_tensor(tensor, 0.0) if tensor.is_nested else tensor
    result = (padded * anchor).sum()
    result.backward(torch.ones_like(result))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (tensor.grad is not None) == state.backward_fills_grad


@pytest.mark.parametrize("lang", WORDS)
@pytest.mark.parametrize("kind", KINDS)
def test_card_is_complete_in_both_languages(kind: str, lang: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        card = str(explain(KINDS[kind][0](), lang=lang))
    names = [line[2:15].strip() for line in card.splitlines()[1:]]
    unseen = ["not seen"] if kind == "compiled result" else []
    assert names == ["is_leaf", "requires_grad", "grad_fn", "retains_grad", ".grad", "backward()", *unseen]
    assert "{" not in card


def test_both_languages_have_the_same_words() -> None:
    assert WORDS["en"].keys() == WORDS["zh"].keys()


def card_line(tensor: torch.Tensor, name: str, lang: str = "en") -> str:
    return next(line for line in str(explain(tensor, lang)).splitlines() if line.split()[0] == name)


def test_card_says_what_grad_holds() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    assert card_line(x, ".grad").split(maxsplit=1)[1] == "None"
    x.grad = torch.zeros(2, 3)
    assert card_line(x, ".grad").endswith("zeros of shape (2, 3)")
    x.grad = torch.ones(2, 3)
    assert card_line(x, ".grad").endswith("tensor of shape (2, 3)")
    assert card_line(x, ".grad", "zh").endswith("张量，形状 (2, 3)")
    scalar = torch.tensor(2.0, requires_grad=True)
    scalar.grad = torch.tensor(0.5)
    assert card_line(scalar, ".grad").endswith(" 0.5")
    embedding = nn.Embedding(3, 2, sparse=True)
    embedding(torch.tensor([0])).sum().backward()
    assert card_line(embedding.weight, ".grad").endswith(" sparse tensor of shape (3, 2)")
    assert card_line(embedding.weight, ".grad", "zh").endswith(" 稀疏张量，形状 (3, 2)")
    embedding = nn.Embedding(1, 1, sparse=True)
    embedding(torch.tensor([0])).sum().backward()
    assert card_line(embedding.weight, ".grad").endswith(" sparse tensor of shape (1, 1)")
    nested = nested_leaf(torch.strided)
    torch.nested.to_padded_tensor(nested, 0.0).sum().backward()
    assert card_line(nested, ".grad").endswith(" tensor of shape (2, None)")
    for made in (torch.ones(2, device="meta", requires_grad=True), torch.ones(2, requires_grad=True)):
        made.grad = torch.zeros_like(made, requires_grad=True) * 1
        on_cpu = made.device.type == "cpu"
        assert card_line(made, ".grad").endswith(f" {'zeros' if on_cpu else 'tensor'} of shape (2,)")
    column = torch.ones(1, 1, requires_grad=True)
    column.grad = torch.full((1, 1), 2.5)
    assert card_line(column, ".grad").endswith(" 2.5")
    column.grad = torch.full((1, 1), 2.5, dtype=torch.float64).to(column.dtype).requires_grad_()
    assert card_line(column, ".grad").endswith(" 2.5")


def cards(lang: str, *tensors: torch.Tensor) -> list[str]:
    return [str(explain(tensor, lang)) for tensor in tensors]


# torch's own: the first use of forward mode compiles with torch.jit.script.
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("transform", ["grad", "vmap", "jvp"])
def test_inside_a_transform_the_card_says_what_it_cannot_see(transform: str) -> None:
    seen: dict[str, list[str]] = {}
    outside = torch.ones(2, requires_grad=True)
    outside.grad = torch.zeros(2)

    def function(x: torch.Tensor) -> torch.Tensor:
        state = explain(x * 2)
        assert (state.unseen, state.backward_fills_grad) == ("in func", False)
        for lang in WORDS:
            seen[lang] = cards(lang, x, outside)
        with pytest.raises(RuntimeError, match=r"inside a functorch transform"):
            (x * outside).sum().backward()
        return x.sum()

    x = torch.ones(2)
    if transform == "jvp":
        torch.func.jvp(function, (x,), (x,))
    else:
        getattr(torch.func, transform)(function)(x[None] if transform == "vmap" else x)
    for lang in WORDS:
        inner, outer = seen[lang]
        assert WORDS[lang]["in func"] in inner
        assert WORDS[lang]["skips func"] in inner
        assert outer == str(explain(outside, lang))
        assert WORDS[lang]["zeros"].format(shape=(2,)) in outer


@pytest.mark.parametrize("kind", ["view under no_grad", "view marked later", "non-leaf", "leaf"])
def test_a_tensor_from_outside_is_told_alike_in_a_transform_and_in_inference_mode(kind: str) -> None:
    tensor = KINDS[kind][0]()
    seen = []
    torch.func.grad(lambda x: (seen.append(str(explain(tensor))), x.sum())[1])(torch.ones(2))
    torch.vmap(lambda x: (seen.append(str(explain(tensor))), x)[1])(torch.ones(2))
    seen.append(under(torch.inference_mode, lambda: str(explain(tensor))))
    assert seen == [str(explain(tensor))] * 3


def test_a_gradient_that_a_transform_wraps_is_told_by_its_shape() -> None:
    x = torch.ones(2, requires_grad=True)
    cards = []

    def function(row: torch.Tensor) -> torch.Tensor:
        x.grad = row
        cards.append(card_line(x, ".grad"))
        return row

    torch.vmap(function)(torch.zeros(3, 2))
    assert cards[0].endswith(" tensor of shape (2,)")


def test_a_wrapper_that_left_its_transform_is_still_told() -> None:
    escaped: list[torch.Tensor] = []
    torch.func.grad(lambda x: (escaped.append(x), x.sum())[1])(torch.ones(2))
    state = explain(escaped[0])
    assert (state.unseen, state.why_filled) == ("in func", "skips func")


@pytest.mark.parametrize("lang", WORDS)
def test_between_two_compiled_parts_the_card_says_what_it_cannot_see(lang: str) -> None:
    torch.compiler.reset()
    layer = nn.Linear(2, 2)

    @torch.compile(backend="aot_eager")
    def function(x: torch.Tensor) -> tuple:
        y = layer(x)
        states = explain(y, lang), explain(layer.weight, lang)
        return y * 2, states

    with warnings.catch_warnings():
        # torch.compile itself reads it, for a result that is no leaf.
        warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor")
        y, (middle, weight) = function(torch.ones(1, 2))
    for state in (middle, explain(y, lang)):
        assert state.grad_fn == "CompiledFunctionBackward"
        assert state.unseen == "in compiled"
        assert WORDS[lang]["in compiled"] in str(state)
    assert str(weight) == str(explain(layer.weight, lang))


@pytest.mark.parametrize("lang", WORDS)
def test_in_export_the_card_says_what_it_cannot_see(lang: str) -> None:
    states = []

    class Model(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            states.append(explain(x, lang))
            return x * 2

    torch.export.export(Model(), (torch.ones(2),), strict=False)
    assert {state.unseen for state in states} == {"in fake"}
    assert WORDS[lang]["in fake"] in str(states[0])


class Sees(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.operations: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.operations.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("nested")])
def test_no_mode_sees_explain_look(kind: str) -> None:
    tensor = KINDS[kind][0]()
    if kind in ("leaf", "complex leaf", "Parameter"):
        tensor.grad = torch.zeros_like(tensor)
    expected = str(explain(tensor))
    with Sees() as mode:
        assert str(explain(tensor)) == expected
        one = torch.ones((), requires_grad=True)
        one.grad = one.detach()
        seen = len(mode.operations)
        assert seen > 0
        assert explain(one).grad == "1"
    assert len(mode.operations) == seen
    with FakeTensorMode():
        assert str(explain(tensor)) == expected


def stale_views() -> Iterator[torch.Tensor]:
    class View(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, grad):
            return grad

    def inside(mode: Callable) -> Callable[[torch.Tensor], torch.Tensor]:
        return lambda y: under(mode, lambda: y[:2])

    for take in (lambda y: y.split(2)[0], inside(torch.no_grad), inside(torch.inference_mode), View.apply):
        y = torch.ones(4, requires_grad=True) * 1
        view = take(y)
        y.mul_(2)
        yield view


@pytest.mark.parametrize("view", list(stale_views()), ids=["split", "no_grad", "inference_mode", "Function"])
def test_a_stale_view_is_refused_in_own_words(view: torch.Tensor) -> None:
    with pytest.raises(RuntimeError) as raised:
        explain(view)
    assert str(raised.value).startswith(
        f"explain() cannot answer for this view of shape {tuple(view.shape)}: its base was modified in place since"
    )


def test_a_view_whose_base_was_modified_is_told_as_torch_tells_it() -> None:
    y = torch.ones(4, requires_grad=True) * 1
    view = y[:2]
    y.mul_(2)
    assert explain(view).grad_fn == "AsStridedBackward0"


def test_a_nested_tensor_has_a_base_or_rows_that_differ() -> None:
    assert explain(nested_leaf(torch.strided)).shape == (2, None)
    assert explain(nested_leaf(torch.jagged)).view_of == (5,)


def test_card_names_the_kind_and_the_base_of_a_view() -> None:
    weight = nn.Parameter(torch.ones(4, 2))
    assert str(explain(weight)).startswith("Parameter (4, 2) float32\n")
    assert str(explain(weight[0])).startswith("Tensor (2,) float32, view of a tensor of shape (4, 2)\n")
    assert str(explain(nn.Buffer(torch.ones(1)))).startswith("Buffer (1,) float32\n")


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: explain([1.0]), TypeError, "explain() takes a tensor, got list."),
        (lambda: explain(nn.Linear(1, 1)), TypeError, "got Linear. Pass one of its parameters."),
        (lambda: explain(torch.ones(1), lang="fr"), ValueError, "lang is one of ['en', 'zh'], got 'fr'."),
        (
            lambda: explain(nn.LazyLinear(2).weight),
            ValueError,
            "explain() takes a tensor that has a shape, got an UninitializedParameter: a lazy module's, which has not "
            "run yet. Run the module once on an input.",
        ),
    ],
)
def test_a_wrong_use_says_what_came_and_what_to_do(wrong, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as raised:
        wrong()
    assert str(raised.value).endswith(says)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="Python 3.9 does not list its standard library")
def test_package_needs_torch_alone() -> None:
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            for name in names:
                top = name.partition(".")[0]
                assert top in {"torch", "gradfn_tutorial"} or top in sys.stdlib_module_names, (
                    f"{path}: {name}"
                )
