#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes codes.onnx and codes.npz: integer operators whose codes must be the same on every CPU.

Needs numpy and onnx. Widths lie beside those of vectors; the first operands are unsigned, the second ones signed.
"""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)
nodes, constants = [], []


def constant(name, value):
    constants.append(numpy_helper.from_array(value, name))
    return name


def scale(name, value):
    return constant(name, np.float32(value))


def zero(name, value, kind):
    return constant(name, np.array(value, kind))


spread = 1.5  # of the real values so far


def conv(name, x, xs, xz, channels, filters, groups, kernel, stride, kind, **attributes):
    weights = rng.integers(-127, 128, (filters, channels // groups, kernel, kernel)).astype(np.int8)
    steps = rng.uniform(0.002, 0.02, filters).astype(np.float32)
    global spread
    spread *= 0.8 * (channels // groups * kernel * kernel)**0.5
    bias = rng.integers(-5000, 5000, filters).astype(np.int32)
    y = name + "_y"
    ys, yz = scale(name + "_ys", spread * 6 / 256), zero(name + "_yz", 119 if kind == np.uint8 else -9, kind)
    nodes.append(h.make_node("QLinearConv", [x, xs, xz, constant(name + "_w", weights), constant(name + "_ws", steps),
                                             zero(name + "_wz", 0, np.int8), ys, yz, constant(name + "_b", bias)],
                             [y], name, group=groups, kernel_shape=[kernel] * 2, strides=[stride] * 2, **attributes))
    return y, ys, yz


def main(kind, suffix):
    global spread
    spread = 1.5
    nodes.clear()
    constants.clear()
    x = h.make_tensor_value_info("x", T.UINT8 if kind == np.uint8 else T.INT8, [1, 3, 21, 17])
    xs, xz = scale("xs", 0.02), zero("xz", 120 if kind == np.uint8 else -7, kind)
    a, as_, az = conv("first", "x", xs, xz, 3, 33, 1, 3, 2, kind, pads=[1, 1, 0, 2])
    b, bs, bz = conv("depthwise", a, as_, az, 33, 33, 33, 3, 1, kind, pads=[1, 1, 1, 1])
    c, cs, cz = conv("wide", b, bs, bz, 33, 70, 1, 1, 1, kind)
    d, ds, dz = conv("grouped", c, cs, cz, 70, 70, 2, 3, 1, kind, pads=[2, 2, 2, 2], dilations=[2, 2])
    es, ez = scale("es", spread * 6 / 256), zero("ez", 100 if kind == np.uint8 else 0, kind)
    nodes.append(h.make_node("QLinearAdd", [c, cs, cz, d, ds, dz, es, ez], ["e"], "add", domain="com.microsoft"))
    nodes.append(h.make_node("MaxPool", ["e"], ["f"], "pool", kernel_shape=[2, 2], strides=[2, 2]))
    gs, gz = scale("gs", spread * 5 / 256), zero("gz", 20 if kind == np.uint8 else -70, kind)
    nodes.append(h.make_node("QLinearGlobalAveragePool", ["f", es, ez, gs, gz], ["g"], "average",
                             domain="com.microsoft", channels_last=0))
    nodes.append(h.make_node("Flatten", ["g"], ["flat"], "flatten"))
    weights = rng.integers(-127, 128, (70, 19)).astype(np.int8)
    hs, hz = scale("hs", spread / 8), zero("hz", 11, kind)
    nodes.append(h.make_node("QLinearMatMul", ["flat", gs, gz, constant("mw", weights), scale("ms", 0.01),
                                               zero("mz", 0, np.int8), hs, hz], ["y"], "product"))
    graph = h.make_graph(nodes, "codes", [x], [h.make_tensor_value_info("y", x.type.tensor_type.elem_type, [1, 19])],
                         constants)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("com.microsoft", 1)],
                         ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, HERE / f"codes_{suffix}.onnx")
    info = np.iinfo(kind)
    np.savez(HERE / f"codes_{suffix}.npz",
             x=rng.integers(info.min, info.max + 1, (2, 1, 3, 21, 17)).astype(kind))


main(np.uint8, "u8")
main(np.int8, "s8")
