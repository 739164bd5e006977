# --8<-- [start:forward]
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x**2
z = 3 * y
print(z)
# --8<-- [end:forward]

# --8<-- [start:before]
print("x:", x.grad_fn, x.grad)
print("y:", y.grad_fn)
print("z:", z.grad_fn)
# --8<-- [end:before]

# --8<-- [start:trace]
from gradfn_tutorial import explain, trace

names = {"x": x, "y": y, "z": z}
before = trace(z, names)
print(before.to_text())
# --8<-- [end:trace]

# --8<-- [start:by-hand]
with torch.no_grad():
    at_y, _ = z.grad_fn(torch.tensor(1.0))
    at_x = y.grad_fn(at_y)
print(at_y, at_x)
print(x.grad)
# --8<-- [end:by-hand]

# --8<-- [start:backward]
z.backward()
print(x.grad)
# --8<-- [end:backward]

# --8<-- [start:after]
after = trace(z, names)
print([node.fn for node in after.nodes] == [node.fn for node in before.nodes])
print(explain(x))
# --8<-- [end:after]

# --8<-- [start:non-leaf]
print(y.grad)
# --8<-- [end:non-leaf]

# --8<-- [start:no-record]
constant = torch.ones(2) + 1
with torch.no_grad():
    unrecorded = x * 2
recorded = x * 2
print("constant:", constant.grad_fn)
print("unrecorded:", unrecorded.grad_fn)
print("recorded:", recorded.grad_fn)
# --8<-- [end:no-record]

# --8<-- [start:types]
from torch.autograd import Function
from torch.autograd.graph import Node

print(isinstance(z.grad_fn, Node), isinstance(z.grad_fn, Function))
print(type(x.grad), x.grad.grad_fn)
# --8<-- [end:types]

# --8<-- [start:exercise-sum]
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = torch.sum(x)
z = y * 2
z.backward()
print(x.grad_fn, y.grad_fn.name(), z.grad_fn.name())
print(x.grad)
# --8<-- [end:exercise-sum]

# --8<-- [start:exercise-update]
w = torch.tensor(1.0, requires_grad=True)
(w * 4).backward()
torch.optim.SGD([w], lr=0.25).step()
print(w, w.grad_fn, w.grad)
# --8<-- [end:exercise-update]
