import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
(10 * model(torch.randn(8, 4))).square().mean().backward()

by_hand = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
returned = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
afterwards = nn.utils.get_total_norm([p.grad for p in model.parameters()])
print(f"returned {returned:.3f}, afterwards {afterwards:.3f}")
print(torch.allclose(returned, by_hand))
