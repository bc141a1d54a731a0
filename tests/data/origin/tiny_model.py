# SPDX-License-Identifier: GPL-3.0-or-later
"""The network of dynamo.onnx and torchscript.onnx, whose lines are named in their traces."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(2, 2, 3, padding=1)
        self.norm = nn.BatchNorm2d(2)

    def forward(self, x):
        y = self.conv1(x)
        y = self.norm(y)
        return torch.relu(y) + x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 2, 1)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(2, 2)

    def forward(self, x):
        x = self.stem(x)
        x = self.blocks(x)
        return self.head(x.mean((2, 3)))
