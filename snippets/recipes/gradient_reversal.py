import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.scale * grad, None


torch.manual_seed(0)
trunk, label_head, domain_head = nn.Linear(4, 3), nn.Linear(3, 1), nn.Linear(3, 1)
features = trunk(torch.randn(8, 4))
label_loss = label_head(features).square().mean()
domain_loss = domain_head(features).square().mean()
(label_grad,) = torch.autograd.grad(label_loss, trunk.weight, retain_graph=True)
(domain_grad,) = torch.autograd.grad(domain_loss, trunk.weight, retain_graph=True)

reversed_loss = domain_head(Reverse.apply(features, 0.5)).square().mean()
(label_loss + reversed_loss).backward()
print(torch.equal(reversed_loss, domain_loss))
print(torch.allclose(trunk.weight.grad, label_grad - 0.5 * domain_grad, atol=1e-6))
