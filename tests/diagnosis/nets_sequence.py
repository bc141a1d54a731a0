# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of the corpus for vectors, sound and series."""
import torch
from torch import nn
from torch.nn import functional as fn


class Mlp(nn.Module):
    """Linear, BatchNorm1d, Relu and a gate."""

    def __init__(self, inputs=20, classes=6):
        super().__init__()
        self.a, self.n, self.b = nn.Linear(inputs, 48), nn.BatchNorm1d(48), nn.Linear(48, 48)
        self.gate, self.out = nn.Linear(48, 48), nn.Linear(48, classes)

    def forward(self, x):
        x = torch.relu(self.n(self.a(x)))
        x = fn.elu(self.b(x)) * torch.sigmoid(self.gate(x))
        return self.out(x)


class Speech(nn.Module):
    """Conv1d keyword spotter: depthwise separable, BatchNorm, average over time."""

    def __init__(self, classes=8):
        super().__init__()
        def separable(i, o):
            return nn.Sequential(nn.Conv1d(i, i, 5, padding=2, groups=i, bias=False), nn.BatchNorm1d(i), nn.ReLU(),
                                 nn.Conv1d(i, o, 1, bias=False), nn.BatchNorm1d(o), nn.ReLU())
        self.stem = nn.Sequential(nn.Conv1d(10, 16, 7, 2, 3), nn.BatchNorm1d(16), nn.ReLU())
        self.body = nn.Sequential(separable(16, 24), separable(24, 24), nn.Dropout(0.1))
        self.fc = nn.Linear(24, classes)

    def forward(self, x):
        return self.fc(fn.adaptive_avg_pool1d(self.body(self.stem(x)), 1).squeeze(-1))


class Wave(nn.Module):
    """Dilated convolutions with tanh times sigmoid, residuals and skips."""

    def __init__(self, classes=6):
        super().__init__()
        self.stem = nn.Conv1d(4, 12, 1)
        self.c = nn.ModuleList([nn.Conv1d(12, 24, 3, padding=d, dilation=d) for d in (1, 2, 4)])
        self.r = nn.ModuleList([nn.Conv1d(12, 12, 1) for _ in range(3)])
        self.out = nn.Conv1d(12, classes, 1)

    def forward(self, x):
        x, skip = self.stem(x), 0
        for c, r in zip(self.c, self.r):
            f, g = c(x).chunk(2, 1)
            h = torch.tanh(f) * torch.sigmoid(g)
            skip, x = skip + h, x + r(h)
        return self.out(torch.relu(skip))


class Lstm(nn.Module):
    """Two directions, then a Linear at every step."""

    def __init__(self, inputs=8, classes=5):
        super().__init__()
        self.a, self.rnn = nn.Linear(inputs, 16), nn.LSTM(16, 12, 1, batch_first=True, bidirectional=True)
        self.norm, self.b, self.out = nn.LayerNorm(24), nn.Linear(24, 24), nn.Linear(24, classes)

    def forward(self, x):
        y, _ = self.rnn(torch.relu(self.a(x)))
        return self.out(torch.relu(self.b(self.norm(y))).mean(1))


class Gru(nn.Module):
    """Convolution, then two layers of GRU."""

    def __init__(self, inputs=6, classes=5):
        super().__init__()
        self.conv, self.rnn = nn.Conv1d(inputs, 16, 3, padding=1), nn.GRU(16, 16, 2, batch_first=True)
        self.mid, self.out = nn.Linear(16, 24), nn.Linear(24, classes)

    def forward(self, x):
        y, _ = self.rnn(torch.relu(self.conv(x)).transpose(1, 2))
        return self.out(torch.tanh(self.mid(y)))
