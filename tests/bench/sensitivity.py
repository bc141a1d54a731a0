#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time of `sensitivity` beside the loop that people write with ONNX Runtime's quantizer, in the same run.

    sensitivity.py MODEL.onnx --data FILE.npz [--arithmetic NAME] [--units N] [--types Conv,Add,...] [--rounds N]
                   [--threads N] [--processor] [--cli PATH]

The loop quantizes each node alone and leaves each out, with ranges that were calibrated once before, makes a session
and runs all samples. It is timed on N nodes spread over the model and extrapolated to all of the given types; ours does
all of them (--units-only: without the exclusions of several, which the loop does not try either). Wall time, the same
number of threads (with one: under `taskset -c 1`), or with --processor the processor time, which other work on the
machine leaves alone; the least of the rounds, taken in turns. Needs a Python with onnx, onnxruntime and numpy."""
import argparse
import copy
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Clock:
    """Seconds since it was made: of all, or of the processor for this process or for its children."""

    def __init__(self, processor, children=False):
        usage = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
        self.now = (lambda: sum(resource.getrusage(usage)[:2])) if processor else time.perf_counter
        self.start = self.now()

    def seconds(self):
        return self.now() - self.start


def ours(arguments, ranges, nodes):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        clock = Clock(arguments.processor, children=True)
        subprocess.run([arguments.cli, "sensitivity", arguments.model, "--data", arguments.data, "--threads",
                        str(arguments.threads), "--ort-defaults", "--ranges", ranges, "--quiet", "--json", out.name,
                        "--arithmetic", arguments.arithmetic, "--units-only", "--units", *nodes], check=True, stdout=subprocess.DEVNULL)
        return clock.seconds(), json.load(open(out.name))


class Loop:
    """The way people do it."""

    def __init__(self, arguments):
        import logging

        import numpy
        import onnx
        import onnxruntime
        from onnxruntime.quantization import CalibrationDataReader, create_calibrator

        logging.disable(logging.WARNING)
        self.arguments, self.ort, self.numpy = arguments, onnxruntime, numpy
        self.folder = tempfile.mkdtemp()
        model = onnx.load(arguments.model)
        self.inputs = [i.name for i in model.graph.input]
        arrays = numpy.load(arguments.data)
        array = arrays[arrays.files[0]]
        rank = len(model.graph.input[0].type.tensor_type.shape.dim)
        self.samples = [a if a.ndim == rank else a[None] for a in array]
        calibrator = create_calibrator(arguments.model, augmented_model_path=os.path.join(self.folder, "a.onnx"))

        class Reader(CalibrationDataReader):
            def __init__(self, samples, name):
                self.left = iter([{name: s} for s in samples])

            def get_next(self):
                return next(self.left, None)

        calibrator.collect_data(Reader(self.samples, self.inputs[0]))
        self.ranges = calibrator.compute_data()
        self.nodes = [n.name for n in model.graph.node if n.op_type in arguments.types]
        self.expected = self.run(arguments.model)

    def run(self, path):
        options = self.ort.SessionOptions()
        options.intra_op_num_threads = self.arguments.threads
        session = self.ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return [session.run(None, {self.inputs[0]: s})[0] for s in self.samples]

    def one(self, **choice):
        import onnx
        from onnxruntime.quantization import QuantType
        from onnxruntime.quantization.qdq_quantizer import QDQQuantizer
        from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry

        types = sorted(set(QLinearOpsRegistry) | set(QDQRegistry))
        quantizer = QDQQuantizer(onnx.load(self.arguments.model), False, False, QuantType.QInt8, QuantType.QInt8,
                                 copy.deepcopy(self.ranges), choice.get("only", []), choice.get("without", []), types, {})
        quantizer.quantize_model()
        path = os.path.join(self.folder, "q.onnx")
        quantizer.model.save_model_to_file(path)
        outputs = self.run(path)
        signal = sum(float((x.astype("f8") ** 2).sum()) for x in self.expected)
        noise = sum(float(((x.astype("f8") - y) ** 2).sum()) for x, y in zip(self.expected, outputs))
        return 10 * self.numpy.log10(signal / noise) if noise else None

    def time(self, result):
        step = max(1, len(self.nodes) // self.arguments.units)
        chosen = self.nodes[step // 2::step][:self.arguments.units]
        clock, worst = Clock(self.arguments.processor), 0
        for name in chosen:
            both = self.one(only=[name]), self.one(without=[name])
            unit = next(u for u in result["units"] if u["name"] == name)
            for theirs, mine in zip(both, (unit["output_sqnr_alone_db"], unit["output_sqnr_without_db"])):
                worst = max(worst, abs(theirs - mine) if theirs is not None and mine is not None else 0)
        return clock.seconds() / len(chosen) * len(self.nodes), worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--data", required=True)
    parser.add_argument("--units", type=int, default=3)
    parser.add_argument("--types", default="Conv,Add,Gemm,GlobalAveragePool,MatMul,MaxPool,AveragePool")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--arithmetic", default="simulated")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cli", default=os.path.join(HERE, "../../build/release/bin/quantscope-cli"))
    arguments = parser.parse_args()
    arguments.types = arguments.types.split(",")
    loop = Loop(arguments)
    ranges = os.path.join(loop.folder, "ranges.json")
    subprocess.run([arguments.cli, "quantize", arguments.model, "-o", os.path.join(loop.folder, "o.onnx"), "--data",
                    arguments.data, "--ort-defaults", "--quiet", "--save-ranges", ranges], check=True)
    best = [float("inf")] * 2
    for _ in range(arguments.rounds):
        mine, result = ours(arguments, ranges, loop.nodes)
        theirs, worst = loop.time(result)
        best = [min(best[0], mine), min(best[1], theirs)]
        print(f"ours {mine:.1f} s ({len(result['units'])} nodes), theirs "
              f"{theirs:.1f} s ({len(loop.nodes)} nodes from {arguments.units}), {worst:.3f} dB apart at most", flush=True)
    print(f"least: {best[0]:.1f} s against {best[1]:.1f} s = {best[1] / best[0]:.2f} times faster; "
          f"peak memory {result['peak_memory_bytes'] / 1e6:.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
