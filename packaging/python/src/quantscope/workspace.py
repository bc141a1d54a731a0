# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders for what goes to the program and comes back, in memory where there is room."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import weakref
from typing import Optional, Tuple

_MEMORY = "/dev/shm"
_PREFIX = "quantscope-"
_LOCK = ".lock"  # held by the process that made the folder, for as long as it lives
_ATTEMPTS = 20  # folders that may be taken for left behind, one after the other


def _memory_folder(size: int) -> Optional[str]:
    """Storage backed by memory, if `size` bytes take at most half of what is free there and a quarter of the memory."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if os.access(_MEMORY, os.W_OK) and size <= min(shutil.disk_usage(_MEMORY).free // 2, memory // 4):
            return _MEMORY
    except (OSError, ValueError):
        pass
    return None


def _locked(path: str, create: bool = False) -> Optional[int]:
    """An open file that holds the lock of a folder; None where somebody else does, or there is none."""
    name = os.path.join(path, _LOCK)
    try:
        handle = os.open(name, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.exists(name):  # not removed meanwhile by who thought it left behind
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def _sweep(folder: str) -> None:
    """Removes what processes left behind that were killed: memory is not given back otherwise."""
    try:
        names = [name for name in os.listdir(folder) if name.startswith(_PREFIX)]
    except OSError:
        return
    for path in (os.path.join(folder, name) for name in names):
        lock = _locked(path)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _new_folder(parent: Optional[str]) -> Tuple[str, Optional[int]]:
    """A folder and its lock; without one where the file system has none."""
    for _ in range(_ATTEMPTS):
        path = tempfile.mkdtemp(prefix=_PREFIX, dir=parent)
        lock = _locked(path, create=True)
        if lock is not None:
            return path, lock
        # Somebody who swept was faster than the lock and removes it.
        shutil.rmtree(path, ignore_errors=True)
    return tempfile.mkdtemp(prefix=_PREFIX, dir=parent), None


def _remove(path: str, lock: Optional[int], owner: int) -> None:
    if os.getpid() != owner:  # a copy of the process that ends: the folder is not its own
        return
    shutil.rmtree(path, ignore_errors=True)
    if lock is not None:
        os.close(lock)


class Workspace:
    """A folder that is removed when it is closed, or when nobody knows it any more."""

    def __init__(self, size: int = 0, parent: Optional[str] = None) -> None:
        """`size`: bytes that will be written, about. `parent`: the folder that it is made in."""
        folder = parent or _memory_folder(size)
        if folder == _MEMORY:
            _sweep(folder)
        self.path, lock = _new_folder(folder)
        self._finalizer = weakref.finalize(self, _remove, self.path, lock, os.getpid())

    def file(self, name: str) -> str:
        """Path of a file in it."""
        return os.path.join(self.path, name)

    def close(self) -> None:
        """Removes it with all that is in it."""
        self._finalizer()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
