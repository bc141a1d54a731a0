# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize_static and quantize_dynamic write what ONNX Runtime's functions of these names write."""

import logging

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import quantscope as q
import quantscope.ort as ours

theirs = pytest.importorskip("onnxruntime.quantization")
logging.disable(logging.WARNING)
VERSION = tuple(int(number) for number in pytest.importorskip("onnxruntime").__version__.split(".")[:2])
same_rules = pytest.mark.skipif(VERSION < (1, 31), reason="the program's rules are those of ONNX Runtime 1.31")


class Reader(ours.CalibrationDataReader):
    def __init__(self, images):
        self._images = iter(images)

    def get_next(self):
        image = next(self._images, None)
        return None if image is None else {"x": image[None]}


def contents(path):
    graph = onnx.load(path).graph
    nodes = sorted((n.op_type, n.domain, tuple(n.input), tuple(n.output), n.name) for n in graph.node)
    return nodes, {t.name: numpy_helper.to_array(t) for t in graph.initializer}


def assert_same(expected, got):
    """Nodes and codes alike; scales of activations but for the last bits, in which two engines' sums may differ."""
    (nodes_a, a), (nodes_b, b) = contents(expected), contents(got)
    assert nodes_a == nodes_b
    assert set(a) == set(b)
    for name in a:
        assert a[name].dtype == b[name].dtype and a[name].shape == b[name].shape
        if a[name].dtype == np.int32:  # biases: their scales are products with those of activations
            assert np.allclose(a[name], b[name], rtol=1e-5, atol=1)
        else:
            assert np.allclose(a[name].astype(float), b[name].astype(float), rtol=1e-5), name


QUINT8, QINT8, QINT16 = theirs.QuantType.QUInt8, theirs.QuantType.QInt8, theirs.QuantType.QInt16
CASES = {
    "defaults": {},
    "per channel": {"per_channel": True, "reduce_range": True},
    "uint8": {"activation_type": QUINT8, "weight_type": QUINT8, "extra_options": {"ActivationSymmetric": True}},
    "int16": {"activation_type": QINT16, "extra_options": {"UseQDQContribOps": True}},
    "qoperator": {"quant_format": theirs.QuantFormat.QOperator, "activation_type": QUINT8},
    "entropy": {"calibrate_method": theirs.CalibrationMethod.Entropy},
    "percentile": {"calibrate_method": theirs.CalibrationMethod.Percentile, "extra_options": {"CalibPercentile": 99.0}},
    "moving average": {"extra_options": {"CalibMovingAverage": True, "CalibMovingAverageConstant": 0.1}},
    "symmetric ranges": {"extra_options": {"CalibTensorRangeSymmetric": True}},
    "without": {"nodes_to_exclude": ["gemm"]},
    "with": {"nodes_to_quantize": ["conv"]},
    "types": {"op_types_to_quantize": ["Conv"]},
    "overrides": {
        "extra_options": {
            "TensorQuantOverrides": {
                "relu_out": [{"quant_type": QUINT8, "rmin": np.float32(-1), "rmax": np.float32(5)}]
            }
        }
    },
    "pairs": {"extra_options": {"AddQDQPairToWeight": True, "DedicatedQDQPair": True, "QuantizeBias": False}},
    "others": {
        "extra_options": {
            "QDQKeepRemovableActivations": True,
            "MinimumRealRange": 0.01,
            "QDQDisableWeightAdjustForInt32Bias": True,
            "WeightSymmetric": False,
        }
    },
}


@same_rules
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::quantscope.ProgramWarning")
def test_static(pair, images, tmp_path, case):
    for name, module in (("theirs", theirs), ("ours", ours)):
        module.quantize_static(str(pair[0]), str(tmp_path / name), Reader(images), **CASES[case])
    assert_same(tmp_path / "theirs", tmp_path / "ours")


def test_static_with_our_names(pair, images, tmp_path):
    ours.quantize_static(pair[0], tmp_path / "a", Reader(images), activation_type=QUINT8)
    ours.quantize_static(
        onnx.load(pair[0]),
        tmp_path / "b",
        {"x": images},
        ours.QuantFormat.QDQ,
        activation_type=ours.QuantType.QUInt8,
        calibrate_method=ours.CalibrationMethod.MinMax,
    )
    assert_same(tmp_path / "a", tmp_path / "b")


@same_rules
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight_type": QUINT8, "per_channel": True, "reduce_range": True},
        {"extra_options": {"MatMulConstBOnly": False}},
    ],
)
def test_dynamic(pair, tmp_path, options):
    for name, module in (("theirs", theirs), ("ours", ours)):
        module.quantize_dynamic(str(pair[0]), str(tmp_path / name), **options)
    assert_same(tmp_path / "theirs", tmp_path / "ours")


@same_rules
def test_configurations(pair, images, tmp_path):
    for name, module in (("theirs", theirs), ("ours", ours)):
        static = module.StaticQuantConfig(Reader(images), activation_type=QUINT8, per_channel=True)
        module.quantize(str(pair[0]), str(tmp_path / name), static)
    assert_same(tmp_path / "theirs", tmp_path / "ours")
    ours.quantize(pair[0], tmp_path / "theirs", theirs.DynamicQuantConfig(weight_type=QUINT8))
    ours.quantize(pair[0], tmp_path / "ours", ours.DynamicQuantConfig(weight_type=ours.QuantType.QUInt8))
    assert_same(tmp_path / "theirs", tmp_path / "ours")


@same_rules
def test_samples_of_various_shapes(two, tmp_path):
    def feeds():
        rng = np.random.default_rng(4)
        return [{name: rng.normal(size=(1, length, 4)).astype(np.float32) for name in "ab"} for length in (2, 5, 3)]

    class Feeds(theirs.CalibrationDataReader):
        def __init__(self):
            self.feeds = iter(feeds())

        def get_next(self):
            return next(self.feeds, None)

    for name, module in (("theirs", theirs), ("ours", ours)):
        module.quantize_static(str(two), str(tmp_path / name), Feeds())
    assert_same(tmp_path / "theirs", tmp_path / "ours")


def test_modules_under_their_own_names():
    from quantscope import qdq_loss_debug, quantization

    assert quantization.quantize_static is ours.quantize_static
    assert quantization.qdq_loss_debug is qdq_loss_debug
    assert qdq_loss_debug.collect_activations is ours.collect_activations


@same_rules
def test_caches_of_ranges_go_both_ways(pair, images, tmp_path):
    ours.quantize_static(pair[0], tmp_path / "a", Reader(images), calibration_cache_path=tmp_path / "cache.json")
    assert (tmp_path / "cache.json").exists()
    ours.quantize_static(pair[0], tmp_path / "b", calibration_cache_path=tmp_path / "cache.json")
    assert_same(tmp_path / "a", tmp_path / "b")
    theirs.quantize_static(str(pair[0]), str(tmp_path / "c"), None, calibration_cache_path=str(tmp_path / "cache.json"))
    assert_same(tmp_path / "a", tmp_path / "c")


def test_what_is_not_possible(pair, images, tmp_path):
    with pytest.raises(ValueError, match="Wrong"):
        ours.quantize_static(pair[0], tmp_path / "q", Reader(images), extra_options={"Wrong": 1})
    with pytest.raises(ValueError, match="weight_type"):
        ours.quantize_static(pair[0], tmp_path / "q", Reader(images), weight_type="int3")
    with pytest.raises(ValueError, match="needs a calibration_data_reader"):
        ours.quantize_static(pair[0], tmp_path / "q")
    with pytest.raises(q.BadUse, match="would overwrite the float model"):
        ours.quantize_static(pair[0], pair[0], Reader(images))
    with pytest.raises(q.BadUse, match="activations cannot have 4 bits"):
        ours.quantize_static(pair[0], tmp_path / "q", Reader(images), activation_type=ours.QuantType.QInt4)
