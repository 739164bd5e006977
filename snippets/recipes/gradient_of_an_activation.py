import torch
from torch import nn

torch.manual_seed(0)
first, last = nn.Linear(4, 3), nn.Linear(3, 1)

hidden = torch.relu(first(torch.randn(2, 4)))
hidden.retain_grad()
loss = last(hidden).sum()
loss.backward()
print(tuple(hidden.grad.shape))

# loss is a sum of last.weight * hidden, so each sample's gradient is the weight.
print(torch.equal(hidden.grad, last.weight.expand(2, 3)))
