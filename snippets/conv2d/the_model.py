# --8<-- [start:shapes]
import torch
from torch import nn

from gradfn_tutorial.models import ConvNet

torch.manual_seed(0)
model, pool = ConvNet(), nn.MaxPool2d(kernel_size=2)
x = image = torch.randn(1, 3, 32, 32)
for step in (model.conv1, pool, model.conv2, pool):
    x = step(x)
    print(tuple(x.shape))
# --8<-- [end:shapes]

# --8<-- [start:forward]
target = torch.randn(1, 10)
output = model(image)
loss = nn.MSELoss()(output, target)
print(tuple(output.shape), loss.grad_fn)
# --8<-- [end:forward]


# --8<-- [start:walk]
def nodes_behind(root):
    found, seen = [root], {root}
    for node in found:
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                found.append(below)
    return found


walked = nodes_behind(loss.grad_fn)
print(len(walked), "nodes, conv1.weight.grad is", model.conv1.weight.grad)
# --8<-- [end:walk]

# --8<-- [start:names]
from collections import Counter

names = Counter(node.name().split("::")[-1] for node in walked)
for name, count in sorted(names.items()):
    print(count, name)
# --8<-- [end:names]

# --8<-- [start:before]
from gradfn_tutorial import trace

before = trace(loss, model)
print(before.to_text())
# --8<-- [end:before]

# --8<-- [start:after]
loss.backward()
print("same nodes:", nodes_behind(loss.grad_fn) == walked)
after = trace(loss, model)
print("same names:", [node.name for node in after.nodes] == [node.name for node in before.nodes])
print(tuple(model.conv1.weight.grad.shape))
# --8<-- [end:after]

# --8<-- [start:slots]
counts = {(node.name().split("::")[-1], len(node.next_functions)) for node in walked}
for name, slots in sorted(counts):
    print(slots, name)
# --8<-- [end:slots]

# --8<-- [start:which-slot]
print(loss.grad_fn.next_functions)
fc3 = loss.grad_fn.next_functions[0][0]
bias, relu, transpose = (node for node, _ in fc3.next_functions)
print(bias.variable is model.fc3.bias, relu.name(), transpose.name())
print(transpose.next_functions[0][0].variable is model.fc3.weight)
# --8<-- [end:which-slot]

# --8<-- [start:no-bias]
conv = nn.Conv2d(3, 16, kernel_size=3, bias=False)
print([node and node.name() for node, _ in conv(image).grad_fn.next_functions])
# --8<-- [end:no-bias]

# --8<-- [start:pool]
features = model.conv1(image)
values = nn.MaxPool2d(2)(features)
values_too, indices = nn.MaxPool2d(2, return_indices=True)(features)
print("values alone:", values.grad_fn.name())
print("values and indices:", values_too.grad_fn.name(), indices.grad_fn)
# --8<-- [end:pool]

# --8<-- [start:last-operation]
print(conv(image).grad_fn.name(), conv(image[0]).grad_fn.name())
print(nn.AdaptiveAvgPool2d(1)(features).grad_fn.name())
print(nn.Linear(5, 4)(torch.ones(5)).grad_fn.name())
# --8<-- [end:last-operation]

# --8<-- [start:ask]
print(after.layers(nn.Conv2d))
print(after.layer("fc3"))
# --8<-- [end:ask]

# --8<-- [start:digit]
v = torch.ones(2, requires_grad=True)
for result in (v.mean(), v.mean(0), v**2, v**v, 2**v):
    print(result.grad_fn.name())
# --8<-- [end:digit]


# --8<-- [start:labels]
def labels(named_tensors):
    names = {id(tensor): name for name, tensor in named_tensors.items()}
    leaves = [node.variable for node in walked if hasattr(node, "variable")]
    return [names.get(id(leaf)) for leaf in leaves]


print("named_parameters:", labels(dict(model.named_parameters()))[:3])
print("state_dict:", labels(model.state_dict())[:3])
# --8<-- [end:labels]

try:
    # --8<-- [start:no-grad-fn]
    model.grad_fn
    # --8<-- [end:no-grad-fn]
except AttributeError as error:
    print(f"AttributeError: {error}")

# --8<-- [start:exercise-batch]
batch_loss = nn.MSELoss()(model(torch.randn(8, 3, 32, 32)), torch.randn(8, 10))
print(len(nodes_behind(batch_loss.grad_fn)))
# --8<-- [end:exercise-batch]

# --8<-- [start:exercise-size]
print(tuple(model(torch.randn(36, 3, 28, 28)).shape))
print(tuple(torch.randn(36, 32, 5, 5).flatten(1).shape))
# --8<-- [end:exercise-size]

# --8<-- [start:exercise-frozen]
model.conv1.requires_grad_(False)
frozen = trace(nn.MSELoss()(model(image), target), model)
print(len(frozen))
print(frozen.layer("conv2")[0].inputs[0])
# --8<-- [end:exercise-frozen]
