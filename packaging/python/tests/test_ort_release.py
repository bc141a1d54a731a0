# SPDX-License-Identifier: GPL-3.0-or-later
"""quantscope.ort follows the installed release of ONNX Runtime, or the one that is asked for."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import quantscope.ort as ours
from quantscope.ort import release


@pytest.fixture
def halves(tmp_path):
    """A float16 product whose 16-bit scales are below the normal numbers."""
    weight = numpy_helper.from_array(np.linspace(-1, 1, 16, dtype=np.float16).reshape(4, 4), "w")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT16, ["N", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT16, ["N", 4])
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], "g", [x], [y], [weight])
    path = tmp_path / "halves.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return path


def x_scale(path):
    return float(next(numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer if t.name == "x_scale"))


DATA = {"x": np.linspace(-1, 1, 32, dtype=np.float16).reshape(8, 4)}


@pytest.mark.filterwarnings("ignore::quantscope.ProgramWarning")
@pytest.mark.parametrize("version, lost", [("1.31", True), ("1.32", False)])
def test_asked(halves, tmp_path, version, lost):
    ours.quantize_static(halves, tmp_path / "q", DATA, activation_type=ours.QuantType.QUInt16, ort_version=version)
    assert (x_scale(tmp_path / "q") == 1) == lost


@pytest.mark.filterwarnings("ignore::quantscope.ProgramWarning")
def test_installed(halves, tmp_path):
    theirs = pytest.importorskip("onnxruntime.quantization")

    class Reader(theirs.CalibrationDataReader):
        def __init__(self):
            self.feeds = iter([DATA])

        def get_next(self):
            return next(self.feeds, None)

    kind = {"activation_type": theirs.QuantType.QUInt16}
    theirs.quantize_static(str(halves), str(tmp_path / "theirs"), Reader(), **kind)
    ours.quantize_static(halves, tmp_path / "ours", Reader(), **kind)
    assert x_scale(tmp_path / "theirs") == x_scale(tmp_path / "ours")


@pytest.mark.parametrize(
    "version, rules",
    [
        ("1.31.1", "1.31"),
        ("1.32.0", "1.32"),
        ("1.40.0.dev20270101", "1.32"),
        ("1.9.0", "1.31"),
        ("2.0", "1.32"),
        (None, "1.32"),
    ],
)
def test_nearest(monkeypatch, version, rules):
    monkeypatch.setattr(release, "installed", lambda: version)
    assert release.rules_of(None) == rules


def test_unknown(halves, tmp_path):
    with pytest.raises(ValueError, match="ort_version 1.30 is not known; use one of 1.31, 1.32"):
        ours.quantize_static(halves, tmp_path / "q", DATA, ort_version="1.30")
