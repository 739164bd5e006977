"""Time ``trace`` and ``record_backward`` against the bare loop, a plain backward and other tools, in one run.

Every span that walks has a graph of its own that nothing has looked at yet: torch makes the Python object of a node when it is
first asked for, and that is most of the work, so a second walk would look cheaper than a reader's first. The rounds are interleaved, so
that a slow minute of the machine falls on all alike. Garbage collection is on, as a reader has it. Times are CPU time on one
thread, and medians. ``--record`` writes the tables for the page that shows them.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import NamedTuple

import torch
from sealed import write_sealed
from torch import nn
from torchlens.debug import sketch_grad_fn
from torchview import draw_graph
from torchviz import make_dot

from gradfn_tutorial import Graph, owners, record_backward, trace
from gradfn_tutorial.models import ConvNet

RECORDING = "bench.md"
CNN, TRANSFORMER, LSTM, CHAIN = "ConvNet", "Transformer", "LSTM", "`x + 1`"
LOOP, TRACE, BACKWARD, RECORD = "`next_functions`", "`trace`", "`backward`", "`record_backward`"
PEERS = ("torchviz", "torchlens", "torchview")


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(8, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        h = c = torch.zeros(sequence.shape[1], 16)
        for step in sequence:
            h, c = self.cell(step, (h, c))
        return self.head(h)


class Chain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.ones(1))

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        x = self.start * data
        for _ in range(100_000):
            x = x + 1
        return x


class Truncated(Exception):
    """A tool stopped before it had the whole graph."""


class Case(NamedTuple):
    name: str
    model: nn.Module
    data: torch.Tensor
    rounds: int

    def loss(self) -> torch.Tensor:
        self.model.zero_grad()
        return self.model(self.data).sum()

    def loss_with_owners(self) -> torch.Tensor:
        with owners(self.model):
            return self.loss()

    def graph(self) -> Graph:
        return trace(self.loss(), self.model)


class Span(NamedTuple):
    """What is timed: ``run`` gets the case and what ``given`` made of it outside the span."""

    name: str
    given: Callable[[Case], torch.Tensor | Graph]
    run: Callable[[Case, torch.Tensor | Graph], object]


class Time(NamedTuple):
    """The median in milliseconds, or what the table says instead."""

    median: float
    instead: str = ""


def cases() -> list[Case]:
    torch.manual_seed(0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), num_layers=12)
    return [
        Case(CNN, ConvNet(), torch.randn(4, 3, 32, 32), 31),
        Case(TRANSFORMER, encoder, torch.randn(4, 32, 64), 21),
        Case(LSTM, Recurrent(), torch.randn(500, 4, 8), 9),
        Case(CHAIN, Chain(), torch.ones(1), 3),
    ]


def bare_loop(case: Case, loss: torch.Tensor) -> object:
    met = {loss.grad_fn}
    todo = [loss.grad_fn]
    while todo:
        for fn, _ in todo.pop().next_functions:
            if fn is not None and fn not in met:
                met.add(fn)
                todo.append(fn)
    return met


def trace_and_read(case: Case, loss: torch.Tensor) -> object:
    graph = trace(loss, case.model)
    edges = graph.edges
    for node in graph.nodes:
        _parameters, _module = node.parameters, node.module
    return graph, edges


def torchviz(case: Case, loss: torch.Tensor) -> object:
    return make_dot(loss, params=dict(case.model.named_parameters())).source


def torchlens(case: Case, loss: torch.Tensor) -> object:
    source = sketch_grad_fn(loss, model=case.model)
    if "WALK TRUNCATED" in source:
        raise Truncated
    return source


def torchview(case: Case, loss: torch.Tensor) -> object:
    return draw_graph(case.model, input_data=case.data, device="cpu", mode="train").visual_graph.source


def recording(keep: str) -> Callable[[Case, torch.Tensor], object]:
    return lambda case, loss: record_backward(loss, case.model, keep=keep)


WALKS = [
    Span(LOOP, Case.loss, bare_loop),
    Span(TRACE, Case.loss, trace_and_read),
    Span("`owners` + `trace`", Case.loss_with_owners, trace_and_read),
    Span("torchviz", Case.loss, torchviz),
    Span("torchlens", Case.loss, torchlens),
    Span("torchview", Case.loss, torchview),
]
BACKWARDS = [
    Span(BACKWARD, Case.loss, lambda case, loss: loss.backward()),
    Span(RECORD, Case.loss, recording("shapes")),
    Span('`keep="statistics"`', Case.loss, recording("statistics")),
    Span('`keep="values"`', Case.loss, recording("values")),
    Span("`Graph.to_text`", Case.graph, lambda case, graph: graph.to_text()),
    Span("`Graph.to_svg`", Case.graph, lambda case, graph: graph.to_svg()),
]


class Required(NamedTuple):
    case: str
    span: str
    base: str
    at_most: float


REQUIRED = [
    Required(CNN, TRACE, "torchviz", 1),
    Required(TRANSFORMER, TRACE, "torchviz", 1 / 3),
    Required(TRANSFORMER, TRACE, LOOP, 5),
    Required(LSTM, TRACE, LOOP, 5),
    Required(TRANSFORMER, RECORD, BACKWARD, 3),
]


def measure(case: Case, spans: list[Span]) -> dict[str, Time]:
    seconds: dict[str, list[float]] = {span.name: [] for span in spans}
    failed: dict[str, Time] = {}
    # One round more: the first pays for what the tools import and cache.
    for number in range(case.rounds + 1):
        for span in spans:
            if span.name in failed:
                continue
            try:
                spent = time_once(case, span)
            except Truncated:
                failed[span.name] = Time(float("nan"), "–")
                continue
            except Exception as error:
                if span.name not in PEERS:
                    raise
                failed[span.name] = Time(float("nan"), f"`{type(error).__name__}`")
                continue
            if number:
                seconds[span.name].append(spent)
    medians = {name: Time(1000 * statistics.median(spent)) for name, spent in seconds.items() if spent}
    return medians | failed


def time_once(case: Case, span: Span) -> float:
    given = span.given(case)
    # What the forward pass left behind is not collected on the span's account.
    gc.collect()
    try:
        start = time.process_time()
        result = span.run(case, given)
        spent = time.process_time() - start
        del result
        return spent
    finally:
        # torch 2.13 to 2.15 crash when a deep graph that Python has walked is freed; a traced one is safe.
        if isinstance(given, torch.Tensor):
            trace(given)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", action="store_true", help=f"write {RECORDING} anew")
    record = parser.parse_args().record
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    nodes: dict[str, int] = {}
    times: dict[str, dict[str, Time]] = {}
    for case in cases():
        nodes[case.name] = len(case.graph())
        times[case.name] = measure(case, WALKS) | measure(case, BACKWARDS)
        print(f"{case.name} is measured.", file=sys.stderr)
    checks, missed = check(times)
    sections = {
        "required": checks,
        "walks": table(WALKS, nodes, times),
        "backwards": table(BACKWARDS, nodes, times),
        "machine": [describe_machine()],
    }
    for lines in sections.values():
        print(*lines, "", sep="\n")
    if record:
        write_sealed(RECORDING, as_sections(sections))
    if missed:
        sys.exit(f"Slower than required: {'; '.join(missed)}")


def check(times: dict[str, dict[str, Time]]) -> tuple[list[str], list[str]]:
    """The ratios that are required, as rows of a table, and those that are missed."""
    rows, missed = [], []
    for case, span, base, at_most in REQUIRED:
        ratio = times[case][span].median / times[case][base].median
        # A span that failed has no time, and nan is at most nothing.
        mark = "✓" if ratio <= at_most else "✗"
        rows.append(f"| {span} | {base} | {case} | {at_most:.2f} | {ratio:.2f} {mark} |")
        if mark == "✗":
            missed.append(f"{span} against {base} on {case}")
    return rows, missed


def table(spans: list[Span], nodes: dict[str, int], times: dict[str, dict[str, Time]]) -> list[str]:
    head = ["", *nodes]
    lines = [head, ["---"] * len(head), ["`len(graph)`", *(f"{count:,}" for count in nodes.values())]]
    for span in spans:
        cells = [cell(times[case][span.name], times[case][spans[0].name]) for case in nodes]
        lines.append([span.name, *cells])
    return [f"| {' | '.join(line)} |" for line in lines]


def cell(taken: Time, base: Time) -> str:
    # The number and its unit stay on one line.
    ratio = "" if taken is base else f" ({taken.median / base.median:.1f}×)"
    return taken.instead or f"{taken.median:,.1f}\N{NO-BREAK SPACE}ms{ratio}"


def describe_machine() -> str:
    versions = [f"{name} {version(name).partition('+')[0]}" for name in ("torch", *PEERS)]
    return (
        f"{datetime.date.today()} · {', '.join(versions)} · Python {platform.python_version()} · "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPU"
    )


def as_sections(sections: dict[str, list[str]]) -> str:
    """The file that both languages include, section by section, under headings of their own."""
    return "\n".join(
        f"<!-- --8<-- [start:{name}] -->\n" + "\n".join(lines) + f"\n<!-- --8<-- [end:{name}] -->\n"
        for name, lines in sections.items()
    )


if __name__ == "__main__":
    main()
