# SPDX-License-Identifier: GPL-3.0-or-later
"""What scripts import from onnxruntime.quantization, under a name like its own; see quantscope.ort."""

from . import qdq_loss_debug
from .ort.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    DynamicQuantConfig,
    QuantFormat,
    QuantType,
    StaticQuantConfig,
    quantize,
    quantize_dynamic,
    quantize_static,
)

__all__ = [
    "CalibrationDataReader",
    "CalibrationMethod",
    "DynamicQuantConfig",
    "QuantFormat",
    "QuantType",
    "StaticQuantConfig",
    "qdq_loss_debug",
    "quantize",
    "quantize_dynamic",
    "quantize_static",
]
