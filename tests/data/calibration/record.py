#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what ONNX Runtime's HistogramCollector makes of small data: histograms.json beside this file.

    pip install onnxruntime==1.31.1 onnx numpy && python3 record.py

The data come from a generator that the tests repeat; edges and counts are recorded as a hash."""
import contextlib
import io
import json
import pathlib

import numpy as np
import onnxruntime
from onnxruntime.quantization.calibrate import HistogramCollector


def noise(seed, count, factor=1.0):
    """Sums of the top bytes of four states of a linear congruential generator, near normal."""
    state, values = seed, []
    for _ in range(count):
        total = 0
        for _ in range(4):
            state = (1664525 * state + 1013904223) % 2**32
            total += state >> 24
        values.append(np.float32((total - 510) / 64) * np.float32(factor))
    return np.array(values, np.float32)


# name: chunks of (seed, count, factor, offset, lower limit)
DATA = {
    "noise": [(1, 2000, 1, 0, None)],
    "grown": [(1, 2000, 1, 0, None), (7, 1000, 1.25, 0, None)],
    "grown often": [(1, 300, 0.4, 0, None), (2, 300, 0.7, 0, None), (3, 300, 0.5, 0, None), (4, 300, 1.1, 0, None)],
    "rectified": [(5, 1500, 1, 0, 0), (6, 1500, 1.1, 0, 0)],
    "offset": [(8, 500, 0.125, 30, None), (9, 500, 0.15, 30.25, None), (10, 500, 0.1, 25, None)],
    "zeros": [(1, 100, 0, 0, None)],
    "zeros first": [(1, 100, 0, 0, None), (2, 700, 1, 0, None), (3, 700, 2, 0, None)],
    "constant": [(1, 50, 0, 2.5, None), (1, 50, 0, -3, None)],
    "negative": [(11, 800, 0.7, -9, None)],
    "tiny": [(12, 800, 1e-30, 0, None), (13, 800, 3e-30, 0, None)],
    "large": [(12, 400, 1e36, 0, None)],
    "too narrow": [(12, 400, 1e-6, 1000, None)],
}
OPTIONS = [
    dict(method="percentile", symmetric=True, bins=2048, percentile=99.999),
    dict(method="percentile", symmetric=True, bins=2048, percentile=99),
    dict(method="percentile", symmetric=True, bins=100, percentile=90),
    dict(method="percentile", symmetric=False, bins=2048, percentile=99.9),
    dict(method="percentile", symmetric=False, bins=333, percentile=50),
    dict(method="percentile", symmetric=False, bins=333, percentile=0),
    dict(method="percentile", symmetric=True, bins=333, percentile=100),
    dict(method="entropy", symmetric=False, bins=128, quantized=128),
    dict(method="entropy", symmetric=False, bins=512, quantized=128),
    dict(method="entropy", symmetric=False, bins=301, quantized=20),
    dict(method="distribution", symmetric=False, bins=2048),
]


def chunk(seed, count, factor, offset, low, dtype):
    x = noise(seed, count, factor) + np.float32(offset)
    return (x if low is None else np.maximum(x, np.float32(low))).astype(dtype)


def digest(numbers):
    h = 0
    for v in numbers:
        h = (h * 1000003 + int(v)) % 2**64
    return str(h)


def run(name, dtype, options):
    collector = HistogramCollector(method=options["method"], symmetric=options["symmetric"], num_bins=options["bins"],
                                   num_quantized_bins=options.get("quantized", 128),
                                   percentile=options.get("percentile", 99.999), scenario="same")
    case = {"data": name, "dtype": dtype, "options": options}
    try:
        with np.errstate(all="ignore"):
            for part in DATA[name]:
                collector.collect({"x": [chunk(*part, dtype)]})
            result = collector.compute_collection_result()["x"]
    except (ValueError, AssertionError) as error:
        case["fails"] = type(error).__name__
        return case
    counts, edges = collector.histogram_dict["x"][:2]
    if isinstance(result, tuple):
        low, high = result[:2]
    else:
        low, high = result.range_value
        case["average"], case["deviation"] = float(result.avg), float(result.std)
    edges = np.asarray(edges)
    if not np.all(np.isfinite([low, high, *edges, case.get("average", 0), case.get("deviation", 0)])):
        return {"data": name, "dtype": dtype, "options": options, "fails": "not finite"}
    case.update(bins=len(counts), counts=digest(counts), edges=digest(edges.astype(np.float32).view(np.uint32)),
                low=float(low), high=float(high))
    return case


def main():
    cases = []
    with contextlib.redirect_stdout(io.StringIO()):
        for name in DATA:
            for options in OPTIONS:
                for dtype in ("float32", "float16"):
                    if dtype == "float16" and name in ("tiny", "large", "too narrow"):
                        continue
                    cases.append(run(name, dtype, options))
    here = pathlib.Path(__file__).parent / "histograms.json"
    data = {name: [dict(zip(("seed", "count", "factor", "offset", "low"), part)) for part in parts]
            for name, parts in DATA.items()}
    text = ",\n ".join(json.dumps(case) for case in cases)
    here.write_text('{"made_by": "record.py, onnxruntime %s, numpy %s",\n "data": %s,\n "cases": [\n %s\n]}\n'
                    % (onnxruntime.__version__, np.__version__, json.dumps(data), text))


if __name__ == "__main__":
    main()
