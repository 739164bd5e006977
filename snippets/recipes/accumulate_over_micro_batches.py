import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
inputs, targets = torch.randn(8, 4), torch.randn(8, 1)
(whole,) = torch.autograd.grad(nn.functional.mse_loss(model(inputs), targets), model.weight)


def accumulated(share):
    model.zero_grad()
    for x, y in zip(inputs.split(3), targets.split(3)):
        loss = nn.functional.mse_loss(model(x), y)
        (loss * share(x)).backward()
    return model.weight.grad


print("sizes", [len(x) for x in inputs.split(3)])
print(f"a third each is off by {(accumulated(lambda x: 1 / 3) - whole).abs().max():.3f}")
print(torch.allclose(accumulated(lambda x: len(x) / len(inputs)), whole, atol=1e-6))
