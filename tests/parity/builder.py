#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes small language models of many architectures with random weights, has onnxruntime-genai's builder write them in
many forms, and holds what the program computes of them against ONNX Runtime.

    tests/parity/builder.py [--only 'gemma*/kv*'] [--all] [--cli build/release/bin/quantscope-cli] [--folder build/parity-builder]

Gemma 4 (the builder asks for global_head_dim, which transformers 5.24 does not have), PhiMoE (the builder writes for CUDA alone),
and what transformers has no classes of (InternLM2, ChatGLM, Phi-3-small) are left out.

Without --all every form is built for four architectures and fp32, int4 and acc0 for the others. Each file

    reads two prompts of 20 tokens, of which the second ends with padding, then one token, one token and three, with
    ONNX Runtime's caches as inputs of each step: every output is compared (floats: largest difference over the largest
    magnitude, at most 2e-3; codes of a cache: share that differs, by how much at most). Where a product of accuracy
    level 4 rounds its rows a code on a tie may fall to either side, and what follows moves: up to 0.05, when
    builder_flips.py shows that products of equal inputs agree and that the first codes that differ lie on ties;
    is compared with the float file over 12 prompts of 24 tokens (`compare --decode free`): loss, mean KL divergence and
    agreement against numpy's of ONNX Runtime's logits, and the tokens at which the continuations part.

Prints a line a file and exits with 1 where something is off. The virtual environment is made on the first use in
build/parity-builder-venv (PyTorch for CPUs, transformers, onnxruntime-genai).
"""
import argparse
import fnmatch
import json
import pathlib
import shutil
import subprocess
import sys
import traceback

import environment

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    import builder_flips
    import builder_models as made
    import onnxruntime_genai  # noqa: F401
except ImportError:
    if "parity-builder-venv" in sys.prefix:
        raise
    python = environment.python_with(["numpy", "onnx", "onnx_ir", "onnxruntime", "onnxruntime-genai", "torch", "transformers"],
                                     "parity-builder-venv")
    sys.exit(subprocess.run([python, *sys.argv]).returncode)

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVERY_FORM = ("llama", "llama_tied", "qwen3", "phi3", "gemma2")
PADDING = 4
SMALL = 2e-3  # of the largest magnitude: what other orders of sums make of floats
# Margins of the best token below which continuations may part: of logits of about 3, and what ties move them by.
EVEN, EVEN_WITH_TIES = 0.02, 0.1
TYPES = {"float": np.float32, "float16": np.float16, "int64": np.int64, "int32": np.int32, "int8": np.int8, "uint8": np.uint8,
         "bool": np.bool_}


def session(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def cache_sizes(path):
    """(size of a head, positions that a sliding cache has room for)."""
    decoder = json.loads((path.parent / "genai_config.json").read_text())["model"]["decoder"]
    return decoder["head_size"], decoder.get("sliding_window", {}).get("window_size", 0)


def empty_states(s, batch, sizes):
    """Caches without positions; sliding ones and states of fixed shape with zeros."""
    states, (size, window) = {}, sizes
    for i in s.get_inputs():
        if i.name.startswith("past") and i.name != "past_sequence_length":
            shape = [batch, *(d if isinstance(d, int) else window if "sliding" in d else 0 for d in i.shape[1:])]
            if i.name.startswith("past_key_values") and shape[-1] == 0:
                shape[-1] = size // 2 if "uint8" in i.type else size
            states[i.name] = np.zeros(shape, TYPES[i.type[7:-1]])
    return states


def next_states(s, results):
    inputs = {i.name for i in s.get_inputs()}
    states = {}
    for o, r in zip(s.get_outputs(), results):
        for name in (o.name.replace("present", "past_key_values"), o.name.replace("present", "past")):
            if name in inputs and o.name.startswith("present"):
                states[name] = r
    return states


def step_inputs(s, tokens, states, past, padding, rng):
    """What a step that reads `tokens` behind `past` positions is fed; the last row's mask ends with `padding` zeros."""
    batch, count = tokens.shape
    mask = np.ones((batch, past + count), np.int64)
    if padding:
        mask[-1, -padding:] = 0
    values = {"input_ids": tokens, "attention_mask": mask,
              "position_ids": np.broadcast_to(np.arange(past, past + count), (batch, count)).copy(),
              "past_sequence_length": np.array([past], np.int64)}
    feeds = dict(states)
    for i in s.get_inputs():
        if i.name == "inputs_embeds":
            feeds[i.name] = rng.standard_normal((batch, count, i.shape[2])).astype(TYPES[i.type[7:-1]])
        elif i.name not in feeds:
            v = values[i.name].astype(TYPES[i.type[7:-1]])
            feeds[i.name] = np.broadcast_to(v, (3, *v.shape)).copy() if len(i.shape) == 3 else v
    return feeds


def run_ours(options, path, feeds, folder):
    given, out = folder / "in.npz", folder / "out.npz"
    np.savez(given, **{n: v[None] for n, v in feeds.items()})
    done = subprocess.run([options.cli, "run", path, "--data", given, "--out", out, "--quiet", "--arithmetic", "integer",
                           "--threads", "1"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"run: {done.returncode} {done.stderr.strip()[:400]}")
    return dict(np.load(out))


class Worst:
    """Largest relative difference of floats, share and size of differing codes."""

    def __init__(self):
        self.floats, self.name, self.codes, self.apart = 0.0, "", 0.0, 0

    def add(self, name, ours, wanted):
        if ours.shape != wanted.shape or ours.dtype != wanted.dtype:
            raise RuntimeError(f"{name}: {ours.dtype}{ours.shape} in place of {wanted.dtype}{wanted.shape}")
        if not wanted.size:
            return
        a, b = ours.astype(np.float64), wanted.astype(np.float64)
        if wanted.dtype.kind in "iu":
            if wanted.dtype == np.uint8:  # two codes a byte
                a, b = (np.stack([v & 15, v >> 4]).astype(np.int64) for v in (ours, wanted))
            self.codes = max(self.codes, float((a != b).mean()))
            self.apart = max(self.apart, int(np.abs(a - b).max()))
            return
        apart = float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30))
        if not apart <= self.floats:
            self.floats, self.name = apart, name

    def join(self, other):
        if not other.floats <= self.floats:
            self.floats, self.name = other.floats, other.name
        self.codes, self.apart = max(self.codes, other.codes), max(self.apart, other.apart)


def explained(options, path, folder, feeds):
    """Why a step differs, where products round rows; (sentence, whether it is ties)."""
    scratch = folder / "flips"
    scratch.mkdir(exist_ok=True)
    return builder_flips.flips(options.cli, path, feeds, scratch)


def steps(options, path, folder, ties):
    """(prefill, decoding) as Worst, sentences on steps that differ, whether all of these are ties."""
    s = session(path)
    rng = np.random.default_rng(1)
    found, why, holds = [Worst(), Worst()], [], True
    states, past = empty_states(s, 2, cache_sizes(path)), 0
    slides = any("sliding" in str(d) for i in s.get_inputs() for d in i.shape)  # ONNX Runtime: without padding
    for k, (batch, count) in enumerate(((2, 20), (2, 1), (2, 1), (1, 3))):
        padding = PADDING if k == 0 and not slides else 0
        tokens = rng.integers(2, made.VOCABULARY, (batch, count)).astype(np.int64)
        states = {name: v[:batch] for name, v in states.items()}
        feeds = step_inputs(s, tokens, states, past, padding, rng)
        results = s.run(None, feeds)
        ours, step = run_ours(options, path, feeds, folder), Worst()
        for o, r in zip(s.get_outputs(), results):
            mine = ours[o.name][0] if ours[o.name].ndim == r.ndim + 1 else ours[o.name]
            if padding and o.name == "logits" and r.shape[1] == count:  # what padding guesses is nobody's
                r, mine = r.copy(), mine.copy()
                r[-1, -padding:] = mine[-1, -padding:] = 0
            step.add(o.name, mine, r)
        found[k > 0].join(step)
        if step.floats >= SMALL and ties and not step.codes:  # codes of a cache move all that follows, too
            sentence, well = explained(options, path, folder, feeds)
            why.append(f"step {k}: {sentence}")
            holds &= well
        if k == 0:  # the prompts go on without padding
            results = s.run(None, step_inputs(s, tokens, states, past, 0, rng))
        states, past = next_states(s, results), past + count
    return *found, why, holds


def log_softmax(z):
    z = z.astype(np.float64)
    z = z - z.max(-1, keepdims=True)
    return z - np.log(np.exp(z).sum(-1, keepdims=True))


def scores(s, ids, size):
    feeds = step_inputs(s, ids, empty_states(s, len(ids), size), 0, 0, None)
    return log_softmax(s.run(["logits"], feeds)[0])


def greedy(s, prompt, count, size, end):
    """Tokens and margins of a continuation, as far as the end of its text."""
    tokens, states, past, out = prompt[None], empty_states(s, 1, size), 0, []
    for _ in range(count):
        results = s.run(None, step_inputs(s, tokens, states, past, 0, None))
        z = results[[o.name for o in s.get_outputs()].index("logits")][0, -1]
        best = np.sort(z)[-2:]
        out.append((int(z.argmax()), float(best[1] - best[0])))
        if out[-1][0] == end:
            break
        states, past, tokens = next_states(s, results), past + tokens.shape[1], np.array([[out[-1][0]]], np.int64)
    return out


def theirs_of_language(float_path, path, ids, prompt, count):
    """What `language` of the document should say."""
    f, q, size = session(float_path), session(path), cache_sizes(path)
    zf, zq = scores(f, ids, size), scores(q, ids, size)
    loss = lambda z: float(-np.take_along_axis(z[:, :-1], ids[:, 1:, None], -1).mean())
    flips, end = {}, json.loads((path.parent / "genai_config.json").read_text())["model"]["eos_token_id"]
    for k, row in enumerate(ids):
        a, b = greedy(f, row[:prompt], count, size, end), greedy(q, row[:prompt], count, size, end)
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x[0] != y[0]), None)
        flips[k] = (at, [(x[1], y[1]) for x, y in zip(a, b)])
    kl = (np.exp(zf) * (zf - zq)).sum(-1)
    return {"loss_float": loss(zf), "loss_quantized": loss(zq), "kl_mean": float(kl.mean()),
            "top1_agreement": float((zf.argmax(-1) == zq.argmax(-1)).mean())}, flips


def language(options, float_path, path, folder, ties):
    """A sentence on the numbers of language, and whether they hold."""
    ids = np.random.default_rng(2).integers(2, made.VOCABULARY, (12, 24)).astype(np.int64)
    np.savez(folder / "ids.npz", input_ids=ids)
    done = subprocess.run([options.cli, "compare", float_path, path, "--data", folder / "ids.npz", "--decode", "free",
                           "--prompt-tokens", "16", "--new-tokens", "24", "--json", "-", "--quiet", "--arithmetic", "integer",
                           "--threads", "1"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"compare: {done.returncode} {done.stderr.strip()[:400]}")
    ours = json.loads(done.stdout)["language"]
    wanted, flips = theirs_of_language(float_path, path, ids, 16, 24)
    apart = {k: abs(ours[k] - v) / max(abs(v), 1e-12) for k, v in wanted.items()}
    mine = {r["prompt"]: r["position"] for r in ours["first_flip"]}
    other = []  # (prompt, ours, theirs, ONNX Runtime's margins at the earlier one)
    for k, (at, margins) in flips.items():
        if mine.get(k) != at:
            earlier = min(p for p in (at, mine.get(k)) if p is not None)
            other.append((k, mine.get(k), at, tuple(round(m, 3) for m in margins[earlier])))
    wrong = [t for t in other if min(t[3]) > (EVEN_WITH_TIES if ties else EVEN)]
    holds = (apart["loss_float"] < 1e-4 and apart["loss_quantized"] < 1e-3 and not wrong
             and (apart["kl_mean"] < 0.05 or abs(ours["kl_mean"] - wanted["kl_mean"]) < 1e-6)
             and abs(ours["top1_agreement"] - wanted["top1_agreement"]) <= (0.02 if ties else 0.01))
    said = (f"loss {wanted['loss_quantized']:.4f} ({apart['loss_quantized']:.0e})  KL {wanted['kl_mean']:.5f} "
            f"({apart['kl_mean']:.0e})  top1 {wanted['top1_agreement']:.3f} ({ours['top1_agreement'] - wanted['top1_agreement']:+.3f})  "
            f"flips {sum(f[0] is not None for f in flips.values())}, elsewhere {other if other else 'none'}")
    return said, holds


def rounds_rows(path):
    """Whether products round their rows to codes of 8 bits."""
    nodes = onnx.load(path, load_external_data=False).graph.node
    said = lambda n, name: next((a.i for a in n.attribute if a.name == name), 0)
    return any(n.op_type == "DequantizeLinear"  # of which ONNX Runtime makes products of level 4
               or said(n, "accuracy_level") == 4 or (n.op_type == "QMoE" and said(n, "expert_weight_bits") == 8) for n in nodes)


def examine(options, architecture, form):
    """(line, whether all is well)."""
    folder = options.folder / architecture
    source, float_path = folder / "hf", folder / "fp32" / "model.onnx"
    if not source.exists():
        made.save_random(architecture, source)
    try:
        path = made.build(source, form, folder / form)
    except Exception as e:
        return f"the builder refuses: {type(e).__name__} {str(e)[:90]}", True
    if not float_path.exists():
        made.build(source, "fp32", folder / "fp32")
    try:
        session(path)
    except Exception as e:
        return f"ONNX Runtime refuses what the builder wrote: {type(e).__name__} {str(e)[:90]}", True
    ties = rounds_rows(path)
    prefill, decoding, why, explained_all = steps(options, path, folder, ties)
    codes = max(prefill.codes, decoding.codes)
    said = f"prefill {prefill.floats:.0e}  decoding {decoding.floats:.0e}"
    if codes:
        said += f"  codes {codes:.1e} by {max(prefill.apart, decoding.apart)}"
    well = max(prefill.floats, decoding.floats) < (0.05 if ties else SMALL) and codes < (0.1 if ties else 1e-4) and explained_all
    outputs = {o.name: o.shape for o in session(path).get_outputs()}
    if "logits" in outputs and form not in ("no_embeds", "pruned_head", "fp32"):
        more, holds = language(options, float_path, path, folder, ties)
        said, well = said + "  " + more, well and holds
    return "\n      ".join([said, *why]), well


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="*", help="ARCHITECTURE/FORM as a pattern")
    p.add_argument("--all", action="store_true", help="every form of every architecture")
    p.add_argument("--cli", type=pathlib.Path, default=ROOT / "build/release/bin/quantscope-cli")
    p.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/parity-builder")
    p.add_argument("--verbose", action="store_true", help="say where exceptions came from")
    p.add_argument("--fresh", action="store_true", help="make the models again")
    options = p.parse_args()
    if options.fresh:
        shutil.rmtree(options.folder, ignore_errors=True)
    bad = count = 0
    for architecture in made.ARCHITECTURES:
        for form in made.FORMS:
            if not options.all and architecture not in EVERY_FORM and form not in ("fp32", "int4", "acc0"):
                continue
            if not fnmatch.fnmatch(f"{architecture}/{form}", options.only):
                continue
            try:
                said, well = examine(options, architecture, form)
            except Exception as e:
                refused = type(e).__module__.startswith("onnxruntime")  # what the builder wrote for other devices, say
                said, well = f"{'ONNX Runtime refuses: ' if refused else ''}{type(e).__name__} {str(e)[:500]}", refused
                if options.verbose:
                    traceback.print_exc()
            count, bad = count + 1, bad + (not well)
            print(f"{'  ' if well else '! '}{architecture:14} {form:15} {said}", flush=True)
    print(f"{count} files, {bad} with something off; onnxruntime {ort.__version__}, onnxruntime-genai {onnxruntime_genai.__version__}")
    sys.exit(bad > 0)


main()
