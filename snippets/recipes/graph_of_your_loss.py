import torch
from torch import nn

from gradfn_tutorial import trace

model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))
loss = nn.functional.cross_entropy(model(torch.randn(2, 3, 8, 8)), torch.tensor([1, 7]))

graph = trace(loss, model)
print(graph.to_text())
print(graph.path("0.weight"))

reached = {name for node in graph.nodes for name in node.parameters}
print(reached == set(dict(model.named_parameters())))
