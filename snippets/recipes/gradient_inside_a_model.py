import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))
image, target = torch.randn(2, 3, 8, 8), torch.tensor([1, 7])
kept = {}


def keep(layer, inputs, output):
    output.retain_grad()
    kept["relu"] = output


with model[1].register_forward_hook(keep):
    loss = nn.functional.cross_entropy(model(image), target)
loss.backward()
print(tuple(kept["relu"].grad.shape))

# The same gradient from the rest of the model alone.
activation = kept["relu"].detach().requires_grad_()
loss = nn.functional.cross_entropy(model[2:](activation), target)
print(torch.allclose(*torch.autograd.grad(loss, activation), kept["relu"].grad))
