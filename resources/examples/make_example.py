#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the bundled example: a small digit classifier, its good and its badly calibrated quantization, and test data.

    pip install torch onnx onnxruntime scikit-learn numpy
    python3 make_example.py [FOLDER]

Writes digits_float.onnx (PyTorch's exporter), digits_qdq.onnx and digits_qdq_narrow.onnx (ONNX Runtime's
quantize_static) and digits_samples.npz (200 labelled pictures that training and calibration never saw).

The fault in digits_qdq_narrow.onnx is one that happens every day: the network was trained on normalized pictures,
(pixel - mean) / deviation, and whoever calibrated the quantized file forgot to normalize. The calibration pictures lie in
0..1, real ones in -0.75..1.75: the range of the input and of most activations came out too narrow.
"""
import os
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

SEED = 20
EPOCHS = 60
SAMPLES = 200
MEAN, DEVIATION = 0.3, 0.4


class ConvBnRelu(nn.Module):
    """Convolution, batch normalization (the exporter folds it into the weights) and ReLU."""

    def __init__(self, channels_in, channels_out, kernel, groups=1):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel, padding=kernel // 2, groups=groups, bias=False)
        self.bn = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


class Residual(nn.Module):
    """relu(x + branch(x))"""

    def __init__(self, channels):
        super().__init__()
        self.first = ConvBnRelu(channels, channels, 3)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(x + self.bn(self.second(self.first(x))))


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = ConvBnRelu(1, 16, 3)
        self.block = Residual(16)
        self.pool = nn.MaxPool2d(2)
        self.depthwise = ConvBnRelu(16, 16, 3, groups=16)
        self.pointwise = ConvBnRelu(16, 32, 1)
        self.average = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(32, 10)

    def forward(self, image):
        x = self.pool(self.block(self.stem(image)))
        x = self.pointwise(self.depthwise(x))
        return self.classifier(torch.flatten(self.average(x), 1))


def normalized(pixels):
    return ((pixels - MEAN) / DEVIATION).astype(np.float32)


def train(images, labels):
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    net = DigitNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    x, y = torch.from_numpy(images), torch.from_numpy(labels)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[batch]), y[batch]).backward()
            optimizer.step()
        schedule.step()
    return net.eval()


def export(net, path):
    torch.onnx.export(
        net, (torch.zeros(1, 1, 8, 8),), path, dynamo=False, opset_version=17, input_names=["image"],
        output_names=["scores"], dynamic_axes={"image": {0: "N"}, "scores": {0: "N"}})


class Reader(CalibrationDataReader):
    def __init__(self, images):
        self.rows = iter(images)

    def get_next(self):
        row = next(self.rows, None)
        return None if row is None else {"image": row[None]}


def quantize(float_path, path, images):
    quantize_static(
        float_path, path, Reader(images), quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8, per_channel=True)


def accuracy(path, images, labels):
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    return float((session.run(None, {"image": images})[0].argmax(1) == labels).mean())


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
    digits = load_digits()
    pixels = digits.images.astype(np.float32)[:, None] / 16
    labels = digits.target.astype(np.int64)
    pixels, test_pixels, labels, test_labels = train_test_split(
        pixels, labels, test_size=SAMPLES, random_state=SEED, stratify=labels)
    images, test_images = normalized(pixels), normalized(test_pixels)

    float_path = str(folder / "digits_float.onnx")
    export(train(images, labels), float_path)
    onnx.checker.check_model(onnx.load(float_path))
    # Quantizing leaves files of its own behind: it works in a folder that goes away.
    with tempfile.TemporaryDirectory() as scratch:
        for name, calibration in (("digits_qdq", images[:256]), ("digits_qdq_narrow", pixels[:256])):
            quantize(float_path, os.path.join(scratch, name + ".onnx"), calibration)
            shutil.move(os.path.join(scratch, name + ".onnx"), folder / (name + ".onnx"))
    np.savez_compressed(folder / "digits_samples.npz", image=test_images, labels=test_labels)
    for name in ("digits_float", "digits_qdq", "digits_qdq_narrow"):
        print(f"{name}.onnx: accuracy {accuracy(str(folder / (name + '.onnx')), test_images, test_labels):.3f}")


main()
