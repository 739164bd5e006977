# --8<-- [start:forward]
import torch


def forward():
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    root = x.sqrt()
    product = root * root
    return x, root, product, product.sum()


# --8<-- [end:forward]

# --8<-- [start:saved]
x, root, product, loss = forward()
print(root.grad_fn._saved_result)
print(product.grad_fn._saved_self)
# --8<-- [end:saved]

# --8<-- [start:same]
print(product.grad_fn._saved_self is root)
result = root.grad_fn._saved_result
print(result is root, result.data_ptr() == root.data_ptr())
print(root.grad_fn._raw_saved_result)
# --8<-- [end:same]

# --8<-- [start:backward]
from gradfn_tutorial import explain, record_backward, trace

names = {"x": x, "root": root, "product": product, "loss": loss}
before = trace(loss, names)
loss.backward()
after = trace(loss, names)
print(f"{len(before)} nodes before, {len(after)} after")
print([node.fn for node in before.nodes] == [node.fn for node in after.nodes])
# --8<-- [end:backward]

try:
    # --8<-- [start:freed]
    root.grad_fn._saved_result
    # --8<-- [end:freed]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:which]
x, root, product, loss = forward()
names = {"x": x, "root": root, "product": product, "loss": loss}
for row in record_backward(loss, names).rows:
    print(row.node, row.freed)
# --8<-- [end:which]

# --8<-- [start:memory]
import weakref

x, root, product, loss = forward()
reference = weakref.ref(root)
del root
print("held:", reference() is not None)
loss.backward()
print("held:", reference() is not None)
# --8<-- [end:memory]


# --8<-- [start:twice]
def twice(operation):
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    loss = operation(x).sum()
    loss.backward()
    try:
        loss.backward()
    except RuntimeError:
        return "raises"
    return x.grad


# --8<-- [end:twice]

# --8<-- [start:operations]
print("sum   ", twice(lambda x: x))
print("x + x ", twice(lambda x: x + x))
print("mean  ", twice(torch.mean))
print("cat   ", twice(lambda x: torch.cat([x, x])))
print("x * x ", twice(lambda x: x * x))
print("x * 2 ", twice(lambda x: x * 2))
print("x / 2 ", twice(lambda x: x / 2))
print("relu  ", twice(torch.relu))
# --8<-- [end:operations]

# --8<-- [start:number]
print((x * 2).grad_fn._saved_other)
print(loss.grad_fn._saved_self_sym_sizes)
# --8<-- [end:number]

# --8<-- [start:retain]
x, root, product, loss = forward()
loss.backward(retain_graph=True)
print(root.grad_fn._saved_result)
again = record_backward(loss)
print([name for row in again.rows for name in row.freed])
print(x.grad, explain(root).grad)
# --8<-- [end:retain]

try:
    # --8<-- [start:loop]
    x, root, product, loss = forward()
    for step in range(2):
        loss = (x * root).sum()
        loss.backward()
        print("step", step, "done")
    # --8<-- [end:loop]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:shared]
x, root, product, loss = forward()
names = {"x": x, "root": root}
first = trace((x * root).sum(), names)
second = trace((x * root).sum(), names)
old = {node.fn for node in first.nodes}
print([node for node in second.nodes if node.fn in old])
# --8<-- [end:shared]

# --8<-- [start:inside]
for _ in range(2):
    x.grad = None
    (x * x.sqrt()).sum().backward()
print(x.grad)
# --8<-- [end:inside]

# --8<-- [start:constant]
constant = x.sqrt().detach()
for _ in range(2):
    x.grad = None
    (x * constant).sum().backward()
print(x.grad)
# --8<-- [end:constant]

try:
    # --8<-- [start:trunk]
    x, root, product, loss = forward()
    other_loss = root.sum()
    loss.backward()
    other_loss.backward()
    # --8<-- [end:trunk]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:ways]
x, root, product, loss = forward()
(loss + root.sum()).backward()
print(x.grad)

x, root, product, loss = forward()
loss.backward(retain_graph=True)
root.sum().backward()
print(x.grad)
# --8<-- [end:ways]

# --8<-- [start:both]
x, root, product, loss = forward()
together = record_backward((loss, root.sum())).rows

x, root, product, loss = forward()
one = record_backward(loss, retain_graph=True).rows
other = record_backward(root.sum()).rows
print(len(together), len(one) + len(other))
# --8<-- [end:both]


# --8<-- [start:recurrent]
def train(retain_graph=False, detach=False):
    w = torch.tensor(2.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.25)
    h = torch.tensor(1.0)
    for step in range(3):
        h = h * w
        loss = (h - 1) ** 2
        loss.backward(retain_graph=retain_graph)
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step}, {len(trace(loss))} nodes, w {w.item()}")
        h = h.detach() if detach else h


# --8<-- [end:recurrent]

try:
    # --8<-- [start:recurrent-plain]
    train()
    # --8<-- [end:recurrent-plain]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

try:
    # --8<-- [start:recurrent-retain]
    train(retain_graph=True)
    # --8<-- [end:recurrent-retain]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:recurrent-detach]
train(detach=True)
# --8<-- [end:recurrent-detach]

# --8<-- [start:total]
total = 0
for _ in range(1000):
    loss = (x * x).sum()
    loss.backward()
    total += loss
print("nodes:", len(trace(total)))
# --8<-- [end:total]

# --8<-- [start:total-detach]
total = 0
for _ in range(1000):
    loss = (x * x).sum()
    loss.backward()
    total += loss.detach()
print(total, total.grad_fn)
# --8<-- [end:total-detach]


# --8<-- [start:held]
def root_is_held(keep, run_backward):
    root = torch.tensor([1.0, 4.0], requires_grad=True).sqrt()
    reference = weakref.ref(root)
    loss = (root * root).sum()
    if run_backward:
        loss.backward()
    losses = []
    losses.append(keep(loss))
    del root, loss
    return reference() is not None


# --8<-- [end:held]

# --8<-- [start:kinds]
ways = {"loss": lambda loss: loss, "detach": torch.detach, "item": torch.Tensor.item}
for name, keep in ways.items():
    print(f"{name:6}", root_is_held(keep, False), root_is_held(keep, True))
# --8<-- [end:kinds]

try:
    # --8<-- [start:exercise-product]
    x, root, product, loss = forward()
    loss.backward()
    product.mean().backward()
    # --8<-- [end:exercise-product]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:exercise-number]
added = x + 1
added.sum().backward()
print([name for name in dir(added.grad_fn) if name.startswith("_saved_")])
print(added.grad_fn._saved_alpha)
# --8<-- [end:exercise-number]

# --8<-- [start:exercise-steps]
w = torch.tensor(2.0, requires_grad=True)
h, total = torch.tensor(1.0), 0
for _ in range(3):
    h = h * w
    total = total + (h - 1) ** 2
total.backward()
print(w.grad)
# --8<-- [end:exercise-steps]
