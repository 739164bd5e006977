import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
inputs, targets = torch.randn(5, 3), torch.randn(5, 1)


def loss_of_one(parameters, x, y):
    return nn.functional.mse_loss(functional_call(model, parameters, (x,)), y)


parameters = {name: p.detach() for name, p in model.named_parameters()}
grads = vmap(grad(loss_of_one), in_dims=(None, 0, 0))(parameters, inputs, targets)
for name, each in grads.items():
    print(name, tuple(each.shape))

for number in range(5):
    loss = nn.functional.mse_loss(model(inputs[number]), targets[number])
    alone = torch.autograd.grad(loss, list(model.parameters()))
    pairs = zip(grads.values(), alone)
    print(all(torch.allclose(each[number], one, atol=1e-6) for each, one in pairs))
