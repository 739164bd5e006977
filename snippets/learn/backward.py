# --8<-- [start:forward]
import torch

x = torch.tensor(2.0)


def forward():
    w = torch.tensor(3.0, requires_grad=True)
    b = torch.tensor(1.0, requires_grad=True)
    h = w * x
    return w, b, h, (h + b) ** 2


# --8<-- [end:forward]

# --8<-- [start:before]
from gradfn_tutorial import trace

w, b, h, loss = forward()
names = {"w": w, "b": b, "h": h, "loss": loss}
before = trace(loss, names)
print(before)
# --8<-- [end:before]

# --8<-- [start:backward]
loss.backward()
after = trace(loss, names)
print(w.grad, b.grad)
# --8<-- [end:backward]

# --8<-- [start:node]
w, b, h, loss = forward()
print(h.grad_fn(torch.tensor(1.0)))
print(h.grad_fn(torch.tensor(14.0)))
# --8<-- [end:node]

# --8<-- [start:rows]
from gradfn_tutorial import record_backward


def values(gradients):
    return [gradient and gradient.value.item() for gradient in gradients]


names = {"w": w, "b": b, "h": h, "loss": loss}
for row in record_backward(loss, names, keep="values").rows:
    print(row.node, values(row.entering), values(row.leaving))
# --8<-- [end:rows]

# --8<-- [start:order]
v = torch.tensor(1.0, requires_grad=True)
p, q, r = v * 2, v * 3, v * 4
total = torch.stack([p, q, r]).sum()
ran = []
for name, tensor in {"p": p, "q": q, "r": r}.items():
    tensor.register_hook(lambda gradient, name=name: ran.append(name))
total.backward(retain_graph=True)
print(ran)
# --8<-- [end:order]

# --8<-- [start:order-rows]
recording = record_backward(total, {"p": p, "q": q, "r": r, "v": v}, keep="values")
for row in recording.rows:
    print(row.node)
print(values(recording.rows[-1].entering))
# --8<-- [end:order-rows]

# --8<-- [start:numbers]
numbers = {row.node.label: row.node.fn._sequence_nr() for row in recording.rows}
print(numbers["p"] < numbers["q"] < numbers["r"])
print(numbers["v"] == 2**64 - 1)
# --8<-- [end:numbers]

# --8<-- [start:loss]
w, b, h, loss = forward()
loss.retain_grad()
loss.backward()
print(loss.grad, w.grad)

w, b, h, loss = forward()
loss.retain_grad()
loss.backward(torch.tensor(0.5))
print(loss.grad, w.grad)
# --8<-- [end:loss]

# --8<-- [start:who]
from gradfn_tutorial import explain, why_no_grad

w, b, h, loss = forward()
loss.retain_grad()
unused = torch.tensor(5.0, requires_grad=True)
loss.backward()
tensors = {"x": x, "w": w, "h": h, "loss": loss, "unused": unused}
for name, tensor in tensors.items():
    print(f"{name:7}", tensor.grad_fn and tensor.grad_fn.name(), explain(tensor).grad)
# --8<-- [end:who]

# --8<-- [start:why]
for name, tensor in tensors.items():
    print(f"{name:7}", why_no_grad(tensor, loss).cause)
# --8<-- [end:why]

# --8<-- [start:preset]
w, b, h, loss = forward()
w.grad = torch.tensor(100.0)
loss.backward()
print(w.grad)
# --8<-- [end:preset]

# --8<-- [start:toggle]
w, b, h, loss = forward()
b.requires_grad_(False)
loss.backward()
print(w.grad, b.grad)
print(why_no_grad(b, loss).cause)
# --8<-- [end:toggle]

# --8<-- [start:inputs]
w, b, h, loss = forward()
ran = []
for node in trace(loss, {"w": w, "b": b}).nodes:
    node.fn.register_prehook(lambda gradients, node=node: ran.append(node))
loss.backward(inputs=[b])
print(w.grad, b.grad)
print(ran)
# --8<-- [end:inputs]

# --8<-- [start:grad]
w, b, h, loss = forward()
h.retain_grad()
print(torch.autograd.grad(loss, (w, b)))
print(w.grad, b.grad, explain(h).grad)
# --8<-- [end:grad]

# --8<-- [start:grad-dict]
w, b, h, loss = forward()
print(torch.autograd.grad(loss, {"weight": w, "bias": b}))
# --8<-- [end:grad-dict]

try:
    # --8<-- [start:grad-unused]
    w, b, h, loss = forward()
    torch.autograd.grad(loss, (w, unused))
    # --8<-- [end:grad-unused]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:grad-allow]
w, b, h, loss = forward()
print(torch.autograd.grad(loss, (w, unused), allow_unused=True, retain_graph=True))
print(torch.autograd.grad(loss, (w, unused), materialize_grads=True))
# --8<-- [end:grad-allow]

# --8<-- [start:edge]
from torch.autograd.graph import get_gradient_edge

w, b, h, loss = forward()
edge = get_gradient_edge(h)
print(edge.node is h.grad_fn, edge.output_nr)
h = None
print(torch.autograd.grad(loss, edge))
# --8<-- [end:edge]

# --8<-- [start:edge-start]
torch.autograd.backward(edge, torch.tensor(10.0))
print(w.grad, b.grad)
# --8<-- [end:edge-start]

# --8<-- [start:grad-of-grad]
w, b, h, loss = forward()
loss.backward()
print(w.grad.requires_grad, w.grad.grad_fn)

w, b, h, loss = forward()
loss.backward(create_graph=True)
print(w.grad)
# --8<-- [end:grad-of-grad]

# --8<-- [start:exercise-roots]
w, b, h, loss = forward()
torch.autograd.backward((h, loss))
print(w.grad, b.grad)
# --8<-- [end:exercise-roots]

# --8<-- [start:exercise-order]
v = torch.tensor(1.0, requires_grad=True)
q = v * 3
p = v * 2
total = p + q
print([row.node for row in record_backward(total, {"p": p, "q": q, "v": v}).rows])
# --8<-- [end:exercise-order]

# --8<-- [start:exercise-inputs]
w, b, h, loss = forward()
node = get_gradient_edge(b).node
node.register_prehook(lambda gradients: print("the AccumulateGrad of b ran"))
loss.backward(inputs=[w, unused])
print(w.grad, b.grad, unused.grad)
# --8<-- [end:exercise-inputs]
