# SPDX-License-Identifier: GPL-3.0-or-later
"""A small model, quantized, and samples for it. The program is found as the package finds it (QUANTSCOPE_CLI, PATH)."""

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import quantscope as q

sys.path.insert(0, str(Path(__file__).parent))


def constant(name, array):
    return numpy_helper.from_array(array, name)


def small_net(path, batch="N"):
    """Conv, Relu, Flatten, Gemm to three classes. Input [N, 2, 6, 6]."""
    rng = np.random.default_rng(5)
    constants = [
        constant("W", rng.normal(size=(4, 2, 3, 3)).astype(np.float32)),
        constant("B", rng.normal(size=4).astype(np.float32)),
        constant("G", rng.normal(size=(144, 3)).astype(np.float32)),
        constant("H", rng.normal(size=3).astype(np.float32)),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "W", "B"], ["conv_out"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv_out"], ["relu_out"], name="relu"),
        helper.make_node("Flatten", ["relu_out"], ["flat"], name="flatten"),
        helper.make_node("Gemm", ["flat", "G", "H"], ["scores"], name="gemm"),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 2, 6, 6])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, 3])],
        constants,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def two_inputs(path):
    """Sum over positions of a product: inputs of open length."""
    nodes = [
        helper.make_node("MatMul", ["a", "M"], ["product"], name="product"),
        helper.make_node("Add", ["product", "b"], ["sum"], name="sum"),
    ]
    graph = helper.make_graph(
        nodes,
        "two",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", "T", 4]) for name in "ab"],
        [helper.make_tensor_value_info("sum", TensorProto.FLOAT, ["N", "T", 4])],
        [constant("M", np.random.default_rng(2).normal(size=(4, 4)).astype(np.float32))],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


@pytest.fixture(scope="session")
def images():
    """Eight samples."""
    return np.random.default_rng(1).normal(size=(8, 2, 6, 6)).astype(np.float32)


@pytest.fixture(scope="session")
def pair(tmp_path_factory, images):
    """Paths of the float model and of its quantized counterpart."""
    folder = tmp_path_factory.mktemp("pair")
    small_net(folder / "float.onnx")
    q.quantize(folder / "float.onnx", folder / "quantized.onnx", {"x": images})
    return folder / "float.onnx", folder / "quantized.onnx"


@pytest.fixture(scope="session")
def two(tmp_path_factory):
    """Path of a model with two inputs."""
    path = tmp_path_factory.mktemp("two") / "two.onnx"
    two_inputs(path)
    return path
