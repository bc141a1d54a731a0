# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program finds out, as dataclasses: their fields are the keys of its JSON, other keys are in `extra`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Dict, List, Mapping, Optional, Type, TypeVar

Number = float  # where a field is called so, too
R = TypeVar("R", bound="Row")


def _row(kind: Type[Row]) -> Any:
    """A field that is a row of its own, or None."""
    return field(default=None, metadata={"row": kind})


@dataclass
class Row:
    """Base of all rows."""

    extra: Dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls: Type[R], json: Mapping[str, Any]) -> R:
        """Made of a JSON object."""
        kinds = {f.name: f.metadata.get("row") for f in fields(cls) if f.name != "extra"}
        known: Dict[str, Any] = {}
        extra: Dict[str, Any] = {}
        for key, value in json.items():
            if key not in kinds:
                extra[key] = value
            elif isinstance(value, dict) and kinds[key] is not None:
                known[key] = kinds[key].of(value)  # type: ignore[union-attr]
            else:
                known[key] = value
        return cls(extra=extra, **known)


@dataclass
class Match(Row):
    """How two tensors were paired. `confidence`: 0 to 1."""

    method: str = ""
    confidence: float = 0.0


@dataclass
class Noise(Row):
    """Mean squared error by where it is made: `rounding`, `clipping` and `inherited` sum to rmse². `weights`, `kernel`
    and `inputs` are the parts of `inherited`; None counts as 0."""

    rounding: Optional[float] = None
    clipping: Optional[float] = None
    inherited: Optional[float] = None
    weights: Optional[float] = None
    kernel: Optional[float] = None
    inputs: Optional[float] = None


@dataclass
class Implementation(Row):
    """Integer results against simulated ones: shares of elements that differ by one step, and by more."""

    off_by_one: Optional[float] = None
    beyond: Optional[float] = None


@dataclass
class Output(Row):
    """An output of the model. SQNR in dB (None with `exact`: equal), agreements as shares from 0 to 1."""

    name: str = ""
    quantized_name: str = ""
    sqnr_db: Optional[float] = None
    exact: bool = False
    cosine: Optional[float] = None
    rmse: Optional[float] = None
    max_abs_error: Optional[float] = None
    mean_error: Optional[float] = None
    top1_agreement: Optional[float] = None
    top5_agreement: Optional[float] = None
    kl_mean: Optional[float] = None
    kl_max: Optional[float] = None


@dataclass
class Activation(Row):
    """A tensor of both models: `…_db` in dB, errors and ranges in the tensor's own unit, fractions from 0 to 1."""

    name: str = ""
    quantized_name: str = ""
    node: str = ""
    op_type: str = ""
    match: Optional[Match] = _row(Match)
    dtype: str = ""
    scale: List[float] = field(default_factory=list)
    zero_point: List[int] = field(default_factory=list)
    axis: Optional[int] = None
    dynamic: bool = False
    sqnr_db: Optional[float] = None
    exact: bool = False
    local_sqnr_db: Optional[float] = None
    qdq_sqnr_db: Optional[float] = None
    node_sqnr_db: Optional[float] = None
    increase_db: Optional[float] = None
    ideal_sqnr_db: Optional[float] = None
    rmse: Optional[float] = None
    max_abs_error: Optional[float] = None
    mean_error: Optional[float] = None
    cosine: Optional[float] = None
    noise: Optional[Noise] = _row(Noise)
    clipped_fraction: Optional[float] = None
    float_clipped_fraction: Optional[float] = None
    range: List[float] = field(default_factory=list)
    observed_range: List[float] = field(default_factory=list)
    implementation: Optional[Implementation] = _row(Implementation)


@dataclass
class Weight(Row):
    """A constant of both models; units as for activations."""

    name: str = ""
    quantized_name: str = ""
    node: str = ""
    op_type: str = ""
    match: Optional[Match] = _row(Match)
    dtype: str = ""
    axis: Optional[int] = None
    scale: List[float] = field(default_factory=list)
    zero_point: List[int] = field(default_factory=list)
    sqnr_db: Optional[float] = None
    exact: bool = False
    ideal_sqnr_db: Optional[float] = None
    rmse: Optional[float] = None
    max_abs_error: Optional[float] = None
    channel_sqnr_db: List[Optional[float]] = field(default_factory=list)
    per_tensor_sqnr_db: Optional[float] = None
    per_channel_sqnr_db: Optional[float] = None


@dataclass
class Finding(Row):
    """Something that is wrong, where, and what to do. Gains in dB."""

    rule: str = ""
    severity: str = ""
    title: str = ""
    summary: str = ""
    node: str = ""
    tensor: str = ""
    evidence: Dict[str, Any] = field(default_factory=dict)
    remedy: str = ""
    command: Optional[str] = None
    change: Optional[Dict[str, Any]] = None
    expected_gain_db: Optional[float] = None
    measured_gain_db: Optional[float] = None
    confidence: Optional[float] = None


@dataclass
class Sample(Row):
    """One sample: SQNR of each output in dB (None: equal)."""

    sample: int = 0
    output_sqnr_db: List[Optional[float]] = field(default_factory=list)


@dataclass
class Accuracy(Row):
    """With labels: how many there are, the share that each model gets right, samples whose class changed."""

    labels: int = 0
    float: Optional[Number] = None
    quantized: Optional[Number] = None
    flipped: List[int] = field(default_factory=list)


@dataclass
class Unmatched(Row):
    """Names of tensors without a partner."""

    float: List[str] = field(default_factory=list)
    quantized: List[str] = field(default_factory=list)


@dataclass
class Unit(Row):
    """A node, tensor or operator type: SQNR of the output in dB with it alone quantized, and with it alone left out
    (None: equal); its share of all multiplications."""

    name: str = ""
    kind: str = ""
    output_sqnr_alone_db: Optional[float] = None
    output_sqnr_without_db: Optional[float] = None
    mac_share: Optional[float] = None


@dataclass
class ParetoPoint(Row):
    """A set of exclusions: what stays on codes (share of multiplications), and the output's SQNR in dB."""

    excluded: List[str] = field(default_factory=list)
    int8_mac_share: Optional[float] = None
    output_sqnr_db: Optional[float] = None
    accuracy: Optional[float] = None
