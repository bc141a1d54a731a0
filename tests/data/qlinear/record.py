#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records codes of ONNX Runtime's com.microsoft QLinear* operators (x64) in expectations.txt.

Each line: operator type parameters... : inputs... : outputs... Scales are float32 bit patterns. The operands are chosen
so that many results lie near the middle between two codes. Needs onnx, onnxruntime and numpy."""
import os
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

F = np.float32
random = np.random.default_rng(2024)
lines = []


def run(op, inputs, constants, **attributes):
    names = list(inputs) + list(constants)
    order = attributes.pop("order", names)
    node = helper.make_node(op, order, ["out"], domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in inputs.items()],
        [onnx.ValueInfoProto(name="out")], [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 15), helper.make_opsetid("com.microsoft", 1)])
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)[0]


def bits(scale):
    return str(np.asarray(scale, F).view(np.uint32))


def record(op, dtype, parameters, inputs, output):
    text = [" ".join(str(v) for v in np.ravel(x)) for x in inputs]
    lines.append(f"{op} {np.dtype(dtype).name} {' '.join(parameters)} : {' : '.join(text)} : "
                 f"{' '.join(str(v) for v in np.ravel(output))}")


for dtype in (np.uint8, np.int8):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    code = lambda *shape: random.integers(low, high + 1, shape).astype(dtype)
    for op in ("QLinearAdd", "QLinearMul"):
        for mode in ("both", "first repeated", "second repeated"):
            for _ in range(3):
                c = F(random.uniform(0.01, 0.1))
                a = F(c * random.integers(1, 9) / 2)
                b = F(c * random.integers(1, 9) / 2) if op == "QLinearAdd" else F(random.integers(1, 9) / 64)
                az, bz, cz = code(3)
                A = code(1) if mode == "first repeated" else code(40)
                B = code(1) if mode == "second repeated" else code(40)
                C = run(op, {"A": A, "B": B}, {"as": a, "az": az, "bs": b, "bz": bz, "cs": c, "cz": cz},
                        order=["A", "as", "az", "B", "bs", "bz", "cs", "cz"])
                record(op, dtype, [bits(a), str(az), bits(b), str(bz), bits(c), str(cz)], [A, B], C)
    for _ in range(6):
        x = F(random.uniform(0.01, 0.1))
        y = F(x * random.choice([0.25, 0.5, 1]))
        xz, yz = code(2)
        constants = {"xs": x, "xz": xz, "ys": y, "yz": yz}
        parameters = [bits(x), str(xz), bits(y), str(yz)]
        X = code(1, 3, 4, 2)
        record("QLinearGlobalAveragePool", dtype, parameters, [X], run("QLinearGlobalAveragePool", {"X": X}, constants))
        record("QLinearAveragePool", dtype, parameters, [X],
               run("QLinearAveragePool", {"X": X}, constants, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]))
        X = code(1, 12)
        constants["ys"], constants["yz"] = F(1 / 256), dtype(low)
        record("QLinearSoftmax", dtype, [bits(x), str(xz), bits(1 / 256), str(low)], [X],
               run("QLinearSoftmax", {"X": X}, constants, axis=-1, opset=13))

# Rows of a few codes, whose powers are near the largest float32.
for dtype in (np.uint8, np.int8):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for length in (1, 2, 3, 5):
        for y in (1 / 255, 1 / 256, 0.003, 0.001, 0.02):
            x, xz, yz = F(random.uniform(0.01, 0.3)), dtype(random.integers(low, high + 1)), dtype(low + 4 * (y < 0.003))
            X = random.integers(low, high + 1, (1, length)).astype(dtype)
            record("QLinearSoftmax", dtype, [bits(x), str(xz), bits(y), str(yz)], [X],
                   run("QLinearSoftmax", {"X": X}, {"xs": x, "xz": xz, "ys": F(y), "yz": yz}, axis=-1, opset=13))

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "expectations.txt"), "w") as file:
    file.write("# Written by record.py with ONNX Runtime " + onnxruntime.__version__ + "; see there.\n")
    file.write("\n".join(lines) + "\n")
