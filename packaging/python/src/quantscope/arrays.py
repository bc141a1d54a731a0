# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays as files: the numbers themselves, never text."""

from __future__ import annotations

import os
import shutil
import zipfile
from typing import Any, BinaryIO, Dict, Mapping, Sequence, Tuple

import numpy as np

from .errors import BadInput

_HEADER = 256  # bytes before the numbers of a stream: room for any count

# Types of TensorProto by numpy's names.
_PROTO_TYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "uint32": 12,
    "uint64": 13,
}


def is_array(value: Any) -> bool:
    """An array of numpy, or a tensor of a framework."""
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__") or hasattr(value, "detach")


def to_array(value: Any, name: str = "data") -> np.ndarray[Any, Any]:
    """A value of numpy, PyTorch or another framework as an array in C order; `name` is what an error calls it."""
    if hasattr(value, "detach"):  # PyTorch: numpy has neither gradients, nor devices, nor bfloat16
        value = value.detach().cpu()
        if "bfloat16" in str(value.dtype):
            value = value.float()
        value = value.numpy()
    try:
        array = np.asarray(value)
    except ValueError as error:  # lists of unlike lengths
        raise BadInput(f"'{name}' is no array: {error}; give samples of various shapes one by one") from error
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.hasobject:
        raise BadInput(
            f"'{name}' is an array of Python objects (shape {array.shape}), which are no data; give arrays of numbers"
        )
    # Not ascontiguousarray, which makes a scalar an array of one axis.
    return array if array.flags.c_contiguous else array.copy(order="C")


def save_npz(path: str, arrays: Mapping[str, Any]) -> None:
    """An uncompressed npz. Names may be any text, which keyword arguments of numpy's own function may not."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
        for name, value in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, to_array(value, name), allow_pickle=False)


def load_npz(path: str) -> Dict[str, np.ndarray[Any, Any]]:
    """All arrays of an npz."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


class OtherShape(Exception):
    """A row whose shape or type is not that of the rows before it."""


class RowStream:
    """An npy file that grows row by row; its header is written last."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.count = 0
        self._file: BinaryIO = open(path, "wb")
        self._file.write(b"\0" * _HEADER)
        self._row: Tuple[Any, Tuple[int, ...]] = (None, ())

    def fits(self, rows: np.ndarray[Any, Any]) -> bool:
        """Whether they are of one kind with those before them."""
        return self._row[0] is None or (rows.dtype, rows.shape[1:]) == self._row

    def add(self, rows: np.ndarray[Any, Any]) -> None:
        """Appends rows along the first axis."""
        if not self.fits(rows):
            raise OtherShape
        self._row = (rows.dtype, rows.shape[1:])
        self._file.write(rows.tobytes())
        self.count += len(rows)

    def abandon(self) -> None:
        """Closes it as it is."""
        self._file.close()

    def close(self) -> None:
        """Makes it a valid file."""
        if self._file.closed:
            return
        dtype, shape = self._row
        text = repr(
            {
                "descr": np.lib.format.dtype_to_descr(np.dtype(dtype or np.float32)),
                "fortran_order": False,
                "shape": (self.count, *shape),
            }
        ).encode()
        start = b"\x93NUMPY\x01\x00" + (_HEADER - 10).to_bytes(2, "little")
        self._file.seek(0)
        self._file.write(start + text.ljust(_HEADER - 11) + b"\n")
        self._file.close()


def pack(path: str, streams: Mapping[str, RowStream]) -> None:
    """An npz of streams; their own files go away one by one."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
        for name, stream in streams.items():
            stream.close()
            entry = zipfile.ZipInfo(f"{name}.npy")  # without the time: equal data make equal files
            entry.file_size = os.path.getsize(stream.path)
            with open(stream.path, "rb") as source, file.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            os.remove(stream.path)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _save_proto(path: str, name: str, array: np.ndarray[Any, Any]) -> None:
    """A TensorProto."""
    kind = _PROTO_TYPES.get(array.dtype.name)
    if kind is None:
        raise BadInput(
            f"input '{name}' has the type {array.dtype.name}, which samples of various shapes cannot have; "
            "convert it to float32 or int64"
        )
    text = name.encode()
    head = b"".join(b"\x08" + _varint(size) for size in array.shape) + b"\x10" + _varint(kind)
    head += b"\x42" + _varint(len(text)) + text + b"\x4a" + _varint(array.nbytes)
    with open(path, "wb") as file:
        file.write(head)
        file.write(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())


def save_feed(folder: str, index: int, names: Sequence[str], feed: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """One sample as ONNX test data, whose samples may have various shapes."""
    place = os.path.join(folder, f"test_data_set_{index}")
    os.makedirs(place)
    for number, name in enumerate(names):
        _save_proto(os.path.join(place, f"input_{number}.pb"), name, feed[name])


def rows_of(path: str) -> np.ndarray[Any, Any]:
    """The rows of an npy file, mapped."""
    mapped: np.ndarray[Any, Any] = np.load(path, mmap_mode="r")
    return mapped
