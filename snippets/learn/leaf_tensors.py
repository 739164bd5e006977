# --8<-- [start:default]
import torch
from torch import nn

x = torch.tensor([1.0, 2.0])
w = nn.Parameter(torch.tensor([3.0, 4.0]))
v = torch.tensor([5.0, 6.0], requires_grad=True)
for name, t in {"x": x, "w": w, "v": v}.items():
    print(f"{name}: requires_grad {t.requires_grad}", t.grad_fn, t.is_leaf)
# --8<-- [end:default]

# --8<-- [start:results]
doubled = x * 2
product = w * x
with torch.no_grad():
    unrecorded = w * x
results = {"doubled": doubled, "product": product, "unrecorded": unrecorded}
print("leaves:", *(name for name, t in results.items() if t.is_leaf))
for name, t in results.items():
    print(f"{name}: requires_grad {t.requires_grad}, grad_fn {t.grad_fn}")
# --8<-- [end:results]

# --8<-- [start:backward]
from gradfn_tutorial import explain, trace

loss = product.sum()
before = trace(loss, {"w": w, "product": product})
loss.backward()
after = trace(loss, {"w": w, "product": product})
print(w.grad)
print(explain(product))
# --8<-- [end:backward]

# --8<-- [start:trap]
scaled = torch.tensor([3.0, 4.0], requires_grad=True) * 0.1
scaled.sum().backward()
print(scaled.grad)
# --8<-- [end:trap]

# --8<-- [start:others]
for t in (w * 0.1, w.double(), w.reshape(2, 1), w[0]):
    print(t.is_leaf, t.grad_fn.name())
# --8<-- [end:others]

# --8<-- [start:last]
scaled = (torch.tensor([3.0, 4.0]) * 0.1).requires_grad_()
scaled.sum().backward()
print(scaled.is_leaf, scaled.grad)
# --8<-- [end:last]

# --8<-- [start:keep]
leaf = torch.tensor([3.0, 4.0], requires_grad=True)
scaled = leaf * 0.1
scaled.sum().backward()
print(leaf.is_leaf, leaf.grad)
# --8<-- [end:keep]

# --8<-- [start:convert]
for name, tensor in {"w": w, "x": x}.items():
    for dtype in torch.float32, torch.float64:
        moved = tensor.to(dtype)
        print(f"{name}.to({dtype}):", moved is tensor, moved.is_leaf)
# --8<-- [end:convert]

# --8<-- [start:module]
layer = nn.Linear(2, 1)
weight = layer.weight
layer.to(torch.float64)
print(layer.weight is weight, weight.dtype, weight.is_leaf)
# --8<-- [end:module]

# --8<-- [start:slices]
layer(x.double()).backward()
row = layer.weight[0]
print(row is layer.weight[0], row.is_leaf, explain(row).grad)
print(layer.weight.grad[0])
# --8<-- [end:slices]

# --8<-- [start:toggle]
print(w.requires_grad_(False) is w, (w * x).grad_fn)
print(w.requires_grad_(True) is w, (w * x).grad_fn.name())
# --8<-- [end:toggle]

try:
    # --8<-- [start:toggle-result]
    product.requires_grad_(False)
    # --8<-- [end:toggle-result]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

try:
    # --8<-- [start:integers]
    torch.tensor([1, 2], requires_grad=True)
    # --8<-- [end:integers]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:no-grad-view]
w.grad = None
with torch.no_grad():
    view = w[0]
(view * 2).backward()
print(view.grad, w.grad)
print(explain(view))
# --8<-- [end:no-grad-view]

try:
    # --8<-- [start:optimizer]
    torch.optim.SGD([w * 2], lr=0.1)
    # --8<-- [end:optimizer]
except ValueError as error:
    print(f"ValueError: {error}")

# --8<-- [start:wrapped]
wrapped = nn.Parameter(w * 2)
torch.optim.SGD([wrapped], lr=0.1)
(wrapped * x).sum().backward()
print(wrapped.grad, w.grad)
# --8<-- [end:wrapped]

# --8<-- [start:inside]
torch.optim.SGD([w], lr=0.1)
(w * 2 * x).sum().backward()
print(w.grad)
# --8<-- [end:inside]

# --8<-- [start:states]
retained = w * 2
retained.retain_grad()
states = {
    "created": torch.ones(2),
    "created, requires_grad=True": torch.ones(2, requires_grad=True),
    "nn.Parameter": nn.Parameter(torch.ones(2)),
    "result, not recorded": torch.ones(2) * 2,
    "result, recorded": w * 2,
    "result, recorded, retained": retained,
    "result.detach()": (w * 2).detach(),
    "view under no_grad": view,
}
# --8<-- [end:states]

# --8<-- [start:table]
row = "{:27}  {!s:7}  {!s:12}  {!s:7}  {}"
print(row.format("", "is_leaf", "grad_fn", "explain", "backward"))
for name, t in states.items():
    card = explain(t)
    (t * w).sum().backward()
    filled = explain(t).grad != "None"
    print(row.format(name, card.is_leaf, card.grad_fn, card.backward_fills_grad, filled))
# --8<-- [end:table]

# --8<-- [start:exercise-late]
late = torch.tensor([1.0, 2.0])
loss = (w * late).sum()
late.requires_grad_()
loss.backward()
print(late.is_leaf, late.requires_grad, late.grad)
(w * late).sum().backward()
print(late.grad)
# --8<-- [end:exercise-late]

# --8<-- [start:exercise-detach]
layer = nn.Linear(2, 1)
layer.weight.detach().zero_()
layer(x).backward()
print(layer.weight.tolist(), layer.weight.is_leaf, layer.weight.grad)
# --8<-- [end:exercise-detach]

# --8<-- [start:exercise-update]
p = torch.tensor([3.0, 4.0], requires_grad=True)
(p * x).sum().backward()
stepped = p - p.grad
print(stepped.is_leaf)
with torch.no_grad():
    p -= p.grad
print(p.is_leaf, p.tolist())
# --8<-- [end:exercise-update]
