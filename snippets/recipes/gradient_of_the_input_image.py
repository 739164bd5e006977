import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(144, 10))
model = model.double().eval()
image = torch.randn(1, 3, 8, 8, dtype=torch.float64, requires_grad=True)

scores = model(image)[0]
best = scores.argmax()
(gradient,) = torch.autograd.grad(scores[best], image)
saliency = gradient[0].abs().amax(dim=0)
row, column = divmod(saliency.argmax().item(), 8)
print(tuple(saliency.shape), "strongest at", (row, column))
print("parameters left alone:", all(p.grad is None for p in model.parameters()))

# A finite difference, which is why the model is in double precision.
moved, step = image.detach().clone(), 1e-6
moved[0, 0, row, column] += step
slope = (model(moved)[0, best] - scores[best]) / step
print(torch.allclose(gradient[0, 0, row, column], slope, atol=1e-4))
