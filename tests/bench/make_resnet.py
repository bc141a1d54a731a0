#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a network of ResNet-50's shape with random weights, as float and in four quantized forms, to a folder.

    make_resnet.py FOLDER

Needs torch, onnx and onnxruntime.
"""
import pathlib
import sys

import numpy as np
import torch
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from torch import nn


class Block(nn.Module):
    def __init__(self, channels, middle, stride):
        super().__init__()
        self.branch = nn.Sequential(nn.Conv2d(channels, middle, 1), nn.ReLU(),
                                    nn.Conv2d(middle, middle, 3, stride, 1), nn.ReLU(),
                                    nn.Conv2d(middle, 4 * middle, 1))
        same = stride == 1 and channels == 4 * middle
        self.skip = nn.Identity() if same else nn.Conv2d(channels, 4 * middle, 1, stride)

    def forward(self, x):
        return torch.relu(self.branch(x) + self.skip(x))


def network():
    layers, channels = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for middle, blocks, stride in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for i in range(blocks):
            layers.append(Block(channels, middle, stride if i == 0 else 1))
            channels = 4 * middle
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000)]
    net = nn.Sequential(*layers).eval()
    for module in net.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.kaiming_normal_(module.weight)
            module.weight.data *= 0.8
            nn.init.normal_(module.bias, std=0.1)
    return net


class Samples(CalibrationDataReader):
    def __init__(self):
        random = np.random.default_rng(0)
        self.rest = [random.standard_normal((1, 3, 224, 224), dtype=np.float32) for _ in range(3)]

    def get_next(self):
        return {"x": self.rest.pop()} if self.rest else None


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(0)
    torch.onnx.export(network(), torch.randn(1, 3, 224, 224), folder / "resnet_float.onnx", opset_version=17,
                      input_names=["x"], output_names=["y"], dynamo=False)
    forms = {"qdq": QuantFormat.QDQ, "qoperator": QuantFormat.QOperator}
    types = {"u8s8": QuantType.QUInt8, "s8s8": QuantType.QInt8}
    for form, quant_format in forms.items():
        for name, activation in types.items():
            quantize_static(folder / "resnet_float.onnx", folder / f"resnet_{form}_{name}.onnx", Samples(),
                            quant_format=quant_format, activation_type=activation, weight_type=QuantType.QInt8,
                            per_channel=True)


main()
