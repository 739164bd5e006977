"""explain() says of every kind of tensor what torch does with it."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

import gradfn_tutorial
from gradfn_tutorial import explain
from gradfn_tutorial.state import WORDS

PACKAGE = Path(gradfn_tutorial.__file__).parent


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
    assert state.shape == tuple(tensor.shape)
    assert state.dtype == tensor.dtype


@pytest.mark.parametrize("kind", KINDS)
def test_backward_fills_grad_exactly_where_it_is_said(kind: str) -> None:
    tensor = KINDS[kind][0]()
    state = explain(tensor)
    anchor = torch.ones(1, requires_grad=True)
    if tensor.is_inference():
        tensor = tensor.clone()
    result = (tensor * anchor).sum()
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
    names = [line.split()[0] for line in card.splitlines()[1:]]
    assert names == ["is_leaf", "requires_grad", "grad_fn", "retains_grad", ".grad", "backward()"]
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sparse = torch.eye(3).to_sparse().requires_grad_()
    sparse.to_dense().sum().backward()
    assert card_line(sparse, ".grad").endswith("tensor of shape (3, 3)")


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
    ],
)
def test_a_wrong_use_says_what_came_and_what_to_do(wrong, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as raised:
        wrong()
    assert str(raised.value).endswith(says)


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
