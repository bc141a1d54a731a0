# SPDX-License-Identifier: GPL-3.0-or-later
"""Prompts of unequal lengths for a language model, whose other inputs the program makes up."""

from __future__ import annotations

import os
from typing import Any, BinaryIO, Dict, Iterable, List, Mapping, Optional

import numpy as np

from .arrays import RowStream
from .errors import BadUse
from .workspace import Workspace

Ranks = Mapping[str, Optional[int]]  # of the model's inputs
_MADE_UP = ("mask", "position", "past", "cache")  # in names of what tokens imply


def is_implied(name: str) -> bool:
    """Whether the program makes it up of the tokens."""
    return any(part in name.lower() for part in _MADE_UP)


def mask_of(ranks: Ranks) -> Optional[str]:
    """The input that tells padding."""
    return next((name for name, rank in ranks.items() if rank == 2 and "mask" in name.lower()), None)


def are_prompts(rows: Mapping[str, np.ndarray[Any, Any]], ranks: Ranks) -> bool:
    """Whether the inputs among them are whole numbers, one a position, for a model that takes a mask."""
    inputs = [array for name, array in rows.items() if name in ranks]
    lengths = {array.shape[-1] if array.ndim > 1 and array.dtype.kind in "iu" else None for array in inputs}
    flat = all(ranks[name] == 2 for name in rows if name in ranks)
    return flat and len(lengths) == 1 and None not in lengths and mask_of(ranks) is not None


class Prompts:
    """Prompts that come one by one; at the end they are padded on the right, where the mask gets zeros."""

    def __init__(self, place: Workspace, ranks: Ranks, names: Iterable[str]) -> None:
        self._place = place
        self._mask = mask_of(ranks) or ""
        self._names = [*(name for name in names if name != self._mask), self._mask]  # the mask may be left out
        self._files: Dict[str, BinaryIO] = {
            name: open(place.file(f"prompts{index}.raw"), "wb") for index, name in enumerate(self._names)
        }
        self._lengths: List[int] = []

    def add(self, rows: Mapping[str, np.ndarray[Any, Any]]) -> int:
        """Appends prompts of one length; returns how many."""
        missing = [name for name in self._names if name not in rows and name != self._mask]
        if missing:
            raise BadUse(f"sample {len(self._lengths)} has no array '{missing[0]}'")
        first = rows[self._names[0]]
        length = first.shape[-1]
        for name in self._names:
            self._files[name].write(np.asarray(rows.get(name, np.ones_like(first)), "<i8").tobytes())
        count = first.size // length if length else 1
        self._lengths += [length] * count
        return count

    def finish(self) -> Dict[str, RowStream]:
        """Rows of the longest one's length."""
        longest = max(self._lengths)
        streams: Dict[str, RowStream] = {}
        for index, name in enumerate(self._names):
            self._files[name].close()
            stream = streams[name] = RowStream(self._place.file(f"prompts{index}.npy"))
            with open(self._files[name].name, "rb") as file:
                for length in self._lengths:
                    row = np.zeros((1, longest), np.int64)
                    row[0, :length] = np.frombuffer(file.read(8 * length), "<i8")
                    stream.add(row)
            os.remove(self._files[name].name)
        return streams

    def abandon(self) -> None:
        """Closes its files."""
        for file in self._files.values():
            file.close()
