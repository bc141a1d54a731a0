# SPDX-License-Identifier: GPL-3.0-or-later
"""Codes that stand in a quantized file as the real values that they mean."""

from __future__ import annotations

from typing import Any, List, Mapping, Sequence, Tuple, Union

import numpy as np

from .errors import BadInput
from .rows import Activation, Weight

_CODES = "_quantized"  # how names of codes end


def _spread(numbers: Sequence[float], codes: np.ndarray[Any, Any], axis: Any) -> np.ndarray[Any, Any]:
    """One number for all codes, or one for each index of an axis; the first axis of the codes counts samples."""
    shape: List[int] = [1] * codes.ndim
    if len(numbers) > 1:
        axis = 0 if axis is None else axis
        shape[axis + 1 if axis >= 0 else axis] = len(numbers)
    return np.asarray(numbers, np.float64).reshape(shape)


def dynamic_names(row: Union[Activation, Weight]) -> List[str]:
    """Where the scale and the zero point of each sample are, of a tensor that is quantized while the model runs."""
    if isinstance(row, Weight) or not row.dynamic or not row.quantized_name.endswith(_CODES):
        return []
    stem = row.quantized_name[: -len(_CODES)]
    return [f"{stem}_scale", f"{stem}_zero_point"]


def real_values(
    arrays: Mapping[str, np.ndarray[Any, Any]], row: Union[Activation, Weight], shape: Tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """What the quantized file holds, as real values. `shape`: of the float model's array."""
    values = arrays[row.quantized_name]
    if values.dtype.kind not in "iu":
        return values
    if values.shape != shape:
        raise BadInput(f"'{row.quantized_name}' holds codes in another form than '{row.name}', packed in blocks")
    names = dynamic_names(row)
    if names:
        each = (-1, *[1] * (values.ndim - 1))
        scale, zero_point = (arrays[name].astype(np.float64).reshape(each) for name in names)
    elif row.scale:
        scale, zero_point = (_spread(numbers, values, row.axis) for numbers in (row.scale, row.zero_point or [0]))
    elif row.dtype == values.dtype.name and not getattr(row, "dynamic", False):
        return values  # no codes, but whole numbers of the model
    else:
        raise BadInput(
            f"'{row.name}' has no values of its own in the quantized file, whose operator of '{row.quantized_name}' "
            "computes it within; ask for another tensor"
        )
    real: np.ndarray[Any, Any] = ((values - zero_point) * scale).astype(np.float32)
    return real
