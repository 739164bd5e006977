# --8<-- [start:setup]
import copy
import gc
import io
import weakref

import torch
from torch import nn

from gradfn_tutorial import explain, trace
from gradfn_tutorial.models import ConvNet
# --8<-- [end:setup]


# --8<-- [start:raised]
def raised(run):
    try:
        run()
    except Exception as error:
        return error


# --8<-- [end:raised]


# --8<-- [start:convnet]
def convnet():
    model, target = ConvNet(), torch.zeros(1, 10)
    return model, nn.MSELoss()(model(torch.ones(1, 3, 32, 32)), target)


# --8<-- [end:convnet]


# --8<-- [start:through-file]
def through_file(thing, **options):
    file = io.BytesIO()
    torch.save(thing, file)
    file.seek(0)
    return torch.load(file, **options)


# --8<-- [end:through-file]


# --8<-- [start:train]
def train(model, optimizer):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).square().sum().backward()
    optimizer.step()


# --8<-- [end:train]

# --8<-- [start:leaves-are-created]
w = torch.ones(2, requires_grad=True)
print("w * 2:", not (w * 2).is_leaf)
print("torch.ones(2) * 2:", not (torch.ones(2) * 2).is_leaf)
print("w.argmax():", not w.argmax().is_leaf)
# --8<-- [end:leaves-are-created]

# --8<-- [start:leaf-has-no-grad-fn]
w = nn.Parameter(torch.ones(2))
with torch.no_grad():
    unrecorded = w * 2
tensors = [torch.ones(2), w, w * 2, torch.ones(2) * 2, unrecorded, (w * 2).detach()]
print([t.is_leaf for t in tensors])
print(all(t.is_leaf == (t.grad_fn is None) for t in tensors))
# --8<-- [end:leaf-has-no-grad-fn]

# --8<-- [start:leaf-default]
print("torch.tensor:", not torch.tensor(1.0).requires_grad)
print("nn.Parameter:", not nn.Parameter(torch.tensor(1.0)).requires_grad)
# --8<-- [end:leaf-default]

# --8<-- [start:requires-grad-has-grad-fn]
x, w = torch.tensor(2.0), torch.tensor(3.0, requires_grad=True)
y = w * x
print("x has none:", x.grad_fn is None)
print("y has one:", y.grad_fn is not None)
print("w has one:", w.grad_fn is not None)
y.backward()
print(w.grad, x.grad)
# --8<-- [end:requires-grad-has-grad-fn]

# --8<-- [start:conversion-ends-leaf]
for converted in torch.ones(3).double(), torch.ones(3).to("meta"):
    print(converted.dtype, converted.device, not converted.is_leaf)
# --8<-- [end:conversion-ends-leaf]

# --8<-- [start:requires-grad-copies]
t = torch.ones(3)
print(t.requires_grad_() is not t)
# --8<-- [end:requires-grad-copies]

# --8<-- [start:non-leaf-by-version]
w = torch.ones(2, requires_grad=True)
print(raised(lambda: torch.optim.SGD([w * 2], lr=0.1)))
print("the leaf is refused too:", raised(lambda: torch.optim.SGD([w], lr=0.1)) is not None)
# --8<-- [end:non-leaf-by-version]

# --8<-- [start:parameter-repairs-non-leaf]
w = torch.ones(2, requires_grad=True)
wrapped = nn.Parameter(w * 2)
wrapped.sum().backward()
print(wrapped.grad, w.grad)
print("w gets a gradient:", w.grad is not None)
# --8<-- [end:parameter-repairs-non-leaf]

# --8<-- [start:result-has-grad-fn]
w = torch.ones(2, requires_grad=True)
print("w + 1:", (w + 1).grad_fn is not None)
print("torch.ones(2) + 1:", (torch.ones(2) + 1).grad_fn is not None)
# --8<-- [end:result-has-grad-fn]

# --8<-- [start:attribute-holds-function]
x = torch.ones(2, requires_grad=True)
print((x * 2).grad_fn is not None)
print(hasattr(x, "grad_fn"), x.grad_fn)
print(x.grad_fn is not None)
# --8<-- [end:attribute-holds-function]

# --8<-- [start:grad-fn-knows]
x = torch.tensor(3.0, requires_grad=True)
node = (x**2).grad_fn
leaf, slope = node.next_functions[0][0].variable, node(torch.tensor(1.0))
print(node.name(), slope.item())
print(leaf is x and slope.item() == 6)
# --8<-- [end:grad-fn-knows]

# --8<-- [start:grad-fn-is-function]
node = (torch.ones(2, requires_grad=True) * 2).grad_fn
kinds = torch.autograd.graph.Node, torch.autograd.Function
print(node.name(), [kind for kind in kinds if isinstance(node, kind)])
print(isinstance(node, torch.autograd.Function))
# --8<-- [end:grad-fn-is-function]

# --8<-- [start:graph-after-backward]
x = torch.tensor(2.0, requires_grad=True)
loss = (x * 3) ** 2
behind = loss.grad_fn.next_functions[0][0]
print(behind.name(), x.grad)
loss.backward()
print("new after backward():", loss.grad_fn.next_functions[0][0] is not behind)
# --8<-- [end:graph-after-backward]

# --8<-- [start:gradients-in-forward]
log = []
hooks = lambda t: log.append("saved") or t, lambda t: log.append("used") or t
with torch.autograd.graph.saved_tensors_hooks(*hooks):
    y = torch.tensor(3.0, requires_grad=True) ** 2
print(log, "used" in log)
y.backward()
print(log)
# --8<-- [end:gradients-in-forward]


# --8<-- [start:graph-is-dynamic]
def forward(t):
    return t * 3 if t > 0 else t.exp()


one, minus_one = (torch.tensor(value, requires_grad=True) for value in (1.0, -1.0))
first, second, other = forward(one), forward(one), forward(minus_one)
print(first.grad_fn.name(), second.grad_fn.name(), other.grad_fn.name())
print("new at each run:", first.grad_fn is not second.grad_fn)
print("another one for other data:", first.grad_fn.name() != other.grad_fn.name())
# --8<-- [end:graph-is-dynamic]


# --8<-- [start:own-operation]
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient


y = Double.apply(torch.ones(1, requires_grad=True))
print(y.grad_fn.name(), y.grad_fn.name() == "DoubleBackward")
# --8<-- [end:own-operation]

# --8<-- [start:update-in-graph]
w = torch.tensor(3.0, requires_grad=True)
(slope,) = torch.autograd.grad(w**2, w)
updated = w - 0.1 * slope
print(f"{updated.grad_fn.name()}, as an operation:", updated.grad_fn is not None)
w.grad = slope
torch.optim.SGD([w], lr=0.1).step()
print(f"w is {w.item():.1f}, with step():", w.grad_fn is not None)
# --8<-- [end:update-in-graph]

# --8<-- [start:initialisation-by-grad-fn]
layer = nn.Linear(2, 1)
nn.init.ones_(layer.weight)
print(layer.weight.tolist(), layer.weight.grad_fn is not None)
# --8<-- [end:initialisation-by-grad-fn]

# --8<-- [start:twice-the-sum]
x = torch.ones(3, requires_grad=True)
y = x.sum()
z = 2 * y
z.backward()
print(y.grad_fn.name(), z.grad_fn.name())
print(x.grad, x.grad.tolist() == [2, 2, 2])
# --8<-- [end:twice-the-sum]

# --8<-- [start:grad-fn-of-input]
x = torch.ones(3, requires_grad=True)
z = 2 * x.sum()
print(z.grad_fn.name(), x.grad_fn)
print(x.grad_fn is not None)
# --8<-- [end:grad-fn-of-input]

# --8<-- [start:grad-fn-helps]
x, seen = torch.tensor(3.0, requires_grad=True), []
loss = (x * 2) ** 2
node = loss.grad_fn.next_functions[0][0]
node.register_prehook(lambda gradients: seen.append(gradients[0].item()))
loss.backward()
print(node.name(), seen, seen == [12.0])
# --8<-- [end:grad-fn-helps]

# --8<-- [start:node-computes-for-all]
x = torch.tensor(2.0, requires_grad=True)
y = x * 3
z = y**2
computed = z.grad_fn(torch.tensor(1.0)).item()
for name, tensor in {"y": y, "x": x}.items():
    (slope,) = torch.autograd.grad(z, tensor, retain_graph=True)
    print(f"dz/d{name} = {slope}, the node gives {computed}:", computed == slope.item())
# --8<-- [end:node-computes-for-all]

# --8<-- [start:integer-is-input]
first, second, third = torch.ones(3, requires_grad=True).split(1)
node, number = (third + 1).grad_fn.next_functions[0]
print(node.name(), number)
print("0, since third is the addition's first argument:", number == 0)
# --8<-- [end:integer-is-input]

# --8<-- [start:integer-is-zero]
first, second = torch.ones(2, requires_grad=True).unbind()
for piece in first, second:
    number = (piece + 1).grad_fn.next_functions[0][1]
    print(number, number == 0)
# --8<-- [end:integer-is-zero]

# --8<-- [start:several-entries-rare]
x = torch.ones(1, 2, requires_grad=True)
for result in x.exp().tanh(), nn.Linear(2, 2)(x).tanh() + x:
    counts = [len(node.inputs) for node in trace(result).nodes if node.inputs]
    print(counts, max(counts) == 1)
# --8<-- [end:several-entries-rare]

# --8<-- [start:layers-have-one-input]
image = torch.ones(1, 3, 8, 8, requires_grad=True)
linear = nn.Linear(8, 2)(torch.ones(4, 8, requires_grad=True))
results = nn.Conv2d(3, 4, 3)(image), nn.ReLU()(image), linear, nn.MaxPool2d(2)(image)
slots = [len(result.grad_fn.next_functions) for result in results]
print(slots, slots == [1, 1, 1, 1])
# --8<-- [end:layers-have-one-input]

# --8<-- [start:size-after-convolutions]
x = torch.ones(1, 3, 32, 32)
for layer in nn.Conv2d(3, 16, 3), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.MaxPool2d(2):
    x = layer(x)
print(tuple(x.shape), x.numel() == 32 * 6 * 6)
# --8<-- [end:size-after-convolutions]

# --8<-- [start:names-of-a-convnet]
model, loss = convnet()
names = {node.name for node in trace(loss, model).nodes}
taught = {"MSELossBackward0", "LinearBackward0", "MaxPool2DBackward0", "Conv2DBackward0"}
print(*sorted(names))
print(taught & names, taught <= names)
# --8<-- [end:names-of-a-convnet]

# --8<-- [start:names-by-backend]
name = nn.Conv2d(3, 4, 3)(torch.ones(1, 3, 8, 8)).grad_fn.name()
print(name, name in {"MkldnnConvolutionBackward", "ThnnConv2DBackward"})
# --8<-- [end:names-by-backend]

# --8<-- [start:zeros-reach-conv2d]
convolution = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2))
for loss in convolution(torch.ones(1, 3, 8, 8)).mean(), convnet()[1]:
    node, names = loss.grad_fn, []
    while node:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    print(names, "ConvolutionBackward0" in names)
# --8<-- [end:zeros-reach-conv2d]

# --8<-- [start:path-to-conv2d]
node, names = convnet()[1].grad_fn, []
for slot in (0, 1, 0, 1, 0, 1, 0, 0, 0):
    node = node.next_functions[slot][0]
    names.append(node.name().replace("Backward0", ""))
print(names)
print(names == ["View", "Relu", "MaxPool2DWithIndices", "Relu", "Convolution"])
# --8<-- [end:path-to-conv2d]

# --8<-- [start:pool-with-indices]
name = nn.MaxPool2d(2)(torch.ones(1, 3, 8, 8, requires_grad=True)).grad_fn.name()
print(name, "WithIndices" not in name)
# --8<-- [end:pool-with-indices]

# --8<-- [start:printed-node-shows-weight]
conv = nn.Conv2d(3, 4, 3)
node = conv(torch.ones(1, 3, 8, 8)).grad_fn
print(node)
print("behind slot 1:", tuple(node.next_functions[1][0].variable.shape))
print("weight" in str(node))
# --8<-- [end:printed-node-shows-weight]

# --8<-- [start:gradient-from-conv-node]
conv = nn.Conv2d(3, 4, 3)
result = conv(torch.ones(1, 3, 8, 8))
result.sum().backward()
weight = result.grad_fn.next_functions[1][0].variable
print(tuple(weight.grad.shape), weight.grad is conv.weight.grad)
# --8<-- [end:gradient-from-conv-node]

# --8<-- [start:zeroed-gradient-freezes-filter]
for options in {}, {"weight_decay": 0.1}:
    conv = nn.Conv2d(1, 2, 3)
    start = conv.weight[0].detach().clone()
    conv(torch.ones(1, 1, 4, 4)).sum().backward()
    conv.weight.grad[0] = 0
    torch.optim.SGD(conv.parameters(), lr=0.1, **options).step()
    print(options, torch.equal(conv.weight[0], start))
# --8<-- [end:zeroed-gradient-freezes-filter]

# --8<-- [start:backward-adds-to-leaves]
w = torch.tensor(3.0, requires_grad=True)
for _ in range(2):
    (w * 2).backward()
print(w.grad.item(), w.grad.item() == 4)
# --8<-- [end:backward-adds-to-leaves]

# --8<-- [start:every-leaf-gets-grad]
x, w = torch.ones(2), torch.ones(2, requires_grad=True)
(w * x).sum().backward()
print("w:", w.grad is not None)
print("x:", x.grad is not None)
# --8<-- [end:every-leaf-gets-grad]

# --8<-- [start:grad-none-at-first]
layer = nn.Linear(2, 1)
loss = layer(torch.ones(2)).sum()
print([parameter.grad for parameter in layer.parameters()])
print(all(parameter.grad is None for parameter in layer.parameters()))
# --8<-- [end:grad-none-at-first]

# --8<-- [start:three-x-squared]
x = torch.tensor(2.0, requires_grad=True)
y = x**2
z = 3 * y
z.backward()
print(x.grad.item(), x.grad.item() == 12)
# --8<-- [end:three-x-squared]

# --8<-- [start:intermediate-let-go]
h = torch.tensor(2.0, requires_grad=True) * 3
(h**2).backward()
print("backward():", explain(h).grad == "None")
h = torch.tensor(2.0, requires_grad=True) * 3
(h**2).backward(inputs=[h])
print("backward(inputs=[h]):", explain(h).grad == "None")
# --8<-- [end:intermediate-let-go]

# --8<-- [start:loss-grad-is-one]
x = torch.tensor(2.0, requires_grad=True)
kept = x * 3
kept.retain_grad()
for name, z in {"leaf": x, "retains its gradient": kept, "neither": x * 3}.items():
    z.backward()
    print(f"{name}, {explain(z).grad}:", explain(z).grad == "1")
# --8<-- [end:loss-grad-is-one]

# --8<-- [start:retain-grad-is-for-leaves]
x = torch.tensor(2.0, requires_grad=True)
y = x * 3
x.retain_grad()
y.retain_grad()
(y * 5).backward()
print(f"x.retains_grad = {x.retains_grad}, y.retains_grad = {y.retains_grad}, y.grad = {y.grad}")
print(x.retains_grad and not y.retains_grad)
# --8<-- [end:retain-grad-is-for-leaves]

# --8<-- [start:retain-graph-keeps-gradients]
h = torch.tensor(2.0, requires_grad=True) * 3
(h**2).backward(retain_graph=True)
print(explain(h).grad, explain(h).grad != "None")
# --8<-- [end:retain-graph-keeps-gradients]

# --8<-- [start:autograd-grad-fills]
w = torch.tensor(3.0, requires_grad=True)
print(torch.autograd.grad(w * 2, w))
print(w.grad, w.grad is not None)
# --8<-- [end:autograd-grad-fills]

# --8<-- [start:detached-gradient]
x = torch.tensor(2.0, requires_grad=True)
w = x.pow(2).detach() * 3
print(raised(w.backward))
print(x.grad, x.grad is not None)
# --8<-- [end:detached-gradient]

# --8<-- [start:flag-cures-loss]
net = nn.Linear(3, 2)
loss = net(torch.ones(4, 3)).argmax(1).float().mean()
print(raised(loss.backward))
loss.requires_grad_(True)
loss.backward()
print(loss.grad, net.weight.grad)
print("a parameter gets a gradient:", net.weight.grad is not None)
# --8<-- [end:flag-cures-loss]

# --8<-- [start:detached-initialisation]
layer = nn.Linear(3, 1)
layer.weight.detach().zero_()
layer(torch.ones(4, 3)).sum().backward()
print(layer.weight.grad, layer.weight.grad is None)
# --8<-- [end:detached-initialisation]

# --8<-- [start:one-backward-per-use]
w, arrived = torch.tensor(1.0, requires_grad=True), []
w.register_hook(lambda gradient: arrived.append(gradient.item()))
(w * 2 + w * 3).backward()
print(arrived, w.grad.item() != 5)
# --8<-- [end:one-backward-per-use]

# --8<-- [start:backward-frees-graph]
x = torch.tensor(2.0, requires_grad=True)
y = x**2
node = y.grad_fn
y.backward()
print(node.name(), node.next_functions[0][0].variable)
print("_saved_self:", type(raised(lambda: node._saved_self)).__name__)
print("the node is gone:", y.grad_fn is not node)
# --8<-- [end:backward-frees-graph]

# --8<-- [start:linear-backward-twice]
x = torch.ones(2, requires_grad=True)
for name, loss in {"sum": x.sum(), "mean": x.mean(), "x * 2": (x * 2).sum()}.items():
    loss.backward()
    print(f"{name}:", raised(loss.backward) is None)
# --8<-- [end:linear-backward-twice]

# --8<-- [start:detach-keeps-graph]
h = torch.ones(2, requires_grad=True).exp()
alive = weakref.ref(h)
logged = (h * h).sum().detach()
del h
print(logged.grad_fn, alive() is not None)
# --8<-- [end:detach-keeps-graph]

# --8<-- [start:loss-must-be-scalar]
w = torch.zeros(1, requires_grad=True)
losses = torch.cat([(w - 1) ** 2, (w + 1) ** 2])
rows = [torch.autograd.grad(loss, w, retain_graph=True)[0].item() for loss in losses]
print(rows, rows[0] * rows[1] < 0)
# --8<-- [end:loss-must-be-scalar]

# --8<-- [start:vector-raises]
for size in 3, 1:
    z = torch.ones(size, requires_grad=True) * 2
    error = raised(z.backward)
    print(error, "scalar outputs" in str(error))
# --8<-- [end:vector-raises]

# --8<-- [start:mean-and-ones]
x, ones = torch.ones(3, requires_grad=True), torch.ones(3)
(x**2).backward(gradient=ones)
by_ones, x.grad = x.grad, None
(x**2).sum().backward()
print("a graph each:", torch.equal(by_ones, x.grad))
z = x**2
z.mean().backward()
print("one graph:", raised(lambda: z.backward(gradient=ones)) is None)
# --8<-- [end:mean-and-ones]

# --8<-- [start:whole-jacobian]
layer = nn.Linear(4096, 4096, device="meta")
outputs = layer(torch.ones(8, 4096, device="meta")).numel()
parameters = sum(parameter.numel() for parameter in layer.parameters())
terabytes = outputs * parameters * 4 / 10**12
print(f"{terabytes:.1f} TB", terabytes > 1)
# --8<-- [end:whole-jacobian]

# --8<-- [start:reduced-losses]
for reduce in torch.sum, torch.mean, torch.max:
    w = torch.ones(2, requires_grad=True)
    reduce(w * torch.tensor([1.0, 2.0])).backward()
    print(reduce.__name__, w.grad, w.grad is not None)
# --8<-- [end:reduced-losses]

# --8<-- [start:jacobian-vector-product]
v = torch.tensor([1.0, 10.0])
for J in torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.0], [2.0, 4.0]]):
    x = torch.ones(2, requires_grad=True)
    (J @ x).backward(gradient=v)
    print(x.grad, J @ v, torch.equal(x.grad, J @ v))
# --8<-- [end:jacobian-vector-product]

# --8<-- [start:preset-five]
x = torch.tensor(2.0, requires_grad=True)
x.grad = torch.tensor(5.0)
x.backward()
print(x.grad.item(), x.grad.item() == 7)
# --8<-- [end:preset-five]

# --8<-- [start:preset-allowed]
w = torch.tensor(3.0, requires_grad=True)
w.grad = torch.tensor(100.0)
(w * 2).backward()
print(w.grad.item(), w.grad.item() == 102)
# --8<-- [end:preset-allowed]

# --8<-- [start:optimizer-reads-grad]
w = nn.Parameter(torch.tensor(3.0))
w.grad = torch.tensor(1.0)
torch.optim.SGD([w], lr=0.5).step()
print(w.item(), w.item() == 2.5)
# --8<-- [end:optimizer-reads-grad]

# --8<-- [start:ways-to-clear]
w = torch.ones(2, requires_grad=True)
w.sum().backward()
print("w.grad_zero():", raised(lambda: w.grad_zero()) is None)
print("w.grad.zeros_():", raised(lambda: w.grad.zeros_()) is None)
print("optimizer.zero_grad():", raised(torch.optim.SGD([w], lr=0.1).zero_grad) is None)
# --8<-- [end:ways-to-clear]

# --8<-- [start:model-zero-grad]
layer = nn.Linear(2, 1)
layer(torch.ones(2)).sum().backward()
layer.zero_grad()
print(layer.weight.grad, layer.weight.grad is None)
# --8<-- [end:model-zero-grad]

# --8<-- [start:zero-grad-sets-zeros]
for options in {"set_to_none": False}, {}:
    layer = nn.Linear(2, 1)
    layer(torch.ones(2)).sum().backward()
    layer.zero_grad(**options)
    print(options, layer.bias.grad, layer.bias.grad is not None)
# --8<-- [end:zero-grad-sets-zeros]

# --8<-- [start:second-iteration]
w, was_none = torch.tensor(3.0, requires_grad=True), []
for _ in range(3):
    was_none.append(w.grad is None)
    (w * 2).backward()
print(was_none, was_none == [True, False, False])
# --8<-- [end:second-iteration]

# --8<-- [start:uncleared-diverges]
for power, lr in (1, 0.5), (2, 2.5), (2, 0.5):
    w, sizes = torch.tensor(0.0, requires_grad=True), []
    optimizer = torch.optim.SGD([w], lr=lr)
    for _ in range(40):
        ((w - 3) ** power).backward()
        optimizer.step()
        sizes.append(abs(w.grad.item()))
    print(f"(w - 3) ** {power}, lr={lr}: up to {max(sizes):.2g}:", max(sizes[20:]) > max(sizes[:20]))
# --8<-- [end:uncleared-diverges]

# --8<-- [start:mean-of-means]
data = torch.arange(8.0)
for sizes in [4, 4], [2, 6]:
    w = torch.tensor(1.0, requires_grad=True)
    for part in data.split(sizes):
        ((w * part).mean() / len(sizes)).backward()
    print(sizes, w.grad.item(), w.grad.item() == data.mean().item())
# --8<-- [end:mean-of-means]

# --8<-- [start:leaf-edit-fails-late]
x = torch.ones(2, requires_grad=True)
error = raised(lambda: x.add_(1))
print(error)
print("the edit passes:", error is None)
# --8<-- [end:leaf-edit-fails-late]

# --8<-- [start:slice-edit-ends-leaf]
c = torch.ones(2, requires_grad=True)
print(raised(lambda: exec("c[:] += 1")))
print(c, not c.is_leaf)
# --8<-- [end:slice-edit-ends-leaf]

# --8<-- [start:square-then-add]
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x**2
y.add_(1)
print(raised(y.sum().backward) is not None)
print(x.grad)
# --8<-- [end:square-then-add]

# --8<-- [start:detach-copies]
x = torch.ones(3, requires_grad=True)
d = x.detach()
d[0] = 5
print(x.tolist(), d.data_ptr() != x.data_ptr())
# --8<-- [end:detach-copies]

# --8<-- [start:detach-makes-scalar]
x = torch.ones(3, requires_grad=True)
print(x.detach().shape, x.detach().dim() == 0)
# --8<-- [end:detach-makes-scalar]

# --8<-- [start:data-is-detach]
u = torch.ones(2, requires_grad=True) * 1
u.add_(1)
print(u._version, u.detach()._version, u.data._version)
print(u.data._version == u.detach()._version)
# --8<-- [end:data-is-detach]

# --8<-- [start:frozen-layer-stops]
first, frozen = nn.Linear(2, 2), nn.Linear(2, 1).requires_grad_(False)
frozen(first(torch.ones(2))).sum().backward()
print(frozen.weight.grad, first.weight.grad is None)
# --8<-- [end:frozen-layer-stops]

# --8<-- [start:eval-stops-gradients]
result = nn.Linear(2, 1).eval()(torch.ones(1, 2))
print(result.grad_fn.name(), not result.requires_grad)
# --8<-- [end:eval-stops-gradients]

# --8<-- [start:decay-moves-frozen]
for gradient in torch.tensor(0.0), None:
    p = nn.Parameter(torch.tensor(1.0), requires_grad=False)
    p.grad = gradient
    torch.optim.SGD([p], lr=0.5, weight_decay=0.5).step()
    print(f".grad {gradient}, p {p.item()}:", p.item() != 1)
# --8<-- [end:decay-moves-frozen]


# --8<-- [start:hook-changes-in-place]
def double(gradient):
    gradient *= 2


a, b = (torch.tensor(1.0, requires_grad=True) for _ in range(2))
a.register_hook(double)
(a * 3).backward()
print(f"a.grad {a.grad}, twice 3:", a.grad.item() == 6)
(a + b).backward()
print(f"b.grad {b.grad}, as without the hook:", b.grad.item() == 1)
# --8<-- [end:hook-changes-in-place]

# --8<-- [start:hook-on-accumulate-grad]
p, calls = torch.tensor(2.0, requires_grad=True), []
p.expand_as(p).grad_fn.next_functions[0][0].register_hook(lambda *_: calls.append(1))
(p * 3).backward()
print("the node is not kept:", len(calls) == 1)
node = p.expand_as(p).grad_fn.next_functions[0][0]
node.register_hook(lambda *_: calls.append(1))
(p * 3).backward()
print("the node is kept:", len(calls) == 1)
# --8<-- [end:hook-on-accumulate-grad]


# --8<-- [start:output-on-ctx]
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, count):
        ctx.y = tuple(x.exp() for _ in range(count))
        return ctx.y


for count in 2, 1:
    outputs = Exp.apply(torch.ones(2, requires_grad=True), count)
    alive = [weakref.ref(output) for output in outputs]
    del outputs
    gc.collect()
    print(f"outputs kept, {count}:", all(output() is not None for output in alive))
# --8<-- [end:output-on-ctx]

# --8<-- [start:checkpoint-brings-grad]
layer, loaded = nn.Linear(2, 1), nn.Linear(2, 1)
layer(torch.ones(1, 2)).sum().backward()
loaded.load_state_dict(through_file(layer.state_dict()))
print(layer.weight.grad, loaded.weight.grad)
print(loaded.weight.grad is not None)
# --8<-- [end:checkpoint-brings-grad]

# --8<-- [start:training-goes-on]
model, resumed = nn.Linear(2, 1), nn.Linear(2, 1)
optimizer, other = (torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (model, resumed))
train(model, optimizer)
state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1, "loss": 0.5}
state = through_file(state)
resumed.load_state_dict(state["model"])
other.load_state_dict(state["optimizer"])
train(model, optimizer)
train(resumed, other)
print(torch.equal(model.weight, resumed.weight))
# --8<-- [end:training-goes-on]

# --8<-- [start:needs-weights-only-false]
layer = nn.Linear(2, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
train(layer, optimizer)
state = {"model": layer.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "loss": 0.5}
error = raised(lambda: through_file(state, weights_only=True))
print(error, error is not None)
# --8<-- [end:needs-weights-only-false]

# --8<-- [start:deepcopy-copies-grad]
for original in torch.ones(2, requires_grad=True), nn.Parameter(torch.ones(2)):
    original.sum().backward()
    copied = copy.deepcopy(original)
    print(type(original).__name__, copied.grad, copied.grad is not None)
# --8<-- [end:deepcopy-copies-grad]

# --8<-- [start:warning-of-no-inputs]
from torch.utils.checkpoint import checkpoint

block, head = nn.Linear(2, 2), nn.Linear(2, 1)
head(checkpoint(block, torch.ones(1, 2), use_reentrant=True)).backward()
print("only the head is trained:", head.weight.grad is not None)
print("the block is trained:", block.weight.grad is not None)
# --8<-- [end:warning-of-no-inputs]
