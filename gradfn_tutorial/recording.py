"""Run backward once and tell what it did: which gradient entered and left each node, and what was added to which .grad."""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import groupby
from typing import Any, Union
from unicodedata import east_asian_width

import torch
from torch import nn
from torch.autograd.function import BackwardCFunction
from torch.utils.hooks import RemovableHandle

from gradfn_tutorial.graph import Graph, Names, Node, collection_paused, trace
from gradfn_tutorial.state import read_grad, shape_of
from gradfn_tutorial.text import check_limit_and_language, printable

Loss = Union[torch.Tensor, Sequence[torch.Tensor]]
Tensors = Sequence[Union[torch.Tensor, None]]
KEEPS = ("shapes", "statistics", "values")
# Where torch.nn.utils.parametrize puts what a weight is made from, inside the layer.
PARAMETRIZATIONS = "parametrizations."
NO_NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
WORDS = {
    "en": ("node name enters leaves .grad", "kept by {names}", "… and {count:,} more rows"),
    "zh": ("节点 名称 进入 流出 .grad", "由 {names} 保留", "… 还有 {count:,} 行"),
}


@dataclass(frozen=True, repr=False)
class Gradient:
    """One gradient. What was not asked for is None.

    ``shape`` has None where the rows of a nested tensor differ. ``norm`` is the 2-norm over all entries, half precision summed
    in float32. ``minimum`` and ``maximum`` are NaN where one entry is, and None where there is no entry or no order (complex
    numbers). ``nan`` and ``inf`` count entries. Entries that a sparse gradient does not store count as zeros. All five are
    None where the numbers cannot be read off: for a meta or a nested tensor, a tensor subclass, float8, and a layout that is
    neither strided nor sparse COO. ``value`` is a detached copy, None where torch cannot make one.
    """

    shape: tuple[int | None, ...]
    dtype: torch.dtype
    norm: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    nan: int | None = None
    inf: int | None = None
    value: torch.Tensor | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"<Gradient {self}>"

    def __str__(self) -> str:
        norm = "" if self.norm is None else f" norm {self.norm:.3g}"
        counts = "".join(f", {n} {what}" for n, what in ((self.nan, "NaN"), (self.inf, "Inf")) if n)
        return f"{self.shape}{norm}{counts}"


@dataclass(frozen=True)
class Accumulated:
    """What an AccumulateGrad did: ``.grad`` held ``before``, ``added`` came in, ``.grad`` held ``after``.

    ``added`` is what is left of the gradient after the hooks of the tensor and of the node. ``after`` is read when the hooks
    of ``register_post_accumulate_grad_hook`` have run: it is None where one of them has taken ``.grad`` away, as an
    optimizer that steps inside backward does.
    """

    before: Gradient | None
    added: Gradient | None
    after: Gradient | None


@dataclass(frozen=True)
class Row:
    """One run of one node.

    ``entering`` has the gradient that the node was given for each of its outputs, by ``output_nr``, summed over all that
    use the output and after the hooks on it; None where the output was not used. ``leaving`` has the gradient that goes
    on through each slot; None where the slot is None or the node gave nothing. ``accumulated`` is for AccumulateGrad alone.

    ``kept`` has the names of the non-leaf tensors that kept their gradient here because of ``retain_grad()``. torch does not
    let a node say so: only tensors that ``record_backward`` was given by name, in a dictionary, can be found.
    """

    node: Node
    entering: tuple[Gradient | None, ...]
    leaving: tuple[Gradient | None, ...]
    accumulated: Accumulated | None
    kept: tuple[str, ...]
    _freed_from: tuple[str, ...] | None = field(repr=False)

    @property
    def freed(self) -> tuple[str, ...]:
        """The attributes of ``node.fn`` whose saved tensors this backward freed; empty with ``retain_graph=True``.

        They are read when you ask, and no unpack hook runs: torch drops it together with the tensor (measured on torch 2.6
        and 2.13). CopySlices hides what it saved, and so do attributes that a custom Function has set itself.
        """
        if self._freed_from is not None:
            return self._freed_from
        return tuple([name for name in _saved_names(type(self.node.fn)) if _is_freed(self.node.fn, name)])


@dataclass(frozen=True)
class LayerGradients:
    """The gradients of one layer's operation.

    ``output`` is what entered the operation (for its first output), ``input`` what left it towards the data, None where the
    data needs no gradient (the first of the data, where the layer takes several). They have the operation's shapes: an ``nn.Linear`` may flatten a batch of sequences first.
    ``parameters`` has what this layer adds to each of its parameters, by the parameter's name in the layer, and
    ``weight`` and ``bias`` are two of them. A parameter without a gradient is left out, or None as ``weight`` or ``bias``.
    """

    output: Gradient | None
    input: Gradient | None
    weight: Gradient | None
    bias: Gradient | None
    parameters: dict[str, Gradient | None]


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """What ``record_backward`` saw. ``rows`` are in the order in which the nodes finished; printed, it is a table.

    A node that runs others inside itself (re-entrant checkpointing) comes after them, and an AccumulateGrad that is run
    inside and outside of one has a row for each. Where several AccumulateGrads wait for the same node, their order is the
    engine's own, which need not be that of the slots.
    """

    graph: Graph
    rows: tuple[Row, ...]
    keep: str

    def __repr__(self) -> str:
        return f"<Recording of {self.graph!r}: {len(self.rows)} rows, {self.keep}>"

    def __str__(self) -> str:
        return self.to_text()

    def layer(self, name: str) -> LayerGradients:
        """The gradients of the layer with this dotted name.

        The gradient of a parameter is this layer's own part, also where other layers share the parameter.

        Raises:
            ValueError: backward was recorded without a module, or the layer has several operation nodes, or a tensor made
                from its parameters is used elsewhere, too.
            LookupError: the module has no such layer, or the layer has no node in this graph.

        ```python
        import torch
        from gradfn_tutorial import record_backward
        from gradfn_tutorial.models import ConvNet

        model = ConvNet()
        loss = model(torch.randn(1, 3, 32, 32)).sum()
        conv1 = record_backward(loss, model).layer("conv1")
        print(conv1.weight, conv1.bias, conv1.output, conv1.input)
        ```
        ```output
        (16, 3, 3, 3) (16,) (1, 16, 30, 30) None
        ```
        """
        nodes = self.graph.layer(name)
        if len(nodes) > 1:
            raise ValueError(
                f"Layer {name!r} has {len(nodes)} operation nodes in this graph, because it ran several times or "
                "consists of several operations, so that there is no one gradient of each kind. Look at "
                f"[row for row in recording.rows if row.node in recording.graph.layer({name!r})]."
            )
        node = nodes[0]
        # A layer registered twice has its first name at the nodes.
        owner = node.module or ""
        row_of = {row.node: row for row in self.rows}
        ways = [None if edge is None else _way_to_parameters(edge.node, owner) for edge in node.inputs]
        to_data = [slot for slot, way in enumerate(ways) if way is None and node.inputs[slot] is not None]
        makers = [node, *(maker for way in ways for maker in way or ())]
        parameters = {
            parameter: gradient
            for maker in makers
            for edge, gradient in zip(maker.inputs, row_of[maker].leaving)
            if edge is not None and (parameter := _name_in_layer(edge.node, owner)) is not None
        }
        for other in self.graph.nodes:
            inputs = {edge.node for edge in other.inputs if edge is not None}
            if other not in makers and inputs.intersection(makers[1:]):
                raise ValueError(
                    f"What layer {name!r} makes from its parameters is used by {other!r}, too, so that its own part "
                    "of the gradient cannot be told. Look at recording.rows."
                )
        output, to_input = row_of[node].entering[0], row_of[node].leaving[to_data[0]] if to_data else None
        return LayerGradients(output, to_input, parameters.get("weight"), parameters.get("bias"), parameters)

    def to_text(self, limit: int = 200, lang: str = "en") -> str:
        """The rows as a table of at most ``limit`` rows. The last column tells what ``.grad`` held, what was added, and
        what it held then.

        Raises:
            ValueError: ``limit`` is no whole number of at least 1, or ``lang`` is neither ``"en"`` nor ``"zh"``.

        ```python
        import torch
        from gradfn_tutorial import record_backward

        x, w = torch.ones(3), torch.ones(3, requires_grad=True)
        print(record_backward((x * w).sum(), {"w": w}).to_text())
        ```
        ```output
        node            name  enters  leaves      .grad
        SumBackward0          ()      (3,)
        MulBackward0          (3,)    None, (3,)
        AccumulateGrad  w     (3,)                None + (3,) → (3,)
        ```
        """
        check_limit_and_language(limit, lang)
        header, kept, more = WORDS[lang]
        table = [header.split(), *(_cells(row, kept) for row in self.rows[:limit])]
        widths = [max(map(_width, column)) for column in zip(*table)]
        lines = [
            "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths)).rstrip()
            for cells in table
        ]
        if len(self.rows) > limit:
            lines.append(more.format(count=len(self.rows) - limit))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The rows as plain dictionaries and lists that ``json.dumps`` takes; ``node`` is an index into ``graph.nodes``.

        JSON has no NaN and no infinity: they are the strings ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``, which
        ``float()`` understands. The values of ``keep="values"`` are left out.

        ```python
        import json

        import torch
        from gradfn_tutorial import record_backward

        x = torch.ones(3, requires_grad=True)
        last = record_backward(x.sum(), {"x": x}).to_dict()["rows"][-1]
        print(json.dumps(last["accumulated"]))
        ```
        ```output
        {"before": null, "added": {"shape": [3], "dtype": "float32"}, "after": {"shape": [3], "dtype": "float32"}}
        ```
        """
        return {"keep": self.keep, "rows": [_row_as_dict(row) for row in self.rows]}

    def plot(self, ax: Any = None) -> Any:
        """Draw the norm of each layer's gradient as a bar, on a logarithmic axis, the first layer leftmost.

        It is the norm of what was added to the layer's parameters, all taken together; a parameter that several layers
        share counts for the first of its names. Where the norm is zero or no number, there is no bar, and its
        label says so.

        Args:
            ax: matplotlib axes to draw on; by default, those of a new figure.

        Returns:
            The axes.

        Raises:
            ValueError: no norms were kept, or no parameter has a name because no module was given.
            ImportError: matplotlib is not installed.
        """
        if self.keep == "shapes":
            raise ValueError('plot() draws norms; this kept only shapes. Record with keep="statistics".')
        norms: dict[str, float] = {}
        for row in reversed(self.rows):
            added = row.accumulated and row.accumulated.added
            if added and added.norm is not None and row.node.parameters:
                first_name = row.node.parameters[0]
                layer = first_name.rpartition(".")[0] or first_name
                norms[layer] = math.hypot(norms.get(layer, 0.0), added.norm)
        if not norms:
            raise ValueError(
                "plot() draws a bar for each layer, but no gradient in this recording has the name of a parameter. "
                'Pass the module: record_backward(loss, model, keep="statistics").'
            )
        if ax is None:
            try:
                pyplot = importlib.import_module("matplotlib.pyplot")
            except ImportError as error:
                raise ImportError("plot() draws with matplotlib: pip install matplotlib.") from error
            ax = pyplot.subplots(layout="constrained")[1]
        ax.bar(range(len(norms)), [n if 0 < n < math.inf else math.nan for n in norms.values()])
        labels = [name if 0 < norm < math.inf else f"{name}: {norm:g}" for name, norm in norms.items()]
        ax.set_xticks(range(len(norms)), [printable(label) for label in labels], rotation=90)
        # matplotlib leaves out what has no height.
        ax.set_xlim(-0.6, len(norms) - 0.4)
        ax.set_yscale("log")
        ax.set_ylabel("gradient norm")
        return ax


def record_backward(
    loss: Loss,
    module: Names | None = None,
    gradient: torch.Tensor | Sequence[torch.Tensor | None] | None = None,
    retain_graph: bool = False,
    *,
    keep: str = "shapes",
) -> Recording:
    """Run ``loss.backward(gradient, retain_graph)`` once, and record what entered and left each node.

    ``.grad`` holds the same numbers afterwards as after a plain backward, and the hooks that record are gone. The recording
    keeps the graph, but with ``keep="shapes"`` no gradient alive. Higher derivatives (``create_graph``) are not recorded, and
    neither is what another thread runs at the same time, though it may add to the same ``.grad``.

    Args:
        loss: a tensor with a graph, or a tuple of such tensors.
        module: the model, whose parameters and layers then have their dotted names in the recording; or a dictionary
            from names to tensors.
        gradient: what to begin with, of the loss's shape; may be left out where the loss is one real number. For a tuple
            of losses, a tuple of as many, None among them.
        retain_graph: keep the saved tensors, so that backward can run again.
        keep: ``"shapes"`` for the shape and dtype of each gradient; ``"statistics"`` for its norm, minimum and maximum
            besides, and how many NaN and Inf are in it; ``"values"`` for a copy of it besides.

    Raises:
        TypeError: ``loss``, ``module`` or ``gradient`` is something else.
        ValueError: ``keep`` is no such word, a loss has no graph, or ``gradient`` is missing or does not fit.
        RuntimeError: the graph was freed by an earlier backward; and whatever torch raises, as it raises it.

    ```python
    import torch
    from gradfn_tutorial import record_backward

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    print(record_backward(y.sum(), {"x": x, "y": y}, keep="statistics"))
    ```
    ```output
    node            name  enters          leaves                          .grad
    SumBackward0          () norm 1       (2,) norm 1.41
    MulBackward0    y     (2,) norm 1.41  (2,) norm 2.24, (2,) norm 2.24
    AccumulateGrad  x     (2,) norm 4.47                                  None + (2,) norm 4.47 → (2,) norm 4.47
    ```
    """
    if keep not in KEEPS:
        raise ValueError(f"keep is one of {', '.join(KEEPS)}, got {keep!r}.")
    losses, gradients = _checked(loss, gradient)
    graph = trace(loss, module)
    for i, (one, its_gradient) in enumerate(zip(losses, gradients)):
        _check_gradient(f"Loss {i}" if len(losses) > 1 else "The loss", one, its_gradient)
    names = module if isinstance(module, Mapping) else {}
    retained = {name: tensor.output_nr for name, tensor in names.items() if tensor.retains_grad}
    recorder = _Recorder(keep, retain_graph, retained)
    _running.recorders.append(recorder)
    try:
        recorder.watch(graph.nodes)
        torch.autograd.backward(losses, gradients, retain_graph)
    except RuntimeError as error:
        if not _says_freed(error):
            raise
        raise RuntimeError(
            "Backward has run through this graph before, or through a part of it, and has freed the saved tensors. Run the "
            "forward pass again for a new loss, or pass retain_graph=True to the backward that comes first. What this "
            "call reached before it came to the freed part has been added to .grad."
        ) from error
    finally:
        _running.recorders.pop()
        for handle in recorder.handles:
            handle.remove()
    return Recording(graph, tuple(recorder.rows), keep)


class _Running(threading.local):
    """The recordings that this thread is making, each from inside a hook of the one before it."""

    def __init__(self) -> None:
        self.recorders: list[_Recorder] = []


_running = _Running()


@dataclass(eq=False)
class _Recorder:
    keep: str
    retain_graph: bool
    # The output that a retained tensor is, by its name.
    retained: dict[str, int]
    rows: list[Row] = field(default_factory=list)
    handles: list[RemovableHandle] = field(default_factory=list)
    # What entered a node and was in .grad, for each run that has begun: a user's hook may run the node again inside.
    begun: dict[Node, list[tuple[Any, Gradient | None]]] = field(default_factory=dict)
    saves: dict[Node, tuple[str, ...]] = field(default_factory=dict)
    shapes: dict[object, Gradient | None] = field(default_factory=dict)

    def watch(self, nodes: Sequence[Node]) -> None:
        with collection_paused():
            for node in nodes:
                if node.name == "AccumulateGrad":
                    # For torch 2.6, which drops its prehooks where a custom Function unpacks its tensor by an unpack hook.
                    self.begun[node] = [(None, self._grad_of(node))]
                # A node may overwrite what it is given, but not the shape of it.
                if self.keep != "shapes" or node.name == "AccumulateGrad":
                    self.handles.append(node.fn.register_prehook(partial(self._starts, node)))
                self.handles.append(node.fn.register_hook(partial(self._ends, node)))
                if isinstance(node.fn, BackwardCFunction) and not self.retain_graph:
                    self.saves[node] = _saved_by_custom(node.fn)

    def _is_met(self) -> bool:
        """Whether the backward that has come to our hook is the one recorded here."""
        if _running.recorders:
            return self in _running.recorders
        # A thread that Python started runs a backward of its own, through a leaf that both losses share. The engine's
        # threads, for other devices and for re-entrant checkpoints deep inside each other, work for this call.
        started = [thread for thread in threading.enumerate() if thread.ident == threading.get_ident()]
        return not started or isinstance(started[0], threading._DummyThread)

    def _starts(self, node: Node, entering: Tensors) -> None:
        if self._is_met():
            before = self._grad_of(node) if node.name == "AccumulateGrad" else None
            self.begun.setdefault(node, []).append((self._all_told(entering), before))

    def _ends(self, node: Node, leaving: Tensors, entering: Tensors) -> None:
        if not self._is_met():
            return
        entered, before = (self.begun.get(node) or [(None, None)]).pop()
        entered = self._all_told(entering) if entered is None else entered
        left = tuple([None if edge is None else self._told(grad) for edge, grad in zip(node.inputs, leaving)])
        accumulated = None
        if node.name == "AccumulateGrad":
            accumulated = Accumulated(before, entered[0], self._grad_of(node))
        names = [name for name in node.tensors if name in self.retained]
        kept = tuple([name for name in names if entered[self.retained[name]] is not None])
        freed = () if self.retain_graph else self.saves.get(node)
        self.rows.append(Row(node, entered, left, accumulated, kept, freed))

    def _all_told(self, grads: Tensors) -> tuple[Gradient | None, ...]:
        return tuple([self._told(grad) for grad in grads])

    def _grad_of(self, node: Node) -> Gradient | None:
        with suppress(Exception):
            return self._told(read_grad(node.fn.variable))  # type: ignore[attr-defined]
        return None

    def _told(self, grad: torch.Tensor | None) -> Gradient | None:
        if grad is None or self.keep != "shapes":
            return None if grad is None else _gradient(grad, self.keep)
        try:
            return self.shapes[grad.shape, grad.dtype]
        except Exception:
            # Met for the first time, or a shape that torch does not tell or that no dictionary takes.
            told = _gradient(grad, self.keep)
            with suppress(Exception):
                self.shapes[grad.shape, grad.dtype] = told
            return told


def _gradient(grad: torch.Tensor, keep: str) -> Gradient | None:
    # Whatever the tensor refuses: an exception in a hook would end the backward that is only to be watched.
    numbers: dict[str, Any] = {}
    with suppress(Exception):
        # The size of a ragged dimension, or one that torch.compile left open, is no int.
        shape = tuple([size if type(size) is int else None for size in shape_of(grad)])
        if keep != "shapes":
            with suppress(Exception):
                numbers = _statistics(grad.detach())
        if keep == "values":
            with suppress(Exception):
                numbers["value"] = grad.detach().clone()
        return Gradient(shape, grad.dtype, **numbers)
    return None


def _statistics(grad: torch.Tensor) -> dict[str, Any]:
    if type(grad) is not torch.Tensor or grad.layout not in (torch.strided, torch.sparse_coo):
        return {}
    stored = grad
    if grad.layout == torch.sparse_coo:
        stored = grad.coalesce().values()
        if stored.numel() < grad.numel():
            # One zero stands for all that are not stored.
            stored = torch.cat([stored.flatten(), stored.new_zeros(1)])
    if stored.numel() == 0:
        return {"norm": 0.0, "nan": 0, "inf": 0}
    dtype = torch.promote_types(stored.dtype, torch.float32)
    norm = float(torch.linalg.vector_norm(stored, dtype=dtype))
    told: dict[str, Any] = {"norm": norm, "nan": 0, "inf": 0}
    # Looking closer costs more than the rest.
    if not math.isfinite(norm):
        told |= {"nan": int(stored.isnan().sum()), "inf": int(stored.isinf().sum())}
    if norm < 1e-12 or norm == math.inf:
        # The squares may have left the range of the dtype.
        parts = stored.to(dtype)
        parts = torch.view_as_real(parts.resolve_conj()) if parts.is_complex() else parts
        biggest = torch.linalg.vector_norm(parts, math.inf)
        if 0 < float(biggest) < math.inf:
            told["norm"] = float(biggest) * float(torch.linalg.vector_norm(parts / biggest))
    if not stored.is_complex():
        told["minimum"], told["maximum"] = map(float, stored.aminmax())
    return told


def _checked(loss: Loss, gradient: Any) -> tuple[tuple[torch.Tensor, ...], tuple[torch.Tensor | None, ...]]:
    several = isinstance(loss, (tuple, list))
    losses = tuple(loss) if several else (loss,)
    wrong = [type(one).__name__ for one in losses if not isinstance(one, torch.Tensor)]
    if wrong or not losses:
        got = wrong[0] if wrong else "an empty tuple"
        hint = " Pass what was computed from the model's output." if isinstance(loss, nn.Module) else ""
        raise TypeError(f"record_backward() takes a tensor or a tuple of tensors, got {got}.{hint}")
    gradients = gradient if several and gradient is not None else (gradient,) * len(losses)
    if not isinstance(gradients, (tuple, list)) or len(gradients) != len(losses):
        raise TypeError(
            f"For {len(losses)} losses, gradient is a tuple of {len(losses)}, each a tensor, or None for a loss that is "
            f"one number; got {gradient!r}."
        )
    return losses, tuple(gradients)


def _check_gradient(what: str, loss: torch.Tensor, gradient: object) -> None:
    described = f"{what} is {_described(loss)}"
    if gradient is None:
        if loss.numel() != 1 or loss.is_complex():
            raise ValueError(
                f"{described}, and backward begins by itself only at one real number. Reduce it to one, for example with "
                ".sum() or .abs().sum(), or pass gradient, a tensor like it."
            )
    elif not isinstance(gradient, torch.Tensor):
        raise TypeError(
            f"{described}, and gradient is a tensor like it; got {type(gradient).__name__}. For one number, leave it out or "
            "pass torch.tensor(number)."
        )
    elif shape_of(gradient) != shape_of(loss) or gradient.is_complex() != loss.is_complex():
        raise ValueError(
            f"{described}, and gradient must be like it, but is {_described(gradient)}. Where that is what you mean, "
            "gradient.expand_as(loss) repeats it and gradient.to(loss.dtype) converts it."
        )


def _described(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {shape_of(tensor)}"


def _saved_by_custom(fn: BackwardCFunction) -> tuple[str, ...]:
    try:
        # Private (measured on torch 2.6 to 2.15), but saved_tensors would run unpack hooks here, and after backward it raises
        # even where nothing was saved. Where it is gone, record_backward fails.
        return ("saved_tensors",) if fn._raw_saved_tensors else ()
    except RuntimeError:
        # An earlier backward freed them, and this one may do without.
        return ()


@cache
def _saved_names(kind: type) -> tuple[str, ...]:
    return tuple([name for name in dir(kind) if name.startswith("_saved_")])


def _is_freed(fn: object, attribute: str) -> bool:
    try:
        getattr(fn, attribute)
        return False
    except RuntimeError as error:
        return _says_freed(error)


def _says_freed(error: RuntimeError) -> bool:
    return "Trying to backward through the graph a second time" in str(error)


def _way_to_parameters(start: Node, layer: str) -> list[Node] | None:
    """The nodes from ``start`` on, if all ways end at parameters of this layer and meet no other layer; else None."""
    inside = f"{layer}.{PARAMETRIZATIONS}" if layer else PARAMETRIZATIONS
    nodes = [start]
    met = {start}
    for node in nodes:
        is_leaf = node.name == "AccumulateGrad"
        elsewhere = node.module not in (None, layer) and not str(node.module).startswith(inside)
        if elsewhere or (is_leaf and _name_in_layer(node, layer) is None):
            return None
        new = {edge.node: None for edge in node.inputs if edge is not None and edge.node not in met}
        met.update(new)
        nodes += new
    return [node for node in nodes if node.name != "AccumulateGrad"]


def _name_in_layer(node: Node, layer: str) -> str | None:
    prefix = f"{layer}." if layer else ""
    for name in node.parameters:
        own_name = name[len(prefix) :]
        if name.startswith(prefix) and ("." not in own_name or own_name.startswith(PARAMETRIZATIONS)):
            return own_name
    return None


def _row_as_dict(row: Row) -> dict[str, Any]:
    done = row.accumulated
    return {
        "node": row.node.index,
        "name": row.node.name,
        "label": row.node.label,
        "entering": [_gradient_as_dict(gradient) for gradient in row.entering],
        "leaving": [_gradient_as_dict(gradient) for gradient in row.leaving],
        "accumulated": done and {name: _gradient_as_dict(gradient) for name, gradient in vars(done).items()},
        "kept": list(row.kept),
        "freed": list(row.freed),
    }


def _gradient_as_dict(gradient: Gradient | None) -> dict[str, Any] | None:
    if gradient is None:
        return None
    numbers = {name: number for name, number in vars(gradient).items() if isinstance(number, (int, float))}
    return {
        "shape": list(gradient.shape),
        "dtype": str(gradient.dtype).removeprefix("torch."),
        **{name: n if math.isfinite(n) else NO_NUMBERS[str(n)] for name, n in numbers.items()},
    }


def _cells(row: Row, kept: str) -> list[str]:
    grad = kept.format(names=", ".join(row.kept)) if row.kept else ""
    if row.accumulated is not None:
        grad = "{before} + {added} → {after}".format(**vars(row.accumulated))
    cells = [row.node.name, row.node.label, _listed(row.entering), _listed(row.leaving), grad]
    return [printable(cell) for cell in cells]


def _listed(gradients: Sequence[Gradient | None]) -> str:
    # The node behind a list of many tensors has as many slots.
    groups = [(what, len(list(same))) for what, same in groupby(map(str, gradients))]
    return ", ".join(f"{n} × {what}" if n > 2 else ", ".join([what] * n) for what, n in groups)


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
