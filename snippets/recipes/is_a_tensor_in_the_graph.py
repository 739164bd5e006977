import torch
from torch.autograd.graph import get_gradient_edge


def is_in_graph(loss, tensor):
    wanted = get_gradient_edge(tensor)
    edges, seen = [get_gradient_edge(loss)[:2]], set()
    while edges:
        node, _ = edge = edges.pop()
        if node is not None and edge not in seen:
            seen.add(edge)
            edges += node.next_functions
    return (wanted.node, wanted.output_nr) in seen


w, b = (torch.tensor(2.0, requires_grad=True) for _ in range(2))
y, other = w * 3, w * 5
loss = y**2 + other.detach() + b.detach()
tensors = {"w": w, "b": b, "y": y, "other": other}
for name, tensor in tensors.items():
    print(name, "is in the graph" if is_in_graph(loss, tensor) else "is not")

grads = torch.autograd.grad(loss, list(tensors.values()), allow_unused=True)
found = [grad is not None for grad in grads]
print(found == [is_in_graph(loss, tensor) for tensor in tensors.values()])
