# --8<-- [start:layers]
import torch
from torch import nn
from gradfn_tutorial import trace
from gradfn_tutorial.models import ConvNet

model = ConvNet()
loss = model(torch.randn(1, 3, 32, 32)).sum()
graph = trace(loss, model)
print(graph.layer("conv1"))
print(graph.layers(nn.Conv2d))
# --8<-- [end:layers]

# --8<-- [start:by-hand]
conv = nn.Conv2d(3, 4, 3)
out = conv(torch.randn(1, 3, 8, 8))
loss = out.relu().sum()
node = loss.grad_fn.next_functions[0][0].next_functions[0][0]
print(node is out.grad_fn)
print(node.next_functions[1][0].variable is conv.weight)
# --8<-- [end:by-hand]

# --8<-- [start:digit]
x = torch.ones(3, requires_grad=True)
for result in x.sum(), x.sum(0), x**2, x**x, 2**x:
    print(result.grad_fn.name())
# --8<-- [end:digit]


# --8<-- [start:custom]
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


doubled = Double.apply(x)
print(doubled.grad_fn.name())
# --8<-- [end:custom]

# --8<-- [start:special]
y = x.clone()
part = y[:2]
part.mul_(10)
for tensor in y, part, x // 2:
    print(type(tensor.grad_fn).__name__)
# --8<-- [end:special]

# --8<-- [start:wrappers]
conv1d = nn.Conv1d(4, 2, 3)
out = conv1d(torch.randn(4, 8, requires_grad=True))
node = out.grad_fn
while node.next_functions:
    print(type(node).__name__)
    node = node.next_functions[0][0]
print(trace(out, conv1d).layers(nn.Conv1d))
# --8<-- [end:wrappers]

# --8<-- [start:saved]
node = (x**2).grad_fn
print([name for name in dir(node) if name.startswith("_saved_")])
print([name for name in dir(node) if name.startswith("_raw_saved_")])
print((x * 2).grad_fn._saved_self)
# --8<-- [end:saved]
