# SPDX-License-Identifier: GPL-3.0-or-later
"""The example that comes with the programs."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .errors import BadUse
from .locate import cli_path

# From the folder of the program: installed, or where it was built.
_PLACES = ("../share/quantscope/examples", "../../../resources/examples")


class Example(NamedTuple):
    """Paths of a digit classifier, of a quantized version of it that was calibrated badly, and of 200 labelled samples
    (array `image`, float32 [200, 1, 8, 8])."""

    float_model: str
    quantized_model: str
    data: str


def example() -> Example:
    """The bundled example: `quantscope.compare(*quantscope.example())`."""
    program = Path(cli_path()).resolve().parent
    for place in _PLACES:
        folder = (program / place).resolve()
        if (folder / "digits_float.onnx").is_file():
            names = ("digits_float.onnx", "digits_qdq_narrow.onnx", "digits_samples.npz")
            return Example(*(str(folder / name) for name in names))
    raise BadUse(f"the example is not beside the program in {program}; install the package from its wheel")
