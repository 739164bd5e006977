"""Run backward once and tell what it did: which gradient entered and left each node, and what was added to which .grad."""

from __future__ import annotations

import gc
import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, Union
from unicodedata import east_asian_width

import torch
from torch import nn
from torch.autograd.function import BackwardCFunction
from torch.utils.hooks import RemovableHandle

from gradfn_tutorial.graph import Graph, Names, Node, trace
from gradfn_tutorial.state import read_grad

Loss = Union[torch.Tensor, Sequence[torch.Tensor]]
KEEPS = ("shapes", "statistics", "values")
# Where torch.nn.utils.parametrize puts what a weight is made from, inside the layer.
PARAMETRIZATIONS = "parametrizations."
NO_NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
WORDS = {
    "en": {
        "header": "node name enters leaves .grad",
        "kept": "kept by {names}",
        "more": "… and {count:,} more rows",
    },
    "zh": {
        "header": "节点 名称 进入 流出 .grad",
        "kept": "由 {names} 保留",
        "more": "… 还有 {count:,} 行",
    },
}


@dataclass(frozen=True, repr=False)
class Gradient:
    """One gradient. What was not asked for is None.

    ``norm`` is the 2-norm over all entries, half precision summed in float32. ``minimum`` and ``maximum`` are NaN where
    one entry is, and None where there is no entry or no order (complex numbers). ``nan`` and ``inf`` count entries. Entries
    that a sparse gradient does not store count as zeros. All five are None where the numbers cannot be read off: for a meta
    tensor, a tensor subclass, and a layout that is neither strided nor sparse COO. ``value`` is a detached copy.
    """

    shape: tuple[int, ...]
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
        fn = self.node.fn
        return tuple(name for name in dir(type(fn)) if name.startswith("_saved_") and _is_freed(fn, name))


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
    parameters: dict[str, Gradient | None]

    @property
    def weight(self) -> Gradient | None:
        return self.parameters.get("weight")

    @property
    def bias(self) -> Gradient | None:
        return self.parameters.get("bias")


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """What ``record_backward`` saw. ``rows`` are in the order in which the nodes finished; printed, it is a table.

    A node that runs others inside itself (re-entrant checkpointing) comes after them, and an AccumulateGrad that is run
    inside and outside of one has a row for each.
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
        from_data: list[Gradient | None] = []
        makers = [node]
        for edge, gradient in zip(node.inputs, row_of[node].leaving):
            if edge is not None:
                way = _way_to_parameters(edge.node, owner)
                if way is None:
                    from_data.append(gradient)
                makers += way or ()
        parameters: dict[str, Gradient | None] = {}
        for maker in makers:
            for edge, gradient in zip(maker.inputs, row_of[maker].leaving):
                parameter = None if edge is None else _name_in_layer(edge.node, owner)
                if parameter is not None:
                    parameters[parameter] = gradient
        for other in self.graph.nodes:
            if other not in makers and any(
                edge is not None and edge.node in makers[1:] for edge in other.inputs
            ):
                raise ValueError(
                    f"What layer {name!r} makes from its parameters is used by {other!r}, too, so that its own part "
                    "of the gradient cannot be told. Look at recording.rows."
                )
        return LayerGradients(row_of[node].entering[0], from_data[0] if from_data else None, parameters)

    def to_text(self, limit: int = 200, lang: str = "en") -> str:
        """The rows as a table of at most ``limit`` rows. The last column tells what ``.grad`` held, what was added, and
        what it held then.

        Raises:
            ValueError: ``lang`` is neither ``"en"`` nor ``"zh"``.

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
        if lang not in WORDS:
            raise ValueError(f"lang is one of {sorted(WORDS)}, got {lang!r}.")
        words = WORDS[lang]
        table = [words["header"].split(), *(_cells(row, words["kept"]) for row in self.rows[:limit])]
        widths = [max(map(_width, column)) for column in zip(*table)]
        lines = [
            "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths)).rstrip()
            for cells in table
        ]
        if len(self.rows) > limit:
            lines.append(words["more"].format(count=len(self.rows) - limit))
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
        norms = self._norm_of_layers()
        if ax is None:
            try:
                pyplot = importlib.import_module("matplotlib.pyplot")
            except ImportError as error:
                raise ImportError("plot() draws with matplotlib: pip install matplotlib.") from error
            ax = pyplot.subplots(layout="constrained")[1]
        can_be_drawn = {name: math.isfinite(norm) and norm > 0 for name, norm in norms.items()}
        heights = [norm if can_be_drawn[name] else math.nan for name, norm in norms.items()]
        labels = [name if can_be_drawn[name] else f"{name}: {norm:g}" for name, norm in norms.items()]
        ax.bar(range(len(norms)), heights)
        ax.set_xticks(range(len(norms)), labels, rotation=90)
        ax.set_yscale("log")
        ax.set_ylabel("gradient norm")
        return ax

    def _norm_of_layers(self) -> dict[str, float]:
        if self.keep == "shapes":
            raise ValueError(
                'plot() draws norms, but this recording kept only shapes. Record with keep="statistics".'
            )
        squares: dict[str, float] = {}
        for row in reversed(self.rows):
            added = None if row.accumulated is None else row.accumulated.added
            if added is not None and added.norm is not None and row.node.parameters:
                first_name = row.node.parameters[0]
                layer = first_name.rpartition(".")[0] or first_name
                squares[layer] = squares.get(layer, 0.0) + added.norm**2
        if not squares:
            raise ValueError(
                "plot() draws a bar for each layer, but no gradient in this recording has the name of a parameter. "
                'Pass the module: record_backward(loss, model, keep="statistics").'
            )
        return {name: math.sqrt(total) for name, total in squares.items()}


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
    keeps the graph, but with ``keep="shapes"`` no gradient alive. Higher derivatives (``create_graph``) are not recorded.

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
    recorder = _Recorder(keep, retain_graph, _retained(module))
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
        for handle in recorder.handles:
            handle.remove()
    return Recording(graph, tuple(recorder.rows), keep)


class _Recorder:
    def __init__(self, keep: str, retain_graph: bool, retained: dict[object, list[tuple[int, str]]]) -> None:
        self.rows: list[Row] = []
        self.handles: list[RemovableHandle] = []
        self._keep = keep
        self._retain_graph = retain_graph
        self._retained = retained
        self._entering: dict[Node, tuple[Gradient | None, ...]] = {}
        self._grad_before: dict[Node, Gradient | None] = {}
        self._shapes: dict[tuple[torch.Size, torch.dtype], Gradient] = {}

    def watch(self, nodes: Sequence[Node]) -> None:
        # As in trace(): a collection here would look at many objects and free none.
        collecting = gc.isenabled()
        gc.disable()
        try:
            for node in nodes:
                if node.name == "AccumulateGrad":
                    # For torch 2.6, which drops its prehooks where a custom Function unpacks its tensor by an unpack hook.
                    self._grad_before[node] = self._grad_of(node)
                # A node may overwrite what it is given, but not the shape of it.
                if self._keep != "shapes" or node.name == "AccumulateGrad":
                    self.handles.append(node.fn.register_prehook(partial(self._starts, node)))
                self.handles.append(node.fn.register_hook(partial(self._ends, node, self._freed_from(node))))
        finally:
            if collecting:
                gc.enable()

    def _freed_from(self, node: Node) -> tuple[str, ...] | None:
        """What ``Row.freed`` is, where it is known before: with the graph retained, and for a custom Function."""
        if self._retain_graph:
            return ()
        if not isinstance(node.fn, BackwardCFunction):
            return None
        try:
            # Private (measured on torch 2.6 and 2.13), but saved_tensors would run unpack hooks here, and after backward it
            # raises even where nothing was saved. Where it is gone, record_backward fails.
            return ("saved_tensors",) if node.fn._raw_saved_tensors else ()
        except RuntimeError:
            # An earlier backward freed them, and this one may do without.
            return ()

    def _starts(self, node: Node, entering: tuple[torch.Tensor | None, ...]) -> None:
        self._entering[node] = tuple([self._told(grad) for grad in entering])
        if node.name == "AccumulateGrad":
            self._grad_before[node] = self._grad_of(node)

    def _ends(
        self,
        node: Node,
        freed_from: tuple[str, ...] | None,
        leaving: tuple[torch.Tensor | None, ...],
        entering: tuple[torch.Tensor | None, ...],
    ) -> None:
        entered = self._entering.pop(node, None)
        if entered is None:
            entered = tuple([self._told(grad) for grad in entering])
        left = tuple([None if edge is None else self._told(grad) for edge, grad in zip(node.inputs, leaving)])
        accumulated = None
        if node.name == "AccumulateGrad":
            accumulated = Accumulated(self._grad_before[node], entered[0], self._grad_of(node))
        retained = self._retained.get(node.fn, ())
        kept = tuple([name for output_nr, name in retained if entered[output_nr] is not None])
        self.rows.append(Row(node, entered, left, accumulated, kept, freed_from))

    def _grad_of(self, node: Node) -> Gradient | None:
        return self._told(read_grad(node.fn.variable))  # type: ignore[attr-defined]

    def _told(self, grad: torch.Tensor | None) -> Gradient | None:
        if grad is None:
            return None
        if self._keep == "shapes":
            key = (grad.shape, grad.dtype)
            told = self._shapes.get(key)
            if told is None:
                told = self._shapes[key] = Gradient(tuple(grad.shape), grad.dtype)
            return told
        value = grad.detach().clone() if self._keep == "values" else None
        return Gradient(tuple(grad.shape), grad.dtype, *_statistics(grad.detach()), value)


def _statistics(
    grad: torch.Tensor,
) -> tuple[float | None, float | None, float | None, int | None, int | None]:
    if type(grad) is not torch.Tensor or grad.is_meta or grad.layout not in (torch.strided, torch.sparse_coo):
        return None, None, None, None, None
    stored = grad
    if grad.layout == torch.sparse_coo:
        stored = grad.coalesce().values()
        if stored.numel() < grad.numel():
            # One zero stands for all that are not stored.
            stored = torch.cat([stored.flatten(), stored.new_zeros(1)])
    norm = float(torch.linalg.vector_norm(stored, dtype=torch.promote_types(grad.dtype, torch.float32)))
    nan = inf = 0
    # Counting costs more than the rest: only where the norm says that there may be something to count.
    if not math.isfinite(norm):
        nan, inf = int(stored.isnan().sum()), int(stored.isinf().sum())
    if stored.numel() == 0 or stored.is_complex():
        return norm, None, None, nan, inf
    minimum, maximum = stored.aminmax()
    return norm, float(minimum), float(maximum), nan, inf


def _checked(loss: Loss, gradient: Any) -> tuple[tuple[torch.Tensor, ...], tuple[torch.Tensor | None, ...]]:
    several = isinstance(loss, (tuple, list))
    losses = tuple(loss) if several else (loss,)
    wrong = [type(one).__name__ for one in losses if not isinstance(one, torch.Tensor)]
    if wrong or not losses:
        hint = " Pass what was computed from the model's output." if isinstance(loss, nn.Module) else ""
        raise TypeError(
            "record_backward() takes a tensor or a tuple of tensors, "
            f"got {wrong[0] if wrong else 'an empty tuple'}.{hint}"
        )
    gradients = gradient if several and gradient is not None else (gradient,) * len(losses)
    if not isinstance(gradients, (tuple, list)) or len(gradients) != len(losses):
        raise TypeError(
            f"For {len(losses)} losses, gradient is a tuple of {len(losses)}, each a tensor, or None for a loss that is "
            f"one number; got {gradient!r}."
        )
    return losses, tuple(gradients)


def _check_gradient(what: str, loss: torch.Tensor, gradient: object) -> None:
    shape, dtype = tuple(loss.shape), str(loss.dtype).removeprefix("torch.")
    if gradient is None:
        if loss.numel() != 1 or loss.is_complex():
            raise ValueError(
                f"{what} is {dtype} of shape {shape}, and backward begins by itself only at one real number. Reduce it "
                f"to one, for example with .sum() or .abs().sum(), or pass gradient, a {dtype} tensor of shape {shape}."
            )
        return
    if not isinstance(gradient, torch.Tensor):
        raise TypeError(
            f"gradient is a tensor of the loss's shape {shape}, got {type(gradient).__name__}. For one number, leave it out "
            "or pass torch.tensor(number)."
        )
    if gradient.shape != loss.shape:
        raise ValueError(
            f"{what} has shape {shape}, and gradient must have the same, but has {tuple(gradient.shape)}. "
            "gradient.expand_as(loss) repeats it where that is what you mean."
        )
    if gradient.is_complex() != loss.is_complex():
        raise ValueError(
            f"{what} is {dtype}, but gradient is {str(gradient.dtype).removeprefix('torch.')}: both must be "
            f"complex or both real. Pass gradient.to(torch.{dtype})."
        )


def _retained(module: Names | None) -> dict[object, list[tuple[int, str]]]:
    retained: dict[object, list[tuple[int, str]]] = {}
    if isinstance(module, Mapping):
        for name, tensor in module.items():
            if tensor.retains_grad and tensor.grad_fn is not None:
                retained.setdefault(tensor.grad_fn, []).append((tensor.output_nr, name))
    return retained


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
        if node.name == "AccumulateGrad":
            if _name_in_layer(node, layer) is None:
                return None
            continue
        if node.module not in (None, layer) and not str(node.module).startswith(inside):
            return None
        for edge in node.inputs:
            if edge is not None and edge.node not in met:
                met.add(edge.node)
                nodes.append(edge.node)
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
    grad = ""
    if row.accumulated is not None:
        done = row.accumulated
        grad = f"{done.before} + {done.added} → {done.after}"
    elif row.kept:
        grad = kept.format(names=", ".join(row.kept))
    return [row.node.name, row.node.label, _listed(row.entering), _listed(row.leaving), grad]


def _listed(gradients: Sequence[Gradient | None]) -> str:
    # The node behind a list of many tensors has as many slots.
    groups = [(what, len(list(same))) for what, same in groupby(map(str, gradients))]
    return ", ".join(
        f"{count} × {what}" if count > 2 else ", ".join([what] * count) for what, count in groups
    )


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
