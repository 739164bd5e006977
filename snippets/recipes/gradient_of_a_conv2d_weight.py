import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3)).double()
image = torch.randn(1, 3, 8, 8, dtype=torch.float64)


def compute_loss():
    return model(image).square().mean()


loss = compute_loss()
loss.backward()
for name, layer in model.named_modules():
    if isinstance(layer, nn.Conv2d):
        print(name, tuple(layer.weight.grad.shape), f"norm {layer.weight.grad.norm():.4f}")

# A finite difference, which is why the model is in double precision.
weight, step = model[0].weight, 1e-6
with torch.no_grad():
    weight[0, 0, 0, 0] += step
    slope = (compute_loss() - loss) / step
print(torch.allclose(weight.grad[0, 0, 0, 0], slope, atol=1e-4))
