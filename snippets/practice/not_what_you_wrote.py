# --8<-- [start:written]
import torch
from torch import nn


def operations(result):
    nodes = [result.grad_fn]
    for node in nodes:
        for below, _ in node.next_functions:
            if below is not None and below not in nodes:
                nodes.append(below)
    return [node.name() for node in nodes if node.next_functions]


# --8<-- [end:written]

# --8<-- [start:model]
from gradfn_tutorial import trace

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
x = torch.ones(1, 2)
as_written = operations(model(x))
print(as_written)
written = trace(model(x), model)
# --8<-- [end:model]

# --8<-- [start:autocast]
with torch.autocast("cpu", dtype=torch.bfloat16):
    result = model(x)
names = operations(result)
print(len(as_written), "and", len(names), "operations:", set(names) - set(as_written))
result.float().backward()
print("result", result.dtype, "| grad", model[0].weight.grad.dtype)
# --8<-- [end:autocast]

# --8<-- [start:owners]
from gradfn_tutorial import owners

with torch.autocast("cpu", dtype=torch.bfloat16), owners(model):
    result = model(x)
print(trace(result, model).find("ToCopy"))
# --8<-- [end:owners]

# --8<-- [start:lstm]
for dtype in torch.float32, torch.float64:
    lstm = nn.LSTM(2, 2).to(dtype)
    output, _ = lstm(torch.ones(3, 1, 2, dtype=dtype))
    print(dtype, len(operations(output)), output.grad_fn.name())
# --8<-- [end:lstm]

# --8<-- [start:kernels]
q = torch.ones(1, 1, 2, 4, requires_grad=True)
print(nn.functional.scaled_dot_product_attention(q, q, q).grad_fn.name())
norm, images = nn.BatchNorm2d(2), torch.ones(2, 2, 2, 2)
print(norm.train()(images).grad_fn.name(), norm.eval()(images).grad_fn.name())
# --8<-- [end:kernels]

# --8<-- [start:checkpoint]
from torch.utils.checkpoint import checkpoint

runs = []
with model[0].register_forward_hook(lambda *_: runs.append("run")):
    result = checkpoint(model, x, use_reentrant=False)
    print(operations(result) == as_written, len(runs))
    result.backward()
print("runs:", len(runs))
# --8<-- [end:checkpoint]

# --8<-- [start:reentrant]
from gradfn_tutorial import why_no_grad

needs = x.clone().requires_grad_()
model.zero_grad()
result = checkpoint(model, needs, use_reentrant=True)
print(operations(result))
print(why_no_grad(model[0].weight, result, model))
result.backward()
print(tuple(model[0].weight.grad.shape))
# --8<-- [end:reentrant]

# --8<-- [start:lost]
head = nn.Linear(1, 1)
model.zero_grad()
output = checkpoint(model, x, use_reentrant=True)
print(output.requires_grad, output.grad_fn)
head(output).backward()
print("head", head.weight.grad is not None, "| block", model[0].weight.grad is not None)
# --8<-- [end:lost]

# --8<-- [start:found]
for data, reentrant in (needs, True), (x, False):
    model.zero_grad()
    head(checkpoint(model, data, use_reentrant=reentrant)).backward()
    print("reentrant", reentrant, "| block", model[0].weight.grad is not None)
# --8<-- [end:found]

# --8<-- [start:compile]
model.zero_grad()
compiled = torch.compile(model, backend="aot_eager")
result = compiled(x)
print(operations(result))
# --8<-- [end:compile]

# --8<-- [start:merged]
result.backward()
merged = trace(result, model)
print(merged.to_text())
# --8<-- [end:merged]

# --8<-- [start:uncompiled]
print(torch.allclose(compiled(x), model(x)))
print(trace(model(x), model).layer("0"))
# --8<-- [end:uncompiled]


# --8<-- [start:func]
def square(t):
    y = t**2
    print("inside:", t.requires_grad, t.is_leaf, y.grad_fn.name())
    return y


t = torch.tensor(3.0)
print(torch.func.grad(square)(t))
print("outside:", t.requires_grad, t.grad)
# --8<-- [end:func]

try:
    # --8<-- [start:func-backward]
    torch.func.grad(lambda t: (t**2).backward())(t)
    # --8<-- [end:func-backward]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:parametrized]
layer = nn.Linear(2, 1)
with torch.no_grad():
    layer.weight.copy_(torch.tensor([[3.0, 4.0]]))
nn.utils.parametrizations.weight_norm(layer)
print([name for name, _ in layer.named_parameters()])
print(layer.weight is layer.weight, layer.weight.is_leaf)
# --8<-- [end:parametrized]

# --8<-- [start:originals]
from gradfn_tutorial import explain

output = layer(x)
output.backward()
for parameter in layer.parametrizations.weight.parameters():
    print(parameter.grad)
print(explain(layer.weight).grad)
print(why_no_grad(layer.weight, output, layer))
# --8<-- [end:originals]

# --8<-- [start:exercise-cache]
with torch.autocast("cpu", dtype=torch.bfloat16):
    once, twice = model(x), model(x) + model(x)
print(operations(once).count("ToCopyBackward0"), operations(twice).count("ToCopyBackward0"))
# --8<-- [end:exercise-cache]

# --8<-- [start:exercise-saved]
runs.clear()
with model[0].register_forward_hook(lambda *_: runs.append("run")):
    result = checkpoint(model, x, use_reentrant=False)
    trace(result, model)
    print("after trace:", len(runs))
    result.grad_fn._saved_mat1
    print("after _saved_mat1:", len(runs))
# --8<-- [end:exercise-saved]


# --8<-- [start:exercise-break]
def broken(t):
    t = t * 2
    torch._dynamo.graph_break()
    return t * 3


print(operations(torch.compile(broken, backend="aot_eager")(needs)))
# --8<-- [end:exercise-break]
