#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time from an edit to new numbers as people do it in Python: a node is excluded, onnxruntime.quantization quantizes,
both models run on the samples with all tensors as outputs, and numpy compares each pair of tensors.

    taskset -c 1 tests/bench/edit_loop_python.py FLOAT DATA.npz --calibration DATA.npz [--nodes 3] [--rounds 2]

`whole`: as scripts do it, calibration included (quantize_static). `cached ranges`: calibrated once before, and the float
model's tensors are kept as well. With --debugger the comparison is that of onnxruntime.quantization.qdq_loss_debug,
else the least that gives SQNR: two sums a tensor, in float32. Processor time as in bench_edit_loop, whose numbers stand
beside these. Needs Python with numpy, onnx and onnxruntime.
"""
import argparse
import logging
import math
import resource
import statistics
import tempfile
import time

import numpy
import onnx
import onnxruntime
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, create_calibrator, qdq_loss_debug,
                                      quantize_static)
from onnxruntime.quantization.qdq_quantizer import QDQQuantizer
from onnxruntime.quantization.registry import QDQRegistry, QLinearOpsRegistry

TYPES = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}


class Reader(CalibrationDataReader):
    """Samples of the first input, one at a time."""

    def __init__(self, model, path):
        constants = {c.name for c in model.graph.initializer}
        model_input = next(i for i in model.graph.input if i.name not in constants)
        array = numpy.load(path)[model_input.name]
        whole = array.ndim > len(model_input.type.tensor_type.shape.dim)  # axis 0 counts complete inputs
        self.feeds = [{model_input.name: a if whole else a[None]} for a in array]
        self.rewind()

    def rewind(self):
        self.left = iter(self.feeds)

    def get_next(self):
        return next(self.left, None)


class Loop:
    def __init__(self, arguments, folder):
        self.float_path, self.quantized_path = arguments.float, f"{folder}/quantized.onnx"
        self.folder = folder
        self.model = onnx.load(self.float_path)
        self.samples = Reader(self.model, arguments.data)
        self.calibration = Reader(self.model, arguments.calibration or arguments.data)
        calibrator = create_calibrator(self.float_path, augmented_model_path=f"{folder}/calibrated.onnx")
        calibrator.collect_data(self.calibration)
        self.ranges = calibrator.compute_data()
        self.debugger = arguments.debugger
        self.kept = self.tensors(self.float_path)

    def tensors(self, path):
        """All activations: by sample and name, or as the debugger collects them."""
        augmented = f"{self.folder}/augmented.onnx"
        qdq_loss_debug.modify_model_output_intermediate_tensors(path, augmented)
        self.samples.rewind()
        if self.debugger:
            return qdq_loss_debug.collect_activations(augmented, self.samples)
        session = onnxruntime.InferenceSession(augmented, providers=["CPUExecutionProvider"])
        names = [o.name.removesuffix("_ReshapedSavedOutput") for o in session.get_outputs()]
        return [dict(zip(names, session.run(None, feed))) for feed in self.samples.feeds]

    def compare(self, floats):
        quantized = self.tensors(self.quantized_path)
        if self.debugger:
            return qdq_loss_debug.compute_activation_error(
                qdq_loss_debug.create_activation_matching(quantized, floats))
        sums = {}
        for x, y in zip(floats, quantized):
            for name, a in x.items():
                b = y.get(name + "_DequantizeLinear_Output", y.get(name))
                if b is None or a.dtype != numpy.float32:
                    continue
                a, error = a.ravel(), (b - a.reshape(b.shape)).ravel()
                signal, noise = sums.get(name, (0, 0))
                sums[name] = signal + float(a @ a), noise + float(error @ error)
        return {name: 10 * math.log10(s / n) if n and s else math.inf for name, (s, n) in sums.items()}

    def whole(self, node):
        self.calibration.rewind()
        quantize_static(self.float_path, self.quantized_path, self.calibration, quant_format=QuantFormat.QDQ,
                        nodes_to_exclude=[node], **TYPES)
        self.compared = len(self.compare(self.tensors(self.float_path)))

    def cached(self, node):
        every_type = sorted(set(QLinearOpsRegistry) | set(QDQRegistry))
        quantizer = QDQQuantizer(onnx.load(self.float_path), False, False, TYPES["weight_type"],
                                 TYPES["activation_type"], self.ranges, [], [node], every_type, {})
        quantizer.quantize_model()
        quantizer.model.save_model_to_file(self.quantized_path)
        self.compared = len(self.compare(self.kept))


def seconds(work):
    def now():
        return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])

    before, wall = now(), time.perf_counter()
    work()
    return now() - before, time.perf_counter() - wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("float")
    parser.add_argument("data")
    parser.add_argument("--calibration")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--debugger", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    onnxruntime.set_default_logger_severity(3)
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(arguments, folder)
        nodes = [n.name for n in loop.model.graph.node if n.op_type == "Conv"]
        chosen = nodes[::max(1, len(nodes) // arguments.nodes)][:arguments.nodes]
        for name, way in (("whole", loop.whole), ("cached ranges", loop.cached)):
            taken = [seconds(lambda node=node: way(node)) for _ in range(arguments.rounds) for node in chosen]
            processor, wall = zip(*taken)
            print(f"{name}: {loop.compared} tensors, processor time least {min(processor):.2f} s, median {statistics.median(processor):.2f} s; "
                  f"wall median {statistics.median(wall):.2f} s ({len(taken)})", flush=True)


if __name__ == "__main__":
    main()
