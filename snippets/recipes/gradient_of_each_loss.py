import torch
from torch import nn

torch.manual_seed(0)
trunk, head, other_head = nn.Linear(4, 3), nn.Linear(3, 1), nn.Linear(3, 1)
features = torch.tanh(trunk(torch.randn(8, 4)))
losses = {"first": head(features).square().mean(), "second": other_head(features).abs().mean()}

gradients = {}
for name, loss in losses.items():
    parts = torch.autograd.grad(loss, list(trunk.parameters()), retain_graph=True)
    gradients[name] = torch.cat([part.flatten() for part in parts])
    print(name, f"norm {gradients[name].norm():.3f}")
cosine = torch.cosine_similarity(gradients["first"], gradients["second"], dim=0)
print(f"cosine {cosine:.3f}")

sum(losses.values()).backward()
total = torch.cat([p.grad.flatten() for p in trunk.parameters()])
print(torch.allclose(gradients["first"] + gradients["second"], total, atol=1e-6))
