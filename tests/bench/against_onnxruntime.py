#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of quantscope-cli beside ONNX Runtime's, in turns, so that a noisy machine disturbs both alike.

    tests/bench/against_onnxruntime.py run MODEL [--shape NAME=1x3x224x224]... [--data D.npz] [--all-tensors]
    tests/bench/against_onnxruntime.py observed FLOAT QUANTIZED DATA.npz
        options of both: [--cli build/release/bin/quantscope-cli] [--threads N] [--rounds 5] [--runs 30]

`run`: one sample, ours (`bench`) and their default session with the same number of threads; and the start: load + plan
beside the creation of their session; with --all-tensors both keep every tensor, theirs as outputs. `observed`: every tensor of the float and of the quantized model compared, ours
(`compare`, its `run` time by sample), theirs all tensors as outputs of both sessions and numpy sums over each pair
(extremes, squares, error). With --histograms both also make histograms of the values and of the error, ours for its
HTML report. Pin with taskset. Needs Python with numpy, onnx and onnxruntime.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]


def session(model, threads):
    """Of a path, or of a model's bytes."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    before = time.perf_counter()
    made = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return made, (time.perf_counter() - before) * 1e3


def feed_of(sess, arguments):
    shapes = {s.split("=")[0]: [int(v) for v in s.split("=")[1].split("x")] for s in arguments.shape}
    data = np.load(arguments.data) if arguments.data else {}
    feed = {}
    for i in sess.get_inputs():
        if i.name in data:
            feed[i.name] = data[i.name]
        else:
            shape = shapes.get(i.name, i.shape)
            feed[i.name] = np.random.rand(*shape).astype(np.float32)
    return feed


def timed(sess, feed, runs):
    for _ in range(3):
        sess.run(None, feed)
    times = []
    for _ in range(runs):
        before = time.perf_counter()
        sess.run(None, feed)
        times.append((time.perf_counter() - before) * 1e3)
    return times


def ours(arguments, command):
    out = subprocess.run([arguments.cli, *command, "--threads", str(arguments.threads), "--quiet", "--json", "-"],
        check=True, capture_output=True).stdout
    return json.loads(out)


def report(what, mine, theirs):
    print(f"{what}: ours {statistics.median(mine):.2f} ms (least {min(mine):.2f}), ONNX Runtime "
          f"{statistics.median(theirs):.2f} ms (least {min(theirs):.2f}), ours / theirs "
          f"{statistics.median(mine) / statistics.median(theirs):.2f} (least {min(mine) / min(theirs):.2f})")


def run(arguments):
    command = ["bench", arguments.model, "--warmup", "3", "--runs", str(arguments.runs)]
    command += [word for s in arguments.shape for word in ("--shape", s)]
    command += ["--data", arguments.data] if arguments.data else []
    command += ["--all-tensors"] if arguments.all_tensors else []
    model = with_all_outputs(arguments.model) if arguments.all_tensors else arguments.model
    mine, theirs, my_least, their_least, my_start, their_start = [], [], [], [], [], []
    for _ in range(arguments.rounds):
        j = ours(arguments, command)
        mine.append(j["median_ms"])
        my_least.append(j["min_ms"])
        my_start.append(j["load_ms"] + j["plan_ms"])
        sess, created = session(model, arguments.threads)
        times = timed(sess, feed_of(sess, arguments), arguments.runs)
        theirs.append(statistics.median(times))
        their_least.append(min(times))
        their_start.append(created)
        del sess
    name = pathlib.Path(arguments.model).name
    report(f"{name}, {arguments.threads} threads, median of a run", mine, theirs)
    report(f"{name}, {arguments.threads} threads, least of a run", my_least, their_least)
    report(f"{name}, start", my_start, their_start)


def with_all_outputs(path):
    """The bytes of the model whose nodes' outputs are all its own."""
    model = onnx.load(path)
    known = {o.name for o in model.graph.output}
    constants = {i.name for i in model.graph.initializer}
    inferred = onnx.shape_inference.infer_shapes(model)
    types = {v.name: v for v in inferred.graph.value_info}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in known and name not in constants and name in types:
                model.graph.output.append(types[name])
    return model.SerializeToString()


def all_outputs(path, threads):
    sess, _ = session(with_all_outputs(path), threads)
    return sess, [o.name for o in sess.get_outputs()]


def statistics_of(x, y, histograms):
    if histograms:
        for values in (x, y, y - x):
            np.histogram(values, bins=2048)
    x, y = x.astype(np.float64).ravel(), y.astype(np.float64).ravel()
    e = y - x
    return x.min(), x.max(), y.min(), y.max(), x @ x, y @ y, x @ y, e @ e, e.sum(), np.abs(e).max()


def observed(arguments):
    # What our comparison pairs is what theirs has to look at.
    command = ["compare", arguments.model, arguments.quantized, "--data", arguments.data]
    if arguments.histograms:
        command += ["--html", os.path.join(tempfile.mkdtemp(), "report.html")]
    pairs = [(a["name"], a["quantized_name"]) for a in ours(arguments, command)["activations"]]
    data = np.load(arguments.data)
    float_session, float_names = all_outputs(arguments.model, arguments.threads)
    quant_session, quant_names = all_outputs(arguments.quantized, arguments.threads)
    samples = len(next(iter(data.values())))
    mine, theirs, running = [], [], []
    for _ in range(arguments.rounds):
        j = ours(arguments, command)
        mine.append(j["time_ms"]["run"] / j["samples"])
        for s in range(min(samples, 4)):
            item = {i.name: data[i.name][s] for i in float_session.get_inputs()}
            feed = {i.name: item[i.name] if item[i.name].ndim == len(i.shape) else item[i.name][None]
                    for i in float_session.get_inputs()}
            before = time.perf_counter()
            f = dict(zip(float_names, float_session.run(None, feed)))
            q = dict(zip(quant_names, quant_session.run(None, feed)))
            ran = time.perf_counter()
            compared = 0
            for a, b in pairs:
                if a in f and b in q and f[a].shape == q[b].shape:
                    statistics_of(f[a], q[b], arguments.histograms)
                    compared += 1
            theirs.append((time.perf_counter() - before) * 1e3)
            running.append((ran - before) * 1e3)
    print(f"{len(pairs)} pairs, {compared} of them compared by numpy; theirs without numpy "
          f"{statistics.median(running):.1f} ms a sample")
    report("every tensor observed, a sample", mine, theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one, two = commands.add_parser("run"), commands.add_parser("observed")
    for p in (one, two):
        p.add_argument("model")
        p.add_argument("--cli", default=str(ROOT / "build/release/bin/quantscope-cli"))
        p.add_argument("--threads", type=int, default=1)
        p.add_argument("--rounds", type=int, default=5)
        p.add_argument("--runs", type=int, default=30)
    one.add_argument("--shape", action="append", default=[])
    one.add_argument("--data")
    one.add_argument("--all-tensors", action="store_true")
    two.add_argument("--histograms", action="store_true")
    two.add_argument("quantized")
    two.add_argument("data")
    arguments = parser.parse_args()
    run(arguments) if arguments.command == "run" else observed(arguments)


if __name__ == "__main__":
    main()
