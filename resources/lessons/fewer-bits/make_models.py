#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains the network of this lesson: three matrices on handwritten digits, written as MatMul + Add.

    pip install torch onnx scikit-learn numpy
    python3 make_models.py

Training sees the pictures that ../../examples/make_example.py trains on; the 200 test pictures are those of
../../examples/digits_samples.npz. A few inputs of the second matrix get rows eight times as large, and what makes them is
divided by eight (a power of two, with ReLU between): the network computes the same, and its blocks have something to hold.
The pictures come from Optical Recognition of Handwritten Digits (E. Alpaydin and C. Kaynak, UCI Machine Learning
Repository, CC BY 4.0), as scikit-learn's load_digits delivers them; pictures.npz, 128 of those
that were trained on, stays under that licence.
"""
import pathlib

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

SEED, TEST, EPOCHS, PICTURES = 20, 200, 60, 128
MEAN, DEVIATION = 0.3, 0.4
WIDTHS = (64, 128, 128, 10)
LARGE, FACTOR = (5, 40, 41, 90), 8
HERE = pathlib.Path(__file__).resolve().parent


def train(images, labels):
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    layers = [nn.Linear(a, b) for a, b in zip(WIDTHS, WIDTHS[1:])]
    net = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
    x, y = torch.from_numpy(images), torch.from_numpy(labels)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[batch]), y[batch]).backward()
            optimizer.step()
    return [(layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy().copy()) for layer in layers]


def written(layers):
    nodes = [helper.make_node("Flatten", ["image"], ["pixels"], name="flatten")]
    constants, value = [], "pixels"
    for i, (weight, bias) in enumerate(layers, 1):
        last = i == len(layers)
        constants += [numpy_helper.from_array(weight, f"weight_{i}"), numpy_helper.from_array(bias, f"bias_{i}")]
        nodes.append(helper.make_node("MatMul", [value, f"weight_{i}"], [f"product_{i}"], name=f"matmul_{i}"))
        nodes.append(helper.make_node("Add", [f"product_{i}", f"bias_{i}"], ["scores" if last else f"sum_{i}"], name=f"add_{i}"))
        if not last:
            value = f"hidden_{i}"
            nodes.append(helper.make_node("Relu", [f"sum_{i}"], [value], name=f"relu_{i}"))
    graph = helper.make_graph(
        nodes, "digits", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", WIDTHS[-1]])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    digits = load_digits()
    pixels, test, labels, test_labels = train_test_split(
        digits.images.astype(np.float32)[:, None] / 16, digits.target.astype(np.int64), test_size=TEST,
        random_state=SEED, stratify=digits.target)
    images = ((pixels - MEAN) / DEVIATION).astype(np.float32).reshape(len(pixels), -1)
    (first, first_bias), (second, second_bias), last = train(images, labels)
    first[:, LARGE] /= FACTOR
    first_bias[list(LARGE)] /= FACTOR
    second[LARGE, :] *= FACTOR
    layers = [(first, first_bias), (second, second_bias), last]
    onnx.save(written(layers), HERE / "perceptron.onnx")
    np.savez_compressed(HERE / "pictures.npz", image=images[:PICTURES].reshape(-1, 1, 8, 8), labels=labels[:PICTURES])
    x = ((test - MEAN) / DEVIATION).astype(np.float32).reshape(len(test), -1)
    for i, (weight, bias) in enumerate(layers):
        x = x @ weight + bias if i == 2 else np.maximum(x @ weight + bias, 0)
    print(f"accuracy on {TEST} test pictures: {(x.argmax(1) == test_labels).mean():.3f}")


main()
