# --8<-- [start:output]
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x**2
y.add_(1)
y.sum().backward()
print(x.grad)
# --8<-- [end:output]

try:
    # --8<-- [start:input]
    u = x * 1
    y = u**2
    u.add_(1)
    y.sum().backward()
    # --8<-- [end:input]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:version]
u = x * 1
y = u**2
print("saved at version", u._version)
u.add_(1)
print("now at version", u._version)
# --8<-- [end:version]

try:
    # --8<-- [start:same-values]
    u = x * 1
    y = u**2
    u.mul_(1)
    y.sum().backward()
    # --8<-- [end:same-values]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:new-tensor]
u = x * 1
y = u**2
u = u + 1
print(torch.autograd.grad(y.sum(), x))
# --8<-- [end:new-tensor]

# --8<-- [start:operations]
operations = {
    "u ** 2": lambda u: u**2,
    "u * u": lambda u: u * u,
    "u.exp()": lambda u: u.exp(),
    "u.relu()": lambda u: u.relu(),
    "u * 10": lambda u: u * 10,
    "u + 10": lambda u: u + 10,
}
# --8<-- [end:operations]


# --8<-- [start:verdict]
def verdict(operation, edited):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (unedited,) = torch.autograd.grad(operation(x).sum(), x)
    u = x * 1
    y = operation(u)
    {"input": u, "output": y}[edited].add_(1)
    try:
        y.sum().backward()
    except RuntimeError:
        return "raises"
    return "right" if torch.equal(x.grad, unedited) else "wrong"


# --8<-- [end:verdict]

# --8<-- [start:harmless]
print("edited:   input   output")
for name, operation in operations.items():
    print(f"{name:10}{verdict(operation, 'input'):8}{verdict(operation, 'output')}")
# --8<-- [end:harmless]

# --8<-- [start:freed]
from gradfn_tutorial import record_backward

for name, operation in operations.items():
    y = operation(x * 1)
    first = record_backward(y, gradient=torch.ones(2)).rows[0]
    print(f"{name:9}", *first.freed)
# --8<-- [end:freed]

try:
    # --8<-- [start:leaf]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.add_(1)
    # --8<-- [end:leaf]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:unchanged]
print(x.tolist(), x._version)
# --8<-- [end:unchanged]

# --8<-- [start:update]
with torch.no_grad():
    x += 1
print(x.tolist(), x.is_leaf, x._version)
# --8<-- [end:update]

# --8<-- [start:clone]
z = x.clone()
z += 1
(z**2).sum().backward()
print(x.tolist(), x.grad)
# --8<-- [end:clone]

# --8<-- [start:direct]
c = torch.zeros(2, requires_grad=True)
direct = ("c += 1", "c[:] += 1", "c[0] = 5", "torch.add(c, 1, out=c)")
for line in (*direct, "c.detach().add_(1)"):
    try:
        exec(line)
        print(f"{line}: runs, {c.tolist()}")
    except RuntimeError as error:
        print(f"{line}: {error}")
print(c.is_leaf, c._version)
# --8<-- [end:direct]

# --8<-- [start:view]
x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
base = x * 1
view = base[:2]
print(base.grad_fn.name(), view.grad_fn.name())
# --8<-- [end:view]

# --8<-- [start:edit-view]
from gradfn_tutorial import explain, trace

view.mul_(10)
print(base.grad_fn.name(), view.grad_fn.name())
print(base.tolist(), base._version, view._version)
before = trace((base, view), {"x": x, "base": base, "view": view})
# --8<-- [end:edit-view]

# --8<-- [start:through-view]
base.sum().backward()
after = trace((base, view), {"x": x, "base": base, "view": view})
print(x.grad)
# --8<-- [end:through-view]

# --8<-- [start:explain]
print(explain(view))
# --8<-- [end:explain]

try:
    # --8<-- [start:pieces]
    base = x * 1
    first, second = base.split(2)
    first.mul_(10)
    # --8<-- [end:pieces]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:other-pieces]
for pieces in base.chunk(2), base.unbind(), base.tensor_split(2):
    try:
        print("edited:", pieces[0].mul_(10).tolist())
    except RuntimeError as error:
        print(str(error).partition(" and")[0])
# --8<-- [end:other-pieces]

# --8<-- [start:pieces-mended]
base = x * 1
first, second = base[:2], base[2:]
first.mul_(10)
print(base.tolist())
# --8<-- [end:pieces-mended]

# --8<-- [start:detach]
x = torch.ones(3, requires_grad=True)
d = x.detach()
d[0] = 5
print(x.tolist(), d.shape, d.requires_grad)
# --8<-- [end:detach]

# --8<-- [start:detach-clone]
d = x.detach().clone()
d[0] = 7
print(x.tolist())
# --8<-- [end:detach-clone]

try:
    # --8<-- [start:zeros]
    x.sum().backward()
    x.grad.zeros_()
    # --8<-- [end:zeros]
except AttributeError as error:
    print(f"AttributeError: {error}")

# --8<-- [start:zero]
print(x.grad.zero_())
# --8<-- [end:zero]


# --8<-- [start:overwrite]
def overwrite(edit):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = x * 1
    y = u**2
    edit(u)
    y.sum().backward()
    return x.grad


print("not edited:", overwrite(lambda u: u))
# --8<-- [end:overwrite]

# --8<-- [start:data]
print(".data:", overwrite(lambda u: u.data.zero_()))
# --8<-- [end:data]

try:
    # --8<-- [start:by-detach]
    overwrite(lambda u: u.detach().zero_())
    # --8<-- [end:by-detach]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:counters]
u = x * 1
u.add_(1)
print("u", u._version, "detach()", u.detach()._version, ".data", u.data._version)
# --8<-- [end:counters]

# --8<-- [start:numpy]
print("numpy:", overwrite(lambda u: u.detach().numpy().fill(0)))
# --8<-- [end:numpy]

# --8<-- [start:increment]
print(u._version)
torch.autograd.graph.increment_version(u)
print(u._version)
# --8<-- [end:increment]

# --8<-- [start:allow]
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    print("allowed:", overwrite(lambda u: u.zero_()))
# --8<-- [end:allow]

try:
    # --8<-- [start:exercise-step]
    w = torch.nn.Parameter(torch.tensor(3.0))
    optimizer = torch.optim.SGD([w], lr=0.5)
    loss = w**2
    loss.backward(retain_graph=True)
    optimizer.step()
    loss.backward()
    # --8<-- [end:exercise-step]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:exercise-buffer]
x = torch.tensor([1.0, 2.0], requires_grad=True)
buffer = torch.zeros(4)
print(buffer.is_leaf, buffer.requires_grad)
buffer[:2] = x * 3
buffer.sum().backward()
print(buffer.is_leaf, buffer.requires_grad, x.grad)
# --8<-- [end:exercise-buffer]

try:
    # --8<-- [start:exercise-relu]
    y = (x.exp()).relu_()
    y.sum().backward()
    # --8<-- [end:exercise-relu]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:exercise-relu-mended]
y = (x * 2).relu_()
y.sum().backward()
print(x.grad)
# --8<-- [end:exercise-relu-mended]
