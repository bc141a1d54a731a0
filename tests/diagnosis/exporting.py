# SPDX-License-Identifier: GPL-3.0-or-later
"""PyTorch's exporters."""
import io
import logging
import warnings

import onnx
import torch

KINDS = ("script", "script17", "raw", "dynamo")


def export(model, feeds, names, kind):
    """`script`: TorchScript, opset 14; `script17`: opset 17; `raw`: TorchScript without folding; `dynamo`: torch.export."""
    logging.disable(logging.WARNING)
    outputs = model(*feeds)
    count = len(outputs) if isinstance(outputs, tuple) else 1
    outs = ["y"] if count == 1 else [f"y{i}" for i in range(count)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "dynamo":
            program = torch.onnx.export(model, feeds, dynamo=True, input_names=names, output_names=outs, verbose=False)
            return program.model_proto
        out = io.BytesIO()
        more = {}
        if kind == "raw":
            more = {"training": torch.onnx.TrainingMode.PRESERVE, "do_constant_folding": False}
        torch.onnx.export(model, feeds, out, dynamo=False, input_names=names, output_names=outs,
                          opset_version=17 if kind == "script17" else 14, **more)
        return onnx.load_from_string(out.getvalue())
