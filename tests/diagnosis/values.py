# SPDX-License-Identifier: GPL-3.0-or-later
"""All values of a file on some samples, and which values of two files are the same."""
import itertools

import numpy as np
import onnx
import onnxruntime as ort

_options = ort.SessionOptions


def _one_thread():
    options = _options()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return options


ort.SessionOptions = _one_thread  # in the tools, too: threads that wait for work would keep all cores busy
HEAVY = ("Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU", "RNN")


def all_values(model, data, limit=2):
    """{name: float64 array with an axis of samples} of every value that ONNX Runtime gives, optimizations off."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    have = {v.name for v in model.graph.output}
    for node in model.graph.node:
        for o in node.output:
            if o and o not in have:
                have.add(o)
                model.graph.output.append(onnx.ValueInfoProto(name=o))
    options = ort.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL, 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names, runs = [o.name for o in session.get_outputs()], []
    for i in range(limit):
        runs.append(session.run(names, {k: v[i:i + 1] for k, v in data.items()}))
    out = {k: v[:limit] for k, v in data.items()}
    for k, name in enumerate(names):
        parts = [np.asarray(r[k]) for r in runs]
        if all(p.shape == parts[0].shape and p.dtype.kind in "fiub" for p in parts):
            out[name] = np.stack(parts)
    return out


def depends_on_input(array):
    return array.dtype.kind == "f" and array[0].size > 1 and not np.array_equal(array[0], array[-1])


def close(a, b, tolerance):
    size = np.sqrt(np.mean(np.square(a))) + 1e-12
    return np.sqrt(np.mean(np.square(a - b))) <= tolerance * size and np.abs(a - b).max() <= 20 * tolerance * size


def same(a, b, tolerance):
    """"same", "permuted" (equal after axes are exchanged) or "" for two arrays with an axis of samples."""
    if a[0].size != b[0].size:
        return ""
    x, y = a.reshape(len(a), -1), b.reshape(len(b), -1)
    if close(x, y, tolerance):
        return "same"
    small = a[0].squeeze()
    if small.ndim < 2 or small.ndim > 5 or not close(np.sort(x, 1), np.sort(y, 1), 4 * tolerance):
        return ""
    core = a.reshape(len(a), *small.shape)
    for order in itertools.permutations(range(1, small.ndim + 1)):
        if close(core.transpose(0, *order).reshape(len(a), -1), y, tolerance):
            return "permuted"
    core = b.reshape(len(b), *b[0].squeeze().shape)
    for order in itertools.permutations(range(1, core.ndim)):
        if close(core.transpose(0, *order).reshape(len(a), -1), x, tolerance):
            return "permuted"
    return ""


def equal_values(floats, others, tolerance):
    """{float value: {other value: "same" or "permuted"}} for float values that depend on the graph's inputs."""
    by_size = {}
    for name, b in others.items():
        if b.dtype.kind == "f" and np.isfinite(b).all():
            b = b.astype(np.float64)
            by_size.setdefault(b[0].size, []).append((name, b, np.sqrt(np.mean(b * b))))
    out = {}
    for name, a in floats.items():
        if not depends_on_input(a) or not np.isfinite(a).all():
            continue
        a = a.astype(np.float64)
        norm, found = np.sqrt(np.mean(a * a)), {}
        for other, b, size in by_size.get(a[0].size, []):
            if abs(norm - size) <= 3 * tolerance * (norm + 1e-12):
                kind = same(a, b, tolerance)
                if kind:
                    found[other] = kind
        out[name] = found
    return out
