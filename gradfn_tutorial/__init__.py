"""Look into PyTorch's autograd graph: what a tensor is, and which node leads to which layer."""

from gradfn_tutorial.graph import Edge, Graph, Node, Path, trace
from gradfn_tutorial.state import TensorState, explain

__all__ = ["Edge", "Graph", "Node", "Path", "TensorState", "explain", "trace"]
