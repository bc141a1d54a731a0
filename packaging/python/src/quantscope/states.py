# SPDX-License-Identifier: GPL-3.0-or-later
"""What tells a file, or a folder, from the one that was there before: sizes and times, never contents."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence, Set

from .errors import BadInput

#: Options that name what the program reads.
READ = {"recipe", "like", "reference", "map", "ranges", "preprocess", "calibration_data", "class_names", "gate"}
READ |= {"tokenizer", "text", "framework", "device"}


def state(path: str) -> Sequence[Any]:
    """Size and time of a file."""
    found = os.stat(path)
    return [path, found.st_size, found.st_mtime_ns]


def state_of_one(path: str) -> Sequence[Any]:
    """A file alone, which somebody may just have removed."""
    try:
        return state(path)
    except OSError:
        return [path]


def in_folder(path: str, seen: Set[str]) -> Iterator[Sequence[Any]]:
    """All files of a folder and the folders in it, each folder once."""
    real = os.path.realpath(path)
    if real in seen:
        return
    seen.add(real)
    for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from in_folder(entry.path, seen)
        elif entry.is_file():
            yield state_of_one(entry.path)


def _weights_beside(path: str) -> Iterator[Sequence[Any]]:
    """Files that hold a model's weights, by how they are mostly called."""
    stem = os.path.splitext(path)[0]
    for other in dict.fromkeys(begin + end for begin in (path, stem) for end in (".data", "_data")):
        if other != path and os.path.isfile(other):
            yield state_of_one(other)


def _whole(path: str) -> Sequence[Any]:
    """A folder with all that is in it, or a file, which another one of the same size and time may replace; nothing of
    what is not there."""
    if os.path.isdir(path):
        sets = sorted(name for name in os.listdir(path) if name.startswith("test_data_set_"))
        folders = [os.path.join(path, name) for name in sets] or [path]  # reports may stand beside sets
        return [entry for folder in folders for entry in in_folder(folder, set())]
    return [os.stat(path).st_ino, state(path), *_weights_beside(path)] if os.path.isfile(path) else []


def files_of(options: Mapping[str, Any]) -> Iterator[str]:
    """The paths in options that are read."""
    for name in sorted(READ & set(options)):
        if isinstance(options[name], (str, os.PathLike)):
            yield os.fspath(options[name])


class Remembered:
    """Files and folders as they were; which are none, such as `random:8`, are passed over."""

    def __init__(self, *paths: Any) -> None:
        self._folder = current_folder()
        self._states: Dict[str, Sequence[Any]] = {}
        for path in dict.fromkeys(os.fspath(path) for path in paths if path is not None):
            found = self._state(path)
            if found:
                self._states[path] = found

    def _state(self, path: str) -> Sequence[Any]:
        try:
            return _whole(os.path.join(self._folder or "", path))
        except OSError:  # what just went away, or cannot be listed
            return []

    def check(self) -> None:
        """Raises where one was written since, or is gone: its numbers would not be those of the result."""
        for path, before in self._states.items():
            now = self._state(path)
            if not now and not os.path.exists(os.path.join(self._folder or "", path)):
                raise BadInput(f"{path} is not there any more since it was compared; put it back, or compare again")
            if now != before:
                raise BadInput(f"{path} was written since it was compared; compare again")


def current_folder() -> Optional[str]:
    """Where relative paths begin now; None where that folder was removed."""
    try:
        return os.getcwd()
    except OSError:
        return None
