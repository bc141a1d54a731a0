# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders for what goes to the program and comes back, in memory where there is room."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Optional

_MEMORY = "/dev/shm"


def _memory_folder(size: int) -> Optional[str]:
    """Storage backed by memory, if `size` bytes take at most half of what is free there and a quarter of the memory."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if os.access(_MEMORY, os.W_OK) and size <= min(shutil.disk_usage(_MEMORY).free // 2, memory // 4):
            return _MEMORY
    except (OSError, ValueError):
        pass
    return None


class Workspace:
    """A folder that is removed when it is closed, or when nobody knows it any more."""

    def __init__(self, size: int = 0, parent: Optional[str] = None) -> None:
        """`size`: bytes that will be written, about. `parent`: the folder that it is made in."""
        self._folder = tempfile.TemporaryDirectory(prefix="quantscope-", dir=parent or _memory_folder(size))
        self.path = self._folder.name

    def file(self, name: str) -> str:
        """Path of a file in it."""
        return os.path.join(self.path, name)

    def close(self) -> None:
        """Removes it with all that is in it."""
        self._folder.cleanup()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
