# --8<-- [start:model]
import torch
from torch import nn

torch.manual_seed(0)
sizes = {"body": (3, 2), "head": (2, 1), "spare": (2, 1)}
model = nn.ModuleDict({name: nn.Linear(*size, bias=False) for name, size in sizes.items()})
x = torch.ones(4, 3)


def forward():
    h = torch.tanh(model["body"](x))
    return h, model["head"](h).mean()


# --8<-- [end:model]

# --8<-- [start:list]
h, loss = forward()
loss.backward()
print([name for name, parameter in model.named_parameters() if parameter.grad is None])
# --8<-- [end:list]

# --8<-- [start:ask]
from gradfn_tutorial import trace, why_no_grad

for tensor in model["body"].weight, model["spare"].weight, x, h:
    print(why_no_grad(tensor, loss, model).cause)
# --8<-- [end:ask]

# --8<-- [start:non-leaf]
print(why_no_grad(h, loss, model))
print(why_no_grad(h, loss, model, lang="zh"))
# --8<-- [end:non-leaf]

# --8<-- [start:retained]
h, loss = forward()
h.retain_grad()
loss.backward()
print(h.grad.shape)
# --8<-- [end:retained]

# --8<-- [start:almost-leaf]
w = torch.ones(3, requires_grad=True).to(torch.float64)
print(why_no_grad(w).cause)
w = torch.ones(3).to(torch.float64).requires_grad_()
w.sum().backward()
print(w.grad)
# --8<-- [end:almost-leaf]

# --8<-- [start:not-reached]
print(why_no_grad(model["spare"].weight, loss, model))
# --8<-- [end:not-reached]

# --8<-- [start:figure]
model.zero_grad()
h, loss = forward()
names = {**dict(model.named_parameters()), "h": h, "loss": loss}
before = trace(loss, names)
loss.backward()
after = trace(loss, names)
print(before.find("AccumulateGrad"))
# --8<-- [end:figure]


# --8<-- [start:none-or-zero]
def decayed(use_zero):
    model.zero_grad()
    spare = model["spare"].weight
    optimizer = torch.optim.AdamW([spare], lr=0.1)
    h, loss = forward()
    if use_zero:
        loss = loss + 0 * model["spare"](h).sum()
    loss.backward()
    start = spare.detach().clone()
    optimizer.step()
    return spare.grad, torch.equal(start, spare)


# --8<-- [end:none-or-zero]

# --8<-- [start:decayed]
print(decayed(False))
print(decayed(True))
# --8<-- [end:decayed]

# --8<-- [start:attention]
attention = nn.MultiheadAttention(4, 2, batch_first=True)
words = torch.randn(1, 3, 4)
for average in True, False:
    result, weights = attention(words, words, words, average_attn_weights=average)
    weights.retain_grad()
    result.sum().backward()
    cause = why_no_grad(weights, result.sum()).cause
    print(weights.grad_fn.name(), weights.grad, cause)
# --8<-- [end:attention]

# --8<-- [start:attention-by-hand]
q, k, v = [torch.randn(1, 2, 3, 2, requires_grad=True) for _ in range(3)]
fused = nn.functional.scaled_dot_product_attention(q, k, v)
weights = torch.softmax(q @ k.transpose(-2, -1) / 2**0.5, dim=-1)
weights.retain_grad()
result = weights @ v
result.sum().backward()
print(torch.allclose(fused, result, atol=1e-6), weights.grad.shape)
print(trace(fused).find("Softmax"), trace(result).find("Softmax"))
# --8<-- [end:attention-by-hand]

try:
    # --8<-- [start:argmax]
    classifier = nn.Linear(3, 2)
    chosen = classifier(x).argmax(1).float()
    loss = (chosen - 1).pow(2).mean()
    loss.backward()
    # --8<-- [end:argmax]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:marked]
loss.requires_grad_(True)
loss.backward()
print(loss.grad, classifier.weight.grad)
# --8<-- [end:marked]

# --8<-- [start:marked-why]
print(why_no_grad(classifier.weight, loss, classifier))
# --8<-- [end:marked-why]

# --8<-- [start:cross-entropy]
loss = nn.functional.cross_entropy(classifier(x), torch.ones(4, dtype=torch.long))
loss.backward()
print(classifier.weight.grad.shape)
# --8<-- [end:cross-entropy]

# --8<-- [start:off]
print(why_no_grad(x, loss))
print(why_no_grad(torch.arange(3), loss).cause)
# --8<-- [end:off]

# --8<-- [start:turned-off]
model.zero_grad()
h, loss = forward()
model["body"].requires_grad_(False)
loss.backward()
print(why_no_grad(model["body"].weight, loss, model))
# --8<-- [end:turned-off]

# --8<-- [start:weight-norm]
from torch.nn.utils.parametrizations import weight_norm

conv = weight_norm(nn.Conv2d(1, 1, 3))
image = torch.randn(1, 1, 5, 5)
loss = conv(image).sum()
loss.backward()
print(why_no_grad(conv.weight, loss, conv))
print([name for name, parameter in conv.named_parameters() if parameter.grad is None])
# --8<-- [end:weight-norm]

# --8<-- [start:cached]
from torch.nn.utils import parametrize

print(conv.weight is conv.weight)
with parametrize.cached():
    weight = conv.weight
    weight.retain_grad()
    conv(image).sum().backward()
print(weight.grad.shape)
# --8<-- [end:cached]

# --8<-- [start:replica]
master = nn.Linear(2, 1)
replica = master._replicate_for_data_parallel()
for name, parameter in master.named_parameters():
    setattr(replica, name, parameter.clone())
loss = replica(torch.ones(1, 2)).sum()
loss.backward()
print(list(replica.parameters()), why_no_grad(replica.weight, loss).cause)
print(master.weight.grad)
# --8<-- [end:replica]

# --8<-- [start:when]
w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
print(why_no_grad(w).cause)
print(why_no_grad(w, loss).cause)
loss.backward()
print(why_no_grad(w, loss).cause)
w.grad = None
why = why_no_grad(w, loss)
print(why.cause)
print(why)
# --8<-- [end:when]

# --8<-- [start:late]
h = w * 2
loss = h.sum()
loss.backward()
h.retain_grad()
print(why_no_grad(h, loss).cause)
# --8<-- [end:late]

# --8<-- [start:outside]
with torch.inference_mode():
    made = torch.ones(3)
with torch.no_grad():
    part = w[:2]
whole = w * 1
piece = whole.split(2)[0]
whole.mul_(2)
for tensor in made, part, piece:
    why = why_no_grad(tensor)
    print(f"{why.cause}: {why.message}")
# --8<-- [end:outside]

# --8<-- [start:transform]
seen = []


def doubled(v):
    seen.append(v)
    return (v * 2).sum()


print(torch.func.grad(doubled)(torch.ones(3)))
why = why_no_grad(seen[0])
print(f"{why.cause}: {why.message}")
# --8<-- [end:transform]


# --8<-- [start:compiled]
def two_results(v):
    h = v * 2
    return h, h.sum()


h, loss = torch.compile(two_results, backend="aot_eager")(w)
h.retain_grad()
loss.backward()
why = why_no_grad(h, loss)
print(f"{why.cause}: {why.message}")
# --8<-- [end:compiled]

# --8<-- [start:checkpointed]
from torch.utils.checkpoint import checkpoint

block = nn.Linear(3, 1)
loss = checkpoint(block, torch.ones(1, 3, requires_grad=True), use_reentrant=True).sum()
why = why_no_grad(block.weight, loss, block)
print(f"{why.cause}: {why.fix}")
loss.backward()
print(block.weight.grad)
# --8<-- [end:checkpointed]

# --8<-- [start:copied]
import copy

twin = copy.deepcopy(block)
block.zero_grad()
loss = twin(torch.ones(1, 3)).sum()
loss.backward()
why = why_no_grad(block.weight, loss, twin)
print(f"{why.cause}: {why.message}")
# --8<-- [end:copied]

# --8<-- [start:exercise-data]
centre, scale = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.ones(2))
loss = (scale * (centre.data - 1)).pow(2).sum()
print(why_no_grad(centre, loss).cause)
loss = (scale * (centre - 1)).pow(2).sum()
loss.backward()
print(centre.grad)
# --8<-- [end:exercise-data]

# --8<-- [start:exercise-replaced]
layer = nn.Linear(2, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
layer.weight = nn.Parameter(torch.ones(2, 2))
loss = layer(torch.ones(1, 2)).sum()
loss.backward()
for parameter in optimizer.param_groups[0]["params"]:
    print(why_no_grad(parameter, loss, layer).cause)
# --8<-- [end:exercise-replaced]

# --8<-- [start:exercise-clip]
v = torch.tensor([2.0], requires_grad=True)
loss = v.clamp(max=1.0).sum()
loss.backward()
print(v.grad, why_no_grad(v, loss).cause)
# --8<-- [end:exercise-clip]
