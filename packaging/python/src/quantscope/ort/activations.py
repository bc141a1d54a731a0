# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a model's tensors that are computed when asked for."""

from __future__ import annotations

import filecmp
import os
from typing import Any, Dict, Iterable, Iterator, List, Mapping, MutableMapping, Sequence

import numpy as np

from ..data import PreparedData
from ..errors import BadInput
from ..running import run_prepared
from ..states import Remembered

_BYTES_AT_ONCE = 512 << 20
_FIRST_TENSORS = 4

Values = List["np.ndarray[Any, Any]"]


class Activations(Mapping[str, Values]):
    """Tensor name → one flat array a sample. Tensors are computed in groups of some hundred megabytes, of which one is
    kept."""

    def __init__(self, model: str, names: Sequence[str], data: PreparedData, keep: object = None) -> None:
        """`keep`: what has to live as long as the model's file is read."""
        self.model = model
        self.data = data
        self._names = dict.fromkeys(names)
        self._keep = keep
        self._remembered = Remembered(model, None if data.path in data.words else data.path)
        self._group: Dict[str, Values] = {}
        self._next = _FIRST_TENSORS

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Values:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._group:
            names = list(self._names)
            at = names.index(name)
            self._compute(names[at : at + self._next])
        return self._group[name]

    def prefetch(self, names: Iterable[str]) -> None:
        """Computes these in one run, as many as are kept at once."""
        wanted = [name for name in names if name in self._names]
        if wanted and any(name not in self._group for name in wanted):
            self._compute(wanted[: max(self._next, len(wanted) if self._next > _FIRST_TENSORS else 1)])

    def _compute(self, names: Sequence[str]) -> None:
        self._group = self._run(names)
        size = sum(array.nbytes for arrays in self._group.values() for array in arrays) or 1
        self._next = max(1, min(len(self._names), _BYTES_AT_ONCE * len(names) // size))

    def _run(self, names: Sequence[str]) -> Dict[str, Values]:
        """One run, or one a sample where these have sizes of their own."""
        self._remembered.check()
        try:
            arrays = run_prepared(self.model, self.data, names, {})
            return {name: [sample.reshape(-1) for sample in arrays[name]] for name in names}
        except BadInput:
            sets = self.data.sets()
            if len(sets) < 2:
                raise
        runs = [run_prepared(self.model, one, names, {}) for one in sets]
        return {name: [sample.reshape(-1) for run in runs for sample in run[name]] for name in names}


def same_data(a: PreparedData, b: PreparedData) -> bool:
    """Whether two sets of samples are equal in every byte."""
    if a.path is None or b.path is None:
        return False
    if a.path == b.path:
        return True
    if os.path.isdir(a.path) or os.path.isdir(b.path):
        return False
    return filecmp.cmp(a.path, b.path, shallow=False)


class _Tensors(Dict[str, Values]):
    """The values of one name; a change is kept by the mapping that they are of."""

    def __init__(self, owner: Matching, name: str, values: Mapping[str, Values]) -> None:
        super().__init__(values)
        self._owner = owner
        self._name = name

    def __setitem__(self, key: str, value: Values) -> None:
        super().__setitem__(key, value)
        self._owner[self._name] = self

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self._owner[self._name] = self

    def update(self, *given: Any, **named: Any) -> None:
        super().update(*given, **named)
        self._owner[self._name] = self

    def pop(self, *given: Any) -> Any:
        found = super().pop(*given)
        self._owner[self._name] = self
        return found


class Matching(MutableMapping[str, Dict[str, Values]]):
    """Base name → `pre_qdq`, `post_qdq` and `float` values, computed when asked for. What is set stays as it is."""

    def __init__(
        self, names: Mapping[str, Dict[str, str]], quantized: Mapping[str, Values], before: Mapping[str, Values]
    ) -> None:
        """`names`: base name → those of the tensors before and behind the quantizer."""
        self.names = names
        self.quantized = quantized
        self.before = before
        self._order = dict.fromkeys(names)
        self._set: Dict[str, Dict[str, Values]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __setitem__(self, name: str, values: Dict[str, Values]) -> None:
        self._order.setdefault(name)
        self._set[name] = values

    def __delitem__(self, name: str) -> None:
        del self._order[name]
        self._set.pop(name, None)

    def untouched(self) -> List[str]:
        """The names whose values are still those of the models."""
        return [name for name in self._order if name not in self._set]

    def __getitem__(self, name: str) -> Dict[str, Values]:
        if name not in self._order:
            raise KeyError(name)
        if name in self._set:
            return self._set[name]
        found = {key: self.quantized[tensor] for key, tensor in self.names[name].items()}
        if name in self.before:
            found["float"] = self.before[name]
        return _Tensors(self, name, found)
