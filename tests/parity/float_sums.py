#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""In what order ONNX Runtime (optimizations off, one thread) and this program add the products of float32 layers.

    float_sums.py

Computes random layers in numpy in the orders below and prints the share of outputs that have the same bits as either
program's. It explains why activations differ in their last bits, and fails where ONNX Runtime's order is not the
expected one any more. Needs: onnx onnxruntime numpy
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

CLI = os.environ.get("QUANTSCOPE_CLI", "build/release/bin/quantscope-cli")
RNG = np.random.default_rng(1)


def random(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def fused(total, a, b):
    """a * b + total, rounded once (a * b is exact in float64; double rounding is too rare to be seen)."""
    return (total.astype(np.float64) + a.astype(np.float64) * b).astype(np.float32)


def chain(terms, total):
    for a, b in terms:
        total = fused(total, a, b)
    return total


def blocks(terms, size):
    """Chains of `size` terms, each from zero; then their sums from left to right."""
    zero = np.zeros(np.broadcast(*terms[0]).shape, np.float32)
    sums = [chain(terms[i : i + size], zero) for i in range(0, len(terms), size)]
    total = sums[0]
    for part in sums[1:]:
        total = total + part
    return total


def fours(terms):
    """Rounded products; four at a time are added up, and that is added to the sum so far."""
    total = None
    for i in range(0, len(terms), 4):
        part = terms[i][0] * terms[i][1]
        for a, b in terms[i + 1 : i + 4]:
            part = part + a * b
        total = part if total is None else part + total
    return total


def block_size(terms, columns):
    """How MLAS (MlasSgemmOperation) cuts a sum over that many terms where the product has that many columns."""
    size, width = 128, 128
    while columns < terms and width > 16 and width // 2 >= columns:
        size, width = size * 2, width // 2
    return size


def outputs(node, x, constants):
    """ONNX Runtime's and this program's."""
    graph = helper.make_graph(
        [node],
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    with tempfile.TemporaryDirectory() as folder:
        model, data, out = (os.path.join(folder, name) for name in ("m.onnx", "x.npz", "y.npz"))
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), model)
        theirs = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
        np.savez(data, x=x[np.newaxis])
        command = [CLI, "run", model, "--data", data, "--out", out, "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return theirs, np.load(out)["y"].reshape(theirs.shape)


def convolution(kernel, inputs, channels, size, stride=1, depthwise=False):
    weights, bias = random(channels, 1 if depthwise else inputs, kernel, kernel), random(channels)
    x, pad = random(1, inputs, size, size), kernel // 2
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], group=channels if depthwise else 1, pads=[pad] * 4,
                            strides=[stride] * 2)
    theirs, ours = (y.reshape(channels, -1) for y in outputs(node, x, {"w": weights, "b": bias}))
    side = (size + 2 * pad - kernel) // stride + 1
    padded = np.pad(x[0], ((0, 0), (pad, pad), (pad, pad)))
    terms = []
    for c in range(1 if depthwise else inputs):
        for i in range(kernel):
            for j in range(kernel):
                plane = padded[:, i : i + stride * side : stride, j : j + stride * side : stride][:, :side, :side]
                pixels = plane.reshape(inputs, -1) if depthwise else plane[c].reshape(1, -1)
                terms.append((weights[:, c, i, j][:, np.newaxis], pixels))
    bias = bias[:, np.newaxis]
    by_place = [terms[c * kernel * kernel + k] for k in range(kernel * kernel) for c in range(len(terms) // kernel**2)]
    first = chain(by_place, np.broadcast_to(bias, theirs.shape))
    last = (fours(terms) if depthwise else blocks(terms, block_size(len(terms), side * side))) + bias
    return theirs, ours, first, last


CASES = {
    "3x3, 3 to 32, 122x122": lambda: convolution(3, 3, 32, 244, stride=2),
    "1x1, 32 to 16, 122x122": lambda: convolution(1, 32, 16, 122),
    "1x1, 144 to 24, 61x61": lambda: convolution(1, 144, 24, 61),
    "1x1, 576 to 96, 16x16": lambda: convolution(1, 576, 96, 16),
    "1x1, 960 to 160, 8x8": lambda: convolution(1, 960, 160, 8),
    "1x1, 320 to 1280, 7x7": lambda: convolution(1, 320, 1280, 7),
    "3x3, 32 to 32, 28x28": lambda: convolution(3, 32, 32, 28),
    "depthwise 3x3, 96, 61x61": lambda: convolution(3, 96, 96, 61, depthwise=True),
    "depthwise 3x3, 576, 16 to 8": lambda: convolution(3, 576, 576, 16, stride=2, depthwise=True),
}


def main():
    failed = False
    print(f"{'share of outputs with the same bits':32} {'both':>8} {'theirs':>8} {'ours':>8}")
    for name, case in CASES.items():
        theirs, ours, first, last = case()
        same = float((theirs == last).mean())
        failed = failed or same < 0.9999
        print(f"{name:35} {(theirs == ours).mean():8.4f} {same:8.4f} {(ours == first).mean():8.4f}")
    print("theirs: blocks from zero, bias last (depthwise: rounded products in fours); ours: a chain from the bias on")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
