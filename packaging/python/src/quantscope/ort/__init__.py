# SPDX-License-Identifier: GPL-3.0-or-later
"""What scripts import from onnxruntime.quantization and its qdq_loss_debug, under the same names."""

from .qdq_loss_debug import (
    collect_activations,
    compute_activation_error,
    compute_signal_to_quantization_noice_ratio,
    compute_weight_error,
    create_activation_matching,
    create_weight_matching,
    modify_model_output_intermediate_tensors,
)
from .quantization import (
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
    "collect_activations",
    "compute_activation_error",
    "compute_signal_to_quantization_noice_ratio",
    "compute_weight_error",
    "create_activation_matching",
    "create_weight_matching",
    "modify_model_output_intermediate_tensors",
    "quantize",
    "quantize_dynamic",
    "quantize_static",
]
