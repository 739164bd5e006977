import io

import torch
from torch import nn


def start(seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 1))
    return model, torch.optim.Adam(model.parameters(), lr=0.1)


def train(model, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()


model, optimizer = start(seed=0)
train(model, optimizer, steps=2)
checkpoint = io.BytesIO()  # or a path
states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
torch.save(states | {"random": torch.get_rng_state()}, checkpoint)
train(model, optimizer, steps=3)

checkpoint.seek(0)
states = torch.load(checkpoint, weights_only=True)
print("restored:", list(states))
resumed, optimizer = start(seed=1)
resumed.load_state_dict(states["model"])
optimizer.load_state_dict(states["optimizer"])
torch.set_rng_state(states["random"])
train(resumed, optimizer, steps=3)
print(all(torch.equal(a, b) for a, b in zip(model.parameters(), resumed.parameters())))
