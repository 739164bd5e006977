import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.frozen, self.cut = nn.Linear(4, 4).requires_grad_(False), nn.Linear(4, 4)
        self.used, self.unused = nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, x):
        return self.used(self.cut(self.frozen(x)).detach())


model = Net()
loss = model(torch.randn(8, 4)).sum()
loss.backward(retain_graph=True)
for name, p in model.named_parameters():
    if p.grad is None:
        print(name, "is not in the graph of loss" if p.requires_grad else "is frozen")

trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
grads = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
print(all((p.grad is None) == (grad is None) for p, grad in zip(trainable.values(), grads)))
