# SPDX-License-Identifier: GPL-3.0-or-later
"""What the arrays of a sample are called: samples are dicts, arrays, or tuples in the order of the model's inputs."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from numbers import Number
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import numpy as np

from .arrays import is_array, to_array
from .errors import BadUse
from .labels import LABELS, Labels, are_given, no_labels, one_a_position, warn_of_positions
from .prompts import is_implied

Array = Any  # numpy, PyTorch or another framework's
#: Names of a model's inputs and their ranks (None where the file does not say), asked for when needed.
Inputs = Callable[[], Mapping[str, Optional[int]]]
Named = Dict[str, "np.ndarray[Any, Any]"]

_BEHIND = "give labels=True where {} holds class numbers, labels=False where it means something else"


def named_list(names: Any) -> str:
    """Names in a sentence."""
    return ", ".join(f"'{name}'" for name in names)


def _flat(sample: Tuple[Any, ...]) -> Tuple[Any, ...]:
    """Inputs that stand in a tuple of their own, beside the label, as inputs."""
    flat: List[Any] = []
    for part in sample:
        nested = isinstance(part, (list, tuple)) and any(is_array(value) for value in part)
        flat += part if nested else [part]
    return tuple(flat)


def _with_label(sample: Any) -> bool:
    return isinstance(sample, (list, tuple)) and len(sample) == 2 and isinstance(sample[0], AnyMapping)


class Naming:
    """Names the arrays of samples for one model."""

    def __init__(self, inputs: Inputs, labels: Labels) -> None:
        self._inputs = inputs
        self._labels = labels
        self._by_name: Optional[bool] = None  # whether samples are dicts
        self._positions_told = False

    def arrays(self, sample: Any, index: int) -> Tuple[Named, bool]:
        """The arrays of a sample (labels among them), and whether they are batches."""
        by_name = isinstance(sample, AnyMapping) or _with_label(sample)
        if not by_name and not is_array(sample) and not isinstance(sample, (list, tuple)):
            raise TypeError(f"a sample is a dict of arrays, an array or a tuple of them, not {type(sample).__name__}")
        if self._by_name not in (None, by_name):
            before, now = ("dicts", "an array or a tuple") if self._by_name else ("arrays or tuples", "a dict")
            raise BadUse(f"the first samples are {before}, but sample {index} is {now}; give all in one form")
        self._by_name = by_name
        given = self._of_dict(sample) if by_name else self._in_order((sample,) if is_array(sample) else tuple(sample))
        labelled = to_array(given.get(LABELS, 0), LABELS).ndim > 0
        if by_name and self._labels is False:
            given.pop(LABELS, None)
        arrays = {name: to_array(value, name) for name, value in given.items() if self._may_be_input(name, value)}
        self._check_labels(arrays)
        return arrays, not by_name or labelled or are_given(self._labels) and self._count_items(arrays)

    def _of_dict(self, sample: Any) -> Dict[str, Array]:
        if isinstance(sample, AnyMapping):
            return dict(sample)
        if not isinstance(self._labels, bool):
            raise BadUse("a sample is a dict with something behind it; " + _BEHIND.format("that"))
        return {**sample[0], LABELS: sample[1]}

    def _in_order(self, sample: Tuple[Any, ...]) -> Dict[str, Array]:
        sample = _flat(sample)
        names = list(self._inputs())
        needed = [name for name in names if not is_implied(name)]
        if len(needed) == 1 and (self._inputs()[needed[0]] or 0) > 1 and all(isinstance(v, Number) for v in sample):
            sample = (np.asarray(sample),)  # the numbers of one array
        if len(sample) - (self._labels is True) == len(needed) < len(names):
            names = needed
        if self._labels is True and len(sample) == len(names):
            raise no_labels()
        if self._labels is True and len(sample) == len(names) + 1:
            names.append(LABELS)
        if len(sample) < len(names) or len(sample) > len(names) and self._labels is not False:
            raise BadUse(
                f"a sample has {len(sample)} arrays, but the model takes {len(names)} ({', '.join(names)}); "
                + _BEHIND.format("the last one")
            )
        return dict(zip(names, sample))

    def _may_be_input(self, name: str, value: Any) -> bool:
        """Whether it is no text beside the inputs, such as data sets have it (file names, questions)."""
        if is_array(value) or name in self._inputs():
            return True
        try:
            return np.asarray(value).dtype.kind not in "USO"
        except ValueError:  # lists of unlike lengths
            return False

    def _check_labels(self, arrays: Named) -> None:
        """Passes over labels of positions, and says so once; raises where labels were asked for and there are none."""
        if one_a_position(arrays, self._inputs()):
            del arrays[LABELS]
            if not self._positions_told:
                warn_of_positions()
            self._positions_told = True
        elif self._labels is True and LABELS not in arrays:
            raise no_labels()

    def _count_items(self, arrays: Named) -> bool:
        """Whether the first axes of a dict's inputs count the same items, which labels beside the data count, too."""
        ranks = self._inputs()
        sizes = {a.shape[:1] if a.ndim == ranks[name] else () for name, a in arrays.items() if name in ranks}
        return len(sizes) == 1 and () not in sizes
