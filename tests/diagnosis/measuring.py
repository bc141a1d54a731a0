# SPDX-License-Identifier: GPL-3.0-or-later
"""What a file gives at its output, by ONNX Runtime with optimizations off."""
import numpy as np
import onnxruntime as ort

import values  # noqa: F401  (sessions of one thread)


def outputs(model, data):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model if isinstance(model, str) else model.SerializeToString(), options,
                                   providers=["CPUExecutionProvider"])
    inputs = {i.name for i in session.get_inputs()}
    count = len(next(iter(data.values())))
    return np.concatenate([session.run(None, {k: v[i:i + 1] for k, v in data.items() if k in inputs})[0] for i in range(count)])


def sqnr(reference, other):
    noise = np.linalg.norm((reference - other).astype(np.float64))
    return float(20 * np.log10(np.linalg.norm(reference.astype(np.float64)) / noise)) if noise > 0 else 150.0


def accuracy(logits, labels):
    return float((logits.reshape(len(labels), -1).argmax(1) == labels).mean())
