# SPDX-License-Identifier: GPL-3.0-or-later
"""The styles in which ONNX Runtime's tools quantize a file."""
import contextlib
import io
import logging
import pathlib
import tempfile

import onnx
from onnxruntime.quantization import (CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_dynamic,
                                      quantize_static)

U8, S8, U16, S16, S4 = QuantType.QUInt8, QuantType.QInt8, QuantType.QUInt16, QuantType.QInt16, QuantType.QInt4
STATIC = {
    "u8s8": dict(activation_type=U8, weight_type=S8),
    "u8s8_channel": dict(activation_type=U8, weight_type=S8, per_channel=True),
    "s8s8": dict(activation_type=S8, weight_type=S8),
    "s8_symmetric": dict(activation_type=S8, weight_type=S8, per_channel=True, extra_options={"ActivationSymmetric": True}),
    "u8u8": dict(activation_type=U8, weight_type=U8),
    "reduced": dict(activation_type=U8, weight_type=S8, reduce_range=True, per_channel=True),
    "u16s8": dict(activation_type=U16, weight_type=S8),
    "s16_symmetric": dict(activation_type=S16, weight_type=S8, extra_options={"ActivationSymmetric": True}),
    "s4_weights": dict(activation_type=U16, weight_type=S4, per_channel=True),
    "percentile": dict(activation_type=U8, weight_type=S8, calibrate_method=CalibrationMethod.Percentile),
    "qoperator": dict(activation_type=U8, weight_type=U8, quant_format=QuantFormat.QOperator),
    "qoperator_channel": dict(activation_type=U8, weight_type=S8, per_channel=True, quant_format=QuantFormat.QOperator),
    "dedicated": dict(activation_type=U8, weight_type=S8, extra_options={"DedicatedQDQPair": True}),
}
DYNAMIC = {"dynamic": dict(weight_type=U8), "dynamic_s8": dict(weight_type=S8, per_channel=True)}
WEIGHT_ONLY = {"int4": dict(symmetric=True), "uint4": dict(symmetric=False), "int4_dq": dict(symmetric=True, dequantize=True)}
STYLES = (*STATIC, *DYNAMIC, *WEIGHT_ONLY)


class Reader(CalibrationDataReader):
    def __init__(self, data):
        self.data, self.at = data, 0

    def get_next(self):
        self.at += 1
        if self.at > len(next(iter(self.data.values()))):
            return None
        return {k: v[self.at - 1:self.at] for k, v in self.data.items()}


def in_files(model, work):
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        source, target = pathlib.Path(folder) / "f.onnx", pathlib.Path(folder) / "q.onnx"
        onnx.save(model, str(source))
        work(str(source), str(target))
        return onnx.load(str(target))


def weight_only(model, symmetric, dequantize=False, block=16):
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer
    config = DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=symmetric,
                                          quant_format=QuantFormat.QDQ if dequantize else QuantFormat.QOperator)
    tool = MatMulNBitsQuantizer(onnx.ModelProto.FromString(model.SerializeToString()), algo_config=config)
    tool.process()
    return tool.model.model


def quantized(model, style, calibration):
    """The file that ONNX Runtime's tools make; calibration: {input: array with an axis of samples}."""
    if style in WEIGHT_ONLY:
        return weight_only(model, **WEIGHT_ONLY[style])
    if style in DYNAMIC:
        return in_files(model, lambda s, t: quantize_dynamic(s, t, **DYNAMIC[style]))
    options = {k: dict(v) if isinstance(v, dict) else v for k, v in STATIC[style].items()}
    return quantized_static(model, calibration, options)


def quantized_static(model, calibration, options):
    return in_files(model, lambda s, t: quantize_static(s, t, Reader(calibration), **options))
