# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions of onnxruntime.quantization.qdq_loss_debug, with the same arguments, keys and numbers.

Tensors are computed when they are asked for; errors by the default measure are computed by the program, without any
tensor in Python. Needs the package onnx, as ONNX Runtime's own tools do.
"""

from __future__ import annotations

import math
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union, cast

import numpy as np

from ..comparison import compare
from ..data import PreparedData
from ..paths import FilePath
from ..rows import Activation
from ..running import inputs_of
from .activations import Activations, Matching, Values, same_data
from .augmented import augment, original_of
from .weights import matched_weights

_BEFORE = "_QuantizeLinear_Input"
_BEHIND = "_DequantizeLinear_Output"
_BEHINDS = (_BEHIND, _BEHIND + "_1")  # of a tensor with a pair for each node that reads it, the first

Flat = Union["np.ndarray[Any, Any]", Sequence["np.ndarray[Any, Any]"]]
ErrorCall = Callable[..., float]


def compute_signal_to_quantization_noice_ratio(x: Flat, y: Flat) -> float:
    """20·log10(‖x‖ / ‖x − y‖) in dB over all arrays together; norms below 2.2e-16 count as that."""
    left = np.concatenate([np.ravel(a) for a in x]) if isinstance(x, (list, tuple)) else np.ravel(x)
    right = np.concatenate([np.ravel(a) for a in y]) if isinstance(y, (list, tuple)) else np.ravel(y)
    if left.shape != right.shape:
        raise RuntimeError(f"values of {left.size} and {right.size} elements cannot be compared")
    least = float(np.finfo(float).eps)
    signal = max(float(np.linalg.norm(left)), least)
    noise = max(float(np.linalg.norm(left - right)), least)
    return 20 * math.log10(signal / noise)


def modify_model_output_intermediate_tensors(
    input_model_path: FilePath,
    output_model_path: FilePath,
    op_types_for_saving: Optional[Sequence[str]] = None,
    save_as_external_data: bool = False,
) -> None:
    """Writes the model with its float tensors as further outputs. `op_types_for_saving`: only inputs and outputs of
    such operators. Weights stay where they are, in the file or beside it."""
    augment(os.fspath(input_model_path), os.fspath(output_model_path), op_types_for_saving)


def collect_activations(
    augmented_model: FilePath,
    input_reader: Any,
    session_options: Any = None,
    execution_providers: Optional[Sequence[str]] = None,
) -> Dict[str, List[np.ndarray[Any, Any]]]:
    """Reads all samples and returns a mapping from tensor name to one flat array a sample. It is lazy: nothing is
    computed before a tensor is asked for. The last two arguments have no meaning here."""
    original = original_of(os.fspath(augmented_model))
    if isinstance(input_reader, (str, os.PathLike)) and os.path.exists(input_reader):
        input_reader = os.path.abspath(input_reader)
    data = PreparedData(input_reader, inputs_of(original.path))
    return cast(Dict[str, List["np.ndarray[Any, Any]"]], Activations(original.path, original.saved, data, original))


def create_activation_matching(
    qdq_activations: Mapping[str, Sequence[np.ndarray[Any, Any]]],
    float_activations: Optional[Mapping[str, Sequence[np.ndarray[Any, Any]]]] = None,
) -> Dict[str, Dict[str, Sequence[np.ndarray[Any, Any]]]]:
    """Activations by name: `pre_qdq`, `post_qdq`: before and behind the quantizer; `float`: in the float model."""
    names: Dict[str, Dict[str, str]] = {}
    for name in qdq_activations:
        if name.endswith(_BEFORE):
            base, before, behind = name[: -len(_BEFORE)], name, name[: -len(_BEFORE)]
        elif name.endswith(_BEHINDS):
            base = name[: name.rindex(_BEHIND)]
            before, behind = base, name
        else:
            continue
        if before in qdq_activations and behind in qdq_activations:
            names[base] = {"pre_qdq": before, "post_qdq": behind}
    lazy = Matching(
        names, cast(Mapping[str, Values], qdq_activations), cast(Mapping[str, Values], float_activations or {})
    )
    result: Any = lazy if isinstance(qdq_activations, Activations) else dict(lazy)
    return cast(Dict[str, Dict[str, Sequence["np.ndarray[Any, Any]"]]], result)


def _measured(match: Any) -> Dict[str, Dict[str, float]]:
    """What one comparison by the program tells, of those that it tells."""
    if not isinstance(match, Matching) or not match.untouched():
        return {}
    before, after = match.before, match.quantized
    if (
        not isinstance(before, Activations)
        or not isinstance(after, Activations)
        or not same_data(before.data, after.data)
    ):
        return {}
    with compare(before.model, after.model, before.data.path) as result:
        rows = {(row.name, row.quantized_name): row for row in result.activations}
    found: Dict[str, Dict[str, float]] = {}
    for name in match.untouched():
        row: Optional[Activation] = rows.get((name, match.names[name]["post_qdq"]))
        if row is not None and row.qdq_sqnr_db is not None and row.sqnr_db is not None:
            found[name] = {"qdq_err": row.qdq_sqnr_db, "xmodel_err": row.sqnr_db}
    return found


def _prefetch(match: Any, names: Sequence[str]) -> None:
    """The tensors of some names in one run of each model."""
    if isinstance(match, Matching) and isinstance(match.quantized, Activations):
        lazy = [name for name in match.untouched() if name in names]
        match.quantized.prefetch([tensor for name in lazy for tensor in match.names[name].values()])
        if isinstance(match.before, Activations):
            match.before.prefetch(lazy)


def compute_activation_error(
    activations_match: Mapping[str, Mapping[str, Sequence[np.ndarray[Any, Any]]]],
    err_func: ErrorCall = compute_signal_to_quantization_noice_ratio,
) -> Dict[str, Dict[str, float]]:
    """By name: `qdq_err`, what the quantizer itself does, and `xmodel_err`, float model against behind the quantizer
    (left out without values of the float model). dB by the default measure."""
    known = _measured(activations_match) if err_func is compute_signal_to_quantization_noice_ratio else {}
    rest = [name for name in activations_match if name not in known]
    _prefetch(activations_match, rest)
    errors: Dict[str, Dict[str, float]] = {}
    for name in activations_match:
        if name in known:
            errors[name] = known[name]
            continue
        match = activations_match[name]
        errors[name] = {"qdq_err": err_func(match["pre_qdq"], match["post_qdq"])}
        if "float" in match:
            errors[name]["xmodel_err"] = err_func(match["float"], match["post_qdq"])
    return errors


def create_weight_matching(
    float_model_path: FilePath,
    qdq_model_path: FilePath,
) -> Dict[str, Dict[str, np.ndarray[Any, Any]]]:
    """Weights by name: `float` and `dequantized`."""
    return matched_weights(os.fspath(float_model_path), os.fspath(qdq_model_path))


def compute_weight_error(
    weights_match: Mapping[str, Mapping[str, np.ndarray[Any, Any]]],
    err_func: ErrorCall = compute_signal_to_quantization_noice_ratio,
) -> Dict[str, float]:
    """The error of each weight; dB by the default measure."""
    return {name: err_func(match["float"], match["dequantized"]) for name, match in weights_match.items()}
