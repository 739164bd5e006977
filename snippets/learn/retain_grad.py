# --8<-- [start:read]
import torch


def forward():
    x = torch.tensor(1.0, requires_grad=True)
    h = x * 3
    return x, h, h**2


x, h, loss = forward()
loss.backward()
print(x.grad, h.grad)
# --8<-- [end:read]

# --8<-- [start:keep]
from gradfn_tutorial import explain, trace

x, h, loss = forward()
h.retain_grad()
before = trace(loss, {"x": x, "h": h, "loss": loss})
loss.backward()
after = trace(loss, {"x": x, "h": h, "loss": loss})
by_retain = h.grad
print(x.grad, h.grad)
# --8<-- [end:keep]

# --8<-- [start:explain]
print(explain(h))
# --8<-- [end:explain]

# --8<-- [start:late]
x, h, loss = forward()
loss.backward()
h.retain_grad()
print(h.retains_grad, h.grad)
# --8<-- [end:late]

# --8<-- [start:leaf]
x, h, loss = forward()
x.retain_grad()
loss.backward()
print(x.retains_grad, x.grad)
# --8<-- [end:leaf]

try:
    # --8<-- [start:no-grad]
    torch.tensor(1.0).retain_grad()
    # --8<-- [end:no-grad]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:by-hook]
x, h, loss = forward()
seen = []
h.register_hook(seen.append)
loss.backward()
print(seen[0], explain(h).grad, x.grad)
# --8<-- [end:by-hook]

# --8<-- [start:by-grad]
x, h, loss = forward()
(by_grad,) = torch.autograd.grad(loss, h)
print(by_grad, explain(h).grad, x.grad)
# --8<-- [end:by-grad]

# --8<-- [start:by-inputs]
x, h, loss = forward()
loss.backward(inputs=[h])
print(h.grad, h.retains_grad, x.grad)
# --8<-- [end:by-inputs]

# --8<-- [start:equal]
print({gradient.item() for gradient in (by_retain, seen[0], by_grad, h.grad)})
# --8<-- [end:equal]

# --8<-- [start:hook-changes]
x, h, loss = forward()
h.retain_grad()
h.register_hook(lambda gradient: gradient * 10)
loss.backward()
print(h.grad, x.grad)
# --8<-- [end:hook-changes]

# --8<-- [start:in-place]
x, h, _ = forward()
h.retain_grad()
h.register_hook(lambda gradient: print("hook got", gradient))
old = h.grad_fn
h.mul_(2)
print("same grad_fn:", h.grad_fn is old)
(h * 5).backward()
print("h.grad is", h.grad)
# --8<-- [end:in-place]

# --8<-- [start:loss]
x, h, loss = forward()
loss.backward()
print(explain(loss).grad)

x, h, loss = forward()
loss.retain_grad()
loss.backward()
print(loss.grad)
# --8<-- [end:loss]

try:
    # --8<-- [start:second]
    x, h, loss = forward()
    h.retain_grad()
    loss.backward()
    loss.backward()
    # --8<-- [end:second]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:retain-graph]
x, h, loss = forward()
loss.backward(retain_graph=True)
loss.backward()
print(x.grad, explain(h).grad)
# --8<-- [end:retain-graph]

# --8<-- [start:exercise-twice]
x, h, loss = forward()
h.retain_grad()
loss.backward(retain_graph=True)
loss.backward()
print(h.grad)
# --8<-- [end:exercise-twice]

try:
    # --8<-- [start:exercise-freed]
    x, h, loss = forward()
    torch.autograd.grad(loss, h)
    loss.backward()
    # --8<-- [end:exercise-freed]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:exercise-first-grad]
x, h, loss = forward()
(gradient,) = torch.autograd.grad(loss, h, retain_graph=True)
loss.backward()
print(gradient, x.grad)
# --8<-- [end:exercise-first-grad]

# --8<-- [start:exercise-no-name]
x = torch.tensor(1.0, requires_grad=True)
loss = (x * 3) ** 2
node = loss.grad_fn.next_functions[0][0]
node.register_prehook(lambda gradients: print(node.name(), gradients))
loss.backward()
# --8<-- [end:exercise-no-name]
