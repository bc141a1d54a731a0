#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed of a language model of 100 million parameters beside onnxruntime-genai and ONNX Runtime, on one core, in turns.

    tests/bench/decoding.py [--folder build/bench-decoding] [--cli build/release/bin/quantscope-cli] [--core 0]
                            [--rounds 5] [--prompts 128,512] [--forms int4_acc4,int4_acc0] [--lockstep]
                            [--memory [--layers 28]]

A Llama with random weights (12 layers, hidden size 768, 12 heads, 4 of keys, 32,000 tokens) is written by
onnxruntime-genai's builder: fp32, and int4 in blocks of 32 with accuracy levels 4 and 0. Measured are prefill (a prompt in
one go) and decoding (one token behind 128), each program in a process of its own bound to one core, in turns; medians over
the rounds. Wall is the median of the runs of a process, cpu its processor time over all runs that count. The first line
of a form says ours / theirs. --lockstep: `compare` of fp32 and int4 over a prompt of 128 tokens, every value observed,
beside the runs of both models alone. --memory: in place of all that, the largest memory of
`run` for one token behind 128 of a wide model (hidden size 3072, by default 2 GB of weights in blocks and embeddings: three
layers by the builder, one of them repeated, see deepen.py), mapped pages and its own beside what the file has.
Needs the environment of tests/parity/builder.py.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/parity"))
import environment  # noqa: E402

try:
    import numpy as np
    import onnxruntime as ort
    import onnxruntime_genai as genai
except ImportError:
    if "parity-builder-venv" in sys.prefix:
        raise
    packages = ["numpy", "onnx", "onnx_ir", "onnxruntime", "onnxruntime-genai", "torch", "transformers"]
    sys.exit(subprocess.run([environment.python_with(packages, "parity-builder-venv"), *sys.argv]).returncode)

LAYERS, HEADS, SIZE, VOCABULARY, PAST = 12, 4, 64, 32000, 128
WIDE_HEADS, WIDE_SIZE = 8, 128


def name_forms(**sizes):
    import builder_models as made
    made.VOCABULARY = VOCABULARY
    made.SIZES.update(vocab_size=VOCABULARY, max_position_embeddings=2048, initializer_range=0.02, **sizes)
    made.FORMS.update(int4_acc0=("int4", {"accuracy_level": "0"}), int4_acc4=("int4", {}))
    return made


def make_models(folder):
    made = name_forms(hidden_size=768, intermediate_size=2048, num_hidden_layers=LAYERS, num_attention_heads=12,
                      num_key_value_heads=HEADS)
    if not (folder / "hf").exists():
        made.save_random("llama", folder / "hf")
    for form in ("fp32", "int4_acc4", "int4_acc0"):
        if not (folder / form / "model.onnx").exists():
            made.build(folder / "hf", form, folder / form)


def make_wide_model(folder, form, layers):
    import deepen
    made = name_forms(hidden_size=3072, intermediate_size=8192, num_hidden_layers=deepen.BUILT, num_attention_heads=24,
                      num_key_value_heads=WIDE_HEADS)
    deep, shallow = folder / f"{form}_{layers}" / "model.onnx", folder / f"{form}_shallow"
    if not deep.exists():
        if not (folder / "hf_wide").exists():
            made.save_random("llama", folder / "hf_wide")
        if not (shallow / "model.onnx").exists():
            made.build(folder / "hf_wide", form, shallow)
        deepen.deepen(shallow / "model.onnx", deep, layers)
    return deep


def inputs(tokens, past, layers=LAYERS, heads=HEADS, size=SIZE):
    rng = np.random.default_rng(0)
    feeds = {"input_ids": rng.integers(2, VOCABULARY, (1, tokens)).astype(np.int64),
             "attention_mask": np.ones((1, past + tokens), np.int64)}
    for layer in range(layers):
        for kind in ("key", "value"):
            feeds[f"past_key_values.{layer}.{kind}"] = rng.standard_normal((1, heads, past, size)).astype(np.float32)
    return feeds


def counted(work, runs):
    """{wall, cpu} in ms of `work` after two rounds that do not count."""
    work(), work()
    walls, cpu = [], time.process_time()
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        walls.append(time.perf_counter() - begun)
    return {"wall": 1000 * statistics.median(walls), "cpu": 1000 * (time.process_time() - cpu) / runs}


def run_onnxruntime(model, tokens, past, runs):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = inputs(tokens, past)
    return counted(lambda: session.run(None, feeds), runs)


def run_genai(model, tokens, past, runs):
    """Prefill: a prompt in one go; decoding: one token behind so many."""
    folder = str(pathlib.Path(model).parent)
    config = genai.Config(folder)
    config.overlay(json.dumps({"model": {"decoder": {"session_options": {"intra_op_num_threads": 1}}}}))
    loaded = genai.Model(config)
    ids = inputs(max(tokens, past), 0)["input_ids"][0].astype(np.int32)

    def generator(length):
        params = genai.GeneratorParams(loaded)
        params.set_search_options(do_sample=False, min_length=length, max_length=length)
        return genai.Generator(loaded, params)

    if not past:
        made = [generator(tokens + 1) for _ in range(runs + 2)]
        return counted(lambda: made.pop().append_tokens(ids[:tokens]), runs)
    made = generator(past + runs + 4)
    made.append_tokens(ids[:past])
    made.generate_next_token()  # the one that the prompt led to: no run of its own
    return counted(made.generate_next_token, runs)


def children_ms():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def run_ours(options, model, tokens, past, runs):
    data = options.folder / f"{tokens}_{past}.npz"
    if not data.exists():
        np.savez(data, **{n: v[None] for n, v in inputs(tokens, past).items()})
    cpu = {}
    for count in (1, runs + 1):
        before = children_ms()
        done = subprocess.run(["taskset", "-c", options.core, options.cli, "bench", model, "--data", data, "--threads", "1",
                               "--arithmetic", "integer", "--warmup", "2", "--runs", str(count), "--quiet", "--json", "-"],
                              capture_output=True, text=True, check=True)
        cpu[count] = children_ms() - before
    return {"wall": json.loads(done.stdout)["median_ms"], "cpu": (cpu[runs + 1] - cpu[1]) / runs}


def run_other(options, what, model, tokens, past, runs):
    done = subprocess.run(["taskset", "-c", options.core, sys.executable, __file__, "--child", what, "--model", model,
                           "--tokens", str(tokens), "--past", str(past), "--runs", str(runs)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(options, form, tokens, past, runs):
    model = options.folder / form / "model.onnx"
    found = {"ours": [], "genai": [], "onnxruntime": []}
    for _ in range(options.rounds):
        found["ours"].append(run_ours(options, model, tokens, past, runs))
        for what in ("genai", "onnxruntime"):
            found[what].append(run_other(options, what, model, tokens, past, runs))
    middle = {w: {k: statistics.median(r[k] for r in rows) for k in ("wall", "cpu")} for w, rows in found.items()}
    ratios = "  ".join(f"/{w} {middle['ours']['wall'] / middle[w]['wall']:.2f} wall {middle['ours']['cpu'] / middle[w]['cpu']:.2f} cpu"
                       for w in ("genai", "onnxruntime"))
    what = f"one token behind {past}" if past else f"prefill of {tokens}"
    print(f"{form:10} {what:20} {ratios}", flush=True)
    for w, t in middle.items():
        print(f"{'':10} {w:20} {t['wall']:8.2f} ms wall {t['cpu']:8.2f} ms cpu", flush=True)
    return middle["ours"]


def lockstep(options, form, alone):
    data = options.folder / "lockstep.npz"
    rng = np.random.default_rng(0)
    np.savez(data, input_ids=rng.integers(2, VOCABULARY, (24, 128)).astype(np.int64))
    cpu = {}
    for limit in (8, 24):
        before = children_ms()
        subprocess.run(["taskset", "-c", options.core, options.cli, "compare", options.folder / "fp32/model.onnx",
                        options.folder / form / "model.onnx", "--data", data, "--limit", str(limit), "--threads", "1",
                        "--arithmetic", "integer", "--quiet", "--json", "-"], capture_output=True, text=True, check=True)
        cpu[limit] = children_ms() - before
    each = (cpu[24] - cpu[8]) / 16
    print(f"{form:10} {'lockstep of 128':20} {each:.0f} ms cpu a prompt, both models alone {alone:.0f}: {each / alone:.2f}", flush=True)


def largest_memory(command):
    """{sum, RssAnon, RssFile} in bytes where the sum was largest: by looking every few milliseconds."""
    largest = {"sum": 0}
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            now = {k: 1024 * int(n) for k, n in re.findall(r"(RssAnon|RssFile):\s+(\d+)", status)}
            largest = max(largest, {"sum": sum(now.values()), **now}, key=lambda m: m["sum"])
            time.sleep(0.005)
    if process.returncode:
        sys.exit(f"{command[1]} ended with {process.returncode}")
    return largest


def memory(options, form):
    model = make_wide_model(options.folder, form, options.layers)
    data = options.folder / f"wide_{options.layers}.npz"
    if not data.exists():
        feeds = inputs(1, PAST, options.layers, WIDE_HEADS, WIDE_SIZE)
        np.savez(data, **{n: v[None] for n, v in feeds.items()})
    file = os.path.getsize(model.parent / "model.onnx.data")
    for arithmetic in ("simulated", "integer"):
        m = largest_memory([options.cli, "run", model, "--data", data, "--arithmetic", arithmetic, "--quiet"])
        print(f"{form:10} {arithmetic:10} {m['sum'] / 1e9:.2f} GB ({m['RssAnon'] / 1e9:.2f} own, {m['RssFile'] / 1e9:.2f} "
              f"mapped), the file {file / 1e9:.2f} GB: {m['sum'] / file:.2f}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/bench-decoding")
    p.add_argument("--cli", type=pathlib.Path, default=ROOT / "build/release/bin/quantscope-cli")
    p.add_argument("--core", default="0")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--prompts", type=lambda t: [int(n) for n in t.split(",")], default=[128, 512])
    p.add_argument("--forms", type=lambda t: t.split(","), default=["int4_acc4", "int4_acc0"])
    p.add_argument("--lockstep", action="store_true")
    p.add_argument("--memory", action="store_true")
    p.add_argument("--layers", type=int, default=28)
    for name in ("--child", "--model", "--tokens", "--past", "--runs"):
        p.add_argument(name, help=argparse.SUPPRESS)
    o = p.parse_args()
    if o.child:
        work = run_genai if o.child == "genai" else run_onnxruntime
        print(json.dumps(work(o.model, int(o.tokens), int(o.past), int(o.runs))))
        return
    o.folder.mkdir(parents=True, exist_ok=True)
    if o.memory:
        for form in o.forms:
            memory(o, form)
        return
    make_models(o.folder)
    for form in o.forms:
        measure(o, form, 1, PAST, 100)
        for tokens in o.prompts:
            measure(o, form, tokens, 0, 5)
        if o.lockstep:
            alone = sum(run_ours(o, o.folder / f / "model.onnx", 128, 0, 5)["cpu"] for f in ("fp32", form))
            lockstep(o, form, alone)


if __name__ == "__main__":
    main()
