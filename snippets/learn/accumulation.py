# --8<-- [start:once]
import torch

w = torch.tensor(3.0, requires_grad=True)
(2 * w).backward()
print(w.grad)
# --8<-- [end:once]

# --8<-- [start:twice]
kept = w.grad
(2 * w).backward()
print(w.grad)
print(w.grad is kept)
# --8<-- [end:twice]

# --8<-- [start:create-graph]
(w * w).backward(create_graph=True)
print(w.grad is kept)
print(kept, w.grad)
# --8<-- [end:create-graph]

# --8<-- [start:two-paths]
from gradfn_tutorial import trace

w.grad = None
loss = 2 * w + 5 * w
before = trace(loss, {"w": w, "loss": loss})
print(before.to_text())
# --8<-- [end:two-paths]

# --8<-- [start:one-arrival]
w.register_hook(lambda grad: print("arrives:", grad))
loss.backward()
after = trace(loss, {"w": w, "loss": loss})
print(after.find("AccumulateGrad"), w.grad)
# --8<-- [end:one-arrival]

# --8<-- [start:preset]
x = torch.tensor(2.0, requires_grad=True)
x.grad = torch.tensor(5.0)
x.backward()
print(x.grad)
# --8<-- [end:preset]

try:
    # --8<-- [start:wrong-dtype]
    x.grad = torch.tensor(5.0, dtype=torch.bfloat16)
    # --8<-- [end:wrong-dtype]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:grad-dtype]
x.grad = None
x.grad_dtype = torch.bfloat16
(2 * x).backward()
print(x.dtype, x.grad)
# --8<-- [end:grad-dtype]

# --8<-- [start:layout]
t = torch.ones(2, 3).t().requires_grad_()
(2 * t).sum().backward()
print(t.stride(), t.grad.stride())
print(torch.autograd.grad((2 * t).sum(), t)[0].stride())
# --8<-- [end:layout]

try:
    # --8<-- [start:wrong-clear]
    w.grad_zero()
    # --8<-- [end:wrong-clear]
except AttributeError as error:
    print(f"AttributeError: {error}")

# --8<-- [start:clear]
optimizer = torch.optim.SGD([w], lr=0.5)
print(w.grad.zero_())
optimizer.zero_grad()
print(w.grad)
# --8<-- [end:clear]

# --8<-- [start:clear-model]
layer = torch.nn.Linear(2, 1)
layer(torch.ones(1, 2)).sum().backward()
print(layer.bias.grad)
layer.zero_grad()
print(layer.weight.grad, layer.bias.grad)
# --8<-- [end:clear-model]


# --8<-- [start:second-step]
def second_step(set_to_none, **options):
    p = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.5, **options)
    p.backward()
    optimizer.step()
    start = p.item()
    optimizer.zero_grad(set_to_none=set_to_none)
    optimizer.step()
    return p.item() - start


# --8<-- [end:second-step]

# --8<-- [start:zeros-or-none]
for options in {}, {"momentum": 0.5}, {"weight_decay": 0.5}:
    print(options, second_step(True, **options), second_step(False, **options))
# --8<-- [end:zeros-or-none]


# --8<-- [start:loop]
def train(steps, clear, lr=0.5):
    w = torch.tensor(0.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=lr)
    held = []
    for _ in range(steps):
        if clear:
            optimizer.zero_grad()
        held.append(str(w.grad))
        ((w - 3) ** 2).backward()
        optimizer.step()
    return w.item(), held


# --8<-- [end:loop]

# --8<-- [start:held]
print(train(3, clear=True)[1])
print(train(3, clear=False)[1])
# --8<-- [end:held]

# --8<-- [start:forgotten]
print(train(20, clear=True)[0], train(20, clear=False)[0])
# --8<-- [end:forgotten]

# --8<-- [start:circle]
print([train(steps, clear=False)[0] for steps in range(8)])
# --8<-- [end:circle]


# --8<-- [start:micro-batches]
data = torch.arange(8.0)


def accumulated(parts, weights):
    w = torch.tensor(1.0, requires_grad=True)
    for part, weight in zip(parts, weights):
        ((w * part).mean() * weight).backward()
    return w.grad.item()


print("large batch:", accumulated([data], [1]))
# --8<-- [end:micro-batches]

# --8<-- [start:weighting]
for name, sizes in {"equal": [4, 4], "unequal": [2, 6]}.items():
    parts = data.split(sizes)
    by_steps = accumulated(parts, [1 / len(parts)] * len(parts))
    by_size = accumulated(parts, [len(part) / len(data) for part in parts])
    print(f"{name}: by steps {by_steps}, by size {by_size}")
# --8<-- [end:weighting]

# --8<-- [start:exercise-alias]
v = torch.tensor(3.0, requires_grad=True)
(2 * v).backward()
same, copy = v.grad, v.grad.clone()
(2 * v).backward()
print(same, copy)
# --8<-- [end:exercise-alias]

# --8<-- [start:exercise-step]
print([train(steps, clear=True, lr=2.0)[0] for steps in range(5)])
print([train(steps, clear=False, lr=2.0)[0] for steps in range(5)])
# --8<-- [end:exercise-step]

# --8<-- [start:exercise-norm]
norm = torch.nn.BatchNorm1d(1)
column = data.square()[:, None]
for parts in ([column], column.split(2)):
    norm.zero_grad()
    for part in parts:
        (norm(part).relu().mean() / len(parts)).backward()
    print(f"{norm.weight.grad.item():.2f}")
# --8<-- [end:exercise-norm]
