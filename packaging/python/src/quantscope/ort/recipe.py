# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of ONNX Runtime's quantization tools as a recipe."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

import numpy as np

_TYPES = {
    "QInt8": "int8",
    "QUInt8": "uint8",
    "QInt16": "int16",
    "QUInt16": "uint16",
    "QInt4": "int4",
    "QUInt4": "uint4",
    "QFLOAT8E4M3FN": "float8e4m3fn",
}
_FORMATS = {"QDQ": "qdq", "QOperator": "qoperator"}
_METHODS = {"MinMax": "minmax", "Entropy": "entropy", "Percentile": "percentile", "Distribution": "distribution"}

_FIELDS = {
    "ActivationSymmetric": "symmetric_activations",
    "ActivationRestrictedAsymmetric": "restricted_asymmetric",
    "WeightSymmetric": "symmetric_weights",
    "MinimumRealRange": "minimum_range",
    "ForceQuantizeNoInputCheck": "quantize_unquantized_inputs",
    "MatMulConstBOnly": "matmul_constant_only",
    "AddQDQPairToWeight": "pairs_for_weights",
    "DedicatedQDQPair": "dedicated_pairs",
    "QuantizeBias": "quantize_bias",
    "QDQKeepRemovableActivations": "keep_removable",
    "UseQDQContribOps": "contrib_operators",
    "EnableSubgraph": "subgraphs",
    "extra.Sigmoid.nnapi": "sigmoid_nnapi",
    "BlockSize": "block_size",
    "OpTypesToExcludeOutputQuantization": "no_output_types",
    "QDQOpTypePerChannelSupportToAxis": "per_channel_axis",
    "SmoothQuant": "smooth_quant",
    "SmoothQuantAlpha": "smooth_quant_alpha",
    "SmoothQuantFolding": "smooth_quant_folding",
}
_CALIBRATION = {
    "CalibTensorRangeSymmetric": "symmetric",
    "CalibMovingAverageConstant": "averaging_constant",
    "CalibStridedMinMax": "stride",
    "CalibMaxIntermediateOutputs": "max_intermediate_outputs",
    "CalibPercentile": "percentile",
}
_PASSED_OVER = {"DefaultTensorType"}  # of tensors whose type cannot be inferred; the program infers otherwise
_PART = {"quant_type": "type", "rmin": "lowest", "rmax": "highest", "recv_nodes": "readers"}


def _name(choice: Any, names: Mapping[str, str], what: str) -> str:
    """A member of one of ONNX Runtime's enumerations, or of ours, in the recipe's word."""
    name = getattr(choice, "name", str(choice))
    if name not in names:
        raise ValueError(f"{what} {choice} is not possible; use one of {', '.join(names)}")
    return names[name]


def _plain(value: Any) -> Any:
    """An array of one number as that number; the rest becomes plain when the recipe is written."""
    return value.item() if isinstance(value, (np.generic, np.ndarray)) and value.size == 1 else value


def _part(part: Mapping[str, Any]) -> Dict[str, Any]:
    """One dictionary of TensorQuantOverrides."""
    found: Dict[str, Any] = {}
    for key, value in part.items():
        if key == "quant_type":
            value = _name(value, _TYPES, "quant_type")
        elif key == "convert":
            value = _part(value)
        found[_PART.get(key, key)] = _plain(value)
    return found


def _override(parts: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
    """What is asked of one tensor."""
    entry = _part(parts[0])
    if len(parts) == 1:
        return entry
    channels = [{key: value for key, value in _part(part).items() if key != "axis"} for part in parts]
    return {"axis": entry.get("axis"), "channels": channels}


def extra_fields(options: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """`extra_options` as fields of a recipe. An option that is not known raises ValueError: ONNX Runtime passes over
    it, and the result would be another than meant."""
    fields: Dict[str, Any] = {}
    calibration: Dict[str, Any] = {}
    for key, value in (options or {}).items():
        if key in _FIELDS:
            if value is not None:
                fields[_FIELDS[key]] = _plain(value)
        elif key in _CALIBRATION:
            if value is not None:
                calibration[_CALIBRATION[key]] = _plain(value)
        elif key == "CalibMovingAverage":
            calibration.update({"method": "moving-average"} if value else {})
        elif key == "QDQDisableWeightAdjustForInt32Bias":
            fields["adjust_weights_for_bias"] = not value
        elif key == "TensorQuantOverrides":
            fields["tensors"] = {name: _override(parts) for name, parts in (value or {}).items() if parts}
        elif key not in _PASSED_OVER:
            raise ValueError(f"extra_options has the key '{key}', which is not known")
    return {**fields, "calibration": calibration} if calibration else fields


def _names(names: Optional[Sequence[str]]) -> List[str]:
    if isinstance(names, str):
        raise TypeError(f"a list of names is asked for, not the text '{names}'; give ['{names}']")
    return list(names or ())


def recipe_of(
    quant_format: Any,
    op_types: Optional[Sequence[str]],
    per_channel: bool,
    reduce_range: bool,
    activation_type: Any,
    weight_type: Any,
    include: Optional[Sequence[str]],
    exclude: Optional[Sequence[str]],
    method: Any,
    options: Optional[Mapping[str, Any]],
) -> Dict[str, Any]:
    """The recipe of quantize_static's arguments, or with `quant_format` "dynamic" of quantize_dynamic's."""
    extra = extra_fields(options)
    recipe: Dict[str, Any] = {
        "schema_version": 1,
        "preset": "onnxruntime",
        "format": "dynamic" if quant_format == "dynamic" else _name(quant_format, _FORMATS, "quant_format"),
        "weight_type": _name(weight_type, _TYPES, "weight_type"),
        "per_channel": bool(per_channel),
        "reduce_range": bool(reduce_range),
        "op_types": _names(op_types),
        "include": _names(include),
        "exclude": _names(exclude),
        **extra,
    }
    if recipe["format"] != "dynamic":
        recipe["activation_type"] = _name(activation_type, _TYPES, "activation_type")
        kind = _name(method, _METHODS, "calibrate_method")
        calibration = {"method": kind, **extra.get("calibration", {})}
        if kind != "minmax":  # a moving average is one of extremes
            calibration["method"] = kind
        recipe["calibration"] = calibration
    else:
        recipe.pop("calibration", None)
    return recipe
