from functools import partial

import torch


def is_finite(grads):
    return all(grad is None or grad.isfinite().all() for grad in grads)


def look(name, sent, arrived):
    if is_finite(arrived) and not is_finite(sent):
        print("starts at", name)


x = torch.tensor([0.0, 4.0], requires_grad=True)
loss = torch.where(x > 0, x.sqrt(), 0.0).sum()

nodes, seen = [loss.grad_fn], set()
while nodes:
    node = nodes.pop()
    if node is not None and node not in seen:
        seen.add(node)
        node.register_hook(partial(look, node.name()))
        nodes += [following for following, _ in node.next_functions]
loss.backward()
print(x.grad)
print(torch.equal(x.grad.isnan(), x == 0))
