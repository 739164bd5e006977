"""The graph as an SVG picture: the way back to the deepest input runs straight down, everything else lies to its right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

from gradfn_tutorial.fold import Group, fold
from gradfn_tutorial.text import captions, printable, trunks

if TYPE_CHECKING:
    from gradfn_tutorial.graph import Node
    from gradfn_tutorial.text import Drawn

MOST_NODES = 2_000
# To the eye 60 boxes are one picture: the layers of a transformer, the blocks of a ResNet.
MOST_BOXES = 60
LONGEST_LINE = 60
# All lengths are in CSS pixels.
CHARACTER = 7.3
LINE = 16
PADDING = 8
GAP_X = 18
GAP_Y = 34
LANE = 16
MARGIN = 8
OUTPUT_LABEL = 86
PORTS = 11
SLOT = 12
CARD = 4
STYLE = """\
.gradfn{--halo:var(--gf-halo,#fff);--text:var(--gf-text,#1f2328);--muted:var(--gf-muted,#57606a);--line:var(--gf-line,#8c959f);\
--op-fill:var(--gf-op-fill,#eef3fb);--op-line:var(--gf-op-line,#6b85b5);\
--leaf-fill:var(--gf-leaf-fill,#fff);--leaf-line:var(--gf-leaf-line,#3f8f5f);\
--filled-fill:var(--gf-filled-fill,#d9f2e1);--filled-line:var(--gf-filled-line,#1f7a43);--none:var(--gf-none,#8c959f);\
font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
@media(prefers-color-scheme:dark){.gradfn{--halo:var(--gf-halo,#0d1117);--text:var(--gf-text,#e6edf3);--muted:var(--gf-muted,#9da7b3);\
--line:var(--gf-line,#768390);--op-fill:var(--gf-op-fill,#1d2a3d);--op-line:var(--gf-op-line,#7f9ccf);\
--leaf-fill:var(--gf-leaf-fill,#0d1117);--leaf-line:var(--gf-leaf-line,#57ab7a);\
--filled-fill:var(--gf-filled-fill,#123d25);--filled-line:var(--gf-filled-line,#6fd08c);--none:var(--gf-none,#768390)}}
.gradfn text{fill:var(--text);text-anchor:middle}
.gradfn .known{font-weight:600}
.gradfn .small{fill:var(--muted);font-size:11px}
.gradfn .port{fill:var(--muted);font-size:11px}
.gradfn .output{fill:var(--muted);font-size:11px;text-anchor:start;paint-order:stroke;stroke:var(--halo);stroke-width:4px}
.gradfn path{fill:none;stroke:var(--line);stroke-width:1.3}
.gradfn rect{stroke-width:1.3}
.gradfn .op rect{fill:var(--op-fill);stroke:var(--op-line)}
.gradfn .leaf rect{fill:var(--leaf-fill);stroke:var(--leaf-line)}
.gradfn .filled rect{fill:var(--filled-fill);stroke:var(--filled-line)}
.gradfn .none text{fill:var(--none);font-style:italic}"""


class Box:
    """Where a node, or a slot that holds None, stands in the picture."""

    def __init__(self, node: Drawn | None, row: int) -> None:
        self.node = node
        self.row = row
        self.lines = _lines(node)
        self.width = max(_columns(text) for _, text in self.lines) * CHARACTER + 2 * PADDING
        self.is_leaf = node is not None and node.name == "AccumulateGrad"
        self.width += PADDING if self.is_leaf else 0
        self.height = len(self.lines) * LINE + PADDING
        # A node's slots stand along its lower edge, where no line can cross them.
        self.height += PORTS if node is not None and node.inputs and not isinstance(node, Group) else 0
        self.left = self.top = self.row_bottom = 0.0

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    @property
    def bottom(self) -> float:
        return self.top + self.height


class Line(NamedTuple):
    """An input of ``source``, made by ``target``."""

    source: Box
    target: Box
    slot: int
    output_nr: int


def draw(nodes: Sequence[Node], roots: Sequence[Node], most: int = MOST_NODES) -> str:
    """The picture; a graph of more than ``most`` nodes, or of twice as many slots, is folded first."""
    title = ", ".join(f"{root.name} {root.label}".strip() for root in roots) + f", {len(nodes)} nodes"
    if len(nodes) <= most and sum(len(node.inputs) for node in nodes) <= 2 * most:
        return _draw(nodes, roots, title)
    groups, group_roots = fold(nodes, roots, MOST_BOXES)
    return _draw(groups, group_roots, f"{title} in {len(groups)} boxes")


def _draw(nodes: Sequence[Drawn], roots: Sequence[Drawn], title: str) -> str:
    boxes, lines = _boxes_and_lines(nodes)
    trunk = _trunk(nodes, roots, boxes)
    rows: list[list[Box]] = [[] for _ in range(max(box.row for box in boxes) + 1)]
    for box in boxes:
        rows[box.row].append(box)
    lanes = _lanes([line for line in lines if line.target.row - line.source.row > 1])
    for box, leaving in Counter(line.source for line in lanes).items():
        # On a trunk box they start left of the middle. Past a dozen, slots may touch.
        box.width = max(box.width, 2 * (9 + SLOT * min(leaving, 12)))
    _place(rows, lines, trunk)
    paths, labels = _draw_lines(lines, lanes, trunk)
    shapes = [*paths, *(_draw_box(box) for box in boxes), *labels]
    left = -LANE * (max(lanes.values(), default=-1) + 1) - MARGIN
    left -= OUTPUT_LABEL if any(line.output_nr for line in lanes) else 0
    right = max(box.left + box.width for box in boxes) + MARGIN
    height = max(box.bottom for box in boxes) + 2 * MARGIN
    width = right - left
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="gradfn" role="img" aria-label="{escape(printable(title))}" '
            f'width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="{left:.0f} {-MARGIN} {width:.0f} {height:.0f}">',
            f"<style>{STYLE}</style>",
            *shapes,
            "</svg>",
        ]
    )


def _columns(text: str) -> float:
    # A Chinese character is as wide as the font is high.
    return sum(1.65 if east_asian_width(character) in "WF" else 1 for character in text)


def _lines(node: Drawn | None) -> list[tuple[str, str]]:
    if node is None:
        return [("", "None")]
    first, *more = captions(node)
    lines = [("known" if node.label else "", first), *(("small", line) for line in more)]
    return [
        (kind, line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…") for kind, line in lines
    ]


def _boxes_and_lines(nodes: Sequence[Drawn]) -> tuple[list[Box], list[Line]]:
    row = [0] * len(nodes)
    for node in nodes:
        for edge in node.inputs:
            if edge is not None:
                row[edge.node.index] = max(row[edge.node.index], row[node.index] + 1)
    boxes = [Box(node, row[node.index]) for node in nodes]
    lines: list[Line] = []
    for node in nodes:
        source = boxes[node.index]
        for slot, edge in enumerate(node.inputs):
            if edge is None:
                boxes.append(Box(None, source.row + 1))
                lines.append(Line(source, boxes[-1], slot, 0))
            else:
                lines.append(Line(source, boxes[edge.node.index], slot, edge.output_nr))
    return boxes, lines


def _trunk(nodes: Sequence[Drawn], roots: Sequence[Drawn], boxes: Sequence[Box]) -> set[Box]:
    onward = trunks(nodes)
    at: Drawn = roots[0]
    trunk = {boxes[at.index]}
    while at in onward:
        at = onward[at].node
        trunk.add(boxes[at.index])
    return trunk


def _place(rows: list[list[Box]], lines: list[Line], trunk: set[Box]) -> None:
    above: dict[Box, Line] = {}
    for line in lines:
        above.setdefault(line.target, line)
    column = max(box.width for box in trunk)
    top = 0.0
    for row in rows:
        bottom = top + max(box.height for box in row)
        for box in row:
            box.top, box.row_bottom = top, bottom
        top = bottom + GAP_Y
        free = 0.0
        for box in row:
            if box in trunk:
                box.left = (column - box.width) / 2
                free = column + GAP_X
        rest = [box for box in row if box not in trunk]
        rest.sort(key=lambda box: (above[box].source.middle, above[box].slot) if box in above else (0, 0))
        for box in rest:
            wanted = 0.0
            if box in above and above[box].source not in trunk:
                wanted = above[box].source.middle - box.width / 2
            box.left = max(free, wanted)
            free = box.left + box.width + GAP_X


def _lanes(long: list[Line]) -> dict[Line, int]:
    """For each line that passes a row, the lane left of the trunk in which it meets no other."""
    last_row: list[int] = []
    lanes: dict[Line, int] = {}
    for line in sorted(long, key=lambda line: (line.source.row, line.target.row)):
        lane = next((i for i, row in enumerate(last_row) if row < line.source.row), len(last_row))
        last_row[lane : lane + 1] = [line.target.row]
        lanes[line] = lane
    return lanes


def _draw_lines(lines: list[Line], lanes: dict[Line, int], trunk: set[Box]) -> tuple[list[str], list[str]]:
    """The lines, and their labels, which have to be drawn over the boxes."""
    straight = [line for line in lines if line not in lanes]
    leaving, leaving_in_lanes = _leaving(straight), _leaving(lanes)
    arriving, arriving_in_lanes = _arriving(straight), _arriving(lanes)
    paths: list[str] = []
    labels: list[str] = []
    for line in lines:
        if line in lanes:
            others = leaving_in_lanes[line.source]
            start_x = line.source.left + 9
            start_x += others.index(line) * min(SLOT, (line.source.width / 2 - 9) / len(others))
            named = [other for other in arriving_in_lanes[line.target] if other.output_nr]
            lift = named.index(line) if line in named else 0
            path, *more = _draw_in_lane(line, start_x, lanes[line], lift, trunk)
        else:
            start_x = _start(line, leaving[line.source], trunk)
            ends = arriving[line.target]
            end_x = line.target.middle + (ends.index(line) - (len(ends) - 1) / 2) * 14
            # Lines that arrive side by side have their labels one above the other.
            lift = sum(other.output_nr > 0 for other in ends[ends.index(line) + 1 :]) % 3
            path, *more = _draw_down(line, start_x, end_x, lift)
        paths.append(path)
        labels += more
    return paths, labels


def _leaving(lines: Iterable[Line]) -> dict[Box, list[Line]]:
    leaving: dict[Box, list[Line]] = {}
    for line in sorted(lines, key=lambda line: (line.target.middle, line.slot)):
        leaving.setdefault(line.source, []).append(line)
    return leaving


def _arriving(lines: Iterable[Line]) -> dict[Box, list[Line]]:
    arriving: dict[Box, list[Line]] = {}
    for line in sorted(lines, key=lambda line: (line.source.middle, line.slot)):
        arriving.setdefault(line.target, []).append(line)
    return arriving


def _start(line: Line, leaving: list[Line], trunk: set[Box]) -> float:
    """Where on the lower edge of its box a line starts: the trunk's in the middle, the others evenly beside it."""
    source = line.source
    down = [other for other in leaving if source in trunk and other.target in trunk]
    if line in down:
        return source.middle + (down.index(line) - (len(down) - 1) / 2) * 20
    beside = [other for other in leaving if other not in down]
    left = source.middle if down else source.left
    return left + (source.left + source.width - left) * (beside.index(line) + 1) / (len(beside) + 1)


def _draw_down(line: Line, start_x: float, end_x: float, lift: int) -> list[str]:
    start_y, end_y = line.source.bottom, line.target.top
    half = (start_y + end_y) / 2
    shapes = [
        _path(
            f"M{start_x:.1f} {start_y:.1f}C{start_x:.1f} {half:.1f} {end_x:.1f} {half:.1f} {end_x:.1f} {end_y:.1f}"
        ),
        _port(line, start_x),
    ]
    if line.output_nr:
        shapes.append(_label(f"output_nr {line.output_nr}", end_x + 4, end_y - 4 - 10 * lift))
    return shapes


def _draw_in_lane(line: Line, start_x: float, number: int, lift: int, trunk: set[Box]) -> list[str]:
    source, target = line.source, line.target
    lane = -LANE * (number + 0.5)
    # Neighbouring lanes are entered and left at different heights, so that each line can be followed.
    bend = number % 5 * 5
    below_row = source.row_bottom + 6 + bend
    way = f"M{start_x:.1f} {source.bottom:.1f}V{below_row:.1f}H{lane:.1f}"
    if target in trunk:
        end_y = target.top + target.height / 2
        way += f"V{end_y:.1f}H{target.left:.1f}"
    else:
        end_y = target.top - 4 - bend
        way += f"V{end_y:.1f}H{target.middle:.1f}V{target.top:.1f}"
    shapes = [_path(way), _port(line, start_x)]
    if line.output_nr:
        shapes.append(_label(f"output_nr {line.output_nr}", lane - OUTPUT_LABEL, end_y - 4 - 12 * lift))
    return shapes


def _path(way: str) -> str:
    return f'<path d="{way}"/>'


def _port(line: Line, x: float) -> str:
    if isinstance(line.source.node, Group):
        return ""
    return f'<text class="port" x="{x:.1f}" y="{line.source.bottom - 3:.1f}">{line.slot}</text>'


def _label(text: str, x: float, y: float) -> str:
    return f'<text class="output" x="{x:.1f}" y="{y:.1f}">{text}</text>'


def _draw_box(box: Box) -> str:
    middle = box.middle
    texts = ""
    for i, (kind, text) in enumerate(box.lines):
        names = f' class="{kind}"' if kind else ""
        y = box.top + 15 + i * LINE
        texts += f'<text{names} x="{middle:.1f}" y="{y:.1f}">{escape(text)}</text>'
    if box.node is None:
        return f'<g class="none">{texts}</g>'
    kinds = ["leaf" if box.is_leaf else "op"]
    if box.node.grad not in (None, "None"):
        kinds.append("filled")
    title = escape(" · ".join(captions(box.node)))
    # A box that stands for many looks like a pile of cards.
    cards = (CARD, 0) if isinstance(box.node, Group) and box.node.size > 1 else (0,)
    rects = "".join(_rect(box, box.left + shift, box.top + shift) for shift in cards)
    return (
        f'<g class="{" ".join(kinds)}" data-node="{box.node.index}"><title>{title}</title>{rects}{texts}</g>'
    )


def _rect(box: Box, left: float, top: float) -> str:
    radius = box.height / 2 if box.is_leaf else 4
    return f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height}" rx="{radius:.0f}"/>'
