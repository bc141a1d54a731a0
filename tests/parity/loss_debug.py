#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Agreement of `compare` with ONNX Runtime's quantization debugger (onnxruntime.quantization.qdq_loss_debug).

    loss_debug.py FLOAT QUANTIZED DATA.npz [SAMPLES]

Compares what it reports: `xmodel_err` with sqnr_db, `qdq_err` with qdq_sqnr_db, and its errors of weights with sqnr_db of
the weights. Left out: tensors that are exactly equal (it gives 140 dB and more of pure rounding), and weights whose zero
point is not 0 (it dequantizes them wrongly). Fails beyond 0.05 dB. ONNX Runtime computes the quantized model's values,
so codes may flip where both engines round differently: activations are given with optimizations off.
Needs: onnx onnxruntime numpy
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, qdq_loss_debug as debug

CLI = os.environ.get("QUANTSCOPE_CLI", "build/release/bin/quantscope-cli")
TOLERANCE = 0.05
EXACT = 120  # dB from which only the rounding of sums is left


class Reader(CalibrationDataReader):
    def __init__(self, feeds):
        self.rest = iter(feeds)

    def get_next(self):
        return next(self.rest, None)


def feeds_of(model, data, limit):
    arrays = np.load(data)
    graph = onnx.load(model).graph
    known = {t.name for t in graph.initializer}
    inputs = [i for i in graph.input if i.name not in known]
    source = {i.name: arrays[i.name] if i.name in arrays.files else arrays[arrays.files[0]] for i in inputs}
    count = min(limit, min(len(a) for a in source.values()))
    rank = {i.name: len(i.type.tensor_type.shape.dim) for i in inputs}
    return [{n: a[s] if a.ndim == rank[n] + 1 else a[s:s + 1] for n, a in source.items()} for s in range(count)]


def activations(model, feeds, folder):
    augmented = os.path.join(folder, "augmented.onnx")
    debug.modify_model_output_intermediate_tensors(model, augmented)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return debug.collect_activations(augmented, Reader(feeds), session_options=options)


def theirs(floats, quantized, feeds):
    with tempfile.TemporaryDirectory() as folder:
        f, q = activations(floats, feeds, folder), activations(quantized, feeds, folder)
    errors = debug.compute_activation_error(debug.create_activation_matching(q, f))
    weights = debug.compute_weight_error(debug.create_weight_matching(floats, quantized))
    return errors, weights


def differences(ours, expected):
    """name, ours, theirs for what both have."""
    for name, value in expected.items():
        mine = ours.get(name)
        if mine is None or value is None or not math.isfinite(value) or value > EXACT:
            continue
        yield name, mine, float(value)


def main():
    floats, quantized, data = sys.argv[1:4]
    limit = int(sys.argv[4]) if len(sys.argv) > 4 else 8
    feeds = feeds_of(floats, data, limit)
    errors, weights = theirs(floats, quantized, feeds)
    done = subprocess.run([CLI, "compare", floats, quantized, "--data", data, "--limit", str(len(feeds)), "--json", "-",
                           "--quiet"], check=True, capture_output=True, text=True)
    document = json.loads(done.stdout)
    rows = document["activations"]
    signed = {w["name"] for w in document["weights"] if any(w["zero_point"])}
    cases = {
        "xmodel_err": differences({r["name"]: r["sqnr_db"] for r in rows},
                                  {n: e.get("xmodel_err") for n, e in errors.items()}),
        "qdq_err": differences({r["name"]: r["qdq_sqnr_db"] for r in rows},
                               {n: e.get("qdq_err") for n, e in errors.items()}),
        "weights": differences({w["name"]: w["sqnr_db"] for w in document["weights"] if w["name"] not in signed},
                               weights),
    }
    failed = False
    for what, listed in cases.items():
        all_of = list(listed)
        worst = max(all_of, key=lambda c: abs(c[1] - c[2]), default=None)
        far = [c for c in all_of if abs(c[1] - c[2]) > TOLERANCE]
        failed = failed or bool(far) or not all_of
        print(f"{what}: {len(all_of)} compared, {len(far)} beyond {TOLERANCE} dB"
              + (f", furthest {abs(worst[1] - worst[2]):.4f} dB at {worst[0]}" if worst else ""))
        for name, mine, other in far[:10]:
            print(f"    {name}: {mine:.3f}, theirs {other:.3f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
