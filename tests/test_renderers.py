"""Text, DOT, Mermaid and SVG show the graph that was traced, whole or folded, whatever its tensors are called."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest
import torch
from test_graph import KINDS, SOME_KINDS, chain, leaf
from torch import nn

from gradfn_tutorial import Graph, dot, mermaid, record_backward, svg, text, trace
from gradfn_tutorial.fold import BLOCKS, Group, fold

# What is special in a format: quotes, escapes, entities, markup, comments, icons, formulas, and what is in none.
NAMES = (
    *('"', "\\", '\\"', "\\n", "\\N", "a\nb", "\x00\x1b\t", "\ud800", "\u202e", "", " ", "'"),
    *("<b>", "</text>", "&amp;", "&", "#quot;", "#35;", ";", "]", '"]); click n0 "x"', "a|b", "{c}", "-->"),
    *("%% c", "%%{init: {}}%%", "end", "1. a", "- a", "_a_ **b** `c`", "$$x^2$$", "fa:fa-car", "http://a.b"),
    *("中文，名", "é", "𝐀", "😀", "x" * 300),
)
RENDERERS: dict[str, Callable[[Graph], str]] = {
    "text": lambda graph: text.write(graph.nodes, graph.roots, 1_000),
    "dot": lambda graph: dot.write(graph.nodes, graph.roots),
    "mermaid": lambda graph: mermaid.write(graph.nodes, graph.roots),
    "svg": lambda graph: svg.draw(graph.nodes, graph.roots),
    "svg, folded": lambda graph: svg.draw(graph.nodes, graph.roots, most=1),
}
Edges = set[tuple[str, str, str]]


def slots(graph: Graph) -> Edges:
    """Each slot as a picture shows it: from, to, and what is written on the line."""
    return {
        (
            f"n{node.index}",
            f"n{edge.node.index}" if edge else f"n{node.index}_{slot}",
            f"{slot}, output_nr {edge.output_nr}" if edge and edge.output_nr else f"{slot}",
        )
        for node in graph.nodes
        for slot, edge in enumerate(node.inputs)
    }


STRING = r'"(?:[^"\\]|\\.)*"'
ATTRIBUTES = rf"\[(?:\w+=(?:{STRING}|\w+)(?:, (?!\]))?)+\]"
DOT_LINE = re.compile(rf"  (?P<source>\w+)(?: -> (?P<target>\w+))? (?P<attributes>{ATTRIBUTES});")


def read_dot(source: str) -> tuple[dict[str, str], Edges]:
    """The labels of the nodes, and the edges, of a text in the part of DOT that the renderer uses."""
    first, *lines, last = source.split("\n")
    assert (first, last) == ("digraph {", "}")
    labels: dict[str, str] = {}
    edges: Edges = set()
    for line in lines:
        match = DOT_LINE.fullmatch(line)
        assert match, line
        label = re.search(rf"label=({STRING})", match["attributes"])
        if match["target"]:
            edges.add((match["source"], match["target"], label[1].strip('"')))
        elif match["source"] not in ("node", "edge"):
            assert match["source"] not in labels
            labels[match["source"]] = label[1][1:-1]
    return labels, edges


MERMAID_BOX = re.compile(r'  (n\d+)(?:\(\["([^"]*)"\]\)|\[\["([^"]*)"\]\]|\["([^"]*)"\])(?::::\w+)?')
MERMAID_ARROW = re.compile(r'  (n\d+) (?:-- "([^"]*)" )?--> (n\d+(?:_\d+)?)(\["None"\]:::none)?')


def read_mermaid(source: str) -> tuple[dict[str, str], Edges]:
    labels: dict[str, str] = {}
    edges: Edges = set()
    first, *lines = source.split("\n")
    assert first == "flowchart TD"
    for line in lines:
        if re.fullmatch(r"  (classDef \w+ [\w:#,-]+|%% [\w ,]+)", line):
            continue
        box, arrow = MERMAID_BOX.fullmatch(line), MERMAID_ARROW.fullmatch(line)
        assert box or arrow, line
        if box:
            assert box[1] not in labels
            labels[box[1]] = box[2] or box[3] or box[4]
        else:
            edges.add((arrow[1], arrow[3], arrow[2]))
            assert ("_" in arrow[3]) == bool(arrow[4])
    return labels, edges


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_dot_has_every_node_and_every_slot(kind: str) -> None:
    graph = trace(KINDS[kind]())
    labels, edges = read_dot(dot.write(graph.nodes, graph.roots))
    assert edges == slots(graph)
    named = {name: label.split("\\n")[0] for name, label in labels.items() if label != "None"}
    assert named == {f"n{node.index}": node.name for node in graph.nodes}
    assert set(labels) - set(named) == {target for _, target, _ in edges if "_" in target}


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_mermaid_has_every_node_and_every_slot(kind: str) -> None:
    graph = trace(KINDS[kind]())
    labels, edges = read_mermaid(mermaid.write(graph.nodes, graph.roots))
    assert edges == slots(graph)
    assert {name: label.split("<br>")[0] for name, label in labels.items()} == {
        f"n{node.index}": node.name for node in graph.nodes
    }


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_picture_has_a_line_for_every_slot(kind: str) -> None:
    graph = trace(KINDS[kind]())
    picture = svg.draw(graph.nodes, graph.roots)
    assert picture.count("<path ") == picture.count('class="port"') == len(slots(graph))
    nones = picture.count('class="none"')
    assert nones == sum(edge is None for node in graph.nodes for edge in node.inputs)


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("kind", [kind for kind in SOME_KINDS if "random" not in kind or kind.endswith("7")])
def test_the_same_program_gives_the_same_text(kind: str, renderer: str) -> None:
    first, second = KINDS[kind](), KINDS[kind]()
    assert RENDERERS[renderer](trace(first)) == RENDERERS[renderer](trace(second))


def graph_with_names(names: tuple[str, ...]) -> Graph:
    tensors = [leaf(1) for _ in names]
    return trace(torch.stack(tensors).sum(), dict(zip(names, tensors)))


def shown(name: str, longest: int = 1_000) -> str:
    on_a_line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
    return on_a_line if len(on_a_line) <= longest else on_a_line[: longest - 1] + "…"


def labels_of(labels: dict[str, str], line_break: str) -> list[str]:
    parts = [label.split(line_break) for label in labels.values()]
    return sorted(
        part[0] if len(part) == 3 else "" for part in parts if part[-2:] == ["AccumulateGrad", ".grad None"]
    )


def test_dot_says_any_name() -> None:
    graph = graph_with_names(NAMES)
    labels, _ = read_dot(dot.write(graph.nodes, graph.roots))
    # What stands between the quotes, as Graphviz reads it: \n ends a line, any other backslash quotes what follows it.
    meant = {
        node: re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], label)
        for node, label in labels.items()
    }
    assert [name.replace("&amp;", "&") for name in labels_of(meant, "\n")] == sorted(map(shown, NAMES))


def test_mermaid_says_any_name() -> None:
    graph = graph_with_names(NAMES)
    labels, _ = read_mermaid(mermaid.write(graph.nodes, graph.roots))
    said = [re.sub(r"#(\d+);", lambda match: chr(int(match[1])), name) for name in labels_of(labels, "<br>")]
    assert sorted(name.replace("\u200b", "") for name in said) == sorted(shown(name, 60) for name in NAMES)
    # Measured on Mermaid 11.17 and 12.3: these it reads as a line break, an icon, a formula, in spite of the numbers.
    assert not any(special in name for name in said for special in ("\\n", "fa:fa", "$$"))


def test_picture_says_any_name() -> None:
    graph = graph_with_names(NAMES)
    picture = ElementTree.fromstring(svg.draw(graph.nodes, graph.roots))
    known = [element.text for element in picture.iter() if element.get("class") == "known"]
    assert sorted(known) == sorted(shown(name, 60) for name in NAMES if name)
    # The whole of a long name is in the tooltip.
    assert any(
        "x" * 300 in (element.text or "") for element in picture.iter() if element.tag.endswith("title")
    )


def test_text_says_any_name_on_one_line() -> None:
    graph = graph_with_names(NAMES)
    lines = text.write(graph.nodes, graph.roots, 1_000).split("\n")
    assert len(lines) == len(graph.nodes)
    assert [line.split("AccumulateGrad  ")[1] for line in lines if "AccumulateGrad  " in line] == [
        f"{shown(name)}  .grad None" if name else ".grad None" for name in NAMES
    ]


def test_text_in_chinese() -> None:
    x = leaf(1)
    y = x.exp()
    graph = trace(y * y, {"x": x})
    assert text.write(graph.nodes, graph.roots, 3, "zh").splitlines() == [
        "MulBackward0",
        "├─1 ExpBackward0 #1",
        "│ 0 AccumulateGrad  x  .grad None",
        "…",
    ]
    assert text.write(graph.nodes, graph.roots, 4, "zh").splitlines()[-1] == "0 ExpBackward0 #1  见上文"
    assert text.write(graph.nodes, graph.roots, 1, "zh").splitlines()[-1] == "…… 还有 2 个节点"


@pytest.mark.parametrize(
    ("limit", "lang", "says"),
    [
        (0, "en", "limit is a number of lines and at least 1, got 0."),
        (None, "en", "limit is a number of lines and at least 1, got None."),
        (2.5, "en", "limit is a number of lines and at least 1, got 2.5."),
        (3, "fr", "lang is one of ['en', 'zh'], got 'fr'."),
    ],
)
def test_text_says_what_it_takes(limit: int, lang: str, says: str) -> None:
    graph = trace(leaf(1).exp())
    with pytest.raises(ValueError, match=re.escape(says)):
        text.write(graph.nodes, graph.roots, limit, lang)


@pytest.mark.parametrize("kind", SOME_KINDS)
def test_a_folded_graph_has_every_node_once_and_no_cycle(kind: str) -> None:
    graph = trace(KINDS[kind]())
    for most in (1, 15, 60):
        check_fold(graph, most)


def check_fold(graph: Graph, most: int) -> None:
    groups, roots = fold(graph.nodes, graph.roots, most)
    assert len(groups) <= max(most, BLOCKS)
    assert sum(group.size for group in groups) == len(graph.nodes)
    assert [group.index for group in groups] == list(range(len(groups)))
    # Boxes hold the nodes in order, so their sizes tell which box a node is in.
    box_of = [group.index for group in groups for _ in range(group.size)]
    between = {
        (box_of[node.index], box_of[edge.node.index]) for node in graph.nodes for edge in node.inputs if edge
    }
    wires = [(group.index, wire.node.index) for group in groups for wire in group.inputs]
    assert sorted(wires) == sorted((source, target) for source, target in between if source != target)
    assert all(source < target for source, target in wires)
    assert [root.index for root in roots] == [0]


def encoder() -> tuple[Graph, nn.Module]:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    model = nn.ModuleDict({"encoder": nn.TransformerEncoder(layer, 3), "head": nn.Linear(8, 2)})
    loss = model["head"](model["encoder"](torch.randn(3, 8))).sum()
    return trace(loss, model), model


def labels(groups: list[Group]) -> list[str]:
    return [group.label or group.name for group in groups]


def test_boxes_are_modules_as_deep_as_there_is_room() -> None:
    graph, _ = encoder()
    groups, roots = fold(graph.nodes, graph.roots, 10)
    assert labels(groups) == ["SumBackward0", "head", *(f"encoder.layers.{i}" for i in (2, 1, 0))]
    assert [group.inputs[0].node for group in groups[:-1]] == groups[1:]
    assert roots == groups[:1]
    groups, _ = fold(graph.nodes, graph.roots, 60)
    parts = ["norm2", "linear2", "linear1", "norm1", "self_attn.out_proj", "self_attn"]
    assert labels(groups)[2:] == [f"encoder.layers.{i}.{part}" for i in (2, 1, 0) for part in parts]
    assert labels(fold(graph.nodes, graph.roots, len(groups))[0]) == labels(groups), "just enough room"
    # With no room for the modules, blocks of the same size.
    groups, _ = fold(graph.nodes, graph.roots, 2)
    assert len({group.size for group in groups[:-1]}) == 1
    assert len(groups) == BLOCKS


def test_a_parameter_is_in_the_box_of_its_module() -> None:
    model = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
    loss = (model["a"].weight @ model["a"].bias + model["b"].weight @ model["b"].bias).sum()
    graph = trace(loss, model)
    groups, _ = fold(graph.nodes, graph.roots, 60)
    sizes = {group.label: group.size for group in groups}
    two = trace(model["b"](torch.ones(2)).sum(), {"b.weight": model["b"].weight, "b.bias": model["b"].bias})
    assert labels(fold(two.nodes, two.roots, 60)[0]) == ["SumBackward0 … AddmmBackward0", "b"]
    # The product with a's weight, which no layer made, goes with the node before it.
    assert sizes == {"SumBackward0 … MvBackward0": 3, "b": 3, "a": 2}


def test_a_box_says_how_much_it_holds_and_how_many_gradients_are_there() -> None:
    graph, model = encoder()
    assert [group.grad for group in fold(graph.nodes, graph.roots, 10)[0]] == [None, *["None"] * 4]
    model["encoder"].layers[0].linear1.bias.grad = torch.ones(16)
    model["head"].bias.grad = torch.ones(2)
    graph = trace(graph.nodes[0], model)
    first, head, *_, last = fold(graph.nodes, graph.roots, 10)[0]
    assert (first.name, first.label, first.size) == ("SumBackward0", "", 1)
    assert (head.name, head.grad) == (f"{head.size} nodes", "1 of 2")
    assert last.grad == "1 of 12"
    assert 'class="op filled"' in svg.draw(graph.nodes, graph.roots, most=10)


def test_a_folded_picture_says_so() -> None:
    graph, _ = encoder()
    picture = ElementTree.fromstring(svg.draw(graph.nodes, graph.roots, most=10))
    assert picture.get("aria-label") == f"SumBackward0, {len(graph.nodes)} nodes in 20 boxes"
    boxes = [element for element in picture.iter() if element.get("data-node")]
    rects = [sum(part.tag.endswith("rect") for part in box) for box in boxes]
    assert rects == [1, *[2] * 19], "a box for many nodes looks like a pile"
    for box in boxes:
        top_card = [part for part in box if part.tag.endswith("rect")][-1]
        text = next(part for part in box if part.tag.endswith("text"))
        middle = float(top_card.get("x")) + float(top_card.get("width")) / 2
        assert middle == pytest.approx(float(text.get("x")), abs=0.2)


def test_a_graph_that_just_fits_is_drawn_whole() -> None:
    x = leaf(1)
    graph = trace(torch.stack([x] * 20))
    few = trace(x.exp().exp())
    for whole, most in (graph, 10), (few, 3):
        assert "boxes" not in svg.draw(whole.nodes, whole.roots, most=most)
        assert "boxes" in svg.draw(whole.nodes, whole.roots, most=most - 1)


def test_a_label_is_lifted_over_another_label_only() -> None:
    first, second = leaf(2).unbind()
    label = re.compile(r'<text class="output"[^>]* y="([\d.]+)">output_nr')
    heights = [label.findall(trace(total).to_svg()) for total in (second + first, first + second)]
    assert heights[0] == heights[1] != []


def test_lines_that_leave_for_lanes_keep_their_distance() -> None:
    x = leaf(1)
    steps = [x.exp()]
    for _ in range(9):
        steps.append(steps[-1].exp())
    picture = trace(torch.cat(steps)).to_svg()
    starts = sorted(float(start) for start in re.findall(r'd="M([\d.]+) [\d.]+V', picture))
    assert len(starts) == 9
    assert min(after - before for before, after in zip(starts, starts[1:])) >= svg.SLOT - 0.1


def test_a_text_has_200_lines_where_no_other_number_is_given() -> None:
    graph = trace(chain(300))
    assert len(graph.to_text().splitlines()) == 201
    assert graph.to_text().splitlines() == graph.to_text(limit=200).splitlines()
    assert record_backward(chain(300)).to_text() == record_backward(chain(300)).to_text(limit=200)


def test_lines_that_pass_rows_share_a_lane_where_they_do_not_meet() -> None:
    rows = [(0, 2), (2, 4), (5, 7)]
    lines = [svg.Line(svg.Box(None, source), svg.Box(None, target), 0, 0) for source, target in rows]
    assert [svg._lanes(lines)[line] for line in lines] == [0, 1, 0]


def narrow(length: int) -> Graph:
    """A chain of so many edges."""
    x = leaf(1)
    for _ in range(length):
        x = x.exp()
    return trace(x)


def dense(length: int) -> Graph:
    tensors = [leaf(1)]
    for _ in range(length):
        tensors.append(torch.stack(tensors).sum(0))
    return trace(tensors[-1])


def long_names(number: int, character: str) -> Graph:
    return graph_with_names(tuple(f"{i:03}" + character * 57 for i in range(number)))


@pytest.mark.parametrize(
    ("make", "boxes"),
    [
        (lambda: narrow(500), 501),
        (lambda: narrow(501), BLOCKS),
        # An exclamation mark takes 4 characters, and an A that Mermaid counts as 2 takes 8.
        (lambda: long_names(100, "!"), 102),
        (lambda: long_names(200, "!"), BLOCKS),
        (lambda: long_names(300, "𝐀"), BLOCKS),
        (lambda: dense(200), BLOCKS),
        (lambda: trace(torch.stack([leaf(1), *torch.ones(600, 1)]).sum()), 3),
    ],
    ids=[
        "500 edges",
        "501 edges",
        "short enough",
        "too long",
        "too long in UTF-16",
        "dense",
        "many None slots",
    ],
)
def test_mermaid_stays_within_its_limits(make: Callable[[], Graph], boxes: int) -> None:
    graph = make()
    source = mermaid.write(graph.nodes, graph.roots)
    labels, edges = read_mermaid(source)
    assert len(labels) == boxes
    assert len(edges) <= 500
    assert len(source.encode("utf-16-le")) // 2 <= 50_000
    assert (f"%% {len(graph.nodes):,} nodes in {boxes} boxes" in source) == (edges != slots(graph))


def test_mermaid_takes_fewer_boxes_where_they_have_too_many_lines() -> None:
    layers = [nn.Linear(1, 1) for _ in range(40)]
    results = [torch.ones(1, 1)]
    for layer in layers:
        results.append(layer(torch.stack(results).sum(0)))
    graph = trace(results[-1], nn.Sequential(*layers))
    groups, _ = fold(graph.nodes, graph.roots, 60)
    assert len(groups) == 40
    assert sum(len(group.inputs) for group in groups) > mermaid.MOST_EDGES
    labels, edges = read_mermaid(mermaid.write(graph.nodes, graph.roots))
    assert len(labels) == BLOCKS
    assert len(edges) <= mermaid.MOST_EDGES


@pytest.mark.parametrize(
    "make",
    [
        lambda: trace(chain(100_000)),
        lambda: dense(300),
        lambda: trace(torch.stack([leaf(1), *torch.ones(10_000, 1)]).sum()),
    ],
    ids=["deep", "dense", "many None slots"],
)
def test_a_large_graph_has_a_small_picture(make: Callable[[], Graph]) -> None:
    graph = make()
    picture = svg.draw(graph.nodes, graph.roots)
    assert len(picture) < 50_000
    assert f"{len(graph.nodes)} nodes in " in ElementTree.fromstring(picture).get("aria-label")
