# --8<-- [start:record]
import torch

data = torch.tensor([1.0, 2.0, 3.0])
x = torch.tensor([0.25, 1.5, 0.75], requires_grad=True)
y = data * x
loss = y.sum()
print(y.grad_fn, loss.grad_fn)
print(loss.grad_fn.next_functions[0][0] is y.grad_fn)
# --8<-- [end:record]

# --8<-- [start:saved]
print(y.grad_fn._saved_self is data, y.grad_fn._saved_other)
print(loss.grad_fn._saved_self_sym_sizes)
# --8<-- [end:saved]

# --8<-- [start:before]
from gradfn_tutorial import trace

before = trace(loss, {"x": x, "y": y, "loss": loss})
print(before.to_text())
# --8<-- [end:before]


# --8<-- [start:double]
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values):
        events.append("forward")
        return values * 2

    @staticmethod
    def backward(ctx, gradient):
        events.append("backward")
        return gradient * 2


# --8<-- [end:double]

# --8<-- [start:events]
events = []
doubled = Double.apply(x)
events.append("result is there")
doubled.sum().backward()
print(events, doubled.grad_fn.name())
# --8<-- [end:events]

# --8<-- [start:after]
x.grad = None
loss.backward()
after = trace(loss, {"x": x, "y": y, "loss": loss})
print(x.grad, [node.fn for node in after.nodes] == [node.fn for node in before.nodes])
# --8<-- [end:after]

# --8<-- [start:cases]
with torch.no_grad():
    unrecorded = data * x
results = {
    "data * x": data * x,
    "data * data": data * data,
    "data * x.detach()": data * x.detach(),
    "under no_grad": unrecorded,
    "x > 1": x > 1,
    "x.argmax()": x.argmax(),
}
# --8<-- [end:cases]

# --8<-- [start:when]
for name, result in results.items():
    print(f"{name:18}", result.grad_fn)
print(sum(result.requires_grad for result in results.values()), "recorded")
# --8<-- [end:when]

# --8<-- [start:why]
from gradfn_tutorial import why_no_grad

for name, result in results.items():
    print(f"{name:18}", why_no_grad(result).cause)
# --8<-- [end:why]

# --8<-- [start:made-inside]
with torch.no_grad():
    made = torch.ones(2, requires_grad=True)
    inside = made * 2
outside = made * 2
print(made.requires_grad, inside.requires_grad, outside.requires_grad)
# --8<-- [end:made-inside]

# --8<-- [start:outputs]
values, indices = x.max(0)
for result in x.argmax(), x > 1, indices, torch.zeros_like(x):
    print(result.dtype, result.grad_fn)
for result in values, x.round(), x // 2:
    print(result.dtype, result.grad_fn)
# --8<-- [end:outputs]

# --8<-- [start:round]
x.grad = None
x.round().sum().backward()
print(x.grad)
# --8<-- [end:round]

try:
    # --8<-- [start:not-implemented]
    (x // 2).sum().backward()
    # --8<-- [end:not-implemented]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:detach]
x = torch.tensor(2.0, requires_grad=True)
y = x.pow(2)
w = y.detach() * 3
print(w, w.requires_grad, w.grad_fn)
# --8<-- [end:detach]

try:
    # --8<-- [start:detach-backward]
    w.backward()
    # --8<-- [end:detach-backward]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:attached]
print(x.grad)
(y * 3).backward()
print(x.grad)
# --8<-- [end:attached]

# --8<-- [start:flag]
net = torch.nn.Linear(3, 2)
guess = net(torch.ones(4, 3)).argmax(1).float()
loss = (guess - 1).pow(2).mean()
loss.requires_grad_(True)
loss.backward()
print(loss.grad, net.weight.grad)
# --8<-- [end:flag]

# --8<-- [start:flag-why]
print(why_no_grad(net.weight, loss, net))
# --8<-- [end:flag-why]

# --8<-- [start:logits]
scores = net(torch.ones(4, 3))
torch.nn.functional.cross_entropy(scores, torch.ones(4).long()).backward()
print(net.weight.grad.shape)
# --8<-- [end:logits]


# --8<-- [start:branches]
def forward(x):
    if x.sum() > 0:
        return (x * 3).sum()
    return x.exp().sum()


# --8<-- [end:branches]

# --8<-- [start:names]
for values in [1.0, 2.0], [1.0, -2.0]:
    x = torch.tensor(values, requires_grad=True)
    print(trace(forward(x), {"x": x}).nodes)
# --8<-- [end:names]

# --8<-- [start:new]
first, second = trace(forward(x)), trace(forward(x))
for one, other in zip(first.nodes, second.nodes):
    print(one.name, one.fn is other.fn)
# --8<-- [end:new]

try:
    # --8<-- [start:in-place]
    layer = torch.nn.Linear(3, 2)
    layer.weight.zero_()
    # --8<-- [end:in-place]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:update]
torch.nn.init.ones_(layer.weight)
print(layer.weight.is_leaf, layer.weight.grad_fn)
layer(data).sum().backward()
torch.optim.SGD(layer.parameters(), lr=1.0).step()
print(layer.weight.is_leaf, layer.weight.grad_fn)
print(layer.weight)
# --8<-- [end:update]

# --8<-- [start:init-detach]
layer = torch.nn.Linear(3, 2)
layer.weight.detach().zero_()
layer(torch.ones(4, 3)).sum().backward()
print(layer.weight.requires_grad, layer.weight.is_leaf, layer.weight.grad)
# --8<-- [end:init-detach]

# --8<-- [start:alive]
import weakref


def record():
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    return weakref.ref(leaf), (leaf * 2).sum()


leaf, loss = record()
print(leaf())
# --8<-- [end:alive]

# --8<-- [start:gone]
loss.backward()
print(leaf().grad)
del loss
print(leaf())
# --8<-- [end:gone]

# --8<-- [start:exercise-where]
x = torch.tensor([0.25, 1.5, 0.75], requires_grad=True)
total = torch.where(x > 1, x, 0.0).sum()
print(trace(total, {"x": x}).nodes)
total.backward()
print(x.grad)
# --8<-- [end:exercise-where]

# --8<-- [start:exercise-branch]
a = torch.tensor(1.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
result = a * 2 if a > 0 else b * 2
result.backward()
print(a.grad, b.grad, why_no_grad(b, result).cause)
# --8<-- [end:exercise-branch]

# --8<-- [start:exercise-init]
from gradfn_tutorial import record_backward

net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
for parameter in net.parameters():
    torch.nn.init.zeros_(parameter)
for row in record_backward(net(data).sum(), net, keep="statistics").rows:
    if row.accumulated:
        print(row.node.label, row.accumulated.added)
# --8<-- [end:exercise-init]
