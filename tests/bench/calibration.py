#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time and memory of quantizing with each calibrator, beside onnxruntime.quantization.quantize_static in the same run.

    taskset -c 1 calibration.py MODEL.onnx [--shape NAME=1x3x224x224] [--samples N] [--rounds N] [--cli PATH]

Each measurement is a process of its own: processor time (the machine may be busy), wall time and peak memory; the least
of the rounds, taken in turns. The float network alone (processor time of as many runs as samples, without the start) is
what no calibration can do without: the last column is how much faster than theirs one would be that did nothing else.
`kept` is the whole command again with what an earlier one kept in a calibration cache, without data.
Needs a Python with onnx, onnxruntime and numpy. One thread each."""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

THEIRS = r"""
import sys, logging
import numpy as np
import onnxruntime
logging.disable(logging.WARNING)
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, quantize_static
make = onnxruntime.InferenceSession
def one_thread(*args, **kwargs):
    kwargs.setdefault("sess_options", onnxruntime.SessionOptions()).intra_op_num_threads = 1
    return make(*args, **kwargs)
onnxruntime.InferenceSession = one_thread
model, data, method, out = sys.argv[1:]
class Reader(CalibrationDataReader):
    def __init__(self):
        self.arrays = np.load(data, mmap_mode="r")
        self.arrays = {name: self.arrays[name] for name in self.arrays}
        self.at = 0
    def get_next(self):
        if self.at >= len(next(iter(self.arrays.values()))):
            return None
        self.at += 1
        return {name: array[self.at - 1] for name, array in self.arrays.items()}
sys.stdout = open("/dev/null", "w")
quantize_static(model, out, Reader(), calibrate_method=getattr(CalibrationMethod, method))
"""
NETWORK = r"""
import sys
import numpy as np
import onnxruntime
model, data, runs = sys.argv[1:]
arrays = np.load(data, mmap_mode="r")
arrays = {name: arrays[name] for name in arrays}
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
for i in range(int(runs)):
    session.run(None, {name: array[i % len(array)] for name, array in arrays.items()})
"""
METHODS = {"minmax": "MinMax", "percentile": "Percentile", "entropy": "Entropy"}


def measure(command):
    """Processor seconds, wall seconds, peak bytes of one process."""
    import time

    start = time.time()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed: {error.decode()[-400:]}")
    return usage.ru_utime + usage.ru_stime, time.time() - start, usage.ru_maxrss * 1024


def network(given, data):
    """Processor seconds of the float network alone: ours and theirs."""
    shapes = [part for text in given.shape for part in ("--shape", text)]

    def ours(runs):
        return measure([given.cli, "bench", given.model, "--threads", "1", "--warmup", "0", "--runs", str(runs), *shapes])

    def theirs(runs):
        return measure([sys.executable, "-c", NETWORK, given.model, data, str(runs)])

    few = 2  # the start and the first run are not counted
    found = [min((way(given.samples + few)[0] - way(few)[0] for _ in range(given.rounds))) for way in (ours, theirs)]
    print(f"network    {found[0]:12.2f} {'':26} {found[1]:12.2f} {'':21} {found[1] / found[0]:9.1f}", flush=True)
    return found[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=os.path.join(HERE, "../../build/release/bin/quantscope-cli"))
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--methods", default="minmax,percentile,entropy,mse")
    parser.add_argument("model")
    given = parser.parse_args()
    import numpy as np
    import onnxruntime

    sizes = {name: [int(d) for d in text.split("x")] for name, text in (s.split("=") for s in given.shape)}
    generator = np.random.default_rng(0)
    arrays = {}
    for value in onnxruntime.InferenceSession(given.model, providers=["CPUExecutionProvider"]).get_inputs():
        shape = sizes.get(value.name) or [d if isinstance(d, int) and d > 0 else 1 for d in value.shape]
        arrays[value.name] = generator.standard_normal([given.samples, *shape]).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "data.npz"), os.path.join(folder, "out.onnx")
        np.savez(data, **arrays)
        print(f"{given.model}, {given.samples} samples, least of {given.rounds} rounds")
        print("method      ours: cpu s  wall s     MB   theirs: cpu s  wall s     MB   cpu ratio  memory ratio  bound")
        alone = network(given, data)
        kept = ["--calibration-cache", os.path.join(folder, "kept")]
        start = [given.cli, "quantize", given.model, "-o", out, "--ort-defaults", "--threads", "1", "--quiet"]
        filled = measure([*start, "--data", data, *kept])
        print(f"keeping    {filled[0]:12.2f} {filled[1]:7.2f} {filled[2] / 1e6:6.0f}", flush=True)
        for method in given.methods.split(","):
            mine = [*start, "--method", method, "--data", data]
            best = {}
            for _ in range(given.rounds):
                runs = [("ours", mine), ("kept", [*start, "--method", method, *kept])]
                if method in METHODS:
                    runs.append(("theirs", [sys.executable, "-c", THEIRS, given.model, data, METHODS[method], out]))
                for who, command in runs:
                    found = measure(command)
                    best[who] = tuple(map(min, found, best.get(who, found)))
            line = f"{method:10} " + "   ".join(
                f"{best[w][0]:12.2f} {best[w][1]:7.2f} {best[w][2] / 1e6:6.0f}" for w in ("ours", "theirs") if w in best)
            line += f"   kept {best['kept'][0]:5.2f}"
            if "theirs" in best:
                line += f"   {best['theirs'][0] / best['ours'][0]:9.1f}  {best['theirs'][2] / best['ours'][2]:12.1f}"
                line += f"   {best['theirs'][0] / alone:5.1f}"
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
