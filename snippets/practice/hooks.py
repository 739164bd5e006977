# --8<-- [start:scale]
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(3.0))

    def forward(self, x):
        return self.w * x


# --8<-- [end:scale]

# --8<-- [start:say]
layer = Scale()
w, x = layer.w, torch.tensor(2.0, requires_grad=True)
w.grad = torch.tensor(1.0)


def say(name):
    return lambda *args: print(f"{name}: w.grad {w.grad}")


# --8<-- [end:say]

# --8<-- [start:forward]
layer.register_full_backward_hook(say("full backward hook"))
layer.register_full_backward_pre_hook(say("full backward pre-hook"))
layer.register_forward_hook(say("forward hook"))
layer.register_forward_pre_hook(say("forward pre-hook"))
y = layer(x)
# --8<-- [end:forward]

# --8<-- [start:backward]
from gradfn_tutorial import trace

x.register_hook(say("tensor hook on x"))
w.register_post_accumulate_grad_hook(say("post-accumulate hook on w"))
w.register_hook(say("tensor hook on w"))
y.register_hook(say("tensor hook on y"))
loss = 5 * y
names = {"loss": loss, "y": y, "w": w, "x": x}
before = trace(loss, names)
loss.backward()
after = trace(loss, names)
# --8<-- [end:backward]

# --8<-- [start:leaf]
from torch.autograd.graph import get_gradient_edge

w = torch.tensor(3.0, requires_grad=True)
w.grad = torch.tensor(1.0)
node = get_gradient_edge(w).node
node.register_hook(say("node hook"))
w.register_post_accumulate_grad_hook(say("post-accumulate hook"))
node.register_prehook(say("node prehook"))
w.register_hook(say("tensor hook"))
(w * 10).backward()
# --8<-- [end:leaf]

# --8<-- [start:recorded]
from gradfn_tutorial import record_backward

w = torch.tensor(3.0, requires_grad=True)
w.grad = torch.tensor(1.0)
row = record_backward(w * 10, keep="values").rows[-1]
done = row.accumulated
print(row.node.name, done.before.value, done.added.value, done.after.value)
# --8<-- [end:recorded]


# --8<-- [start:grads]
layer = Scale()
w, x = layer.w, torch.tensor(2.0, requires_grad=True)


def show(name, y):
    x.grad = w.grad = None
    (5 * y).backward()
    print(f"{name}: x {x.grad.item()}, w {w.grad.item()}")


show("no hook", layer(x))
# --8<-- [end:grads]

# --8<-- [start:change]
with w.register_hook(lambda grad: 10 * grad):
    show("tensor hook on w", layer(x))
y = layer(x)
y.register_hook(lambda grad: 10 * grad)
show("tensor hook on y", y)
y = layer(x)
y.grad_fn.register_prehook(lambda grad_out: (10 * grad_out[0],))
show("node prehook", y)
y = layer(x)
y.grad_fn.register_hook(lambda grad_in, _: (10 * grad_in[0], grad_in[1]))
show("node hook", y)
# --8<-- [end:change]

# --8<-- [start:change-layer]
with layer.register_full_backward_pre_hook(lambda m, grad_out: (10 * grad_out[0],)):
    show("full backward pre-hook", layer(x))
with layer.register_full_backward_hook(lambda m, grad_in, _: (10 * grad_in[0],)):
    show("full backward hook", layer(x))
# --8<-- [end:change-layer]

# --8<-- [start:change-forward]
with layer.register_forward_pre_hook(lambda layer, args: (10 * args[0],)):
    print(layer(x))
with layer.register_forward_hook(lambda layer, args, output: 10 * output):
    print(layer(x))
# --8<-- [end:change-forward]

try:
    # --8<-- [start:return-after]
    with w.register_post_accumulate_grad_hook(lambda w: w.grad.clamp_(max=1)):
        show("post-accumulate hook", layer(x))
    # --8<-- [end:return-after]
except RuntimeError as error:
    print(f"RuntimeError: {error}")


# --8<-- [start:edit-after]
def clip(w):
    w.grad.clamp_(max=1)


with w.register_post_accumulate_grad_hook(clip):
    show("post-accumulate hook", layer(x))
# --8<-- [end:edit-after]


# --8<-- [start:modify]
def double(grad):
    grad *= 2


a, b = (torch.tensor(1.0, requires_grad=True) for _ in range(2))
a.register_hook(double)
(a + b).backward()
print("in place:", a.grad, b.grad)
# --8<-- [end:modify]

# --8<-- [start:modify-order]
a, b = (torch.tensor(1.0, requires_grad=True) for _ in range(2))
a.register_hook(double)
(b + a).backward()
print("b + a:", a.grad, b.grad)
# --8<-- [end:modify-order]

# --8<-- [start:modify-right]
a, b = (torch.tensor(1.0, requires_grad=True) for _ in range(2))
a.register_hook(lambda grad: grad * 2)
(a + b).backward()
print("returned:", a.grad, b.grad)
# --8<-- [end:modify-right]

# --8<-- [start:retain]
x.grad, y = None, x * 3
y.retain_grad()
y.register_hook(lambda grad: 10 * grad)
y.grad_fn.register_prehook(lambda grad_out: (100 * grad_out[0],))
(5 * y).backward()
print(y.grad, x.grad)
# --8<-- [end:retain]

# --8<-- [start:retain-in-place]
y = x * 3
y.register_hook(lambda grad: print("hook before mul_:", grad))
y.retain_grad()
y.mul_(2)
y.register_hook(lambda grad: print("hook after mul_:", grad))
(5 * y).backward()
print("retained:", y.grad)
# --8<-- [end:retain-in-place]


# --8<-- [start:full]
def look(layer, grad_input, grad_output):
    print(grad_input, "w.grad", layer.w.grad)


layer = Scale()
layer.register_full_backward_hook(look)
layer(x).backward()
layer.w.grad = None
layer(torch.tensor(2.0)).backward()
# --8<-- [end:full]

# --8<-- [start:twice]
layer.w.grad = None
layer(layer(x)).backward()
# --8<-- [end:twice]

try:
    # --8<-- [start:relu]
    net = nn.Sequential(Scale(), nn.ReLU(inplace=True))
    net[0].register_full_backward_hook(look)
    net(x)
    # --8<-- [end:relu]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:relu-not-in-place]
net[1].inplace = False
net(x).backward()
# --8<-- [end:relu-not-in-place]


# --8<-- [start:relu-tensor-hook]
def watch(layer, args, output):
    output.register_hook(lambda grad: print("arrives:", grad))


net = nn.Sequential(Scale(), nn.ReLU(inplace=True))
net[0].register_forward_hook(watch)
net(x).backward()
# --8<-- [end:relu-tensor-hook]

# --8<-- [start:lost]
p = torch.tensor(2.0, requires_grad=True)
p.expand_as(p).grad_fn.next_functions[0][0].register_hook(lambda *args: print("lost"))
(p * 3).backward()
print(p.grad)
# --8<-- [end:lost]

# --8<-- [start:kept]
node = p.expand_as(p).grad_fn.next_functions[0][0]
node.register_hook(lambda *args: print("kept:", *args))
(p * 3).backward()
print(node.variable is p, get_gradient_edge(p).node is node)
# --8<-- [end:kept]

# --8<-- [start:step]
layer = Scale()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)


def step(parameter):
    optimizer.step()
    optimizer.zero_grad()


layer.w.register_post_accumulate_grad_hook(step)
# --8<-- [end:step]

# --8<-- [start:stepped]
print(record_backward(5 * layer(x.detach()), layer))
print(layer.w.item(), layer.w.grad)
# --8<-- [end:stepped]

# --8<-- [start:grad]
layer = Scale()
w, node = layer.w, get_gradient_edge(layer.w).node
layer.register_full_backward_pre_hook(say("full backward pre-hook"))
layer.register_full_backward_hook(say("full backward hook"))
w.register_hook(say("tensor hook on w"))
node.register_prehook(say("prehook on w's node"))
node.register_hook(say("hook on w's node"))
w.register_post_accumulate_grad_hook(say("post-accumulate hook on w"))
print(torch.autograd.grad(5 * layer(x), w))
# --8<-- [end:grad]

# --8<-- [start:multi]
from torch.autograd.graph import register_multi_grad_hook

y = Scale()(x)
register_multi_grad_hook([x, y], lambda grads: print("all:", grads))
register_multi_grad_hook([x, y], lambda grad: print("any:", grad), mode="any")
(5 * y).backward()
# --8<-- [end:multi]


# --8<-- [start:saved]
def pack(tensor):
    print("pack", tensor.item())
    return tensor.item()


def unpack(number):
    print("unpack", number)
    return torch.tensor(number)


# --8<-- [end:saved]

# --8<-- [start:saved-run]
x = torch.tensor(2.0, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x**2
y.backward()
print(x.grad)
# --8<-- [end:saved-run]

# --8<-- [start:save-on-cpu]
print((x**2).grad_fn._saved_self is x)
with torch.autograd.graph.save_on_cpu():
    print((x**2).grad_fn._saved_self is x)
# --8<-- [end:save-on-cpu]

try:
    # --8<-- [start:disable-hooks]
    with torch.autograd.graph.disable_saved_tensors_hooks("no hooks in here"):
        with torch.autograd.graph.save_on_cpu():
            y = x**2
    # --8<-- [end:disable-hooks]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:metadata]
y = x**2
y.grad_fn.metadata["note"] = "the square"
node = (y + 1).grad_fn.next_functions[0][0]
print(node.name(), node.metadata)
with torch.autograd.detect_anomaly(check_nan=False):
    print(list((x * 3).grad_fn.metadata))
# --8<-- [end:metadata]

# --8<-- [start:program]
import os
import re
import subprocess
import sys

program = """import os, torch
{}
x = torch.tensor(2.0, requires_grad=True)
(3 * x).exp().backward()"""
# --8<-- [end:program]


# --8<-- [start:torch-logs]
def executed(line="", **environment):
    command = [sys.executable, "-c", program.format(line)]
    options = {"check": True, "capture_output": True, "text": True}
    done = subprocess.run(command, env=os.environ | environment, **options)
    return re.findall(r"Executing: <(\w+)", done.stderr)


print(executed(TORCH_LOGS="+autograd"))
print(executed('os.environ["TORCH_LOGS"] = "+autograd"'))
print(executed("torch._logging.set_logs(autograd=10)"))
# --8<-- [end:torch-logs]

# --8<-- [start:exercise-order]
x.grad = None
y = x * 1
handle = y.register_hook(lambda grad: grad + 1)
y.register_hook(lambda grad: grad * 10)
y.backward(retain_graph=True)
print(x.grad)
handle.remove()
x.grad = None
y.backward()
print(x.grad)
# --8<-- [end:exercise-order]

try:
    # --8<-- [start:exercise-non-leaf]
    y = x * 3
    y.register_post_accumulate_grad_hook(print)
    # --8<-- [end:exercise-non-leaf]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

try:
    # --8<-- [start:exercise-no-grad]
    torch.tensor(2.0).register_hook(print)
    # --8<-- [end:exercise-no-grad]
except RuntimeError as error:
    print(f"RuntimeError: {error}")
