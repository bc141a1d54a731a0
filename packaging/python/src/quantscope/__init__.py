# SPDX-License-Identifier: GPL-3.0-or-later
"""Quantscope: where a quantized ONNX model loses its accuracy. A thin layer over the command line program.

import quantscope as q
result = q.compare("float.onnx", "quantized.onnx", {"input": array})
result.outputs[0].sqnr_db
"""

from . import ort
from ._version import version
from .comparison import Comparison, compare
from .errors import BadInput, BadUse, Cancelled, Error, InternalError, ProgramWarning, ThresholdMissed
from .example import Example, example
from .inspecting import info
from .locate import cli_path
from .quantizing import Quantized, quantize
from .recipe import Recipe
from .rows import (
    Accuracy,
    Activation,
    Finding,
    Implementation,
    Match,
    Noise,
    Output,
    ParetoPoint,
    Sample,
    Unit,
    Unmatched,
    Weight,
)
from .running import run
from .units import Sensitivity, sensitivity
from .window import Window, show

__version__ = version
__all__ = [
    "Accuracy",
    "Activation",
    "BadInput",
    "BadUse",
    "Cancelled",
    "Comparison",
    "Error",
    "Example",
    "Finding",
    "Implementation",
    "InternalError",
    "Match",
    "Noise",
    "Output",
    "ParetoPoint",
    "ProgramWarning",
    "Quantized",
    "Recipe",
    "Sample",
    "Sensitivity",
    "ThresholdMissed",
    "Unit",
    "Unmatched",
    "Weight",
    "Window",
    "cli_path",
    "compare",
    "example",
    "info",
    "ort",
    "quantize",
    "run",
    "sensitivity",
    "show",
    "version",
]
