# SPDX-License-Identifier: GPL-3.0-or-later
"""What a model file is."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .options import arguments, check_options
from .paths import FilePath, file_argument
from .program import read_json, run_program
from .workspace import Workspace


def info(model: FilePath, **options: Any) -> Dict[str, Any]:
    """The dict of `quantscope-cli info --json`: inputs, outputs, node types, parameters, MACs, quantization form …"""
    check_options("info", options)
    with Workspace() as place:
        result = place.file("info.json")
        run_program(["info", file_argument(model), f"--json={result}", *arguments("info", options, place.path)])
        found: Dict[str, Any] = read_json(result)
        return found


def input_ranks(model: FilePath) -> Dict[str, Optional[int]]:
    """Names of a model's inputs, in order, and how many axes they have (None: the file does not say)."""
    return {port["name"]: None if port["shape"] is None else len(port["shape"]) for port in info(model)["inputs"]}
