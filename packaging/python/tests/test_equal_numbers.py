# SPDX-License-Identifier: GPL-3.0-or-later
"""Which operators have ONNX Runtime's bits, as docs/python.md says."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import constant
from onnx import TensorProto, helper

import quantscope as q

onnxruntime = pytest.importorskip("onnxruntime")
CPU = Path("/proc/cpuinfo")

EQUAL = {
    "two dimensions": ("Conv", (16, 12, 12), [(32, 16, 3, 3), (32,)], {"pads": [1, 1, 1, 1]}),
    "depthwise": ("Conv", (16, 12, 12), [(16, 1, 3, 3), (16,)], {"group": 16, "pads": [1, 1, 1, 1]}),
    "one dimension, kernel 1": ("Conv", (16, 50), [(32, 16, 1), (32,)], {}),
    "Gemm": ("Gemm", (300,), [(300, 40), (40,)], {}),
    "MatMul": ("MatMul", (10, 300), [(300, 40)], {}),
    "pooling": ("GlobalAveragePool", (16, 7, 7), [], {}),
}
CLOSE = {
    "one dimension": ("Conv", (16, 50), [(32, 16, 3), (32,)], {}),
    "three dimensions": ("Conv", (4, 6, 6, 6), [(8, 4, 3, 3, 3), (8,)], {}),
    "grouped": ("Conv", (16, 12, 12), [(32, 8, 3, 3), (32,)], {"group": 2}),
    "transposed": ("ConvTranspose", (16, 8, 8), [(16, 8, 3, 3), (8,)], {}),
}


def both(path, op_type, item, shapes, attributes):
    """Outputs of ONNX Runtime, optimizations off and on one thread, and of this program."""
    rng = np.random.default_rng(2)
    constants = [constant(f"c{i}", rng.normal(size=shape).astype(np.float32)) for i, shape in enumerate(shapes)]
    node = helper.make_node(op_type, ["x", *(tensor.name for tensor in constants)], ["y"], **attributes)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *item])
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "one", [given], [made], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    x = rng.normal(size=(1, *item)).astype(np.float32)
    theirs = session.run(None, {"x": x})[0]
    return theirs, q.run(path, {"x": x})["y"].reshape(theirs.shape)


@pytest.mark.skipif(not CPU.exists() or " avx2" not in CPU.read_text(), reason="sums have this order with AVX2")
@pytest.mark.parametrize("case", EQUAL)
def test_equal_bits(tmp_path, case):
    theirs, ours = both(tmp_path / "one.onnx", *EQUAL[case])
    assert np.array_equal(theirs, ours)


@pytest.mark.parametrize("case", CLOSE)
def test_last_digits(tmp_path, case):
    theirs, ours = both(tmp_path / "one.onnx", *CLOSE[case])
    assert np.abs(theirs - ours).max() <= 1e-6 * np.abs(theirs).max()
