"""Look into PyTorch's autograd graph: what a tensor is, why its ``.grad`` is None, which node leads to which layer."""

from gradfn_tutorial.diagnosis import Diagnosis, why_no_grad
from gradfn_tutorial.graph import Edge, Graph, Node, Path, trace
from gradfn_tutorial.owners import owners
from gradfn_tutorial.recording import Accumulated, Gradient, LayerGradients, Recording, Row, record_backward
from gradfn_tutorial.state import TensorState, explain

__all__ = [
    "Accumulated",
    "Diagnosis",
    "Edge",
    "Gradient",
    "Graph",
    "LayerGradients",
    "Node",
    "Path",
    "Recording",
    "Row",
    "TensorState",
    "explain",
    "owners",
    "record_backward",
    "trace",
    "why_no_grad",
]
