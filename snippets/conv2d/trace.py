# --8<-- [start:model]
import torch
from torch import nn

from gradfn_tutorial import trace
from gradfn_tutorial.models import ConvNet

torch.manual_seed(0)
model = ConvNet()
image, target = torch.randn(1, 3, 32, 32), torch.randn(1, 10)
loss = nn.MSELoss()(model(image), target)
# --8<-- [end:model]

try:
    # --8<-- [start:zeros]
    node = loss.grad_fn
    while True:
        print(node.name())
        node = node.next_functions[0][0]
    # --8<-- [end:zeros]
except IndexError as error:
    print(f"IndexError: {error}")

# --8<-- [start:stranded]
print(node.variable is model.fc3.bias)
print(node.next_functions)
# --8<-- [end:stranded]


# --8<-- [start:slots]
def show(node):
    for slot, (source, _) in enumerate(node.next_functions):
        print(slot, source and source.name())


fc3_node = loss.grad_fn.next_functions[0][0]
show(fc3_node)
print(fc3_node.next_functions[2][0].next_functions[0][0].variable is model.fc3.weight)
# --8<-- [end:slots]

# --8<-- [start:before]
before = trace(loss, model)
# --8<-- [end:before]

# --8<-- [start:owned]
names = {parameter: name for name, parameter in model.named_parameters()}


def owned(node):
    sources = [source for source, _ in node.next_functions]
    return [names[source.variable] for source in sources if hasattr(source, "variable")]


print(owned(fc3_node))
# --8<-- [end:owned]

# --8<-- [start:conv2]
conv2_node = loss.grad_fn
for slot in (0, 1, 0, 1, 0, 1, 0, 0, 0):
    conv2_node = conv2_node.next_functions[slot][0]
    print(slot, conv2_node.name(), *owned(conv2_node))
# --8<-- [end:conv2]

# --8<-- [start:proof]
print(conv2_node.next_functions[1][0].variable is model.conv2.weight)
print(conv2_node.next_functions[2][0].variable is model.conv2.bias)
print(model.conv2.weight.grad)
# --8<-- [end:proof]

# --8<-- [start:conv1]
conv1_node = conv2_node
for slot in (0, 0, 0):
    conv1_node = conv1_node.next_functions[slot][0]
    print(slot, conv1_node.name(), *owned(conv1_node))
print(conv1_node.next_functions[0])
# --8<-- [end:conv1]


# --8<-- [start:users]
def users(start, parameter):
    seen, todo = {None}, [start]
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            sources = [source for source, _ in node.next_functions]
            if any(getattr(source, "variable", None) is parameter for source in sources):
                yield node
            todo += sources


# --8<-- [end:users]

# --8<-- [start:find]
print(list(users(loss.grad_fn, model.conv2.weight)) == [conv2_node])
print(list(users(loss.grad_fn, model.conv1.weight)) == [conv1_node])
print([node.name() for node in users(loss.grad_fn, model.fc1.weight)])
print([node.name() for node in users(loss.grad_fn, model.fc1.bias)])
# --8<-- [end:find]

# --8<-- [start:layers]
graph = trace(loss, model)
print(graph.layers(nn.Conv2d))
print(graph.layer("conv1"))
print([node.fn for node in graph.layers(nn.Conv2d)] == [conv2_node, conv1_node])
# --8<-- [end:layers]

# --8<-- [start:path]
path = graph.path("conv2")
print(path)
print(eval(str(path)) is conv2_node)
# --8<-- [end:path]

# --8<-- [start:printed]
print(conv2_node)
print(conv2_node._saved_weight is model.conv2.weight)
# --8<-- [end:printed]

try:
    # --8<-- [start:freed]
    loss.backward()
    print(conv2_node.next_functions[1][0].variable is model.conv2.weight)
    print(conv2_node._saved_weight)
    # --8<-- [end:freed]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:after]
after = trace(conv2_node, model)
# --8<-- [end:after]

# --8<-- [start:no-bias]
pixels = torch.randn(1, 3, 8, 8)
show(nn.Conv2d(3, 4, kernel_size=3, bias=False)(pixels).grad_fn)
rows = torch.randn(2, 5, requires_grad=True)
output = nn.Linear(5, 4, bias=False)(rows)
print(output.grad_fn.name())
show(output.grad_fn)
# --8<-- [end:no-bias]

# --8<-- [start:three-dimensions]
linear = nn.Sequential(nn.Linear(5, 4))
output = linear(torch.randn(2, 7, 5))
print(trace(output, linear).nodes[:2])
print(trace(output, linear).layer("0"))
# --8<-- [end:three-dimensions]

# --8<-- [start:twice]
conv = nn.Conv2d(3, 3, kernel_size=3)
twice = nn.Sequential(conv, nn.ReLU(), conv)
print(trace(twice(pixels), twice).layer("0"))

tied = nn.Sequential(nn.Conv2d(3, 3, 3), nn.ReLU(), nn.Conv2d(3, 3, 3))
tied[2].weight = tied[0].weight
graph = trace(tied(pixels), tied)
print(graph.layers(nn.Conv2d))
print(graph.find("AccumulateGrad"))
# --8<-- [end:twice]

# --8<-- [start:residual]
convs = nn.ModuleDict({name: nn.Conv2d(3, 3, 3, padding=1) for name in ("first", "second")})
start = convs["first"](pixels)
output = start + convs["second"](torch.relu(start))
residual = trace(output, convs)
print(residual.layers(nn.Conv2d))
print(residual.path("first", root="output"))
slot_0, slot_1 = (source for source, _ in output.grad_fn.next_functions)
print(slot_0 is slot_1.next_functions[0][0].next_functions[0][0])
# --8<-- [end:residual]

# --8<-- [start:frozen]
model.conv1.requires_grad_(False)
frozen = trace(nn.MSELoss()(model(image), target), model)
print(frozen.layers(nn.Conv2d))
show(frozen.layer("conv2")[0].fn)
# --8<-- [end:frozen]

try:
    # --8<-- [start:frozen-layer]
    frozen.layer("conv1")
    # --8<-- [end:frozen-layer]
except LookupError as error:
    print(f"LookupError: {error}")

# --8<-- [start:frozen-middle]
model.conv1.requires_grad_(True)
model.conv2.requires_grad_(False)
middle = trace(nn.MSELoss()(model(image), target), model)
print(middle.layers(nn.Conv2d))
show(middle.find("Convolution")[0].fn)
# --8<-- [end:frozen-middle]

# --8<-- [start:image]
model.conv2.requires_grad_(True)
image.requires_grad_(True)
graph = trace(nn.MSELoss()(model(image), target), model)
print(graph.layer("conv1")[0].fn.next_functions[0][0].variable is image)
# --8<-- [end:image]

# --8<-- [start:exercise-fc2]
fc2_node = loss.grad_fn.next_functions[0][0].next_functions[1][0].next_functions[0][0]
print(owned(fc2_node))
print(trace(loss, model).layer("fc2")[0].fn is fc2_node)
# --8<-- [end:exercise-fc2]

# --8<-- [start:exercise-path]
path = trace(conv2_node, model).path("conv1.weight", root="conv2_node")
print(path)
print(eval(str(path)).variable is model.conv1.weight)
# --8<-- [end:exercise-path]

try:
    # --8<-- [start:exercise-updated]
    loss = nn.MSELoss()(model(image), target)
    (node,) = users(loss.grad_fn, model.conv2.weight)
    with torch.no_grad():
        model.conv2.weight -= 0.1
    print(node.next_functions[1][0].variable is model.conv2.weight)
    print(node._saved_weight)
    # --8<-- [end:exercise-updated]
except RuntimeError as error:
    print(f"RuntimeError: {error}")
