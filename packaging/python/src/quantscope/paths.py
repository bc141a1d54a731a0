# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of files."""

from __future__ import annotations

import os
from typing import Union

FilePath = Union[str, "os.PathLike[str]"]


def file_argument(path: FilePath) -> str:
    """A path that the program cannot take for an option."""
    if isinstance(path, (bytes, bytearray)) or not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a model is given by the path of its file, not as {type(path).__name__}; write it first")
    text = os.fspath(path)
    return os.path.join(".", text) if text.startswith("-") else text
