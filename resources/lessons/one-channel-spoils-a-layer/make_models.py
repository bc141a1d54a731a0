#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the models of this lesson out of ../../examples/digits_float.onnx.

    pip install onnx numpy
    python3 make_models.py

In each file one channel of the depthwise convolution is FACTOR times as large, and what the next layer multiplies it
with as much smaller. FACTOR is a power of two and a ReLU stands between: the network computes the same, to the last bit.
"""
import pathlib

import onnx
from onnx import numpy_helper

FACTOR = 16
CHANNELS = {"a": 3, "b": 7, "c": 12}  # the names do not tell which channel it is
HERE = pathlib.Path(__file__).resolve().parent


def scaled(model, channel):
    nodes = {node.name: node for node in model.graph.node}
    constants = {constant.name: constant for constant in model.graph.initializer}
    first, second = nodes["/depthwise/conv/Conv"], nodes["/pointwise/conv/Conv"]

    def change(name, place, factor):
        values = numpy_helper.to_array(constants[name]).copy()
        values[place] *= factor
        constants[name].CopyFrom(numpy_helper.from_array(values, name))

    change(first.input[1], channel, FACTOR)
    change(first.input[2], channel, FACTOR)
    change(second.input[1], (slice(None), channel), 1 / FACTOR)
    return model


def main():
    source = HERE.parent.parent / "examples" / "digits_float.onnx"
    for name, channel in CHANNELS.items():
        onnx.save(scaled(onnx.load(source), channel), HERE / f"digits_{name}.onnx")


main()
