# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes dynamo.onnx and torchscript.onnx: tiny_model.Net as both of PyTorch's exporters write it (recorded with 2.13).

Only what a reader of traces sees is changed: the folders of this machine become /project and /venv/lib/python3.11/site-packages.
"""
import pathlib
import site
import sys
import warnings

import onnx
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from tiny_model import Net  # noqa: E402

FOLDERS = {str(HERE): "/project", str(pathlib.Path(torch.__file__).resolve().parent.parent): "/venv/lib/python3.11/site-packages",
           site.getsitepackages()[0]: "/venv/lib/python3.11/site-packages"}


def moved(text):
    for old, new in FOLDERS.items():
        text = text.replace(old, new)
    return text


def clean(path):
    model = onnx.load(path)
    for node in model.graph.node:
        node.doc_string = moved(node.doc_string)
        for entry in node.metadata_props:
            entry.value = moved(entry.value)
    del model.graph.metadata_props[:]
    onnx.save(model, path)


warnings.simplefilter("ignore")
torch.manual_seed(0)
net, x = Net().eval(), torch.randn(1, 1, 4, 4)
torch.onnx.export(net, (x,), HERE / "dynamo.onnx", dynamo=True, external_data=False, verbose=False)
torch.onnx.export(net, (x,), str(HERE / "torchscript.onnx"), dynamo=False, do_constant_folding=False, verbose=True)
clean(HERE / "dynamo.onnx")
clean(HERE / "torchscript.onnx")
