# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples in all the forms that Python has them, as what `--data` takes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping as AnyMapping
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from .arrays import OtherShape, RowStream, is_array, pack, rows_of, save_feed, save_npz, to_array
from .errors import BadUse
from .paths import FilePath
from .workspace import Workspace

Array = Any  # numpy, PyTorch or another framework's
Data = Union[str, "os.PathLike[str]", Mapping[str, Array], Iterable[Any], Array, None]
#: None or False: none but those in the data; True: what stands behind the inputs of each sample; else one a sample.
Labels = Union[None, bool, Array]
#: Names of a model's inputs and their ranks (None where the file does not say), asked for when needed.
Inputs = Callable[[], Mapping[str, Optional[int]]]

LABELS = "labels"


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


def _items(rows: Mapping[str, np.ndarray[Any, Any]]) -> Iterator[Dict[str, np.ndarray[Any, Any]]]:
    """Each item of a batch as a batch of one."""
    for index in range(max(len(array) for array in rows.values())):
        yield {name: array[index : index + 1] for name, array in rows.items()}


class _Stream:
    """Samples that come one by one, into files that grow."""

    def __init__(self, place: Workspace, inputs: Inputs, labels: Labels) -> None:
        self._place = place
        self._inputs = inputs
        self._labels = labels
        self._streams: Dict[str, RowStream] = {}
        self._feeds: Optional[str] = None  # folder of ONNX test data, once shapes differ
        self._names: List[str] = []
        self.count = 0

    def _as_names(self, sample: Tuple[Any, ...]) -> Dict[str, Array]:
        names = list(self._inputs())
        if len(sample) == len(names) + 1 and self._labels is True:
            names.append(LABELS)
        if len(sample) < len(names) or len(sample) > len(names) and self._labels is not False:
            raise BadUse(
                f"a sample has {len(sample)} arrays, but the model takes {len(names)} ({', '.join(names)}); give "
                "labels=True where the last one holds class numbers, labels=False where it means something else"
            )
        return dict(zip(names, sample))

    def _may_be_input(self, name: str, value: Any) -> bool:
        """Whether it is no text beside the inputs, such as data sets have it (file names, questions)."""
        if is_array(value) or name in self._inputs():
            return True
        return np.asarray(value).dtype.kind not in "USO"

    def _rows(self, name: str, array: np.ndarray[Any, Any], batches: bool) -> np.ndarray[Any, Any]:
        """The array's rows: itself where its first axis counts items, else a row that is the array."""
        if name == LABELS:
            return array.reshape(-1)
        rank = self._inputs().get(name) if batches else None
        counts_items = batches and array.ndim > 0 and (rank is None or array.ndim == rank)
        return array if counts_items else array[np.newaxis]

    def add(self, sample: Any) -> None:
        """One sample, or one batch of a loader."""
        if isinstance(sample, AnyMapping):
            named = dict(sample)
            batches = to_array(named.get(LABELS, 0)).ndim > 0
            if self._labels is False:
                named.pop(LABELS, None)
        elif is_array(sample) or isinstance(sample, (list, tuple)):
            named = self._as_names((sample,) if is_array(sample) else tuple(sample))
            batches = True
        else:
            raise TypeError(f"a sample is a dict of arrays, an array or a tuple of them, not {type(sample).__name__}")
        arrays = {name: to_array(value) for name, value in named.items() if self._may_be_input(name, value)}
        rows = {name: self._rows(name, array, batches) for name, array in arrays.items()}
        if self._feeds is None:
            try:
                return self._add_rows(rows)
            except OtherShape:
                self._begin_feeds(batches)
        for feed in _items(rows) if batches else [arrays]:
            self._add_feed(feed)

    def _add_rows(self, rows: Mapping[str, np.ndarray[Any, Any]]) -> None:
        for name in rows:
            if name not in self._streams:
                if self.count:
                    raise BadUse(f"sample {self.count} has an array '{name}' that those before it do not have")
                self._streams[name] = RowStream(self._place.file(f"{len(self._streams)}.npy"))
        missing = [name for name in self._streams if name not in rows]
        if missing:
            raise BadUse(f"sample {self.count} has no array '{missing[0]}'")
        if self._streams and any(not s.fits(rows[name]) for name, s in self._streams.items()):
            raise OtherShape
        for name, stream in self._streams.items():
            stream.add(rows[name])
        self.count += max(len(array) for array in rows.values()) if rows else 1

    def _begin_feeds(self, batches: bool) -> None:
        """Goes on with ONNX test data, since an npz holds samples of one shape."""
        if LABELS in self._streams:
            raise BadUse("samples with labels must have one shape; pad them, or use batches of one size")
        self._feeds = self._place.file("sets")
        self._names = [name for name in self._inputs() if name in self._streams]
        for stream in self._streams.values():
            stream.close()
        written = {name: rows_of(self._streams[name].path) for name in self._names}
        self.count = 0
        for feed in _items(written) if batches else (dict(zip(written, row)) for row in zip(*written.values())):
            self._add_feed(feed)
        for stream in self._streams.values():
            os.remove(stream.path)

    def _add_feed(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        assert self._feeds is not None
        ranks = self._inputs()
        whole = {name: a[np.newaxis] if ranks.get(name) == a.ndim + 1 else a for name, a in arrays.items()}
        save_feed(self._feeds, self.count, self._names, whole)
        self.count += 1

    def finish(self) -> str:
        """The path for `--data`."""
        if self._feeds is not None:
            return self._feeds
        if self._labels is not None and not isinstance(self._labels, bool):
            self._streams[LABELS] = RowStream(self._place.file("labels.npy"))
            self._streams[LABELS].add(to_array(self._labels).reshape(-1)[: self.count])
        path = self._place.file("data.npz")
        pack(path, self._streams)
        return path


def _samples(data: Any) -> Iterator[Any]:
    if hasattr(data, "get_next"):  # a CalibrationDataReader of ONNX Runtime
        return iter(data.get_next, None)
    return iter(data)


def _streamed(data: Any, place: Workspace, inputs: Inputs, labels: Labels, limit: Optional[int]) -> str:
    stream = _Stream(place, inputs, labels)
    for sample in _samples(data):
        stream.add(sample)
        if limit is not None and stream.count >= limit:
            break
    if stream.count == 0:
        raise BadUse("the data have no samples; an iterator that was used before is empty")
    return stream.finish()


def _of_path(data: FilePath, labels: Labels) -> str:
    if labels is not None and not isinstance(labels, bool):
        raise BadUse("labels of data in a file stand in the file, as an array 'labels' or as docs/data.md says")
    return os.fspath(data)


class PreparedData:
    """Data as `--data` takes them. What was written for it lives as long as this."""

    def __init__(self, data: Data, inputs: Inputs, labels: Labels = None, limit: Optional[int] = None) -> None:
        """`limit`: samples that are used at most."""
        self._place: Optional[Workspace] = None
        self._closed = False
        self.path: Optional[str] = None
        if data is None:
            return
        if isinstance(data, (str, os.PathLike)):
            self.path = _of_path(data, labels)
        elif is_array(data):
            self._save({next(iter(inputs()), "data"): data}, labels)
        elif isinstance(data, AnyMapping):
            self._save(data, labels)
        elif hasattr(data, "__iter__") or hasattr(data, "__getitem__") or hasattr(data, "get_next"):
            self._place = Workspace(_size_of_stream(data))
            self.path = _streamed(data, self._place, inputs, labels, limit)
        else:
            raise TypeError(f"data are a path, a dict of arrays or an iterable of samples, not {type(data).__name__}")

    def _save(self, data: Mapping[str, Array], labels: Labels) -> None:
        arrays = dict(data)
        if labels is False:
            arrays.pop(LABELS, None)
        elif labels is not None and labels is not True:
            arrays[LABELS] = labels
        self._place = Workspace(_size(arrays))
        self.path = self._place.file("data.npz")
        save_npz(self.path, arrays)

    def arguments(self) -> List[str]:
        """The part of a command line."""
        if self._closed:
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
    prepared = PreparedData(given, inputs, False, options.get("calibration_limit"))
    if prepared.path is not None:
        options["calibration_data"] = prepared.path
    return prepared
