#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what `quantscope-cli explain` says about single codes against ONNX Runtime.

    tests/parity/explain.py [--cli build/release/bin/quantscope-cli] [--avx2] [--count 500] [--seed N] MODEL DATA [...]
    tests/parity/explain.py --probes [--avx2]

DATA is what the command line takes after --data. For elements drawn at random, as many of each type of unit as there
are, ONNX Runtime's optimized graph computes the code from OUR codes before it (as integer.py does), and

value    what `explain --arithmetic integer` (with --avx2: integer-avx2, ONNX Runtime on an emulated CPU) says is stored
         equals it, or is one step from it where a mean or a float sum lies on a border of rounding
terms    the terms add up to the accumulator with the bias, less what saturated; the accumulator times the multiplier,
         rounded half to even, with the zero point and clamped, is the code
steps    the program did its steps again and found the same (`confirmed`)

Exits with 1 when one of them fails. On its first use it makes a virtual environment in build/parity-venv.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

import environment
import integer

try:
    import numpy as np
    import onnx
except ImportError:
    environment.run_again(__file__, integer.PACKAGES)


class Stages:
    """ONNX Runtime's optimized graph of one model, cut at every code tensor, fed with our codes."""

    def __init__(self, cli, path, data, profile, limit):
        model = onnx.load(path)
        options = ["--limit", str(limit)] if limit else []
        with tempfile.TemporaryDirectory() as folder:
            self.ours, self.told = integer.run_ours(cli, path, data, profile, options, folder)
            if self.ours is None:
                sys.exit(f"{path}: {self.told}")
            best = integer.optimized(model, folder)
        self.names = integer.cut_names(model, best.graph, self.ours)
        self.types = {name: node.op_type for name, (node, _) in integer.code_outputs(best.graph).items()}
        stored = integer.constants(best.graph)
        self.inputs = [i.name for i in best.graph.input if i.name not in stored]
        self.session = integer.session(integer.cut(best, self.names, self.ours), integer.NOTHING)
        self.wanted = {i.name for i in self.session.get_inputs()}
        self.samples = len(self.ours[self.inputs[0]])
        self.batch = max(self.told["samples"] // self.samples, 1)  # a sample is one item of a fixed batch
        self.known = {}

    def codes(self, sample):
        """{our tensor: codes that ONNX Runtime makes of our codes before it}."""
        if sample not in self.known:
            feed = {n: np.asarray(self.ours[n][sample]) for n in self.inputs}
            for name, (own, by) in self.names.items():
                feed[name + "::cut"] = integer.shifted(self.ours[own][sample], by)
            found = self.session.run(list(self.names), {n: v for n, v in feed.items() if n in self.wanted})
            self.known[sample] = {own: value.astype(np.int64) - by
                                  for (own, by), value in zip(self.names.values(), found)}
        return self.known[sample]

    def draw(self, rng, count):
        """[(type, our tensor, sample, index)], the types in turn."""
        by_type = collections.defaultdict(list)
        for name, (own, _) in self.names.items():
            if self.ours[own][0].size:
                by_type[self.types[name]].append(own)
        drawn = []
        while by_type and len(drawn) < count:
            for kind, tensors in by_type.items():
                own, sample = rng.choice(tensors), rng.randrange(self.samples)
                shape = self.ours[own][sample].shape
                drawn.append((kind, own, sample, tuple(rng.randrange(n) for n in shape)))
        return drawn[:count]


def explained(cli, path, data, profile, tensor, sample, at):
    command = [cli, "explain", path, "--data", data, "--arithmetic", profile, "--tensor", tensor, "--sample", str(sample),
               "--at", ",".join(map(str, at)), "--quiet", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    return json.loads(done.stdout), ""


def wrong_terms(e):
    """Why the terms do not give the code; empty: they do, or the relation is not one of sums of products."""
    if e["relation"] != "products" or e.get("accumulator") is None:
        return ""
    total = sum((t["a_code"] - t["a_zero_point"]) * (t["b_code"] - t["b_zero_point"]) for t in e["terms"])
    total += e.get("bias_code") or 0
    total -= sum(p["sum"] - p["kept"] for p in e.get("saturated") or [])
    if total != e["accumulator"]:
        return f"terms add up to {total}, accumulator {e['accumulator']}"
    if e.get("multiplier") is None or e.get("before_rounding") is None or e["code"] is None:
        return ""
    scaled = np.float32(e["accumulator"]) * np.float32(e["multiplier"])
    low, high = (-128, 127) if e["dtype"] == "int8" else (0, 255)
    code = int(np.clip(np.rint(scaled) + e["zero_point"], low, high))
    return "" if code == e["code"] else f"{e['accumulator']} * {e['multiplier']} gives {code}, not {e['code']}"


def compare(a, rng, path, data, title, count, profile):
    stages = Stages(a.cli, path, data, profile, a.limit)
    tally, problems, near = collections.Counter(), [], 0
    for kind, own, sample, at in stages.draw(rng, count):
        tally[kind] += 1
        e, problem = explained(a.cli, path, data, profile, own, sample * stages.batch, at)
        where = f"{title}: {own}{list(at)} of sample {sample} ({kind})"
        if e is None:
            problems.append(f"{where}: {problem}")
            continue
        theirs = int(stages.codes(sample)[own][at])
        if e["value"] != int(stages.ours[own][sample][at]):
            problems.append(f"{where}: explained {e['value']}, run {int(stages.ours[own][sample][at])}")
        near += abs(e["value"] - theirs) == 1
        if abs(e["value"] - theirs) > 1:
            problems.append(f"{where}: explained {e['value']}, ONNX Runtime {theirs}")
        if wrong := wrong_terms(e):
            problems.append(f"{where}: {wrong}")
        if e["confirmed"] is False:
            problems.append(f"{where}: its steps give another number")
    print(f"{title}: {sum(tally.values())} elements {dict(tally)}, {near} one step from ONNX Runtime, "
          f"{len(problems)} wrong", flush=True)
    for problem in problems:
        print("    " + problem)
    return sum(tally.values()), near, len(problems)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=str(integer.ROOT / "build/release/bin/quantscope-cli"))
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("--probes", action="store_true")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*", metavar="MODEL DATA")
    a = parser.parse_args()
    if len(a.files) % 2 or not (a.files or a.probes):
        parser.error("give pairs of MODEL DATA, or --probes")
    if a.avx2 and "QS_EMULATED" not in os.environ:
        again = [*integer.QEMU, sys.executable, __file__, *sys.argv[1:]]
        return subprocess.run(again, env={**os.environ, "QS_EMULATED": "1"}).returncode
    profile = "integer-avx2" if a.avx2 else "integer"
    rng = random.Random(a.seed)
    with tempfile.TemporaryDirectory() as folder:
        cases = [(m, d, m) for m, d in zip(a.files[::2], a.files[1::2])]
        if a.probes:
            import integer_probes
            cases += [(path, data, title) for title, path, data in integer_probes.write_all(folder, a.seed)]
        each = -(-a.count // len(cases))
        results = [compare(a, rng, path, data, title, each, profile) for path, data, title in cases]
    elements, near, wrong = (sum(column) for column in zip(*results))
    print(f"{elements} elements, {near} one step from ONNX Runtime, {wrong} wrong")
    return 1 if wrong or near > elements / 100 else 0


if __name__ == "__main__":
    sys.exit(main())
