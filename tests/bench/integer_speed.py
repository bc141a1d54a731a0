#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times quantized forms of one network here and in ONNX Runtime, in turns.

    integer_speed.py CLI FORM.onnx ... [--data D.npz] [--core N] [--rounds N]

The first form may be the float one: it runs in ONNX Runtime only. Each round starts a process for each form on either
side; the least time of all rounds counts, since other load only ever adds to it. The ratio is against the best form that
ONNX Runtime has, with its default session. Pinned to one core (--core), or all of them with one thread a core (--core
all). Needs onnxruntime and numpy.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime


def sizes(shape):
    return [d if isinstance(d, int) else 1 for d in shape]


def session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def runtime_child(path, data, runs, threads):
    import time
    s = session(path, threads)
    feed = dict(np.load(data))
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        s.run(None, feed)
        times.append(time.perf_counter() - start)
    print(min(times) * 1e3)


def quantized(path):
    import onnx
    graph = onnx.load(path, load_external_data=False).graph
    return any(n.op_type.startswith(("QLinear", "QuantizeLinear")) for n in graph.node)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cli")
    parser.add_argument("forms", nargs="+")
    parser.add_argument("--data", help="npz with inputs that are no random floats, one sample")
    parser.add_argument("--core", default="0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    cores = os.sched_getaffinity(0) if options.core == "all" else {int(options.core)}
    os.sched_setaffinity(0, cores)
    folder = tempfile.TemporaryDirectory()
    data = os.path.join(folder.name, "data.npz")
    rng = np.random.default_rng(1)
    inputs = session(options.forms[0], 1).get_inputs()
    given = dict(np.load(options.data)) if options.data else {}
    np.savez(data, **{i.name: given[i.name] if i.name in given else rng.standard_normal(sizes(i.shape), dtype=np.float32)
                      for i in inputs})
    theirs, ours = {}, {}
    for _ in range(options.rounds):
        for form in options.forms:
            out = subprocess.run([sys.executable, __file__, "--child", form, data, str(options.runs), str(len(cores))],
                                 check=True, capture_output=True, text=True).stdout
            theirs[form] = min(theirs.get(form, np.inf), float(out))
            if quantized(form):
                out = subprocess.run([options.cli, "bench", form, "--data", data, "--arithmetic", "integer", "--runs",
                                      str(options.runs), "--threads", str(len(cores)), "--quiet", "--json", "-"],
                                     check=True, capture_output=True, text=True).stdout
                ours[form] = min(ours.get(form, np.inf), json.loads(out)["min_ms"])
    best = min(theirs.values())
    print(f"{len(cores)} core(s); least of {options.rounds} x {options.runs} runs; ratio to ONNX Runtime's best form")
    for form in options.forms:
        line = f"{os.path.basename(form):32} ONNX Runtime {theirs[form]:8.3f} ms"
        if form in ours:
            line += f"   Quantscope {ours[form]:8.3f} ms   ratio {ours[form] / best:.2f}"
        print(line)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        runtime_child(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
