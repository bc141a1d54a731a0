#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the engine against ONNX Runtime with its optimizations off.

    tests/parity/parity.py [--cli build/release/bin/quantscope-cli] [options] MODEL DATA [MODEL DATA ...]

DATA is what the command line takes after --data. For each model `quantscope-cli run --all-tensors` writes every tensor.
Then:

float    every float tensor of a model without integer codes: ||ours - theirs|| / ||theirs|| <= 1e-4
stages   models with integer codes are cut at every code tensor. ONNX Runtime computes each code tensor from OUR codes
         before it, so that one flipped code does not spread over the rest of a deep network: at least 99.9 % of a
         tensor's codes equal and the others one step apart. Means over many codes (average pooling) end in exact ties,
         which two summation orders break differently: 98 % there, and those tensors are listed. Floats inside a stage
         keep the float limit, int32 sums are equal.
end      the same models as a whole: how far the outputs are apart, and how often their largest element is the same.
         Only shown.

Exits with 1 when a limit is missed. On its first use it makes a virtual environment in build/parity-venv.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import environment

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ["numpy", "onnx", "onnxruntime"]
FLOAT_LIMIT = 1e-4
CODE_LIMIT = 0.999
POOL_LIMIT = 0.98
CODE_TYPES = {"tensor(int8)", "tensor(uint8)", "tensor(int16)", "tensor(uint16)"}
POOLS = {"AveragePool", "GlobalAveragePool", "ReduceMean", "QLinearAveragePool", "QLinearGlobalAveragePool"}

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
except ImportError:
    environment.run_again(__file__, PACKAGES)


def session(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def with_outputs(model, names):
    """A copy of the model that also returns these values."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    known = {o.name for o in copy.graph.output}
    copy.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in known)
    return copy


def run(model, feeds):
    """All outputs of each sample, and their types by name."""
    s = session(model)
    names = [o.name for o in s.get_outputs()]
    wanted = {i.name for i in s.get_inputs()}
    rows = [dict(zip(names, s.run(names, {k: v for k, v in feed.items() if k in wanted}))) for feed in feeds]
    return rows, {o.name: o.type for o in s.get_outputs()}


def constant_values(graph):
    """Names of values that do not depend on the model's inputs."""
    known = {t.name for t in graph.initializer}
    for node in graph.node:
        if all(not i or i in known for i in node.input) and not any(a.HasField("g") for a in node.attribute):
            known.update(node.output)
    return known


def cut(model, types):
    """Each value in `types` becomes an input NAME::cut of its readers and stays an output of its producer."""
    copy = with_outputs(model, types)
    for node in copy.graph.node:
        for k, name in enumerate(node.input):
            if name in types:
                node.input[k] = name + "::cut"
    element = {"tensor(int8)": onnx.TensorProto.INT8, "tensor(uint8)": onnx.TensorProto.UINT8,
               "tensor(int16)": onnx.TensorProto.INT16, "tensor(uint16)": onnx.TensorProto.UINT16}
    read = {name for node in copy.graph.node for name in node.input}
    for name, kind in types.items():
        if name + "::cut" in read:
            copy.graph.input.append(onnx.helper.make_tensor_value_info(name + "::cut", element[kind], None))
    return copy


def pooled(graph, codes):
    """Code tensors with a mean over many elements between them and the codes before them."""
    producer = {o: n for n in graph.node for o in n.output}
    found = set()
    for name in codes:
        todo, seen = [name], set()
        while todo:
            node = producer.get(todo.pop())
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            if node.op_type in POOLS:
                found.add(name)
            todo += [i for i in node.input if i not in codes]
    return found


def distance(theirs, ours):
    """Norm of the difference over the norm, all samples together; infinite where the shapes differ."""
    if any(a.shape != b.shape for a, b in zip(theirs, ours)):
        return np.inf
    a = np.concatenate([x.astype(np.float64).ravel() for x in theirs])
    b = np.concatenate([x.astype(np.float64).ravel() for x in ours])
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    gap = np.linalg.norm(np.where(same, 0, a - b))
    return gap / max(np.linalg.norm(np.where(np.isfinite(a), a, 0)), 1e-30) if np.isfinite(gap) else np.inf


class Report:
    def __init__(self, verbose):
        self.verbose, self.missed = verbose, 0

    def check(self, fine, line, listed=False):
        self.missed += not fine
        if not fine or listed or self.verbose:
            print(f"    {'      ' if fine else 'MISSED'} {line}")


def check_floats(report, rows, types, ours, names):
    """Float tensors within the limit. Returns how many, and the worst."""
    count, worst = 0, 0.0
    for name in names:
        if types[name] not in ("tensor(float)", "tensor(double)", "tensor(float16)"):
            continue
        count += 1
        error = distance([r[name] for r in rows], ours[name]) if name in ours else np.inf
        worst = max(worst, error)
        report.check(error <= FLOAT_LIMIT, f"{error:9.2e}  {name}" + ("" if name in ours else "  (not in our file)"))
    return count, worst


def check_codes(report, rows, ours, codes, ties):
    """Codes equal or one step apart. Returns count, equal share of all, smallest equal share, largest step."""
    equal = total = 0
    lowest, largest = 1.0, 0
    for name in codes:
        if name not in ours or any(r[name].shape != o.shape for r, o in zip(rows, ours[name])):
            report.check(False, f"{name}: " + ("other shape" if name in ours else "not in our file"))
            continue
        steps = np.concatenate([np.abs(r[name].astype(np.int64) - o.astype(np.int64)).ravel()
                                for r, o in zip(rows, ours[name])])
        share, step = float((steps == 0).mean()) if steps.size else 1.0, int(steps.max(initial=0))
        limit = POOL_LIMIT if name in ties else CODE_LIMIT
        report.check(share >= limit and step <= 1, f"{share:9.6f} equal, at most {step} apart  {name}"
                     + ("  (pooling)" if name in ties else ""), listed=limit > share or CODE_LIMIT > share)
        equal, total = equal + int((steps == 0).sum()), total + steps.size
        lowest, largest = min(lowest, share), max(largest, step)
    return len(codes), equal / max(total, 1), lowest, largest


def compare(report, cli, path, data, options):
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "ours.npz")
        command = [cli, "run", path, "--data", data, "--all-tensors", "--quiet", "--out", out]
        if subprocess.run(command + options, stdout=subprocess.DEVNULL).returncode:
            report.check(False, f"{path}: could not be run")
            return
        with np.load(out) as z:
            ours = {k: z[k] for k in z.files}
    model = onnx.load(path)
    constants = constant_values(model.graph)
    inputs = [i.name for i in model.graph.input if i.name not in constants]
    samples = len(ours[inputs[0]])
    feeds = [{n: np.asarray(ours[n][k]) for n in inputs} for k in range(samples)]
    values = [o for n in model.graph.node for o in n.output if o]
    rows, types = run(with_outputs(model, values), feeds)
    depends = [v for v in values if v not in constants and types.get(v, "").startswith("tensor")]
    codes = {v: types[v] for v in depends if types[v] in CODE_TYPES}
    print(f"{path}: {samples} samples")
    if not codes:
        count, worst = check_floats(report, rows, types, ours, depends)
        print(f"    float   {count} tensors, worst {worst:.2e}")
    else:
        present = [c for c in codes if c in ours]
        stage_feeds = [{**f, **{c + "::cut": np.asarray(ours[c][k]) for c in present}} for k, f in enumerate(feeds)]
        stage_rows, stage_types = run(cut(with_outputs(model, depends), {c: codes[c] for c in present}), stage_feeds)
        ties = pooled(model.graph, codes)
        count, share, lowest, largest = check_codes(report, stage_rows, ours, codes, ties)
        print(f"    stages  {count} code tensors, {share:.6f} of all codes equal, lowest {lowest:.6f}, "
              f"largest step {largest}")
        count, worst = check_floats(report, stage_rows, stage_types, ours, depends)
        print(f"    stages  {count} float tensors, worst {worst:.2e}")
        sums = [v for v in depends if types[v] == "tensor(int32)"]
        for v in sums:
            same = v in ours and all(np.array_equal(r[v], o) for r, o in zip(stage_rows, ours[v]))
            report.check(same, f"{v}: int32 sums differ")
    for output in (o.name for o in model.graph.output):
        if output not in ours or not types[output].startswith("tensor"):
            continue
        top = np.mean([np.argmax(r[output]) == np.argmax(o) for r, o in zip(rows, ours[output])])
        print(f"    end     {output}: distance {distance([r[output] for r in rows], ours[output]):.2e}, "
              f"same largest element in {top:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=str(ROOT / "build/release/bin/quantscope-cli"))
    parser.add_argument("--limit", type=int, help="use only the first N samples")
    parser.add_argument("--preprocess", help="for folders of pictures, as quantscope-cli takes it")
    parser.add_argument("--verbose", action="store_true", help="list every tensor")
    parser.add_argument("files", nargs="+", metavar="MODEL DATA")
    arguments = parser.parse_args()
    if len(arguments.files) % 2:
        parser.error("give a data file after each model")
    options = ["--limit", str(arguments.limit)] if arguments.limit else []
    options += ["--preprocess", arguments.preprocess] if arguments.preprocess else []
    report = Report(arguments.verbose)
    for model, data in zip(arguments.files[::2], arguments.files[1::2]):
        compare(report, arguments.cli, model, data, options)
    print("all within the limits" if not report.missed else f"{report.missed} limits missed")
    return 1 if report.missed else 0


sys.exit(main())
