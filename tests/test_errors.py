"""The error messages are torch's own, their repairs run, and a pasted text finds its entry whatever stands round it."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import textwrap
import traceback
import warnings
from collections.abc import Iterator
from types import FrameType

import pytest
import torch

from gradfn_tutorial.__main__ import main
from gradfn_tutorial.errors import ERRORS, find, rank
from gradfn_tutorial.errors.entry import Error, parts, shown

TORCH = tuple(map(int, torch.__version__.split(".")[:2]))
IDS = [error.id for error in ERRORS]
EACH = pytest.mark.parametrize("error", ERRORS, ids=IDS)

# What stands in a message for each part that varies: other values than those of our programs.
OTHER = {
    "number": "37",
    "shape": "[64, 10, 3]",
    "dtype": "torch.cuda.HalfTensor",
    "name": "encoder.layers.7.weight",
    "node": "NativeBatchNormBackward0",
    "device": "cuda:3",
    "text": "something else",
}
# Each says where the message stands, as one of the programs that people copy from writes it.
STYLES = {
    "python": """\
Epoch 3:  12%|█▏        | 241/1875 [00:09<01:02, 26.01it/s]
Traceback (most recent call last):
  File "projects/net/train.py", line 214, in <module>
    main(parse_args())
  File "net\\train.py", line 188, in main
    loss = trainer.fit(model, loader)
  File "lib/python3.12/site-packages/torch/_tensor.py", line 626, in backward
    torch.autograd.backward(
    ~~~~~~~~~~~~~~~~~~~~~~~^
        self, gradient, retain_graph, create_graph, inputs=inputs
    )
  File "lib/python3.12/site-packages/torch/autograd/graph.py", line 841, in _engine_run_backward
    return Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass
{message}
""",
    "jupyter": """\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[17], line 8
      6 for x, y in loader:
      7     optimizer.zero_grad()
----> 8     criterion(model(x), y).backward()
     10 print("the gradient of the weight", model.weight.grad)

File /usr/local/lib/python3.11/dist-packages/torch/_tensor.py:581, in Tensor.backward(self, gradient, retain_graph)
    571 if has_torch_function_unary(self):
--> 581 torch.autograd.backward(

{message}
""",
    "pytest": """\
    def test_step():
>       step(model, batch)

tests/test_step.py:41:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
{as_pytest}

src/net/train.py:88: RuntimeError
=========================== short test summary info ============================
FAILED tests/test_step.py::test_step - {start}...
""",
    "colours": '\x1b[31m\x1b[1m  File \x1b[35m"/app/run.py"\x1b[0m, line 9\x1b[0m\r\n\x1b[31m{message}\x1b[0m\r\n',
    "narrow terminal": "train.py:5\n{wrapped}\nexit status 1\n",
    "a log": r'{{"level": "error", "text": "Traceback:\n  File \"/app/run.py\", line 9\n{message}\n"}}',
    "chained": """\
{message}

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/run.py", line 31, in fit
    raise TrainingError("step failed") from error
net.errors.TrainingError: the training step failed, see above
""",
}
UNRELATED = {
    "no module": "ModuleNotFoundError: No module named 'torchvision'",
    "memory": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of "
    "7.79 GiB of which 15.25 MiB is free. Of the allocated memory 6.90 GiB is allocated by PyTorch, and 94.04 MiB is "
    "reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
    "memory, in short": "CUDA out of memory",
    "matmul": "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
    "sizes": "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0",
    "devices": "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and "
    "cpu! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)",
    "state dict": "RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight: copying a param "
    "with shape torch.Size([10, 5]) from checkpoint, the shape in current model is torch.Size([3, 5]).",
    "attribute": "AttributeError: module 'torch' has no attribute 'compile'",
    "index": "IndexError: Target 10 is out of bounds.",
    "shape": "RuntimeError: shape '[2, 3]' is invalid for input of size 5",
    "arguments": "TypeError: forward() takes 2 positional arguments but 3 were given",
    "assertion": "RuntimeError: CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported "
    "at some other API call, so the stacktrace below might be incorrect.",
    "name": "NameError: name 'loss' is not defined",
    "recipe": "Peel the onions and cut them in half. In a large pan, heat the oil, and add the onions, of which you need "
    "at least two. When they have been modified by the heat for the second time, the tomatoes go in. You can only "
    "change the salt at the end: it is not in place before, and a leaf of basil is used as a view of what is to come. "
    "If you want to keep the soup for the next day, do not put the basil into it, or it will not be the same.",
    "a traceback of something else": STYLES["python"].format(message="KeyboardInterrupt"),
    "Chinese": "番茄炒蛋：先把鸡蛋打散，锅里放油。",
    "nothing": " \n",
}


@contextlib.contextmanager
def program() -> Iterator[list[warnings.WarningMessage]]:
    """Gather warnings, those that torch gives once in a process too, and see that the program leaves torch as it was."""
    once, before = torch.is_warn_always_enabled(), state()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield caught
        assert state() == before, "the program changes a global setting of torch"
    finally:
        torch.set_warn_always(once)


def state() -> tuple[object, ...]:
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_anomaly_enabled(),
        torch.get_default_dtype(),
    )


def run(code: str) -> str:
    """What the program's last statement raises, or the program's last warning, as Python prints them."""
    with program() as caught:
        try:
            exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})
        except Exception as error:
            raised = next(line for frame, line in traceback.walk_tb(error.__traceback__) if is_program(frame))
            assert raised >= ast.parse(code).body[-1].lineno, (
                f"line {raised} raises, and that is not the end: {error}"
            )
            kind = type(error)
            module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
            return f"{module}{kind.__qualname__}: {error}"
    if not caught:
        return "no exception and no warning"
    text = f"{caught[-1].category.__name__}: {caught[-1].message}"
    return re.sub(r" \(Triggered internally at [^)]*\)", "", text)


def is_program(frame: FrameType) -> bool:
    return frame.f_code.co_filename == "<program>"


def raised_here(error: Error) -> bool:
    until = TORCH if error.until is None else version(error.until)
    return version(error.since) <= TORCH <= until


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def matches(error: Error, text: str) -> bool:
    patterns = [
        "".join(re.escape(fixed) + (".+?" if name else "") for fixed, name in parts(m))
        for m in error.messages
    ]
    return any(re.fullmatch(pattern, text.strip(), re.DOTALL) for pattern in patterns)


def filled(message: str) -> str:
    """The message with other values than those of our program."""
    return "".join(fixed + OTHER.get(name or "", "") for fixed, name in parts(message))


def pasted(message: str, style: str) -> str:
    return STYLES[style].format(
        message=message,
        start=message[:30],
        as_pytest=textwrap.indent(message, "E   ", lambda _: True),
        wrapped=textwrap.fill(message, 50),
    )


@EACH
def test_the_program_raises_the_message(error: Error) -> None:
    text = run(error.code)
    known = "\n".join(error.messages)
    if raised_here(error):
        assert matches(error, text), (
            f"{error.id}: torch {torch.__version__} says\n{text}\nand the entry\n{known}"
        )
    else:
        assert not matches(error, text), (
            f"{error.id}: torch {torch.__version__} raises it: see since and until"
        )


@EACH
def test_both_repairs_run(error: Error) -> None:
    for repair in error.repairs:
        printed = io.StringIO()
        with program(), contextlib.redirect_stdout(printed):
            exec(repair.code, {"__name__": "__main__"})
        assert printed.getvalue().strip(), f"{error.id}: a repair shows nothing"


def test_ids_are_slugs_of_their_own() -> None:
    assert len(IDS) == len(set(IDS)) >= 40
    assert [name for name in IDS if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


@EACH
def test_an_entry_is_complete(error: Error) -> None:
    assert all(re.match(r"[\w.]+(Error|Warning|Exception): ", message) for message in error.messages)
    assert {name for message in error.messages for _, name in parts(message)} <= {None, *OTHER}
    assert error.code.startswith(("import ", "from "))
    assert re.fullmatch(r"[\w/]+#[\w-]+", error.page)
    for text in (error, *error.repairs):
        assert re.search(r"[.`)]$", text.en), f"no sentence: {text.en}"
        assert re.search("[一-鿿]", text.zh), f"no Chinese: {text.zh}"
        assert re.search("[。`）]$", text.zh), f"no sentence: {text.zh}"


@pytest.mark.parametrize("style", STYLES)
def test_a_paste_finds_its_entry_first(style: str) -> None:
    wrong = {}
    for error in ERRORS:
        for message in error.messages:
            found = find(pasted(filled(message), style))
            if not found or found[0] is not error:
                wrong[error.id] = [other.id for other in found]
    assert wrong == {}


@EACH
def test_what_our_program_raises_finds_it_with_other_values(error: Error) -> None:
    if not raised_here(error):
        pytest.skip("not raised by this torch")
    text = re.sub(r"\d+", lambda number: str(int(number[0]) + 5), run(error.code))
    text = re.sub(r"\[[\d, ]+\]", "[64, 10]", text)
    text = re.sub(r"float(?=\d)", "bfloat", text.replace("FloatTensor", "cuda.DoubleTensor"))
    assert find(pasted(text, "python"))[:1] == [error]


@EACH
def test_the_message_alone_without_its_class_or_its_end_finds_it(error: Error) -> None:
    text = filled(error.message)
    assert find(text)[0] is error
    assert find(text.partition(": ")[2])[0] is error
    half = shown(error.message)
    assert error in find(half[: len(half) // 2 + 20])


@pytest.mark.parametrize("name", UNRELATED)
def test_an_unrelated_text_finds_nothing(name: str) -> None:
    scores = [(score, error.id) for score, error in rank(UNRELATED[name])[:3]]
    assert find(UNRELATED[name]) == [], scores


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("element 0 of tensors", "no-grad-fn"),
        ("Element 3 Of Tensors does not require grad", "no-grad-fn"),
        ("Trying to backward through the graph a second time", "backward-twice"),
    ],
)
def test_a_few_words_are_enough(text: str, first: str) -> None:
    assert find(text)[0].id == first


def test_of_two_messages_the_last_one_counts() -> None:
    one, other = (pasted(filled(error.message), "python") for error in ERRORS[:2])
    between = "\nDuring handling of the above exception, another exception occurred:\n\n"
    assert find(one + between + other)[0] is ERRORS[1]
    assert find(other + between + one)[0] is ERRORS[0]


def test_no_more_are_found_than_asked_for() -> None:
    text = filled(ERRORS[0].message)
    assert [len(find(text, limit=limit)) for limit in (0, 1)] == [0, 1]


class Command:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch = monkeypatch
        self.capfd = capfd

    def __call__(self, *arguments: str, stdin: bytes = b"", terminal: bool = False) -> tuple[int, str, str]:
        stream = io.BytesIO(stdin)
        stream.isatty = lambda: terminal
        self.monkeypatch.setattr(sys, "argv", ["gradfn_tutorial", "error", *arguments])
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        status = main()
        out, errors = self.capfd.readouterr()
        return status, out, errors


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capfd)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_command_tells_all_that_is_known(command: Command, lang: str) -> None:
    error = ERRORS[0]
    status, out, errors = command(pasted(filled(error.message), "python"), "--lang", lang)
    assert (status, errors) == (0, "")
    assert out.splitlines()[0] == error.id
    wanted = [shown(error.message), getattr(error, lang), error.page]
    wanted += [getattr(repair, lang) for repair in error.repairs]
    wanted += [line for repair in error.repairs for line in repair.code.splitlines()]
    assert [text for text in wanted if text not in out] == []


@EACH
def test_the_command_takes_an_id(command: Command, error: Error) -> None:
    status, out, _ = command(error.id)
    assert (status, out.splitlines()[0]) == (0, error.id)


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_the_command_reads_what_is_piped_in(command: Command, arguments: list[str]) -> None:
    text = pasted(filled(ERRORS[1].message), "colours")
    status, out, _ = command(*arguments, stdin=text.encode() + b"\xff")
    assert (status, out.splitlines()[0]) == (0, ERRORS[1].id)


def test_the_command_names_the_nearest_where_nothing_matches(command: Command) -> None:
    status, out, errors = command("backward-twise")
    assert (status, out) == (1, "")
    assert f"None of the {len(ERRORS)} known messages" in errors
    assert "The nearest: backward-twice, " in errors
    status, out, errors = command("--lang", "zh", stdin="番茄炒蛋".encode())
    assert (status, out) == (1, "")
    assert f"已收录的 {len(ERRORS)} 条信息" in errors
    assert [name for name in IDS if name in errors]


def test_the_command_asks_for_a_text_at_a_terminal(command: Command) -> None:
    status, out, errors = command(terminal=True)
    assert (status, out) == (2, "")
    assert errors.startswith("gradfn_tutorial: Pass the message")
