# --8<-- [start:model]
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.middle = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        self.last = nn.Linear(2, 1, bias=False)

    def forward(self, data, way=lambda layer, h: layer(h)):
        return self.last(way(self.middle, self.first(data))).sum()


# --8<-- [end:model]


# --8<-- [start:frozen]
def with_gradient(model):
    layers = model.named_children()
    return [name for name, layer in layers if layer.weight.grad is not None]


data = torch.ones(5, 2)
model = Model()
model.middle.requires_grad_(False)
loss = model(data)
loss.backward()
print(with_gradient(model))
# --8<-- [end:frozen]

# --8<-- [start:figure]
from gradfn_tutorial import explain, trace, why_no_grad

model.zero_grad()
loss = model(data)
before = trace(loss, model)
loss.backward()
after = trace(loss, model)
print(len(trace(Model()(data)).nodes), len(before.nodes))
# --8<-- [end:figure]


# --8<-- [start:cuts]
def under_no_grad(layer, h):
    with torch.no_grad():
        return layer(h)


def detached(layer, h):
    return layer(h).detach()


# --8<-- [end:cuts]

# --8<-- [start:cut]
for way in under_no_grad, detached:
    model = Model()
    model(data, way).backward()
    print(way.__name__, with_gradient(model))
# --8<-- [end:cut]


# --8<-- [start:eval]
def evaluated(layer, h):
    return layer.eval()(h)


model = Model()
model(data, evaluated).backward()
print(model.middle.training, with_gradient(model))
# --8<-- [end:eval]

# --8<-- [start:ordinary]
with torch.no_grad():
    ordinary = torch.ones(1, 2) * 2
with torch.inference_mode():
    inferred = torch.ones(1, 2) * 2

layer = nn.Linear(2, 1, bias=False)
layer(ordinary).sum().backward()
print(layer.weight.grad)
# --8<-- [end:ordinary]

try:
    # --8<-- [start:inferred]
    layer(inferred)
    # --8<-- [end:inferred]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:accepted]
layer.zero_grad()
(layer.weight + inferred).sum().backward()
print(layer.weight.grad)
layer.zero_grad()
layer(inferred.clone()).sum().backward()
print(layer.weight.grad)
# --8<-- [end:accepted]

try:
    # --8<-- [start:inferred-flag]
    inferred.requires_grad_()
    # --8<-- [end:inferred-flag]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

try:
    # --8<-- [start:inferred-edit]
    inferred.add_(1)
    # --8<-- [end:inferred-edit]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:inferred-explain]
print(explain(inferred))
print(ordinary.is_inference(), ordinary._version)
# --8<-- [end:inferred-explain]


# --8<-- [start:ways]
def under_set_grad_enabled(layer, h):
    with torch.set_grad_enabled(False):
        return layer(h)


def inferred_and_cloned(layer, h):
    with torch.inference_mode():
        result = layer(h)
    return result.clone()


# --8<-- [end:ways]

# --8<-- [start:measure]
from torch.autograd.graph import saved_tensors_hooks


def measure(way):
    model, saved = Model(), []
    with saved_tensors_hooks(lambda t: (saved.append(t.shape), t), lambda pair: pair[1]):
        loss = model(data, way)
    graph = trace(loss, model)
    held = [node for node in graph.find("Mm") if node.fn._saved_self is not None]
    loss.backward()
    return len(graph.nodes), saved.count(data.shape), len(held), *with_gradient(model)


# --8<-- [end:measure]

# --8<-- [start:table]
ways = {
    "nothing": lambda layer, h: layer(h),
    "requires_grad_": lambda layer, h: layer.requires_grad_(False)(h),
    "no_grad": under_no_grad,
    "set_grad_enabled": under_set_grad_enabled,
    "inference_mode": inferred_and_cloned,
    "detach": detached,
    "eval": evaluated,
}
for name, way in ways.items():
    print(f"{name:16}", *measure(way))
# --8<-- [end:table]


# --8<-- [start:moves]
def moves(optimizer_class, clear):
    p = nn.Parameter(torch.tensor(1.0))
    optimizer = optimizer_class([p], lr=0.5, weight_decay=0.5)
    p.backward()
    optimizer.step()
    clear(optimizer)
    p.requires_grad_(False)
    start = p.item()
    optimizer.step()
    return p.item() != start


# --8<-- [end:moves]

# --8<-- [start:still-moves]
clears = {
    "gradient left": lambda optimizer: None,
    "zeros left": lambda optimizer: optimizer.zero_grad(set_to_none=False),
    "None": lambda optimizer: optimizer.zero_grad(),
}
for name, clear in clears.items():
    print(f"{name}:", moves(torch.optim.SGD, clear), moves(torch.optim.AdamW, clear))
# --8<-- [end:still-moves]

# --8<-- [start:batch-norm]
norm = nn.BatchNorm1d(1).requires_grad_(False)
batch = torch.tensor([[1.0], [3.0]])
norm(batch)
print(norm.running_mean)
# --8<-- [end:batch-norm]

# --8<-- [start:batch-norm-eval]
with torch.no_grad():
    norm(batch)
print(norm.running_mean)
norm.eval()
norm(batch)
print(norm.running_mean)
# --8<-- [end:batch-norm-eval]

# --8<-- [start:late]
model = Model()
loss = model(data)
model.middle.requires_grad_(False)
loss.backward()
print(with_gradient(model))
print(why_no_grad(model.middle.weight, loss, model))
# --8<-- [end:late]

try:
    # --8<-- [start:result]
    h = model.first(data)
    h.requires_grad_(False)
    # --8<-- [end:result]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:data]
h.add_(1)
for other in h.detach(), h.data:
    print(other.data_ptr() == h.data_ptr(), other._version)
# --8<-- [end:data]

# --8<-- [start:exercise-first]
model = Model()
model.middle.requires_grad_(False)
model.last.requires_grad_(False)
print(model(data, under_no_grad).requires_grad)
model(data).backward()
print(with_gradient(model))
# --8<-- [end:exercise-first]


# --8<-- [start:exercise-norm]
class FrozenNorm(nn.BatchNorm1d):
    def train(self, mode=True):
        return super().train(False)


network = nn.Sequential(FrozenNorm(1).requires_grad_(False))
print(network[0].training)
network.train()
network(batch)
print(network.training, network[0].training, network[0].running_mean)
# --8<-- [end:exercise-norm]

# --8<-- [start:exercise-created]
with torch.no_grad():
    created = nn.Linear(2, 1)
created(data).sum().backward()
print(created.bias.grad)
# --8<-- [end:exercise-created]
