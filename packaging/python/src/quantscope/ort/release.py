# SPDX-License-Identifier: GPL-3.0-or-later
"""Which release of ONNX Runtime's quantization tools is followed."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from typing import Optional

RELEASES = ("1.31", "1.32")  # whose rules the program knows; the last one is the newest
_PACKAGES = (
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-openvino",
    "onnxruntime-directml",
    "onnxruntime-qnn",
    "onnxruntime-training",
)


def installed() -> Optional[str]:
    """Version of the onnxruntime that scripts of this environment import; None: there is none."""
    version = getattr(sys.modules.get("onnxruntime"), "__version__", None)
    if isinstance(version, str):
        return version
    for package in _PACKAGES:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return None


def rules_of(asked: Optional[str]) -> str:
    """The known release that was asked for or, for None, the one nearest to the installed onnxruntime."""
    if asked is not None:
        if asked not in RELEASES:
            raise ValueError(f"ort_version {asked} is not known; use one of {', '.join(RELEASES)}")
        return asked
    number = re.match(r"(\d+)\.(\d+)", installed() or "")
    if number is None:
        return RELEASES[-1]
    release = tuple(int(part) for part in number.groups())
    older = [known for known in RELEASES if tuple(int(part) for part in known.split(".")) <= release]
    return older[-1] if older else RELEASES[0]
