#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""In what order ONNX Runtime (optimizations off, one thread) and this program add the products of float32 layers.

    float_sums.py

Computes random layers in numpy in the orders below and prints the share of outputs that have the same bits as either
program's, and fails where either order is not the expected one any more. Needs: onnx onnxruntime numpy
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
    """Rounded products; four at a time are added up (of three at the end two and one), and that is added to the sum so
    far."""
    total, first = None, 0
    while first < len(terms):
        left = len(terms) - first
        last = first + (4 if left >= 4 else 2 if left == 3 else left)
        part = terms[first][0] * terms[first][1]
        for a, b in terms[first + 1 : last]:
            part = part + a * b
        total, first = part if total is None else part + total, last
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
    sums = fours(terms) if depthwise else blocks(terms, block_size(len(terms), side * side))
    return theirs, ours, sums + bias[:, np.newaxis]


def product(rows, inner, columns, transposed=False):
    """Gemm with a constant matrix: blocks of 256 behind the bias."""
    x, weights, bias = random(rows, inner), random(inner, columns), random(columns)
    node = helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=int(transposed))
    matrix = np.ascontiguousarray(weights.T) if transposed else weights
    theirs, ours = outputs(node, x, {"w": matrix, "b": bias})
    terms = [(x[:, k : k + 1], weights[k : k + 1]) for k in range(inner)]
    zero, total = np.zeros((rows, columns), np.float32), bias[np.newaxis]
    for i in range(0, inner, 256):
        total = total + chain(terms[i : i + 256], zero)
    return theirs, ours, total


CASES = {
    "3x3, 3 to 32, 122x122": lambda: convolution(3, 3, 32, 244, stride=2),
    "1x1, 32 to 16, 122x122": lambda: convolution(1, 32, 16, 122),
    "1x1, 144 to 24, 61x61": lambda: convolution(1, 144, 24, 61),
    "1x1, 576 to 96, 16x16": lambda: convolution(1, 576, 96, 16),
    "1x1, 960 to 160, 8x8": lambda: convolution(1, 960, 160, 8),
    "1x1, 320 to 1280, 7x7": lambda: convolution(1, 320, 1280, 7),
    "3x3, 32 to 32, 28x28": lambda: convolution(3, 32, 32, 28),
    "3x3, 512 to 64, 7x7": lambda: convolution(3, 512, 64, 7),
    "depthwise 3x3, 96, 61x61": lambda: convolution(3, 96, 96, 61, depthwise=True),
    "depthwise 3x3, 576, 16 to 8": lambda: convolution(3, 576, 576, 16, stride=2, depthwise=True),
    "depthwise 5x5, 40, 19x19": lambda: convolution(5, 40, 40, 19, depthwise=True),
    "Gemm 1 x 1280 x 1000": lambda: product(1, 1280, 1000),
    "Gemm 17 x 700 x 64, transposed": lambda: product(17, 700, 64, transposed=True),
}


def main():
    failed = False
    print(f"{'share of outputs with these bits':32} {'both':>8} {'theirs':>8} {'ours':>8}")
    for name, case in CASES.items():
        theirs, ours, expected = case()
        shares = [float((a == b).mean()) for a, b in ((theirs, ours), (theirs, expected), (ours, expected))]
        failed = failed or min(shares) < 0.9999
        print(f"{name:32} " + " ".join(f"{share:8.4f}" for share in shares))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
