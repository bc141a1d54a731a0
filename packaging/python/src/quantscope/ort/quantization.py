# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize_static and quantize_dynamic with the arguments of onnxruntime.quantization.

The enumerations of ONNX Runtime may be passed as well as those of this module, and its CalibrationDataReader as well as
any object with `get_next`, or data in any form that quantscope.quantize takes.
"""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Sequence

from ..paths import FilePath
from ..quantizing import quantize as write_quantized
from ..workspace import Workspace
from .recipe import recipe_of
from .release import rules_of


class QuantFormat(enum.Enum):
    """Form of the quantized file."""

    QOperator = 0
    QDQ = 1

    def __str__(self) -> str:
        return self.name


class QuantType(enum.Enum):
    """Type of codes."""

    QInt8 = 0
    QUInt8 = 1
    QFLOAT8E4M3FN = 2
    QInt16 = 3
    QUInt16 = 4
    QInt4 = 5
    QUInt4 = 6

    def __str__(self) -> str:
        return self.name


class CalibrationMethod(enum.Enum):
    """How ranges of activations are chosen."""

    MinMax = 0
    Entropy = 1
    Percentile = 2
    Distribution = 3

    def __str__(self) -> str:
        return self.name


class CalibrationDataReader:
    """Base of what gives calibration data: get_next() returns a dict of arrays by input name, at the end None."""

    def get_next(self) -> Optional[Dict[str, Any]]:
        """The next sample."""
        raise NotImplementedError

    def __iter__(self) -> CalibrationDataReader:
        return self

    def __next__(self) -> Dict[str, Any]:
        sample = self.get_next()
        if sample is None:
            raise StopIteration
        return sample


def _quantize(
    model_input: Any,
    model_output: FilePath,
    data: Any,
    recipe: Mapping[str, Any],
    ort_version: Optional[str],
    **options: Any,
) -> None:
    recipe = {**recipe, "ort_version": rules_of(ort_version)}
    with Workspace() as place:
        if not isinstance(model_input, (str, os.PathLike)):  # a ModelProto
            path = place.file("model.onnx")
            with open(path, "wb") as file:
                file.write(model_input.SerializeToString())
            model_input = path
        write_quantized(model_input, model_output, data, dict(recipe), **options)


def quantize_static(
    model_input: Any,
    model_output: FilePath,
    calibration_data_reader: Any = None,
    quant_format: Any = QuantFormat.QDQ,
    op_types_to_quantize: Optional[Sequence[str]] = None,
    per_channel: bool = False,
    reduce_range: bool = False,
    activation_type: Any = QuantType.QInt8,
    weight_type: Any = QuantType.QInt8,
    nodes_to_quantize: Optional[Sequence[str]] = None,
    nodes_to_exclude: Optional[Sequence[str]] = None,
    use_external_data_format: bool = False,
    calibrate_method: Any = CalibrationMethod.MinMax,
    calibration_providers: Any = None,
    extra_options: Optional[Mapping[str, Any]] = None,
    calibration_cache_path: Optional[FilePath] = None,
    *,
    ort_version: Optional[str] = None,
) -> None:
    """Writes a quantized model with calibrated ranges.

    `use_external_data_format` and `calibration_providers` have no meaning here. `calibration_cache_path`: a cache of
    ranges, which is read where it exists, else written. `ort_version`: release of ONNX Runtime whose rules are
    followed, "1.31" or "1.32"; None: the installed one's, or the newest that is known.
    """
    recipe = recipe_of(
        quant_format,
        op_types_to_quantize,
        per_channel,
        reduce_range,
        activation_type,
        weight_type,
        nodes_to_quantize,
        nodes_to_exclude,
        calibrate_method,
        extra_options,
    )
    options: Dict[str, Any] = {}
    data = calibration_data_reader
    if calibration_cache_path is not None and os.path.exists(calibration_cache_path):
        options["ranges"] = calibration_cache_path
        data = None
    elif calibration_cache_path is not None:
        options["save_ranges"] = calibration_cache_path
    if data is None and "ranges" not in options:
        raise ValueError("quantize_static needs a calibration_data_reader, or a calibration_cache_path that exists")
    _quantize(model_input, model_output, data, recipe, ort_version, **options)


def quantize_dynamic(
    model_input: Any,
    model_output: FilePath,
    op_types_to_quantize: Optional[Sequence[str]] = None,
    per_channel: bool = False,
    reduce_range: bool = False,
    weight_type: Any = QuantType.QInt8,
    nodes_to_quantize: Optional[Sequence[str]] = None,
    nodes_to_exclude: Optional[Sequence[str]] = None,
    use_external_data_format: bool = False,
    extra_options: Optional[Mapping[str, Any]] = None,
    *,
    ort_version: Optional[str] = None,
) -> None:
    """Writes a model whose weights are quantized and whose activations are quantized while it runs.

    `ort_version`: as of quantize_static.
    """
    recipe = recipe_of(
        "dynamic",
        op_types_to_quantize,
        per_channel,
        reduce_range,
        None,
        weight_type,
        nodes_to_quantize,
        nodes_to_exclude,
        None,
        extra_options,
    )
    _quantize(model_input, model_output, None, recipe, ort_version)


@dataclass
class StaticQuantConfig:
    """Arguments of quantize_static as one value."""

    calibration_data_reader: Any
    calibrate_method: Any = CalibrationMethod.MinMax
    quant_format: Any = QuantFormat.QDQ
    activation_type: Any = QuantType.QInt8
    weight_type: Any = QuantType.QInt8
    op_types_to_quantize: Optional[Sequence[str]] = None
    nodes_to_quantize: Optional[Sequence[str]] = None
    nodes_to_exclude: Optional[Sequence[str]] = None
    per_channel: bool = False
    reduce_range: bool = False
    use_external_data_format: bool = False
    calibration_providers: Any = None
    extra_options: Optional[Mapping[str, Any]] = None


@dataclass
class DynamicQuantConfig:
    """Arguments of quantize_dynamic as one value."""

    weight_type: Any = QuantType.QInt8
    op_types_to_quantize: Optional[Sequence[str]] = None
    nodes_to_quantize: Optional[Sequence[str]] = None
    nodes_to_exclude: Optional[Sequence[str]] = None
    per_channel: bool = False
    reduce_range: bool = False
    use_external_data_format: bool = False
    extra_options: Optional[Mapping[str, Any]] = None


_NODES = ("op_types_to_quantize", "nodes_to_quantize", "nodes_to_exclude")
_COMMON = (*_NODES, "per_channel", "reduce_range", "weight_type", "extra_options")
_STATIC = ("calibration_data_reader", "calibrate_method", "quant_format", "activation_type")


def quantize(model_input: Any, model_output: FilePath, quant_config: Any) -> None:
    """quantize_static or quantize_dynamic, by the kind of the configuration (ONNX Runtime's or one of this module)."""
    is_static = hasattr(quant_config, "calibration_data_reader")
    names = (*_COMMON, *(_STATIC if is_static else ()))
    arguments = {name: getattr(quant_config, name) for name in names}
    (quantize_static if is_static else quantize_dynamic)(model_input, model_output, **arguments)
