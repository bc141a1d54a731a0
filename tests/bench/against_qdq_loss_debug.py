#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time and memory of `quantscope-cli compare` beside ONNX Runtime's quantization debugger on the same pair and samples.

    tests/bench/against_qdq_loss_debug.py [--cli build/release/bin/quantscope-cli] [--rounds 3] FLOAT QUANTIZED DATA.npz

Both compute the error of each activation and weight, theirs with onnxruntime.quantization.qdq_loss_debug: both models are
given all intermediate tensors as outputs, run, matched by name, and compared; it matches only what ONNX Runtime's own tools
have named. Each is a process of its own, in turns, on the cores that this one may use (`taskset -c 1` for one); ours does
its whole report. Prints the least processor time (user and system), the median wall time, the peak memory, and the ratios.
Needs Python with numpy, onnx and onnxruntime.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def theirs(float_path, quantized_path, data_path):
    import numpy as np
    import onnx
    from onnxruntime.quantization import CalibrationDataReader, qdq_loss_debug as debug

    class Reader(CalibrationDataReader):
        def __init__(self):
            arrays = np.load(data_path)
            graph = onnx.load(float_path).graph
            constants = {c.name for c in graph.initializer}
            model_input = next(i for i in graph.input if i.name not in constants)
            array = arrays[model_input.name]
            whole = array.ndim > len(model_input.type.tensor_type.shape.dim)  # axis 0 counts complete inputs
            self.samples = iter([{model_input.name: a if whole else a[None]} for a in array])

        def get_next(self):
            return next(self.samples, None)

    with tempfile.TemporaryDirectory() as folder:
        tensors = []
        for i, path in enumerate((float_path, quantized_path)):
            augmented = f"{folder}/{i}.onnx"
            debug.modify_model_output_intermediate_tensors(path, augmented)
            tensors.append(debug.collect_activations(augmented, Reader()))
        errors = debug.compute_activation_error(debug.create_activation_matching(tensors[1], tensors[0]))
        weights = debug.compute_weight_error(debug.create_weight_matching(float_path, quantized_path))
        print(len(errors), "activations,", len(weights), "weights")


def timed(command):
    """Processor seconds, wall seconds and peak resident MB of one process."""
    before = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - before, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=str(ROOT / "build/release/bin/quantscope-cli"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs=3, metavar="FLOAT QUANTIZED DATA")
    o = parser.parse_args()
    if o.theirs:
        theirs(*o.files)
        return
    float_path, quantized_path, data = o.files
    commands = {
        "quantscope-cli": [o.cli, "compare", float_path, quantized_path, "--data", data, "--quiet",
                           "--threads", str(len(os.sched_getaffinity(0)))],
        "qdq_loss_debug": [sys.executable, __file__, "--theirs", *o.files],
    }
    times = {name: [] for name in commands}
    for _ in range(o.rounds):
        for name, command in commands.items():
            times[name].append(timed(command))
    best = {}
    for name, values in times.items():
        processor, wall, memory = zip(*values)
        best[name] = min(processor), statistics.median(wall), max(memory)
        print(f"{name}: processor {best[name][0]:.2f} s (of {', '.join(f'{v:.2f}' for v in processor)}), "
              f"wall {best[name][1]:.2f} s, {best[name][2]:.0f} MB")
    ours, other = best["quantscope-cli"], best["qdq_loss_debug"]
    print(f"ratio: processor {other[0] / ours[0]:.1f}, wall {other[1] / ours[1]:.1f}, memory {other[2] / ours[2]:.0f}")


if __name__ == "__main__":
    main()
