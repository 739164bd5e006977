import torch
from torch import nn
from torch.func import jacrev, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
x = torch.randn(3)

jacobian = jacrev(model)(x)
print("one sample", tuple(jacobian.shape))
print("a batch of 5", tuple(vmap(jacrev(model))(torch.randn(5, 3)).shape))

slope = 1 - model[:2](x) ** 2
by_hand = (model[2].weight * slope) @ model[0].weight
print(torch.allclose(jacobian, by_hand, atol=1e-6))
