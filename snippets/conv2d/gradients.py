# --8<-- [start:model]
import torch
from torch import nn

from gradfn_tutorial import explain, trace
from gradfn_tutorial.models import ConvNet

torch.manual_seed(0)
model = ConvNet()
conv = model.conv2
image, target = torch.randn(1, 3, 32, 32), torch.randn(1, 10)
# --8<-- [end:model]

# --8<-- [start:catch]
caught = {}


def catch(layer, inputs, output):
    caught["input"], caught["output"] = inputs[0], output


with conv.register_forward_hook(catch):
    loss = nn.MSELoss()(model(image), target)
# --8<-- [end:catch]

# --8<-- [start:wrong]
loss.backward()
print(caught["output"].grad)
# --8<-- [end:wrong]

# --8<-- [start:explain]
print(explain(caught["output"]))
# --8<-- [end:explain]

# --8<-- [start:grad]
print(tuple(conv.weight.grad.shape), tuple(conv.bias.grad.shape))
# --8<-- [end:grad]

# --8<-- [start:accumulate]
(node,) = trace(loss, model).layer("conv2")
accumulate = node.fn.next_functions[1][0]
print(accumulate.variable is conv.weight, accumulate.variable.grad is conv.weight.grad)
# --8<-- [end:accumulate]

# --8<-- [start:autograd-grad]
earlier = conv.weight.grad.clone()
loss = nn.MSELoss()(model(image), target)
weight_grad, bias_grad = torch.autograd.grad(loss, (conv.weight, conv.bias))
print(torch.allclose(weight_grad, earlier, atol=1e-6))
print(torch.equal(conv.weight.grad, earlier))
# --8<-- [end:autograd-grad]


# --8<-- [start:keep]
def keep(layer, inputs, output):
    caught["input"], caught["output"] = inputs[0], output
    inputs[0].retain_grad()
    output.retain_grad()
    output.register_hook(lambda grad: caught.update(tensor_hook=grad))
    output.grad_fn.register_prehook(lambda grads: caught.update(node_prehook=grads[0]))
    output.grad_fn.register_hook(lambda grads, _: caught.update(node_hook=grads))


with conv.register_forward_hook(keep):
    loss = nn.MSELoss()(model(image), target)
# --8<-- [end:keep]

# --8<-- [start:before]
model.zero_grad()
tensors = dict(model.named_parameters())
tensors |= {"input": caught["input"], "output": caught["output"]}
before = trace(caught["output"], tensors)
# --8<-- [end:before]

# --8<-- [start:after]
loss.backward()
after = trace(caught["output"], tensors)
# --8<-- [end:after]


# --8<-- [start:full-hook]
def watch(layer, grad_input, grad_output):
    caught["grad_input"], caught["grad_output"] = grad_input[0], grad_output[0]


with conv.register_full_backward_hook(watch):
    loss = nn.MSELoss()(model(image), target)
    loss.backward()
print(trace(loss).find("BackwardHook"))
# --8<-- [end:full-hook]

# --8<-- [start:output]
output_grad = caught["output"].grad
print(tuple(output_grad.shape))
for way in ("tensor_hook", "node_prehook", "grad_output"):
    print(way, torch.allclose(caught[way], output_grad, atol=1e-6))
# --8<-- [end:output]

# --8<-- [start:input]
input_grad = caught["input"].grad
print(tuple(input_grad.shape))
print(torch.allclose(caught["grad_input"], input_grad, atol=1e-6))
print(torch.allclose(caught["node_hook"][0], input_grad, atol=1e-6))
print([tuple(grad.shape) for grad in caught["node_hook"]])
# --8<-- [end:input]

# --8<-- [start:grad-of-any]
with conv.register_forward_hook(catch):
    loss = nn.MSELoss()(model(image), target)
grads = torch.autograd.grad(loss, (caught["input"], caught["output"], conv.weight))
for grad, known in zip(grads, (input_grad, output_grad, weight_grad)):
    print(torch.allclose(grad, known, atol=1e-6))
# --8<-- [end:grad-of-any]

# --8<-- [start:image-late]
loss = nn.MSELoss()(model(image), target)
image.requires_grad_()
loss.backward()
print(image.grad)
# --8<-- [end:image-late]

# --8<-- [start:image]
loss = nn.MSELoss()(model(image), target)
loss.backward()
print(tuple(image.grad.shape))
# --8<-- [end:image]

# --8<-- [start:normalized]
pixels = torch.rand(1, 3, 32, 32, requires_grad=True)
normalized = (pixels - 0.5) / 0.5
nn.MSELoss()(model(normalized), target).backward()
print(tuple(pixels.grad.shape), normalized.is_leaf)
# --8<-- [end:normalized]

# --8<-- [start:compute]
x = caught["input"].detach()
computed = torch.nn.grad.conv2d_weight(x, conv.weight.shape, output_grad)
print(torch.allclose(computed, weight_grad, atol=1e-6))
print(torch.allclose(output_grad.sum(dim=(0, 2, 3)), bias_grad, atol=1e-6))
# --8<-- [end:compute]

# --8<-- [start:one-entry]
o, c, i, j = 5, 3, 1, 2
entry = (output_grad[:, o] * x[:, c, i : i + 13, j : j + 13]).sum()
print(torch.allclose(entry, weight_grad[o, c, i, j], atol=1e-6))
# --8<-- [end:one-entry]

# --8<-- [start:one-filter]
print(conv.weight[0].grad)
print(conv.weight[0].grad_fn.name(), conv.weight[0] is conv.weight[0])
print(tuple(conv.weight.grad[0].shape))
# --8<-- [end:one-filter]

try:
    # --8<-- [start:freeze-flag]
    conv.weight[0].requires_grad = False
    # --8<-- [end:freeze-flag]
except RuntimeError as error:
    print(f"RuntimeError: {error}")


# --8<-- [start:zeroed]
def two_steps(zeros, optimizer_class, **options):
    small = nn.Conv2d(3, 2, kernel_size=3)
    optimizer = optimizer_class(small.parameters(), lr=0.1, **options)
    for zero in zeros:
        optimizer.zero_grad()
        small(image).square().mean().backward()
        start = small.weight[0].detach().clone()
        if zero:
            small.weight.grad[0] = 0
        optimizer.step()
    return small, start


# --8<-- [end:zeroed]

# --8<-- [start:moved]
for zeros in (True, True), (False, True):
    print("zeroed in both steps:" if all(zeros) else "zeroed in the second step:")
    for options in {}, {"momentum": 0.9}, {"weight_decay": 0.1}:
        small, start = two_steps(zeros, torch.optim.SGD, **options)
        print("SGD", options, "moved:", not torch.equal(small.weight[0], start))
    small, start = two_steps(zeros, torch.optim.AdamW)
    print("AdamW moved:", not torch.equal(small.weight[0], start))
# --8<-- [end:moved]

# --8<-- [start:put-back]
with torch.no_grad():
    small.weight[0] = start
print(torch.equal(small.weight[0], start), small.weight.is_leaf)
# --8<-- [end:put-back]

# --8<-- [start:batch-norm]
block = nn.Sequential(nn.Conv2d(3, 4, kernel_size=3), nn.BatchNorm2d(4), nn.ReLU())
for mode in (block.train, block.eval):
    mode().zero_grad()
    block(torch.randn(8, 3, 8, 8)).square().mean().backward()
    weight, bias = (bool(p.grad.abs().max() < 1e-6) for p in block[0].parameters())
    print(mode.__name__, "nearly 0: bias", bias, "| weight", weight)
# --8<-- [end:batch-norm]

# --8<-- [start:exercise-conv1]
image.requires_grad_(False)
with model.conv1.register_full_backward_hook(lambda layer, grads, _: print(grads)):
    nn.MSELoss()(model(image), target).backward()
# --8<-- [end:exercise-conv1]

# --8<-- [start:exercise-input]
computed = torch.nn.grad.conv2d_input(x.shape, conv.weight, output_grad)
print(torch.allclose(computed, input_grad, atol=1e-6))
# --8<-- [end:exercise-input]

try:
    # --8<-- [start:exercise-image]
    image.requires_grad_(False)
    loss = nn.MSELoss()(model(image), target)
    torch.autograd.grad(loss, image)
    # --8<-- [end:exercise-image]
except RuntimeError as error:
    print(f"RuntimeError: {error}")
