#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the ranges that `quantscope-cli quantize --save-ranges` finds with those of ONNX Runtime's calibrators, over
their options.

    calibration.py [--cli PATH] [--samples N] [--only SUBSTRING] MODEL.onnx[:NAME=2x3x4,...] [MODEL.onnx ...]

Needs a Python with onnx, onnxruntime 1.31 and numpy. Data are random, or MODEL's DATA.npz given as MODEL.onnx@DATA.npz.
Prints one line a model and option set: the largest difference relative to the reach of the tensor's range, how many
ends are equal in every bit, and how many tensors are beyond 1e-5 (another bin); exit 1 when there is one that the last
bits of the activations do not explain."""
import argparse
import contextlib
import io
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
import onnxruntime  # noqa: E402
from onnxruntime.quantization.calibrate import (  # noqa: E402
    CalibrationDataReader,
    CalibrationMethod,
    HistogramCollector,
    create_calibrator,
    load_tensors_data,
)
from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry  # noqa: E402

onnxruntime.set_default_logger_severity(4)
HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 1e-5
METHODS = {"minmax": CalibrationMethod.MinMax, "moving-average": CalibrationMethod.MinMax,
           "percentile": CalibrationMethod.Percentile, "entropy": CalibrationMethod.Entropy,
           "distribution": CalibrationMethod.Distribution}
# The recipe's names of the options of create_calibrator.
OPTIONS = {"symmetric": "symmetric", "percentile": "percentile", "bins": "num_bins",
           "quantized_bins": "num_quantized_bins", "averaging_constant": "averaging_constant",
           "max_intermediate_outputs": "max_intermediate_outputs"}
CASES = {
    "min-max": dict(method="minmax"),
    "min-max symmetric": dict(method="minmax", symmetric=True),
    "min-max stride": dict(method="minmax", stride=2),
    "min-max forgetful": dict(method="minmax", max_intermediate_outputs=3),
    "mean": dict(method="moving-average"),
    "mean symmetric": dict(method="moving-average", symmetric=True),
    "moving average": dict(method="moving-average", stride=2, averaging_constant=0.1),
    "percentile": dict(method="percentile"),
    "percentile 99": dict(method="percentile", percentile=99.0),
    "percentile 99.9, 100 bins": dict(method="percentile", percentile=99.9, bins=100),
    "percentile signed": dict(method="percentile", percentile=99.9, symmetric=False),
    "percentile signed, 777 bins": dict(method="percentile", percentile=99.0, symmetric=False, bins=777),
    "percentile stride": dict(method="percentile", percentile=99.9, stride=2),
    "percentile signed stride": dict(method="percentile", percentile=99.9, stride=2, symmetric=False),
    "entropy": dict(method="entropy"),
    "entropy 512 bins": dict(method="entropy", bins=512),
    "entropy 512 bins to 256": dict(method="entropy", bins=512, quantized_bins=256),
    "entropy stride": dict(method="entropy", stride=2),
    "distribution": dict(method="distribution"),
}


class Reader(CalibrationDataReader):
    def __init__(self, feeds):
        self.feeds, self.next, self.end = feeds, 0, len(feeds)

    def __len__(self):
        return len(self.feeds)

    def set_range(self, start_index, end_index):
        self.next, self.end = start_index, end_index

    def get_next(self):
        if self.next >= self.end:
            return None
        self.next += 1
        return self.feeds[self.next - 1]


def theirs(model, feeds, case, types, folder):
    extra = {theirs: case[ours] for ours, theirs in OPTIONS.items() if ours in case}
    if case["method"] == "moving-average":
        extra["moving_average"] = True
    with contextlib.redirect_stdout(io.StringIO()):
        calibrator = create_calibrator(model, types, os.path.join(folder, "augmented.onnx"), METHODS[case["method"]],
                                       extra_options=extra)
        reader = Reader(feeds)
        stride = case.get("stride", len(feeds))
        for start in range(0, len(feeds), stride):
            reader.set_range(start, start + stride)
            calibrator.collect_data(reader)
        return calibrator.compute_data().data


def ours(cli, model, data, case, folder):
    recipe, saved = os.path.join(folder, "recipe.json"), os.path.join(folder, "ranges.json")
    with open(recipe, "w") as file:
        json.dump({"calibration": case}, file)
    done = subprocess.run([cli, "quantize", model, "-o", os.path.join(folder, "out.onnx"), "--recipe", recipe, "--data",
                           data, "--save-ranges", saved, "--quiet"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return load_tensors_data(saved).data


def ends(tensor, keys):
    return {key: float(np.ravel(getattr(tensor, key))[0]) for key in keys}


def rounding_alone(cli, model, data, name, range_, case, folder):
    """A search that activations of another last bit lead elsewhere: ONNX Runtime's own collector finds our range in our
    activations."""
    out = os.path.join(folder, "values.npz")
    if case["method"] not in ("percentile", "entropy") or subprocess.run(
            [cli, "run", model, "--data", data, "--tensors", name, "--out", out, "--quiet"]).returncode:
        return False
    with contextlib.redirect_stdout(io.StringIO()):
        percentile = case["method"] == "percentile"
        collector = HistogramCollector(case["method"], case.get("symmetric", percentile),
                                       case.get("bins", 2048 if percentile else 128), case.get("quantized_bins", 128),
                                       case.get("percentile", 99.999), "same")
        values = list(np.load(out)[name])
        stride = case.get("stride", len(values))
        for start in range(0, len(values), stride):
            collector.collect({name: values[start:start + stride]})
        low, high = collector.compute_collection_result()[name][:2]
    return float(low) == float(np.ravel(range_.lowest)[0]) and float(high) == float(np.ravel(range_.highest)[0])


def compare(expected, found, keys, explained):
    """Largest relative difference, ends equal in every bit, tensors beyond the limit and not explained."""
    if set(expected) != set(found):
        only = sorted(set(expected) ^ set(found))
        return f"other tensors: {len(only)} such as {only[:3]}", 1
    worst, equal, beyond, rounded = 0.0, 0, [], []
    for name, tensor in expected.items():
        a, b, far = ends(tensor, keys), ends(found[name], keys), []
        reach = max(abs(a["lowest"]), abs(a["highest"]), np.finfo(np.float32).tiny)
        for key in keys:
            difference = abs(a[key] - b[key]) / reach
            worst, equal = max(worst, difference), equal + (a[key] == b[key])
            if not difference <= LIMIT:
                far.append(f"{name} {key} {a[key]:.8g} / {b[key]:.8g}")
        if far:
            (rounded if explained(name, found[name]) else beyond).append(", ".join(far))
    text = f"{worst:9.1e} {equal:5d} of {len(expected) * len(keys):<5d} {len(beyond):3d} beyond"
    if rounded:
        text += f", {len(rounded)} by rounding (ONNX Runtime finds ours in our activations)"
    return text + "".join(" | " + line for line in (beyond + rounded)[:2]), len(beyond)


def random_feeds(model, sizes, count):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    generator = np.random.default_rng(1)
    feeds = []
    for k in range(count):
        feed = {}
        for value in session.get_inputs():
            shape = sizes.get(value.name) or [d if isinstance(d, int) and d > 0 else 1 for d in value.shape]
            if "float" in value.type:
                x = generator.standard_normal(shape) * (0.5 + 0.2 * k)
                feed[value.name] = x.astype(np.float16 if "float16" in value.type else np.float32)
            else:
                feed[value.name] = generator.integers(0, 100, shape).astype(np.int64)
        feeds.append(feed)
    return feeds


def feeds_of(argument, count):
    model, _, data = argument.partition("@")
    model, _, shapes = model.partition(":")
    sizes = dict(pair.split("=") for pair in shapes.split(",") if pair)
    sizes = {name: [int(d) for d in text.split("x")] for name, text in sizes.items()}
    if not data:
        return model, random_feeds(model, sizes, count)
    arrays = np.load(data)
    return model, [{name: arrays[name][k % len(arrays[name])] for name in arrays if name != "labels"}
                   for k in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=os.path.join(HERE, "../../build/release/bin/quantscope-cli"))
    parser.add_argument("--samples", type=int, default=8, help="even, and no multiple of 3")
    parser.add_argument("--only", default="")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    given = parser.parse_args()
    types = sorted(set(QDQRegistry) | set(QLinearOpsRegistry))
    failures, pairs = 0, 0
    for argument in given.models:
        model, feeds = feeds_of(argument, given.samples)
        print(model)
        for label, case in CASES.items():
            if given.only not in label:
                continue
            with tempfile.TemporaryDirectory() as folder:
                data = os.path.join(folder, "data.npz")
                np.savez(data, **{name: np.stack([feed[name] for feed in feeds]) for name in feeds[0]})
                keys = ("lowest", "highest") + (("avg", "std") if case["method"] == "distribution" else ())
                try:
                    start = time.time()
                    expected = theirs(model, feeds, case, types, folder)
                    middle = time.time()
                except Exception as error:  # their data-dependent failures are part of the picture
                    print(f"  {label:28} ONNX Runtime fails: {type(error).__name__}: {str(error)[:60]}")
                    continue
                try:
                    text, bad = compare(
                        expected, ours(given.cli, model, data, case, folder), keys,
                        lambda name, range_: rounding_alone(given.cli, model, data, name, range_, case, folder))
                except RuntimeError as error:
                    text, bad = str(error), 1
                pairs += 1
                failures += bad > 0
                print(f"  {label:28} {text}   ({middle - start:.2f} s / {time.time() - middle:.2f} s)", flush=True)
    print(f"{pairs} pairs, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
