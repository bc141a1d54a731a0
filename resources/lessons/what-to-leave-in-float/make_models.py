#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the models of this lesson out of ../../examples/digits_float.onnx.

    pip install onnx numpy
    python3 make_models.py

In each file one channel of two layers is several times as large, and what the next layer multiplies it with as much
smaller. The factors are powers of two, and only ReLU, pooling and averages stand between: the network computes the same.
Training makes such channels, too, less tidily; here we know where they are.
"""
import pathlib

import onnx
from onnx import numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
FOLLOWER = {"/depthwise/conv/Conv": "/pointwise/conv/Conv", "/pointwise/conv/Conv": "/classifier/Gemm"}
FILES = {  # layer: (channel, factor)
    "a": {"/depthwise/conv/Conv": (7, 32), "/pointwise/conv/Conv": (20, 4)},
    "b": {"/depthwise/conv/Conv": (3, 16), "/pointwise/conv/Conv": (11, 8)},
    "c": {"/depthwise/conv/Conv": (12, 64), "/pointwise/conv/Conv": (29, 4)},
}


def widened(model, places):
    nodes = {node.name: node for node in model.graph.node}
    constants = {constant.name: constant for constant in model.graph.initializer}

    def change(name, place, factor):
        values = numpy_helper.to_array(constants[name]).copy()
        values[place] *= factor
        constants[name].CopyFrom(numpy_helper.from_array(values, name))

    for layer, (channel, factor) in places.items():
        first, second = nodes[layer], nodes[FOLLOWER[layer]]
        change(first.input[1], channel, factor)
        change(first.input[2], channel, factor)
        change(second.input[1], (slice(None), channel), 1 / factor)
    return model


def main():
    source = HERE.parent.parent / "examples" / "digits_float.onnx"
    for name, places in FILES.items():
        onnx.save(widened(onnx.load(source), places), HERE / f"digits_{name}.onnx")


main()
