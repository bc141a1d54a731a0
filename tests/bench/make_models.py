#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a ResNet-50-like network and a MiniLM-like transformer with random weights, as PyTorch exports them.

usage: make_models.py FOLDER          (needs torch and onnx; about 150 MB)
"""
import pathlib
import sys

import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        out = width * 4

        def block(a, b, kernel, s=1):
            return nn.Sequential(nn.Conv2d(a, b, kernel, s, kernel // 2, bias=False), nn.BatchNorm2d(b))

        self.first, self.second, self.third = block(channels, width, 1), block(width, width, 3, stride), block(width, out, 1)
        self.short = block(channels, out, 1, stride) if stride != 1 or channels != out else nn.Identity()
        self.relu = nn.ReLU()

    def forward(self, x):
        y = self.relu(self.second(self.relu(self.first(x))))
        return self.relu(self.third(y) + self.short(x))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        channels = 64
        for width, depth, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(depth):
                layers.append(Bottleneck(channels, width, stride if i == 0 else 1))
                channels = width * 4
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(2048, 1000)

    def forward(self, image):
        return self.head(self.features(image).mean((2, 3)))


class Layer(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads, self.size = heads, hidden // heads
        self.query, self.key, self.value, self.out = (nn.Linear(hidden, hidden) for _ in range(4))
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
        self.norm1, self.norm2 = nn.LayerNorm(hidden, eps=1e-12), nn.LayerNorm(hidden, eps=1e-12)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.size).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.softmax(q @ k.transpose(-1, -2) / self.size**0.5 + mask, dim=-1)
        joined = (scores @ v).permute(0, 2, 1, 3).reshape(x.shape)
        x = self.norm1(self.out(joined) + x)
        return self.norm2(self.down(nn.functional.gelu(self.up(x))) + x)


class MiniLm(nn.Module):
    def __init__(self, words=30522, hidden=384, depth=6, heads=12, length=512):
        super().__init__()
        self.words, self.places = nn.Embedding(words, hidden), nn.Embedding(length, hidden)
        self.kinds, self.norm = nn.Embedding(2, hidden), nn.LayerNorm(hidden, eps=1e-12)
        self.layers = nn.ModuleList(Layer(hidden, heads) for _ in range(depth))

    def forward(self, input_ids, attention_mask, token_type_ids):
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        x = self.norm(self.words(input_ids) + self.places(places) + self.kinds(token_type_ids))
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        return x


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__))
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    options = {"opset_version": 17, "dynamo": False}
    torch.onnx.export(ResNet50().eval(), (torch.rand(1, 3, 224, 224),), folder / "resnet50.onnx", input_names=["image"],
        output_names=["scores"], **options)
    ids = torch.randint(0, 100, (1, 128))
    torch.onnx.export(MiniLm().eval(), (ids, torch.ones_like(ids), torch.zeros_like(ids)), folder / "minilm.onnx",
        input_names=["input_ids", "attention_mask", "token_type_ids"], output_names=["hidden"], **options)


if __name__ == "__main__":
    main()
