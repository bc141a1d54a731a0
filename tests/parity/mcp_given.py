# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scripts that speak the Model Context Protocol are given, and how they say that something is wrong."""
import pathlib
import sys

from environment import ROOT

EXAMPLES = ROOT / "resources/examples"
GIVEN = [pathlib.Path(a).resolve() for a in sys.argv[1:4]]
FLOAT, QUANTIZED, DATA = GIVEN or [EXAMPLES / n for n in
                                   ("digits_float.onnx", "digits_qdq_narrow.onnx", "digits_samples.npz")]


def check(true, what):
    if not true:
        raise SystemExit(f"not as it should be: {what}")
