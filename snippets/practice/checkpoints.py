# --8<-- [start:setup]
import tempfile
from pathlib import Path

import torch
from torch import nn

torch.manual_seed(0)
inputs, targets = torch.randn(4, 10), torch.randn(4, 1)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "checkpoint.pt"
# --8<-- [end:setup]


# --8<-- [start:model]
class SimpleModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 5)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(5, 1)

    def forward(self, x):
        return self.fc2(self.relu(self.fc1(x)))


# --8<-- [end:model]


# --8<-- [start:train]
def start(seed):
    torch.manual_seed(seed)
    model = SimpleModel()
    return model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def train_epoch(model, optimizer):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()


# --8<-- [end:train]


# --8<-- [start:save-load]
def save(model, optimizer, epoch, loss):
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state | {"epoch": epoch, "loss": loss}, path)


def load(model, optimizer):
    checkpoint = torch.load(path, weights_only=True)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"], checkpoint["loss"]


# --8<-- [end:save-load]

# --8<-- [start:run]
model, optimizer = start(seed=0)
for epoch in range(1, 4):
    loss = train_epoch(model, optimizer)
    save(model, optimizer, epoch, loss)
    print(f"epoch {epoch}: loss {loss:.3f}")
print(model.fc2.bias.grad is not None)
# --8<-- [end:run]

# --8<-- [start:load]
resumed, resumed_optimizer = start(seed=1)
epoch, loss = load(resumed, resumed_optimizer)
print(f"epoch {epoch}: loss {loss:.3f}")
print([p.grad for p in resumed.parameters()])
# --8<-- [end:load]

# --8<-- [start:first-backward]
from gradfn_tutorial import explain, trace, why_no_grad

print(why_no_grad(resumed.fc1.weight, module=resumed).message)
loss = nn.functional.mse_loss(resumed(inputs), targets)
before = trace(loss, resumed)
loss.backward()
after = trace(loss, resumed)
# --8<-- [end:first-backward]

try:
    # --8<-- [start:missing]
    torch.load("missing.pt")
    # --8<-- [end:missing]
except FileNotFoundError as error:
    print(f"FileNotFoundError: {error}")


# --8<-- [start:same-bits]
def same_bits(one, other):
    pairs = zip(one.state_dict().values(), other.state_dict().values())
    return all(torch.equal(a.view(torch.int32), b.view(torch.int32)) for a, b in pairs)


print("after loading:", same_bits(model, resumed))
for _ in range(3):
    train_epoch(model, optimizer)
    train_epoch(resumed, resumed_optimizer)
print("three epochs later:", same_bits(model, resumed))
# --8<-- [end:same-bits]

# --8<-- [start:forgetful]
forgetful, forgetful_optimizer = start(seed=1)
checkpoint = torch.load(path, weights_only=True)
forgetful.load_state_dict(checkpoint["model"])
for _ in range(3):
    train_epoch(forgetful, forgetful_optimizer)
print(same_bits(model, forgetful))
print(list(checkpoint["optimizer"]["state"][0]))
# --8<-- [end:forgetful]


# --8<-- [start:through-file]
def through_file(thing, **options):
    torch.save(thing, path.with_name("thing.pt"))
    return torch.load(path.with_name("thing.pt"), **options)


# --8<-- [end:through-file]

# --8<-- [start:ways]
import pickle

layer = model.fc2
loaded = {
    "state_dict()": through_file(layer.state_dict())["weight"],
    "keep_vars=True": through_file(layer.state_dict(keep_vars=True))["weight"],
    "parameter": through_file(layer.weight),
    "whole module": through_file(layer, weights_only=False).weight,
    "pickled module": pickle.loads(pickle.dumps(layer)).weight,
}
for name, weight in {"original": layer.weight, **loaded}.items():
    print(f"{name:14} .grad None: {weight.grad is None}")
# --8<-- [end:ways]

# --8<-- [start:plain]
tensor = torch.ones(2, requires_grad=True)
tensor.sum().backward()
print(tensor.grad, through_file(tensor).grad, pickle.loads(pickle.dumps(tensor)).grad)
print(layer.state_dict(keep_vars=True)["weight"] is layer.weight)
# --8<-- [end:plain]

# --8<-- [start:weights-only]
try:
    through_file(layer)
except pickle.UnpicklingError as error:
    print(type(error).__name__)
# --8<-- [end:weights-only]

# --8<-- [start:result]
print(explain(through_file(layer.weight * 2)))
# --8<-- [end:result]

# --8<-- [start:old-gradient]
weight, gradient = resumed.fc1.weight, resumed.fc1.weight.grad
resumed.load_state_dict(checkpoint["model"])
print(resumed.fc1.weight is weight, weight.grad is gradient)
resumed.load_state_dict(checkpoint["model"], assign=True)
print(resumed.fc1.weight is weight, resumed.fc1.weight.grad)
# --8<-- [end:old-gradient]

# --8<-- [start:orphan]
loss = nn.functional.mse_loss(resumed(inputs), targets)
loss.backward()
print(resumed_optimizer.param_groups[0]["params"][0] is weight)
weight.grad = None
print(why_no_grad(weight, loss, resumed))
# --8<-- [end:orphan]

# --8<-- [start:deepcopy]
import copy

print("parameters:", copy.deepcopy(model).fc2.bias.grad, copy.deepcopy(layer.weight).grad)
print("tensor:", copy.deepcopy(tensor).grad)
print("no deep copy:", copy.copy(tensor).grad, tensor.detach().grad, tensor.data.grad)
# --8<-- [end:deepcopy]

try:
    # --8<-- [start:cached]
    model.cache = model(inputs)
    copy.deepcopy(model)
    # --8<-- [end:cached]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:cached-detached]
model.cache = model.cache.detach()
print(same_bits(model, copy.deepcopy(model)))
# --8<-- [end:cached-detached]


# --8<-- [start:save-gradients]
def add_gradients(model, rows):
    loss = nn.functional.mse_loss(model(inputs[rows]), targets[rows])
    (loss / 2).backward()


whole, _ = start(seed=0)
add_gradients(whole, [0, 1])
gradients = {name: p.grad for name, p in whole.named_parameters()}
torch.save({"model": whole.state_dict(), "gradients": gradients}, path)
add_gradients(whole, [2, 3])
# --8<-- [end:save-gradients]

# --8<-- [start:load-gradients]
continued, _ = start(seed=1)
checkpoint = torch.load(path, weights_only=True)
continued.load_state_dict(checkpoint["model"])
for name, gradient in checkpoint["gradients"].items():
    continued.get_parameter(name).grad = gradient
add_gradients(continued, [2, 3])
pairs = list(zip(whole.parameters(), continued.parameters()))
print(all(torch.equal(p.grad, q.grad) for p, q in pairs))
# --8<-- [end:load-gradients]

# --8<-- [start:exercise-lost]
lost, _ = start(seed=1)
lost.load_state_dict(checkpoint["model"])
add_gradients(lost, [2, 3])
print(torch.equal(lost.fc2.bias.grad, whole.fc2.bias.grad))
add_gradients(lost, [0, 1])
print(torch.equal(lost.fc2.bias.grad, whole.fc2.bias.grad))
# --8<-- [end:exercise-lost]


# --8<-- [start:exercise-random]
def same_draws(restore):
    state = through_file(torch.get_rng_state())
    expected = torch.randn(3)
    torch.manual_seed(1)
    if restore:
        torch.set_rng_state(state)
    return torch.equal(torch.randn(3), expected)


print(same_draws(restore=False), same_draws(restore=True))
# --8<-- [end:exercise-random]

# --8<-- [start:exercise-frozen]
frozen, _ = start(seed=0)
frozen.fc1.requires_grad_(False)
thawed, _ = start(seed=1)
thawed.load_state_dict(through_file(frozen.state_dict()))
print(same_bits(frozen, thawed), thawed.fc1.weight.requires_grad)
# --8<-- [end:exercise-frozen]
