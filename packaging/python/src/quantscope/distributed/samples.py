# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of data on disk: arrays are read row by row from where they lie, files of a folder are linked."""

from __future__ import annotations

import os
import re
import zipfile
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

from ..errors import BadInput
from .npy_rows import NpyRows

_PICTURES = (".png", ".jpg", ".jpeg", ".bmp")


class Samples:
    """Data as a model takes them, run by run: one sample each, or a full batch of a model whose batch is fixed."""

    def __init__(self, runs: int) -> None:
        self.runs = runs

    def part(self, index: int, count: int) -> range:
        """Runs of one of several parts, numbered from 1."""
        return range(self.runs * (index - 1) // count, self.runs * index // count)

    def size(self, part: range) -> int:
        """Bytes that write() writes, about."""
        raise NotImplementedError

    def write(self, part: range, folder: str) -> str:
        """Writes these runs; returns the path for `--data`."""
        raise NotImplementedError


class FolderSamples(Samples):
    """Pictures, or folders of ONNX test data."""

    def __init__(self, folder: str, names: List[str], ending: Callable[[str], str], stem: str) -> None:
        super().__init__(len(names))
        self._folder, self._names, self._ending, self._stem = folder, names, ending, stem

    def size(self, part: range) -> int:
        return 4096 * len(part)

    def write(self, part: range, folder: str) -> str:
        place = os.path.join(folder, "part")
        os.makedirs(place)
        for number, name in enumerate(self._names[part.start : part.stop]):
            link = f"{self._stem}{number}{self._ending(name)}"
            os.symlink(os.path.join(self._folder, name), os.path.join(place, link))
        return place


@dataclass
class _Input:
    """How many rows of an array one run takes; 0: all runs take the whole array."""

    rows: NpyRows
    per_run: int


class ArraySamples(Samples):
    """An npz or npy file."""

    def __init__(self, inputs: Dict[str, _Input], runs: int, limit: Optional[int]) -> None:
        super().__init__(runs)
        self._inputs, self._limit = inputs, limit

    def _rows(self, source: _Input, part: range) -> Tuple[int, int]:
        if source.per_run == 0:
            return 0, source.rows.count
        most = source.rows.count if self._limit is None else min(source.rows.count, self._limit)
        return part.start * source.per_run, min(part.stop * source.per_run, most)

    def size(self, part: range) -> int:
        cuts = [(one.rows.row_bytes, *self._rows(one, part)) for one in self._inputs.values()]
        return sum(row_bytes * (last - first) for row_bytes, first, last in cuts)

    def write(self, part: range, folder: str) -> str:
        path = os.path.join(folder, "part.npz")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
            for name, source in self._inputs.items():
                with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    source.rows.copy(*self._rows(source, part), entry)
        return path


def _natural(name: str) -> List[Any]:
    """Numbers in names compare by their values."""
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in re.split(r"(\d+)", name)]


def _pictures(folder: str) -> Iterator[str]:
    """Paths in the folder."""
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.lower().endswith(_PICTURES) and not name.startswith("."):
                yield os.path.relpath(os.path.join(place, name), folder)


def _of_folder(folder: str, limit: Optional[int]) -> FolderSamples:
    sets = [name for name in os.listdir(folder) if name.startswith("test_data_set_")]
    sets = sorted((name for name in sets if os.path.isdir(os.path.join(folder, name))), key=_natural)
    if sets:
        return FolderSamples(folder, sets[:limit], lambda name: "", "test_data_set_")
    pictures = sorted(_pictures(folder), key=os.fsencode)
    if not pictures:
        raise BadInput(f"{folder}: holds no pictures and no ONNX test data; give another folder")
    return FolderSamples(folder, pictures[:limit], lambda name: os.path.splitext(name)[1].lower(), "picture_")


def _per_run(rows: NpyRows, shape: Any) -> int:
    """Rows that a run takes of an array for an input of this shape (None: unknown)."""
    if not rows.shape or shape is None or len(rows.shape) == len(shape) + 1:
        return 1
    return shape[0] if shape and isinstance(shape[0], int) and shape[0] > 0 else 1


def _of_arrays(path: str, arrays: Dict[str, NpyRows], shapes: Mapping[str, Any], limit: Optional[int]) -> ArraySamples:
    arrays.pop("labels", None)
    inputs: Dict[str, _Input] = {}
    for name, rows in arrays.items():
        shape = shapes.get(name, next(iter(shapes.values())) if len(shapes) == 1 else None)
        inputs[name] = _Input(rows, _per_run(rows, shape))
    if not inputs:
        raise BadInput(f"{path}: holds no arrays; give one for each of the model's inputs")
    most = max(-(-one.rows.count // one.per_run) for one in inputs.values())
    for one in inputs.values():
        if most > 1 and one.rows.count in (1, one.per_run):
            one.per_run = 0  # one sample for every run
    counts = {name: one.rows.count for name, one in inputs.items() if one.per_run}
    if len({-(-one.rows.count // one.per_run) for one in inputs.values() if one.per_run}) > 1:
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise BadInput(f"{path}: arrays have different numbers of samples ({told}); give as many of each")
    if limit is not None:
        taken = [-(-min(one.rows.count, limit) // one.per_run) for one in inputs.values() if one.per_run]
        most = min([most, *taken])
    return ArraySamples(inputs, most, limit)


def samples_of(data: str, shapes: Mapping[str, Any], limit: Optional[int]) -> Samples:
    """What lies at a path, for a model whose inputs have these shapes. Raises BadInput."""
    try:
        if os.path.isdir(data):
            return _of_folder(data, limit)
        return _of_arrays(data, NpyRows.all_of(data), shapes, limit)
    except FileNotFoundError:
        raise BadInput(f"{data}: does not exist on {os.uname().nodename}; give a path that all workers see") from None
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise BadInput(f"{data}: cannot be read as npz or npy: {error}; give another file") from error
