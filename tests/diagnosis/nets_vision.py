# SPDX-License-Identifier: GPL-3.0-or-later
"""Convolutional networks of the corpus, small and in the manner of well-known ones."""
import torch
from torch import nn
from torch.nn import functional as fn


def block(i, o, k=3, s=1, g=1, act=nn.ReLU):
    layers = [nn.Conv2d(i, o, k, s, k // 2, groups=g, bias=False), nn.BatchNorm2d(o)]
    return nn.Sequential(*layers, *([act()] if act else []))


class Cnn(nn.Module):
    """Conv, BatchNorm, Relu, pools, Linear."""

    def __init__(self, classes=10):
        super().__init__()
        self.body = nn.Sequential(block(3, 12), nn.MaxPool2d(2), block(12, 24), block(24, 24), nn.AvgPool2d(2))
        self.fc1, self.fc2 = nn.Linear(24 * 16, 32), nn.Linear(32, classes)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(self.body(x).flatten(1))))


class Inverted(nn.Module):
    def __init__(self, i, o, s, t=3):
        super().__init__()
        h = i * t
        self.layers = nn.Sequential(block(i, h, 1, act=nn.ReLU6), block(h, h, 3, s, h, act=nn.ReLU6),
                                    block(h, o, 1, act=None))
        self.skip = s == 1 and i == o

    def forward(self, x):
        return x + self.layers(x) if self.skip else self.layers(x)


class Mobile(nn.Module):
    """Depthwise separable, linear bottlenecks, Relu6, residual additions."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = block(3, 8, 3, 2, act=nn.ReLU6)
        self.body = nn.Sequential(Inverted(8, 8, 1), Inverted(8, 12, 2), Inverted(12, 12, 1), Inverted(12, 16, 1))
        self.last, self.head = block(16, 32, 1, act=nn.ReLU6), nn.Linear(32, classes)

    def forward(self, x):
        return self.head(fn.adaptive_avg_pool2d(self.last(self.body(self.stem(x))), 1).flatten(1))


class Basic(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.a, self.b = block(i, o, 3, s), block(o, o, act=None)
        self.down = block(i, o, 1, s, act=None) if s > 1 or i != o else nn.Identity()

    def forward(self, x):
        return torch.relu(self.b(self.a(x)) + self.down(x))


class Resnet(nn.Module):
    """Residual blocks with projections."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(block(3, 8), nn.MaxPool2d(3, 2, 1))
        self.body = nn.Sequential(Basic(8, 8, 1), Basic(8, 16, 2), Basic(16, 16, 1))
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        return self.fc(self.body(self.stem(x)).mean((2, 3)))


class PreAct(nn.Module):
    """BatchNorm before Relu before Conv: what no exporter can fold away; Dropout, a regression and a sigmoid head."""

    def __init__(self, classes=4):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 5, 2, 2)
        self.n = nn.ModuleList([nn.BatchNorm2d(c) for c in (8, 8, 8, 16)])
        self.c = nn.ModuleList([nn.Conv2d(8, 8, 3, 1, 1), nn.Conv2d(8, 8, 3, 1, 1), nn.Conv2d(8, 16, 3, 2, 1),
                                nn.Conv2d(16, 16, 3, 1, 1)])
        self.p = nn.Conv2d(8, 16, 1, 2)
        self.a, self.b = nn.Linear(16, classes), nn.Linear(16, 1)

    def forward(self, x):
        x = self.stem(x)
        y = self.c[1](torch.relu(self.n[1](self.c[0](torch.relu(self.n[0](x))))))
        x = x + y
        y = self.c[3](torch.relu(self.n[3](self.c[2](torch.relu(self.n[2](x))))))
        x = torch.relu(self.p(x) + y).mean((2, 3))
        return self.a(x), torch.sigmoid(self.b(x))


class Unet(nn.Module):
    """Encoder and decoder, Concat over skips, Resize and ConvTranspose."""

    def __init__(self, classes=3):
        super().__init__()
        self.d1, self.d2, self.mid = block(3, 8), block(8, 16), block(16, 24)
        self.up1, self.up2 = nn.ConvTranspose2d(24, 16, 2, 2), nn.Upsample(scale_factor=2, mode="nearest")
        self.u1, self.u2, self.out = block(32, 16), block(24, 8), nn.Conv2d(8, classes, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(fn.max_pool2d(a, 2))
        c = self.mid(fn.max_pool2d(b, 2))
        c = self.u1(torch.cat([self.up1(c), b], 1))
        return self.out(self.u2(torch.cat([self.up2(c), a], 1)))


class Squeeze(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, c // 2, 1), nn.Conv2d(c // 2, c, 1)

    def forward(self, x):
        s = fn.adaptive_avg_pool2d(x, 1)
        return x * fn.hardsigmoid(self.b(torch.relu(self.a(s))))


class Senet(nn.Module):
    """Squeeze and excitation, HardSwish and SiLU, as MobileNetV3 and EfficientNet."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = block(3, 12, 3, 2, act=nn.Hardswish)
        self.dw, self.se, self.pw = block(12, 12, 5, 1, 12, nn.Hardswish), Squeeze(12), block(12, 20, 1, act=None)
        self.dw2, self.se2, self.pw2 = block(20, 20, 3, 1, 20, nn.SiLU), Squeeze(20), block(20, 20, 1, act=nn.SiLU)
        self.fc = nn.Linear(20, classes)

    def forward(self, x):
        x = self.pw(self.se(self.dw(self.stem(x))))
        x = x + self.pw2(self.se2(self.dw2(x)))
        return self.fc(x.mean((2, 3)))


class Inception(nn.Module):
    """Branches of unlike operators that meet in Concat."""

    def __init__(self, classes=10):
        super().__init__()
        self.stem = block(3, 12)
        self.a, self.b1, self.b2 = block(12, 6, 1), block(12, 6, 1), block(6, 8)
        self.c, self.d = block(12, 6, 5), block(12, 4, 1)
        self.end, self.fc = block(24, 16, 3, 2, act=nn.LeakyReLU), nn.Linear(16, classes)

    def forward(self, x):
        x = self.stem(x)
        p = fn.avg_pool2d(x, 3, 1, 1)
        x = torch.cat([self.a(x), self.b2(self.b1(x)), self.c(x), self.d(p)], 1)
        return self.fc(fn.adaptive_max_pool2d(self.end(x), 1).flatten(1))


class Detector(nn.Module):
    """Split, SiLU, Concat, two heads with Sigmoid, boxes and scores in one output."""

    def __init__(self, classes=4):
        super().__init__()
        self.stem, self.a, self.b = block(3, 16, 3, 2, act=nn.SiLU), block(8, 8, act=nn.SiLU), block(8, 8, act=nn.SiLU)
        self.mix = block(32, 16, 1, act=nn.SiLU)
        self.box, self.score = nn.Conv2d(16, 4, 1), nn.Conv2d(16, classes, 1)

    def forward(self, x):
        x = self.stem(x)
        l, r = x.chunk(2, 1)
        a = self.a(r)
        b = self.b(a) + r
        x = self.mix(torch.cat([l, r, a, b], 1))
        box, score = self.box(x).flatten(2), self.score(x).flatten(2)
        return torch.cat([box.exp() * 8, torch.sigmoid(score)], 1).transpose(1, 2)


class Decoder(nn.Module):
    """GroupNorm and InstanceNorm, ConvTranspose, Tanh: a generator."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1), nn.GroupNorm(3, 12), nn.ReLU(), nn.Conv2d(12, 16, 3, 2, 1),
                                  nn.InstanceNorm2d(16, affine=True), nn.PReLU(16))
        self.up = nn.Sequential(nn.ConvTranspose2d(16, 12, 4, 2, 1), nn.BatchNorm2d(12), nn.ELU(),
                                nn.ConvTranspose2d(12, 3, 4, 2, 1), nn.Tanh())

    def forward(self, x):
        return self.up(self.down(x))
