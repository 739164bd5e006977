# --8<-- [start:data]
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(64, 8)
y = (2 * x[:, :1]).sin()
y = (y - y.mean()) / y.std(correction=0)
# --8<-- [end:data]


# --8<-- [start:network]
def network(activation):
    torch.manual_seed(5)
    model = nn.Sequential()
    for i in range(1, 6):
        model.add_module(f"fc{i}", nn.Linear(8, 8))
        model.add_module(f"act{i}", activation())
    model.add_module("out", nn.Linear(8, 1))
    return model


# --8<-- [end:network]


# --8<-- [start:train]
def train(model, steps, lr=0.1, clear=True):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(steps):
        if clear:
            optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return round(loss.item(), 1)


# --8<-- [end:train]

# --8<-- [start:stuck]
model = network(nn.Sigmoid)
print(train(model, 1), train(model, 200))
# --8<-- [end:stuck]

# --8<-- [start:by-hand]
model = network(nn.Sigmoid)
nn.functional.mse_loss(model(x), y).backward()
for name, layer in model.named_children():
    if isinstance(layer, nn.Linear):
        print(name, f"{layer.weight.grad.norm():.0e}")
# --8<-- [end:by-hand]

# --8<-- [start:record]
from gradfn_tutorial import owners, record_backward, trace


def record(model):
    with owners(model):
        loss = nn.functional.mse_loss(model(x), y)
    return record_backward(loss, model, keep="statistics")


with_sigmoid = record(network(nn.Sigmoid))
print(f"{with_sigmoid.layer('fc1').weight.norm:.0e}")
# --8<-- [end:record]

# --8<-- [start:passes]
for row in with_sigmoid.rows:
    if row.node.name == "SigmoidBackward0":
        passed = row.leaving[0].norm / row.entering[0].norm
        print(row.node.module, round(passed, 2))
# --8<-- [end:passes]

# --8<-- [start:slope]
zero = torch.tensor(0.0, requires_grad=True)
torch.sigmoid(zero).backward()
print(zero.grad)
# --8<-- [end:slope]


# --8<-- [start:start]
def start(init, activation=nn.ReLU):
    model = network(activation)
    for layer in model[:-1]:
        if isinstance(layer, nn.Linear):
            init(layer.weight)
    return model


weight = start(nn.init.kaiming_uniform_).fc1.weight
print(weight.is_leaf, weight.grad_fn)
# --8<-- [end:start]

# --8<-- [start:inits]
inits = {
    "normal 0.01": lambda w: nn.init.normal_(w, std=0.01),
    "by default": lambda w: w,
    "kaiming": nn.init.kaiming_uniform_,
    "normal 1": lambda w: nn.init.normal_(w, std=1.0),
}
for name, init in inits.items():
    layers = map(record(start(init)).layer, ("fc1", "fc3", "fc5"))
    print(f"{name:11}", *(f"{layer.weight.norm:.0e}" for layer in layers))
# --8<-- [end:inits]

# --8<-- [start:plot]
from matplotlib import pyplot

size = {"figsize": (4.5, 3), "layout": "constrained"}
_, (norms, cured) = pyplot.subplots(1, 2, sharey=True, **size)
with_sigmoid.plot(norms)
record(start(nn.init.kaiming_uniform_)).plot(cured)
titles = norms.set_title("Sigmoid"), cured.set(title="ReLU, kaiming", ylabel="")
# --8<-- [end:plot]

# --8<-- [start:cured]
model = start(nn.init.kaiming_uniform_)
print(train(model, 1), train(model, 200))
# --8<-- [end:cured]

# --8<-- [start:long-steps]
dead = start(nn.init.kaiming_uniform_)
for _ in range(6):
    print(train(dead, 1, lr=1.0), round(dead.out.bias.item(), 1))
# --8<-- [end:long-steps]

# --8<-- [start:dead]
dead.zero_grad()
recording = record(dead)
for row in recording.rows:
    if row.node.name == "ReluBackward0":
        print(row.node.module, row.entering[0], "→", row.leaving[0])
# --8<-- [end:dead]

# --8<-- [start:dead-plot]
_, zeros = pyplot.subplots(**size)
axes = recording.plot(zeros)
# --8<-- [end:dead-plot]

# --8<-- [start:dead-by-hand]
for n in 2, 4, 6, 8, 10:
    print(f"act{n // 2}", (dead[:n](x) > 0).any(0).sum().item())
# --8<-- [end:dead-by-hand]

# --8<-- [start:dead-cured]
print(train(dead, 200, lr=0.1), train(start(nn.init.kaiming_uniform_), 200, lr=0.1))
# --8<-- [end:dead-cured]


# --8<-- [start:held]
def last_bias(clear):
    model = start(nn.init.kaiming_uniform_)
    train(model, 5, clear=clear)
    if clear:
        model.zero_grad()
    for row in record(model).rows:
        if "out.bias" in row.node.parameters:
            return row.accumulated


# --8<-- [end:held]

# --8<-- [start:forgotten]
for clear in True, False:
    done = last_bias(clear)
    print(f"{done.before} + {done.added} → {done.after}")
# --8<-- [end:forgotten]


# --8<-- [start:root]
def root(v):
    return torch.where(v > 0, v.sqrt(), 0.0)


v = torch.tensor([0.0, 4.0], requires_grad=True)
print(root(v).tolist())
# --8<-- [end:root]

# --8<-- [start:nan]
loss = root(v).sum()
before = trace(loss, {"v": v, "loss": loss})
recording = record_backward(loss, {"v": v}, keep="statistics")
after = trace(loss, {"v": v, "loss": loss})
print(v.grad)
# --8<-- [end:nan]

# --8<-- [start:nan-rows]
print(recording)
# --8<-- [end:nan-rows]

# --8<-- [start:kinks]
for function in torch.relu, torch.abs, torch.sqrt:
    zero = torch.tensor(0.0, requires_grad=True)
    function(zero).backward()
    print(function.__name__, zero.grad.item())
# --8<-- [end:kinks]

# --8<-- [start:anomaly]
import warnings

with warnings.catch_warnings(record=True) as caught, torch.autograd.detect_anomaly():
    try:
        root(v).sum().backward()
    except RuntimeError as error:
        print(error)
print("in root" in str(caught[-1].message))
# --8<-- [end:anomaly]


# --8<-- [start:safe]
def safe_root(v):
    positive = torch.where(v > 0, v, 1.0)
    return torch.where(v > 0, positive.sqrt(), 0.0)


v.grad = None
safe_root(v).sum().backward()
print(v.grad)
# --8<-- [end:safe]


# --8<-- [start:micro]
def by_parts(parts, scale):
    w = torch.tensor(1.0, requires_grad=True)
    for part in parts:
        scale(w * part).backward()
    return w.grad.item()


batch = torch.arange(8.0)
print(by_parts([batch], torch.mean))
# --8<-- [end:micro]

# --8<-- [start:micro-parts]
equal, unequal = [batch[:4], batch[4:]], [batch[:2], batch[2:]]
for parts in equal, unequal:
    means = by_parts(parts, lambda losses: losses.mean() / 2)
    sums = by_parts(parts, lambda losses: losses.sum() / 8)
    print(means, sums)
# --8<-- [end:micro-parts]

# --8<-- [start:clip]
p = torch.tensor([3.0, 4.0], requires_grad=True)
(p.square().sum() / 2).backward()
print(p.grad)
print(nn.utils.clip_grad_norm_([p], max_norm=1.0), p.grad)
# --8<-- [end:clip]

# --8<-- [start:scale]
q = torch.tensor(1.0, requires_grad=True)
optimizer = torch.optim.SGD([q], lr=0.25)
scaler = torch.amp.GradScaler("cpu")
scaler.scale(2 * q).backward()
print(q.grad)
scaler.unscale_(optimizer)
print(q.grad)
nn.utils.clip_grad_norm_([q], max_norm=1.0)
scaler.step(optimizer)
scaler.update()
print(q)
# --8<-- [end:scale]

# --8<-- [start:exercise-tanh]
for activation in nn.Sigmoid, nn.Tanh:
    recording = record(start(nn.init.xavier_uniform_, activation))
    first, last = recording.layer("fc1"), recording.layer("out")
    print(activation.__name__, f"{first.weight.norm / last.weight.norm:.0e}")
# --8<-- [end:exercise-tanh]

# --8<-- [start:exercise-leaky]
dead.act5 = nn.LeakyReLU()
dead.zero_grad()
print(f"{record(dead).layer('fc1').weight.norm:.0e}")
# --8<-- [end:exercise-leaky]

# --8<-- [start:exercise-norm]
point = torch.zeros(2, requires_grad=True)
point.pow(2).sum().sqrt().backward()
print(point.grad)
point.grad = None
point.norm().backward()
print(point.grad)
# --8<-- [end:exercise-norm]
