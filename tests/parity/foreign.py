#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a folder of models that others made here and in ONNX Runtime, and says how many give the same outputs.

    tests/parity/foreign.py FOLDER|MODEL ... [--cli build/release/bin/quantscope-cli] [--least 0.985] [--seed N]
                            [--sizes 1,2,3,4,5,8,16] [--seconds 120] [--only GLOB] [--quiet]

Every .onnx file below a FOLDER gets random inputs: floats in -1 ... 1, integers 0 or 1 (0 where that never runs), bools;
sizes that the model leaves open are the first of --sizes with which ONNX Runtime runs (optimizations off, in a process of
its own). The same inputs
go through `quantscope-cli run`. A file is

    equal     types and shapes as in ONNX Runtime, floats within 2e-3 of the tensor's largest magnitude (so far apart are
              sums of float32 behind many normalizations; in half floats 4e-3: ONNX Runtime drops the roundings between
              two nodes that it computes in float32, here they are done as the file says), integers alike, codes of 8
              bits at most one step apart. Behind quantizers one element in a hundred may be further apart, by a tenth of
              the largest: sums in another order fall on the other side of a tie, and codes that follow from it move.
              A score that a mask leaves out is -infinity in the standard and the lowest float in ONNX Runtime: both
              count as one.
    differs   what, by how much
    refused   the program's sentence
    crashed   it ended by a signal, with an internal error, or not within --seconds
    not run   ONNX Runtime takes none of the sizes, or inputs are no tensors of numbers: left out of the share

Prints a line for each file that is not equal (all without --quiet), the counts, and the share of equal ones among those
that ONNX Runtime runs; exits with 1 when it is below --least or anything crashed. On its first use it makes a virtual
environment in build/parity-venv.
"""
import argparse
import collections
import fnmatch
import itertools
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import environment

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
except ImportError:
    environment.run_again(__file__, ["numpy", "onnx==1.22.0", "onnxruntime==1.31.1"])

ROOT = pathlib.Path(__file__).resolve().parents[2]
HALVES = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)


class NotRun(Exception):
    """There is nothing to compare with."""


def random_inputs(model, size, seed, largest):
    """For each input that is no initializer, integers up to `largest`; NotRun where it is no tensor of numbers."""
    rng = np.random.default_rng(seed)
    stored = {i.name for i in model.graph.initializer}
    feeds = {}
    for value in model.graph.input:
        if value.name in stored:
            continue
        kind = value.type.tensor_type
        if not value.type.HasField("tensor_type") or kind.elem_type == onnx.TensorProto.STRING:
            raise NotRun(f"input {value.name} is no tensor of numbers")
        shape = [d.dim_value if d.HasField("dim_value") else size for d in kind.shape.dim]
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
        if dtype.kind == "f":
            feeds[value.name] = np.asarray(rng.uniform(-1, 1, shape)).astype(dtype)
        elif dtype.kind in "biu":
            feeds[value.name] = np.asarray(rng.integers(0, largest + 1 if dtype.kind != "b" else 2, shape)).astype(dtype)
        else:
            raise NotRun(f"input {value.name} is {dtype}")
    return feeds


def in_runtime(path, sizes, seed, answer):
    """Sends the feeds and the named outputs, or why there are none."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        model = onnx.load(path, load_external_data=False)
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as e:
        return answer.send(("not run", str(e)))
    reason = "none of the sizes"
    for largest, size in itertools.product((1, 0), sizes):
        try:
            feeds = random_inputs(model, size, seed, largest)
            values = session.run(None, feeds)
        except NotRun as e:
            return answer.send(("not run", str(e)))
        except Exception as e:
            reason = str(e)
            continue
        names = [o.name for o in session.get_outputs()]
        return answer.send(("ran", size, feeds, dict(zip(names, values))))
    return answer.send(("not run", reason))


def runtime_outputs(path, sizes, seed, seconds):
    """(size, feeds, outputs) of a process of its own, which a bad model may take down."""
    processes = multiprocessing.get_context("fork")
    here, there = processes.Pipe(duplex=False)
    child = processes.Process(target=in_runtime, args=(str(path), sizes, seed, there))
    child.start()
    there.close()
    try:
        said = here.recv() if here.poll(seconds) else ("not run", f"ONNX Runtime takes more than {seconds} s")
    except EOFError:
        said = ("not run", "ONNX Runtime ended")
    child.kill()
    child.join()
    if said[0] == "not run":
        raise NotRun(said[1])
    return said[1:]


def computes_in_halves(graph):
    """Whether a value of the graph is declared or cast as half float."""
    declared = [*graph.input, *graph.output, *graph.value_info]
    if any(v.type.tensor_type.elem_type in HALVES for v in declared) or any(t.data_type in HALVES for t in graph.initializer):
        return True
    for node in graph.node:
        for a in node.attribute:
            if (a.name in ("to", "dtype") and a.i in HALVES) or a.t.data_type in HALVES:
                return True
            if a.HasField("g") and computes_in_halves(a.g):
                return True
    return False


def quantizes(graph):
    return any("Quantize" in n.op_type or n.op_type.startswith("QLinear") or n.op_type.endswith("Integer") for n in graph.node)


def left_out(values):
    """Masked scores, in one form."""
    lowest = np.finfo(values.dtype).min
    return np.where(values <= lowest, lowest, values)


def difference(ours, wanted, limit, ties):
    """Empty when they agree; `ties`: the share of elements that may be further apart."""
    if ours.dtype != wanted.dtype:
        return f"is {ours.dtype}, not {wanted.dtype}"
    if ours.shape != wanted.shape:
        return f"has shape {ours.shape}, not {wanted.shape}"
    if wanted.size == 0:
        return ""
    if wanted.dtype.kind not in "fiu":
        return "" if (ours == wanted).all() else f"differs in {(ours != wanted).sum()} of {wanted.size} elements"
    if wanted.dtype.kind != "f":
        apart = np.abs(ours.astype(np.int64) - wanted.astype(np.int64))
        far = apart > (1 if wanted.dtype.itemsize == 1 else 0)
        return f"is {apart.max()} apart" if far.mean() > ties else ""
    a, b = left_out(ours).astype(np.float64), left_out(wanted).astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    apart = np.where(same, 0, np.abs(np.where(same, 0, a) - np.where(same, 0, b)))
    finite = np.abs(b[np.isfinite(b) & (b > np.finfo(wanted.dtype).min)])
    largest = finite.max() if finite.size else 0.0
    far = apart > limit * largest
    agree = not far.any() or (far.mean() <= ties and apart.max() <= 0.1 * largest)
    return "" if agree else f"is {apart.max():.3g} apart, where the largest is {largest:.3g} ({far.sum()} of {far.size} elements)"


def compare(path, options):
    """(kind, sentence) of one file."""
    try:
        size, feeds, wanted = runtime_outputs(path, options.sizes, options.seed, options.seconds)
    except NotRun as e:
        return "not run", " ".join(str(e).split())[:160]
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder) / "in.npz", pathlib.Path(folder) / "out.npz"
        np.savez(given, **{name: value[None] for name, value in feeds.items()})
        command = [options.cli, "run", path, "--data", given, "--out", made, "--quiet"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds)
        except subprocess.TimeoutExpired:
            return "crashed", f"takes more than {options.seconds} s"
        if done.returncode < 0 or done.returncode == 5:
            return "crashed", f"exit code {done.returncode} {done.stderr.strip()[:200]}"
        if done.returncode:
            return "refused", done.stderr.strip().removeprefix(f"error: {path}: ")[:300]
        ours = dict(np.load(made))
    graph = onnx.load(path, load_external_data=False).graph
    limit, ties = 4e-3 if computes_in_halves(graph) else 2e-3, 0.01 if quantizes(graph) else 0
    wrong = []
    for name, value in wanted.items():
        if not isinstance(value, np.ndarray):
            continue  # sequences and maps are not in the file of results
        if name not in ours:
            wrong.append(f"{name} is missing")
            continue
        mine = ours[name][0] if ours[name].ndim == value.ndim + 1 else ours[name]
        said = difference(mine, value, limit, ties)
        if said:
            wrong.append(f"{name} {said}")
    return ("differs", f"sizes {size}: " + "; ".join(wrong)[:300]) if wrong else ("equal", f"sizes {size}")


def models_in(paths, pattern):
    for path in paths:
        files = sorted(path.rglob("*.onnx")) if path.is_dir() else [path]
        yield from ((f, f.relative_to(path) if path.is_dir() else f.name) for f in files if fnmatch.fnmatch(f.name, pattern))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("paths", nargs="+", type=pathlib.Path, metavar="FOLDER|MODEL")
    arguments.add_argument("--cli", type=pathlib.Path, default=ROOT / "build/release/bin/quantscope-cli")
    arguments.add_argument("--least", type=float, default=0.985)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 3, 4, 5, 8, 16])
    arguments.add_argument("--seconds", type=int, default=120)
    arguments.add_argument("--only", default="*", metavar="GLOB")
    arguments.add_argument("--quiet", action="store_true")
    options = arguments.parse_args()
    counts = collections.Counter()
    for path, name in models_in(options.paths, options.only):
        kind, said = compare(path, options)
        counts[kind] += 1
        if kind != "equal" or not options.quiet:
            print(f"{kind:8} {name}: {said}", flush=True)
    ran = sum(n for kind, n in counts.items() if kind != "not run")
    share = counts["equal"] / ran if ran else 0.0
    print(", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    print(f"{counts['equal']} of {ran} that ONNX Runtime {ort.__version__} runs are equal: {share:.2%} (wanted: {options.least:.2%})")
    sys.exit(1 if share < options.least or counts["crashed"] else 0)


if __name__ == "__main__":
    main()
