#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds `--arithmetic integer` and `integer-avx2` against ONNX Runtime's default optimizations.

    tests/parity/integer.py [--cli build/release/bin/quantscope-cli] [--avx2] [--limit N] MODEL DATA [MODEL DATA ...]
    tests/parity/integer.py --probes [--avx2]

DATA is what the command line takes after --data. For each model:

units    the operators on codes that our plan has, by type, against those of the graph which ONNX Runtime's optimizer
         writes
stages   that graph cut at every code tensor: ONNX Runtime computes each from OUR codes before it, so that one flipped
         code does not spread. At least 99.99 % of the file's codes equal, the others one step apart; tensors with
         differences are listed
end      the model as a whole in a default session: how far the outputs are apart

--probes makes small models with planted extreme codes instead, one for each rule, and compares units and stages.

--avx2 runs ONNX Runtime on an emulated CPU without VNNI (`qemu-x86_64-static -cpu Haswell`, Debian's
qemu-user-static, used by this test alone) and compares with integer-avx2; our own program runs on the real CPU.
Exits with 1 when a limit is missed. On its first use it makes a virtual environment in build/parity-venv.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import environment

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ["numpy", "onnx", "onnxruntime"]
# Haswell without what the emulator warns that it lacks.
QEMU = ["qemu-x86_64-static", "-cpu", "Haswell,-pcid,-x2apic,-tsc-deadline,-hle,-invpcid,-rtm"]
LIMIT = 0.9999
FLOAT_LIMIT = 1e-5
OUTPUT_ZERO = {"QuantizeLinear": 2, "QLinearConv": 7, "QLinearMatMul": 7, "QLinearAdd": 7, "QLinearMul": 7, "QGemm": 8,
               "QLinearConcat": 1, "QLinearSigmoid": 4, "QLinearLeakyRelu": 4, "QLinearGlobalAveragePool": 4,
               "QLinearAveragePool": 4, "QLinearSoftmax": 4, "QLinearWhere": 8}
INTEGER_OPS = set(OUTPUT_ZERO) - {"QuantizeLinear"} | {"MatMulIntegerToFloat"}
PASSED = {"Relu", "Clip", "Identity", "QuantizeLinear"}
MEANS = {"QLinearAveragePool", "QLinearGlobalAveragePool"}

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
except ImportError:
    environment.run_again(__file__, PACKAGES)


def session(model, level, written=None):
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if written:
        options.optimized_model_filepath = written
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


NOTHING = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
EXTENDED = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
DEFAULT = ort.GraphOptimizationLevel.ORT_ENABLE_ALL


def optimized(model, folder):
    path = os.path.join(folder, "optimized.onnx")
    session(model, EXTENDED, path)
    return onnx.load(path)


def constants(graph):
    return {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}


def code_outputs(graph):
    """Nodes that make codes, and movements of codes after them: {output: (node, type of the codes)}."""
    made, c = {}, constants(graph)
    for node in graph.node:
        slot = OUTPUT_ZERO.get(node.op_type)
        if slot is not None and not (node.op_type == "QGemm" and len(node.input) < 9):
            zero = c.get(node.input[slot]) if len(node.input) > slot else None
            made[node.output[0]] = (node, np.dtype(np.uint8) if zero is None else zero.dtype)
        elif node.input and node.input[0] in made and node.op_type not in ("DequantizeLinear", "MatMulIntegerToFloat"):
            made[node.output[0]] = (node, made[node.input[0]][1])
    return made


def ours_by_node(model):
    """Name of the code tensor that each node of the file goes to by way of Relu, Clip and Identity."""
    readers = collections.defaultdict(list)
    for node in model.graph.node:
        for name in node.input:
            readers[name].append(node)
    found = {}
    for node in model.graph.node:
        at, steps = node, 0
        while at is not None and at.op_type != "QuantizeLinear" and steps < 20:
            following = readers[at.output[0]] if at.output else []
            same = following and all(n.op_type == following[0].op_type for n in following)
            at = following[0] if same and following[0].op_type in PASSED else None
            steps += 1
        if at is not None:
            found.setdefault(node.name, at.output[0])
    return found


def cut_names(model, graph, ours):
    """{code tensor of the optimized graph: (our tensor, added to our codes modulo 256)}."""
    by_node, names = ours_by_node(model), {}
    values = {o for n in model.graph.node for o in n.output}
    for name, (node, kind) in code_outputs(graph).items():
        own = name if name in ours and name in values else by_node.get(node.name)
        if own not in ours:
            continue  # inside one of our units
        if ours[own].dtype.itemsize == 1:
            names[name] = (own, 128 if kind != ours[own].dtype else 0)
    return names


def shifted(codes, by):
    return codes if by == 0 else (codes.astype(np.int16) + 128).astype(np.uint8)


def cut(graph_model, names, ours):
    copy = onnx.ModelProto()
    copy.CopyFrom(graph_model)
    have = {o.name for o in copy.graph.output}
    for node in copy.graph.node:
        for k, name in enumerate(node.input):
            if name in names:
                node.input[k] = name + "::cut"
    read = {name for node in copy.graph.node for name in node.input}
    for name, (own, by) in names.items():
        kind = onnx.TensorProto.INT8 if by == 0 and ours[own].dtype == np.int8 else onnx.TensorProto.UINT8
        if name + "::cut" in read:
            copy.graph.input.append(onnx.helper.make_tensor_value_info(name + "::cut", kind, None))
        if name not in have:
            copy.graph.output.append(onnx.ValueInfoProto(name=name))
    del copy.graph.value_info[:]
    return copy


class Report:
    def __init__(self, verbose):
        self.verbose, self.missed = verbose, 0

    def check(self, fine, line, listed=False):
        self.missed += not fine
        if not fine or listed or self.verbose:
            print(f"    {'      ' if fine else 'MISSED'} {line}")


def run_ours(cli, path, data, profile, options, folder):
    out, nodes = os.path.join(folder, "ours.npz"), os.path.join(folder, "ours.json")
    command = [cli, "run", path, "--data", data, "--arithmetic", profile, "--all-tensors", "--per-node", "--quiet",
               "--out", out, "--json", nodes, *options]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    with np.load(out) as z:
        return {k: z[k] for k in z.files}, json.load(open(nodes))


def our_units(report):
    count = collections.Counter()
    for node in report["nodes"]:
        if node["op_type"] in INTEGER_OPS:
            count[node["op_type"]] += 1
        for part in node["kernel"].split(", "):
            if ": " in part and part.split(": ")[0] in INTEGER_OPS:
                count[part.split(": ")[0]] += 1
    return count


def compare(report, cli, path, data, profile, options, title):
    model = onnx.load(path)
    with tempfile.TemporaryDirectory() as folder:
        ours, told = run_ours(cli, path, data, profile, options, folder)
        if ours is None:
            return report.check(False, f"{title}: {told}")
        best = optimized(model, folder)
    theirs = collections.Counter(n.op_type for n in best.graph.node if n.op_type in INTEGER_OPS)
    units = our_units(told)
    same = units == theirs
    report.check(same, f"{title}: units ours {dict(units)}, theirs {dict(theirs)}")
    names = cut_names(model, best.graph, ours)
    c = constants(best.graph)
    inputs = [i.name for i in best.graph.input if i.name not in c]
    samples = len(ours[inputs[0]])
    stages = session(cut(best, names, ours), NOTHING)
    wanted = {i.name for i in stages.get_inputs()}
    whole = session(model, DEFAULT)
    equal = total = 0
    worst = 0
    counts = collections.defaultdict(lambda: [0, 0, 0])
    end = 0.0
    for k in range(samples):
        feed = {n: np.asarray(ours[n][k]) for n in inputs}
        full = {**feed, **{n + "::cut": shifted(ours[own][k], by) for n, (own, by) in names.items()}}
        for name, value in zip(names, stages.run(list(names), {n: v for n, v in full.items() if n in wanted})):
            own, by = names[name]
            steps = np.abs(value.astype(np.int16) - shifted(ours[own][k], by).astype(np.int16))
            counts[name][0] += steps.size
            counts[name][1] += int((steps != 0).sum())
            counts[name][2] = max(counts[name][2], int(steps.max(initial=0)))
        for o, value in zip(whole.get_outputs(), whole.run(None, feed)):
            end = max(end, float(np.abs(value.astype(np.float64) - ours[o.name][k].astype(np.float64)).max(initial=0)))
    if not names:
        report.check(end <= FLOAT_LIMIT, f"{title}: outputs {end:.3g} apart")
    producers = code_outputs(best.graph)
    for name, (size, different, most) in counts.items():
        total, equal, worst = total + size, equal + size - different, max(worst, most)
        mean = " (mean)" if producers[name][0].op_type in MEANS else ""
        report.check(most <= 1, f"{title}: {name} ({producers[name][0].op_type}{mean}): {different} of {size} codes differ, "
                     f"at most {most} steps", listed=different > 0)
    share = equal / max(total, 1)
    # A file of less than 10,000 codes may have one value that float sums put on the other side of a rounding border.
    report.check(share >= LIMIT or total - equal <= 1, f"{title}: only {share:.6f} of all codes equal")
    saturated = sum(r["saturated"] for r in told.get("saturation", []))
    print(f"{title}: units {'equal' if same else 'DIFFER'} ({sum(units.values())}), {len(names)} code tensors, "
          f"{samples} samples, {share:.7f} of {total} codes equal, at most {worst} apart; outputs of the default session at "
          f"most {end:.3g} apart" + (f"; {saturated} saturated pairs" if profile == "integer-avx2" else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=str(ROOT / "build/release/bin/quantscope-cli"))
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("--probes", action="store_true")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("files", nargs="*", metavar="MODEL DATA")
    a = parser.parse_args()
    if len(a.files) % 2 or not (a.files or a.probes):
        parser.error("give pairs of MODEL DATA, or --probes")
    if a.avx2 and "QS_EMULATED" not in os.environ:
        if not shutil.which(QEMU[0]):
            sys.exit(f"{QEMU[0]} is missing: apt-get install qemu-user-static")
        again = [*QEMU, sys.executable, __file__, *sys.argv[1:]]
        return subprocess.run(again, env={**os.environ, "QS_EMULATED": "1"}).returncode
    report = Report(a.verbose)
    profile = "integer-avx2" if a.avx2 else "integer"
    options = ["--limit", str(a.limit)] if a.limit else []
    for path, data in zip(a.files[::2], a.files[1::2]):
        compare(report, a.cli, path, data, profile, options, path)
    if a.probes:
        import integer_probes
        with tempfile.TemporaryDirectory() as folder:
            for title, path, data in integer_probes.write_all(folder, a.seed):
                compare(report, a.cli, path, data, profile, [], title)
    print("all within the limits" if not report.missed else f"{report.missed} limits missed")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
