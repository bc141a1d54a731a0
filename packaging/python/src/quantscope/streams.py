# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples that come one by one, into files that grow."""

from __future__ import annotations

import os
import warnings
from typing import Any, Dict, Iterator, Mapping, Optional

import numpy as np

from .arrays import OtherShape, RowStream, pack, rows_of, save_feed, to_array
from .errors import BadInput, BadUse, ProgramWarning
from .labels import LABELS, Labels, are_given
from .naming import Inputs, Naming, named_list
from .program import levels_to_user
from .prompts import Prompts, are_prompts, is_implied
from .workspace import Workspace

Rows = Mapping[str, "np.ndarray[Any, Any]"]


def _items(rows: Rows) -> Iterator[Dict[str, np.ndarray[Any, Any]]]:
    """Each item of a batch as a batch of one."""
    for index in range(max(len(array) for array in rows.values())):
        yield {name: array[index : index + 1] for name, array in rows.items()}


class Stream:
    """Samples for one model."""

    def __init__(self, place: Workspace, inputs: Inputs, labels: Labels) -> None:
        self._place = place
        self._inputs = inputs
        self._labels = labels
        self._naming = Naming(inputs, labels)
        self._streams: Dict[str, RowStream] = {}
        self._feeds: Optional[str] = None  # folder of ONNX test data, once shapes differ
        self._prompts: Optional[Prompts] = None  # the same of token ids
        self._names: Dict[str, str] = {}  # of the model's inputs, in their order: what samples call them
        self.count = 0

    def _rows(self, name: str, array: np.ndarray[Any, Any], batches: bool) -> np.ndarray[Any, Any]:
        """The array's rows: itself where its first axis counts items, else a row that is the array."""
        if name == LABELS:
            return array.reshape(-1)
        rank = self._inputs().get(name) if batches else None
        counts_items = batches and array.ndim > 0 and (rank is None or array.ndim == rank)
        return array if counts_items else array[np.newaxis]

    def add(self, sample: Any) -> None:
        """One sample, or one batch of a loader."""
        arrays, batches = self._naming.arrays(sample, self.count)
        rows = {name: self._rows(name, array, batches) for name, array in arrays.items()}
        if self._feeds is None and self._prompts is None:
            try:
                return self._add_rows(rows)
            except OtherShape:
                self._go_on(rows, batches)
        if self._prompts is not None:
            return self._add_prompts(rows)
        for feed in _items(rows) if batches else [arrays]:
            self._add_feed(feed)
        return None

    def _add_rows(self, rows: Rows) -> None:
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

    def _go_on(self, rows: Rows, batches: bool) -> None:
        """Goes on with samples of other shapes, which no npz holds: token ids are padded, others are test data."""
        labelled = LABELS in self._streams or are_given(self._labels)
        missing = [name for name in self._inputs() if name not in rows]
        padded = all(map(is_implied, missing)) and are_prompts(rows, self._inputs()) and bool(missing or labelled)
        if labelled and not padded:
            raise BadUse("samples with labels must have one shape; pad them, or use batches of one size")
        ended = {name: stream for name, stream in self._streams.items() if name != LABELS}
        self._streams = {name: stream for name, stream in self._streams.items() if name == LABELS}
        for stream in ended.values():
            stream.close()
        written = {name: rows_of(stream.path) for name, stream in ended.items()}
        self.count = 0
        if padded:
            self._prompts = Prompts(self._place, self._inputs(), self._used(written))
            self.count = self._prompts.add(written)
        else:
            self._begin_feeds(written, batches)
        for stream in ended.values():
            os.remove(stream.path)

    def _used(self, given: Rows) -> Dict[str, str]:
        """The model's inputs among some arrays; says which others there are."""
        unused = [name for name in given if name not in self._inputs()]
        if unused:
            warnings.warn(f"data: not used: {named_list(unused)}", ProgramWarning, stacklevel=levels_to_user())
        return {name: name for name in self._inputs() if name in given}

    def _names_of(self, given: Rows) -> Dict[str, str]:
        """What samples call the model's inputs: a single array may be called anything."""
        names = list(self._inputs())
        if len(names) == len(given) == 1:
            return dict(zip(names, given))
        missing = [name for name in names if name not in given]
        if missing:
            raise BadInput(
                f"the samples hold {named_list(given)}, but nothing for the model's input {named_list(missing)}; name "
                "arrays as the model's inputs (of samples with unequal shapes, all have to be given)"
            )
        return self._used(given)

    def _begin_feeds(self, written: Rows, batches: bool) -> None:
        self._names = self._names_of(written)
        self._feeds = self._place.file("sets")
        kept = {name: written[name] for name in self._names.values()}
        for feed in _items(kept) if batches else (dict(zip(kept, row)) for row in zip(*kept.values())):
            self._add_feed(feed)

    def _add_feed(self, arrays: Rows) -> None:
        assert self._feeds is not None
        whole: Dict[str, np.ndarray[Any, Any]] = {}
        for name, called in self._names.items():
            if called not in arrays:
                raise BadUse(f"sample {self.count} has no array '{called}'")
            array = arrays[called]
            whole[name] = array[np.newaxis] if self._inputs().get(name) == array.ndim + 1 else array
        save_feed(self._feeds, self.count, list(self._names), whole)
        self.count += 1

    def _add_prompts(self, rows: Rows) -> None:
        assert self._prompts is not None
        if not are_prompts(rows, self._inputs()):
            raise BadInput(f"sample {self.count} does not hold whole numbers, as many for each position as the others")
        for name, stream in self._streams.items():
            if name not in rows:
                raise BadUse(f"sample {self.count} has no array '{name}'")
            stream.add(rows[name])
        self.count += self._prompts.add(rows)

    def finish(self, cut: bool) -> str:
        """The path for `--data`. `cut`: there may be labels of samples that were not read."""
        if self._feeds is not None:
            return self._feeds
        if self._prompts is not None:
            self._streams.update(self._prompts.finish())
        if are_given(self._labels):
            labels = to_array(self._labels, LABELS).reshape(-1)
            self._streams[LABELS] = RowStream(self._place.file("labels.npy"))
            self._streams[LABELS].add(labels[: self.count] if cut else labels)
        path = self._place.file("data.npz")
        pack(path, self._streams)
        return path

    def abandon(self) -> None:
        """Closes its files, where something went wrong."""
        for stream in self._streams.values():
            stream.abandon()
        if self._prompts is not None:
            self._prompts.abandon()
