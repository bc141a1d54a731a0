# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights of a float file and of its Q/DQ counterpart, as arrays."""

from __future__ import annotations

from typing import Any, Dict, Mapping

import numpy as np

from .augmented import import_onnx

_CODES = "_quantized"


def _spread(onnx: Any, values: np.ndarray[Any, Any], shape: Any, axis: int, block: int) -> np.ndarray[Any, Any]:
    """Scales or zero points in a form that fits the codes."""
    if values.size == 1:
        return values.reshape(())
    if block:
        return np.repeat(values, block, axis).take(range(shape[axis]), axis)
    return values.reshape([-1 if i == axis % len(shape) else 1 for i in range(len(shape))])


def _dequantized(onnx: Any, node: Any, constants: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    arrays = [onnx.numpy_helper.to_array(constants[name]) for name in node.input if name]
    codes, scale = arrays[0], arrays[1]
    attributes = {a.name: a.i for a in node.attribute}
    axis, block = attributes.get("axis", 1), attributes.get("block_size", 0)
    scale = _spread(onnx, scale, codes.shape, axis, block)
    # int32 codes (biases) exceed what float32 holds exactly.
    real = codes.astype(np.float64 if codes.dtype == np.int32 else scale.dtype)
    if len(arrays) > 2:
        real = real - _spread(onnx, arrays[2], codes.shape, axis, block).astype(real.dtype)
    product: np.ndarray[Any, Any] = real * scale
    return product


def matched_weights(float_path: str, quantized_path: str) -> Dict[str, Dict[str, np.ndarray[Any, Any]]]:
    """By name in the float file: `float` and `dequantized`."""
    onnx = import_onnx()
    before, after = onnx.load(float_path), onnx.load(quantized_path)
    constants = {tensor.name: tensor for tensor in after.graph.initializer}
    readers = {node.input[0]: node for node in after.graph.node if node.op_type == "DequantizeLinear"}
    found: Dict[str, Dict[str, np.ndarray[Any, Any]]] = {}
    for tensor in before.graph.initializer:
        node = readers.get(tensor.name + _CODES)
        if node is not None and all(name in constants for name in node.input if name):
            found[tensor.name] = {
                "float": onnx.numpy_helper.to_array(tensor),
                "dequantized": _dequantized(onnx, node, constants),
            }
    return found
