"""The models that several pages share."""

from __future__ import annotations

# --8<-- [start:convnet]
import torch
from torch import nn


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, kernel_size=3)
        self.conv2 = nn.Conv2d(16, 32, kernel_size=3)
        self.fc1 = nn.Linear(32 * 6 * 6, 128)
        self.fc2 = nn.Linear(128, 64)
        self.fc3 = nn.Linear(64, 10)

    def forward(self, image):
        x = torch.max_pool2d(torch.relu(self.conv1(image)), kernel_size=2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), kernel_size=2)
        x = x.view(-1, 32 * 6 * 6)
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


# --8<-- [end:convnet]
