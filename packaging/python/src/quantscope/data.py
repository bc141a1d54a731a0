# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples in all the forms that Python has them, as what `--data` takes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping as AnyMapping
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Union

import numpy as np

from .arrays import is_array, save_npz, to_array
from .errors import BadInput, BadUse
from .labels import LABELS, Labels, are_given, in_file, no_labels, one_a_position, warn_of_positions
from .naming import Array, Inputs
from .paths import FilePath
from .streams import Stream
from .words import Words
from .workspace import Workspace

Data = Union[str, "os.PathLike[str]", Mapping[str, Array], Iterable[Any], Array, None]


def _size(data: Mapping[str, Array]) -> int:
    return sum(int(getattr(value, "nbytes", 0) or 0) for value in data.values())


def _size_of_stream(data: Any) -> int:
    """Bytes of a list whose first sample speaks for all; endless for what has no length."""
    try:
        first, count = data[0], len(data)
    except (TypeError, KeyError, IndexError, AttributeError):
        return 1 << 62
    if is_array(first):
        first = (first,)
    values = first.values() if isinstance(first, AnyMapping) else first
    return count * sum(int(getattr(value, "nbytes", 0) or 0) for value in values)


def _samples(data: Any) -> Iterator[Any]:
    if hasattr(data, "get_next"):  # a CalibrationDataReader of ONNX Runtime
        return iter(data.get_next, None)
    return iter(data)


def _streamed(data: Any, place: Workspace, inputs: Inputs, labels: Labels, limit: Optional[int]) -> str:
    stream = Stream(place, inputs, labels)
    cut = False
    try:
        for sample in _samples(data):
            stream.add(sample)
            cut = limit is not None and stream.count >= limit
            if cut:
                break
        if stream.count == 0:
            raise BadUse("the data have no samples; an iterator that was used before is empty")
        return stream.finish(cut)
    except BaseException:
        stream.abandon()
        raise


def _of_path(data: FilePath, labels: Labels) -> str:
    if are_given(labels):
        raise BadUse("labels of data in a file stand in the file, as an array 'labels' or as docs/data.md says")
    path = os.fspath(data)
    if labels is True and path.endswith((".npz", ".npy")) and os.path.isfile(path) and in_file(path) is None:
        raise no_labels()
    return path


def _is_ragged(value: Any) -> bool:
    """Whether lists in a list have unlike lengths, so that they are no array."""
    if is_array(value) or not isinstance(value, (list, tuple)):
        return False
    try:
        np.asarray(value)
    except ValueError:
        return True
    return False


def _one_by_one(data: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
    """The samples of a dict whose lists hold samples of various shapes."""
    counts = {name: len(values) for name, values in data.items()}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{count} of '{name}'" for name, count in counts.items())
        raise BadInput(f"there are different counts of samples: {told}; give one of each a sample")
    for row in zip(*data.values()):
        yield dict(zip(data, row))


class PreparedData:
    """Data as `--data` takes them. What was written for it lives as long as this."""

    def __init__(
        self,
        data: Data,
        inputs: Inputs,
        labels: Labels = None,
        limit: Optional[int] = None,
        word: str = "data",
    ) -> None:
        """`limit`: samples that are used at most. `word`: what the program's texts call what was written for it."""
        self._place: Optional[Workspace] = None
        self._closed = False
        self.path: Optional[str] = None
        self.words = Words()
        try:
            self._prepare(data, inputs, labels, limit)
        except BaseException:
            self.close()
            raise
        if self._place is not None and self.path is not None:
            self.words.add(self.path, word)

    def _prepare(self, data: Data, inputs: Inputs, labels: Labels, limit: Optional[int]) -> None:
        if data is None:
            return
        if isinstance(data, (str, os.PathLike)):
            self.path = _of_path(data, labels)
        elif is_array(data):
            self._save({next(iter(inputs()), "data"): data}, inputs, labels)
        elif isinstance(data, AnyMapping) and not any(map(_is_ragged, data.values())):
            self._save(data, inputs, labels)
        elif hasattr(data, "__iter__") or hasattr(data, "__getitem__") or hasattr(data, "get_next"):
            samples = _one_by_one(data) if isinstance(data, AnyMapping) else data
            self._place = Workspace(_size_of_stream(data))
            self.path = _streamed(samples, self._place, inputs, labels, limit)
        else:
            raise TypeError(f"data are a path, a dict of arrays or an iterable of samples, not {type(data).__name__}")

    def _save(self, data: Mapping[str, Array], inputs: Inputs, labels: Labels) -> None:
        arrays = dict(data)
        if labels is False:
            arrays.pop(LABELS, None)
        elif are_given(labels):
            arrays[LABELS] = labels
        if LABELS in arrays and one_a_position({name: to_array(a, name) for name, a in arrays.items()}, inputs()):
            del arrays[LABELS]
            warn_of_positions()
        elif labels is True and LABELS not in arrays:
            raise no_labels()
        self._place = Workspace(_size(arrays))
        self.path = self._place.file("data.npz")
        save_npz(self.path, arrays)

    def arguments(self) -> List[str]:
        """The part of a command line."""
        # A copy that was pickled does not know that the result was closed which it is of.
        if self._closed or self._place is not None and self.path is not None and not os.path.exists(self.path):
            raise BadUse("the result was closed, which keeps no arrays; compare again")
        return [] if self.path is None else [f"--data={self.path}"]

    def sets(self) -> List[PreparedData]:
        """Of a folder of ONNX test data with several sets each by itself, in the order of their numbers; else none."""
        if self.path is None or not os.path.isdir(self.path):
            return []
        found = [name for name in os.listdir(self.path) if re.fullmatch(r"test_data_set_\d+", name)]
        found.sort(key=lambda name: int(name.rsplit("_", 1)[1]))
        return [PreparedData(os.path.join(self.path, name), dict) for name in found]

    def close(self) -> None:
        """Removes what was written for it."""
        if self._place is not None:
            self._place.close()
            self._closed = True


def calibration_arrays(options: Dict[str, Any], inputs: Inputs) -> PreparedData:
    """Makes a path of `calibration_data`, which may be data in any form; what was written for it lives as long as the
    result."""
    given = options.get("calibration_data")
    prepared = PreparedData(given, inputs, False, options.get("calibration_limit"), "calibration_data")
    if prepared.path is not None:
        options["calibration_data"] = prepared.path
    return prepared
