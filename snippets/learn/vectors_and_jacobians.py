# --8<-- [start:setup]
import torch


def f(x):
    return x[:2] * x[1:]


x = torch.tensor([1.0, 2.0, -1.0], requires_grad=True)
z = f(x)
print(z)
# --8<-- [end:setup]

try:
    # --8<-- [start:vector]
    z.backward()
    # --8<-- [end:vector]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:one-element]
w = torch.tensor([[2.0]], requires_grad=True)
(w * 3).backward()
print(w.grad)
# --8<-- [end:one-element]

# --8<-- [start:jacobian]
J = torch.func.jacrev(f)(x.detach())
print(J)
# --8<-- [end:jacobian]

# --8<-- [start:descent]
for row in J:
    print(f(x.detach() - 0.5 * row))
# --8<-- [end:descent]

# --8<-- [start:pick]
from gradfn_tutorial import trace

before = trace(z, {"x": x, "z": z})
z.backward(gradient=torch.tensor([0.0, 1.0]))
after = trace(z, {"x": x, "z": z})
print(x.grad)
# --8<-- [end:pick]


# --8<-- [start:weights]
def backward_with(v):
    x.grad = None
    f(x).backward(gradient=v)
    return x.grad


v = torch.tensor([10.0, 1.0])
print(backward_with(v))
print(v @ J)
# --8<-- [end:weights]

# --8<-- [start:record]
from gradfn_tutorial import record_backward

z = f(x)
recording = record_backward(z, {"x": x, "z": z}, gradient=v, keep="values")
for row in recording.rows:
    print(row.node, *[gradient.value for gradient in row.entering])
# --8<-- [end:record]

# --8<-- [start:reduce]
for reduce in torch.sum, torch.mean, torch.max:
    x.grad = None
    reduce(f(x)).backward()
    print(reduce.__name__, x.grad)
# --8<-- [end:reduce]

# --8<-- [start:ones]
print(backward_with(torch.ones(2)))
# --8<-- [end:ones]

try:
    # --8<-- [start:same-graph]
    z = f(x)
    z.sum().backward()
    z.backward(gradient=torch.ones(2))
    # --8<-- [end:same-graph]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:retained]
x.grad = None
z = f(x)
z.sum().backward(retain_graph=True)
z.backward(gradient=torch.ones(2))
print(x.grad)
# --8<-- [end:retained]

try:
    # --8<-- [start:wrong-length]
    f(x).backward(gradient=torch.tensor([0.0, 1.0, 0.0]))
    # --8<-- [end:wrong-length]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:jvp]
u = torch.tensor([0.0, 1.0, 0.0])
value, product = torch.func.jvp(f, (x.detach(),), (u,))
print(product)
print(J @ u)
# --8<-- [end:jvp]

# --8<-- [start:size]
from torch import nn
from gradfn_tutorial.models import ConvNet


def jacobian_size(layer, data):
    outputs = layer(data).numel()
    parameters = sum(p.numel() for p in layer.parameters())
    return f"{outputs:,} x {parameters:,} = {outputs * parameters:,}"


# --8<-- [end:size]

# --8<-- [start:sizes]
print(jacobian_size(nn.Linear(3, 2), torch.ones(1, 3)))
print(jacobian_size(ConvNet().conv2, torch.ones(1, 16, 15, 15)))
large = nn.Linear(4096, 4096, device="meta")
print(jacobian_size(large, torch.ones(8, 4096, device="meta")))
# --8<-- [end:sizes]

# --8<-- [start:whole]
z = f(x)
(rows,) = torch.autograd.grad(z, x, torch.eye(2), is_grads_batched=True)
print(torch.equal(rows, J))
print(torch.equal(torch.autograd.functional.jacobian(f, x), J))
print(torch.equal(torch.func.jacfwd(f)(x.detach()), J))
# --8<-- [end:whole]


# --8<-- [start:per-sample]
def loss(w, x):
    return (w * x) ** 2


weight, samples = torch.tensor(1.0), torch.tensor([1.0, 2.0, 3.0])
per_sample = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))
print(per_sample(weight, samples))
print(torch.func.jacrev(loss)(weight, samples))
print(torch.func.grad(lambda w: loss(w, samples).sum())(weight))
# --8<-- [end:per-sample]

try:
    # --8<-- [start:unused]
    other = torch.ones(2, requires_grad=True)
    torch.autograd.grad(f(x), [x, other], torch.ones(2))
    # --8<-- [end:unused]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:allow-unused]
print(torch.autograd.grad(f(x), [x, other], torch.ones(2), allow_unused=True))
print(torch.autograd.grad(f(x), [x, other], torch.ones(2), materialize_grads=True))
# --8<-- [end:allow-unused]

# --8<-- [start:exercise-combine]
x.grad = None
z = f(x)
(3 * z[0] - z[1]).backward()
print(x.grad)
print(backward_with(torch.tensor([3.0, -1.0])))
# --8<-- [end:exercise-combine]

# --8<-- [start:exercise-ties]
t = torch.tensor([5.0, 5.0, 1.0], requires_grad=True)
t.max().backward()
print(t.grad)
# --8<-- [end:exercise-ties]


# --8<-- [start:exercise-inside]
def watched(x):
    z = f(x)
    print(x.requires_grad, z.grad_fn)
    return z


print(torch.func.jacrev(watched)(x.detach()).grad_fn)
# --8<-- [end:exercise-inside]
