import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1))
model[0].requires_grad_(False)
trainable = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trainable, lr=0.1, weight_decay=0.1)

start = {name: p.detach().clone() for name, p in model.named_parameters()}
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()

still = [name for name, p in model.named_parameters() if torch.equal(p, start[name])]
print("unchanged:", still)
print(still == ["0.weight", "0.bias"])
