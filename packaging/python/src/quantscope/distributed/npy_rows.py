# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of an array in an npy or npz file, without reading the others where the file is not compressed."""

from __future__ import annotations

import math
import os
import zipfile
from typing import IO, Any, Dict, Optional, Tuple

import numpy as np

_AT_ONCE = 1 << 20  # bytes
_LOCAL_HEADER = 30  # bytes of a zip entry's own header before its name


def _header(file: IO[bytes]) -> Tuple[Tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, type."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError(f"an npy header of version {version[0]}.{version[1]}")


def _start(path: str, entry: zipfile.ZipInfo) -> int:
    """Where the bytes of an entry that is not compressed begin."""
    with open(path, "rb") as file:
        file.seek(entry.header_offset + _LOCAL_HEADER - 4)
        lengths = file.read(4)
    name, extra = (int.from_bytes(lengths[i : i + 2], "little") for i in (0, 2))
    return entry.header_offset + _LOCAL_HEADER + name + extra


class NpyRows:
    """An array on disk. `count`: along its first axis (a scalar: 1)."""

    def __init__(self, path: str, entry: Optional[zipfile.ZipInfo], place: int = 0) -> None:
        """`entry`: in an npz; `place`: where it begins in the file, if it is not compressed."""
        self._path, self._entry, self._place = path, entry, place
        with self._open() as file:
            self.shape, columns_first, self.dtype = _header(file)
        if self.dtype.hasobject:
            raise ValueError("it holds Python objects")
        if columns_first and len(self.shape) > 1:
            raise ValueError("it holds an array in Fortran order, whose rows cannot be cut out; save it in C order")
        self.count = self.shape[0] if self.shape else 1
        self.row_bytes = math.prod(self.shape[1:]) * self.dtype.itemsize

    @classmethod
    def all_of(cls, path: str) -> Dict[str, NpyRows]:
        """By name; the array of an npy file is called "data"."""
        if not zipfile.is_zipfile(path):
            return {"data": cls(path, None)}
        with zipfile.ZipFile(path) as file:
            entries = [entry for entry in file.infolist() if entry.filename.endswith(".npy")]
        stored = zipfile.ZIP_STORED
        return {
            e.filename[: -len(".npy")]: cls(path, e, _start(path, e) if e.compress_type == stored else -1)
            for e in entries
        }

    def _open(self) -> IO[bytes]:
        if self._place < 0:
            assert self._entry is not None
            return zipfile.ZipFile(self._path).open(self._entry)
        file = open(self._path, "rb")
        file.seek(self._place)
        return file

    def copy(self, first: int, last: int, target: IO[bytes]) -> None:
        """Writes rows [first, last) as an npy file."""
        shape = (last - first, *self.shape[1:]) if self.shape else ()
        header = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_2_0(target, header)
        with self._open() as file:
            _header(file)
            self._skip(file, first * self.row_bytes)
            left = (last - first) * self.row_bytes
            while left:
                piece = file.read(min(left, _AT_ONCE))
                if not piece:
                    raise ValueError("it ends before its last row")
                target.write(piece)
                left -= len(piece)

    def _skip(self, file: IO[bytes], size: int) -> None:
        if self._place >= 0:
            file.seek(size, os.SEEK_CUR)
            return
        while size:
            piece = file.read(min(size, _AT_ONCE))
            if not piece:
                raise ValueError("it ends before its last row")
            size -= len(piece)
