"""The command runs a script as Python does and prints a graph, or says on one line why there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest

SCRIPT = """\
import subprocess, sys
import torch
from torch import nn
from beside import WIDTH

print("printed", sys.argv, __name__, sys.path[0].endswith("code"))
subprocess.run([sys.executable, "-c", "print('printed by a child')"])
model = nn.Sequential(nn.Linear(3, WIDTH), nn.ReLU())
part = model[0]
other = nn.Linear(2, 1)
data = torch.ones(2, 3)
out = model(data)
loss = out.sum()
both = loss + other(out).sum()
if __name__ == "__main__":
    sys.exit()
"""
FAILS = """\
def fail():
    raise RuntimeError("错了")

fail()
"""
STALE = """\
import torch
x = torch.ones(4, requires_grad=True)
y = x * 1
a, b = y.split(2)
y.mul_(2)
both = (y, a)
loss = y.sum()
"""
MOVES = """\
import os
from beside import WIDTH
import torch

x = torch.ones(WIDTH, requires_grad=True)
loss = x.sum()
os.chdir("elsewhere")
print("moved")
"""
# What a script may do to the streams that this command prints to.
STREAMS = {
    "closed": "sys.stdout.close(); sys.stderr.close()",
    "None": "sys.stdout = sys.stderr = None",
    "replaced": "sys.stdout = sys.stderr = object()",
}
BASE = """\
class Stop(BaseException):
    pass

raise Stop("stopped")
"""
# Each run takes seconds, so they run once, two at a time.
RUNS: dict[str, list[str]] = {
    "text": ["code/script.py:loss"],
    "svg": ["code/script.py:loss", "--format", "svg"],
    "dot": ["code/script.py:loss", "--format", "dot"],
    "mermaid": ["code/script.py:loss", "--format", "mermaid"],
    "json": ["code/script.py:loss", "--format", "json"],
    "to a file, in Chinese": ["code/script.py:loss", "--lang", "zh", "--limit", "2", "-o", "graph.txt"],
    "two models": ["code/script.py:both"],
    "one of two models": ["code/script.py:both", "--module", "other"],
    "no target": ["code/script.py"],
    "no file": ["nothing.py:loss"],
    "no variable": ["code/script.py:los", "-o", "new.txt"],
    "no variable, in Chinese": ["code/script.py:los", "--lang", "zh"],
    "no tensor": ["code/script.py:model"],
    "no graph": ["code/script.py:data"],
    "no module": ["code/script.py:loss", "--module", "data"],
    "not written": ["code/moves.py:loss", "-o", "no folder/graph.txt"],
    "written to no name": ["code/script.py:loss", "-o", ""],
    "no lines": ["code/script.py:loss", "--limit", "0"],
    "raises": ["fails.py:loss", "-o", "kept.txt"],
    "no Python": ["syntax.py:loss"],
    "exits": ["exits.py:loss"],
    "stale views": ["stale.py:loss"],
    "stale": ["stale.py:a"],
    "stale, one of two": ["stale.py:both", "--lang", "zh"],
    "moves": ["code/moves.py:loss", "-o", "moved.txt"],
    "raises what is no Exception": ["base.py:loss"],
    **{how: [f"{how}.py:x"] for how in STREAMS},
    "closed, no variable": ["closed.py:y"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command")
    (folder / "code").mkdir()
    files = {
        "code/script.py": SCRIPT,
        "code/beside.py": "WIDTH = 2\n",
        "fails.py": FAILS,
        "syntax.py": "loss = (\n",
        "exits.py": "raise SystemExit(3)\n",
        "kept.txt": "kept",
        "stale.py": STALE,
        "code/moves.py": MOVES,
        "base.py": BASE,
    }
    (folder / "elsewhere").mkdir()
    for how, line in STREAMS.items():
        files[f"{how}.py"] = f"import sys, torch\nx = torch.ones(1, requires_grad=True).exp()\n{line}\n"
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def start(
    folder: Path, arguments: list[str], stdout: int | IO[bytes] = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, "-m", "gradfn_tutorial", "graph", *arguments],
        cwd=folder,
        # Not the encoding of the terminal decides how the graph is written.
        env=os.environ | {"PYTHONPATH": root, "PYTHONIOENCODING": "ascii"},
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


@pytest.fixture(scope="module")
def done(folder: Path) -> dict[str, tuple[int, str, str]]:
    def run(name: str) -> tuple[int, str, str]:
        with start(folder, RUNS[name]) as process:
            out, errors = process.communicate()
        return process.returncode, out.decode(), errors.decode()

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(RUNS, pool.map(run, RUNS)))


TREE = """\
SumBackward0
0 ReluBackward0
0 AddmmBackward0  0
├─0 AccumulateGrad  0.bias  .grad None
├─1 None
2 TBackward0
0 AccumulateGrad  0.weight  .grad None
"""


def test_stdout_holds_the_graph_alone(done: dict) -> None:
    status, out, errors = done["text"]
    assert (status, out) == (0, TREE)
    assert sorted(errors.splitlines()) == [
        "printed ['code/script.py'] __main__ True",
        "printed by a child",
    ]


@pytest.mark.parametrize("name", ["svg", "dot", "mermaid", "json"])
def test_every_format(done: dict, name: str) -> None:
    status, out, _ = done[name]
    assert status == 0
    assert out.count("ReluBackward0") == (2 if name == "svg" else 1), "the picture has it in a tooltip too"
    if name == "json":
        assert len(json.loads(out)["nodes"]) == 6
    elif name == "svg":
        assert len([e for e in ElementTree.fromstring(out).iter() if e.get("data-node")]) == 6
    else:
        assert out.startswith({"dot": "digraph {\n", "mermaid": "flowchart TD\n"}[name])


def test_the_graph_goes_to_a_file(done: dict, folder: Path) -> None:
    status, out, _ = done["to a file, in Chinese"]
    assert (status, out) == (0, "")
    written = (folder / "graph.txt").read_bytes().decode()
    assert written == "SumBackward0\n0 ReluBackward0\n…… 还有 4 个节点\n"


def test_two_models_are_told_apart_and_one_can_be_chosen(done: dict) -> None:
    _, out, _ = done["two models"]
    names = [word for line in out.splitlines() for word in line.split("  ")[1:-1]]
    assert {"model.0.weight", "model.0.bias", "other.weight", "other.bias", "out"} <= set(names)
    _, out, _ = done["one of two models"]
    assert "AccumulateGrad  weight  .grad None" in out
    assert "model" not in out


WRONG = {
    "no target": "gradfn_tutorial: 'code/script.py' is not of the form FILE.py:VARIABLE.",
    "no file": "gradfn_tutorial: There is no file 'nothing.py'.",
    "no variable": "gradfn_tutorial: code/script.py has no variable 'los' at its top level. It has loss.",
    "no variable, in Chinese": "gradfn_tutorial: code/script.py 的顶层没有变量 'los'，有 loss。",
    "no tensor": "gradfn_tutorial: model is a Sequential. A graph starts at a tensor, a tuple of tensors or a node.",
    "no graph": "gradfn_tutorial: data has no graph: it was not computed, with grad mode on, from a tensor",
    "no module": "gradfn_tutorial: --module takes a variable that holds a module, and data is a Tensor.",
    "not written": "gradfn_tutorial: 'no folder/graph.txt' cannot be written: No such file or directory.",
    "written to no name": "gradfn_tutorial: '' cannot be written: Is a directory.",
    "stale": "gradfn_tutorial: a is a view whose base was modified in place since, and torch no longer tells its graph.",
    "stale, one of two": "gradfn_tutorial: both 是视图，取出之后它的原张量被原地修改过，torch 不再给出它的图。",
    "no lines": "error: argument --limit: a number of lines is at least 1, got '0'",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_use_says_what_is_wrong(done: dict, name: str) -> None:
    status, out, errors = done[name]
    assert (status, out) == (2, "")
    # The test's terminal is ASCII.
    assert WRONG[name].encode("ascii", "backslashreplace").decode() in errors.splitlines()[-1]
    assert "Traceback" not in errors


def test_a_script_that_raises_shows_its_own_traceback(done: dict) -> None:
    status, out, errors = done["raises"]
    assert (status, out) == (1, "")
    first, *rest = errors.splitlines()
    assert first == "Traceback (most recent call last):"
    assert errors.count('  File "') == errors.count("fails.py") == 2
    assert rest[-1] == r"RuntimeError: \u9519\u4e86"


def test_stale_views_among_the_variables_get_no_name(done: dict) -> None:
    status, out, _ = done["stale views"]
    assert status == 0
    assert out.startswith("SumBackward0  loss  .grad None\n0 MulBackward0  y  .grad None\n")


def test_the_output_goes_where_it_was_meant_before_the_run(done: dict, folder: Path) -> None:
    assert done["moves"] == (0, "", "moved\n")
    assert (folder / "moved.txt").read_bytes().startswith(b"SumBackward0")
    assert "moved" not in done["not written"][2], "a long run would be lost"


@pytest.mark.parametrize("how", STREAMS)
def test_a_script_may_do_anything_to_its_streams(done: dict, how: str) -> None:
    assert done[how] == (0, "ExpBackward0  x  .grad None\n0 AccumulateGrad  .grad None\n", "")


def test_an_error_is_told_where_the_script_closed_its_streams(done: dict) -> None:
    says = "gradfn_tutorial: closed.py has no variable 'y' at its top level. It has x.\n"
    assert done["closed, no variable"] == (2, "", says)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_a_full_disk_is_told(folder: Path) -> None:
    with Path("/dev/full").open("wb") as full, start(folder, ["code/script.py:loss"], full) as process:
        assert process.stderr.read().endswith(
            b"gradfn_tutorial: 'stdout' cannot be written: No space left on device.\n"
        )
        assert process.wait() == 2


def test_what_is_no_exception_shows_only_the_frames_of_the_script(done: dict) -> None:
    status, out, errors = done["raises what is no Exception"]
    assert (status, out) == (1, "")
    assert errors.count('  File "') == errors.count("base.py") == 1
    assert errors.endswith("Stop: stopped\n")


def test_a_script_that_is_no_python_or_ends_early_says_so(done: dict) -> None:
    status, _, errors = done["no Python"]
    assert status == 1
    assert errors.count('File "') == 1
    assert 'syntax.py", line 1' in errors
    says = "gradfn_tutorial: exits.py ended with exit status 3, so no graph is shown.\n"
    assert done["exits"] == (1, "", says)


def test_a_file_stays_as_it_was_when_something_failed(done: dict, folder: Path) -> None:
    assert done["no variable"][0] == 2
    assert not (folder / "new.txt").exists()
    assert done["raises"][0] == 1
    assert (folder / "kept.txt").read_text(encoding="utf-8") == "kept"


def test_a_reader_who_has_had_enough_ends_it_quietly(folder: Path) -> None:
    with start(folder, ["code/script.py:loss"]) as process:
        process.stdout.close()
        errors = process.stderr.read().decode()
        assert process.wait() == 0
    assert "printed" in errors
    assert "Error" not in errors
