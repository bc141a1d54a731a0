#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants damage in quantized language models and asks `quantscope-cli compare --blame` who moved the guess.

    blame.py FOLDER [--variants NAME,NAME,...] [--cases N] [--seed N] [--share S] [--cli PATH] [--verbose]

FOLDER holds models of onnxruntime-genai's builder, `fp32/model.onnx` and `NAME/model.onnx` by variant, and
`prompts.npz` with input_ids, attention_mask and empty float caches, as the float model reads them. Default: 60 cases over int4, int4_acc0_b64 and kv8.

A case is one variant with one damage. Variants whose caches have scales get a damaged cache channel, others in turn
one block of one MatMulNBits (one output channel) and the scales of one whole MatMulNBits:

    block   the scale of the block times 2, 4, 8, 16 or 32
    scale   all scales of the node times 1.25, 1.5, 2 or 3
    cache   the scale of one channel of keys or values times, or divided by, 4, 8, 16, 32 or 64

Place and direction are drawn. The least strength is taken that meets the criterion, which ONNX Runtime alone decides:
at the token that somebody would ask about (where the models guess different tokens and KL is largest, else where KL is
largest, over all prompts), the damage accounts for at least the share S (0.5) of what the file does to the difference
of the rivals' scores: |damaged - undamaged| >= S * |damaged - float|. A place where no strength meets it is drawn
again and counted; no place is taken twice.

A case is a hit where the damaged node is the first of all nodes, and its damaged part (rows that hold the block; the
node's cache) the first of all parts of its kind: by the mean size of forward, backward, alone and restored. Exit 1
when less than 95 % are, or when increments do not sum to the total within 1e-6.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import environment

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import numpy_helper
except ImportError:
    environment.run_again(__file__, ["numpy", "onnx==1.22.0", "onnxruntime==1.31.1"])

STRENGTHS = {"block": [2, 4, 8, 16, 32], "scale": [1.25, 1.5, 2, 3], "cache": [4, 8, 16, 32, 64]}
NUMBERS = ("forward", "backward", "alone", "restored")
PAST_TYPES = {"tensor(float)": np.float32, "tensor(int8)": np.int8, "tensor(uint8)": np.uint8}


class Prompts:
    def __init__(self, path):
        data = np.load(path)
        self.path, self.ids, self.mask = path, data["input_ids"], data["attention_mask"]
        self.widths = {name: data[name].shape[3] for name in data.files if data[name].ndim == 4}

    def scores(self, model):
        """Logits [prompts, positions, tokens] of ONNX Runtime, the prompts read in one go."""
        how = ort.SessionOptions()
        how.intra_op_num_threads = 1
        how.log_severity_level = 4
        session = ort.InferenceSession(model, how, providers=["CPUExecutionProvider"])
        feed = {"input_ids": self.ids, "attention_mask": self.mask}
        for past in session.get_inputs():
            if past.name not in feed:
                width = past.shape[3] if isinstance(past.shape[3], int) else self.widths[past.name]
                feed[past.name] = np.zeros((len(self.ids), past.shape[1], 0, width), PAST_TYPES[past.type])
        return session.run(["logits"], feed)[0].astype(np.float64)


def log_probabilities(scores):
    shifted = scores - scores.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def worst_token(floats, scores):
    """(prompt, position) of the guess to look at first."""
    p, q = log_probabilities(floats), log_probabilities(scores)
    divergence = (np.exp(p) * (p - q)).sum(-1)
    flipped = floats.argmax(-1) != scores.argmax(-1)
    order = np.where(flipped, divergence + divergence.max() + 1, divergence)
    prompt, position = np.unravel_index(order.argmax(), order.shape)
    return int(prompt), int(position)


def rivals(floats, scores, place):
    first, second = floats[place].argmax(), scores[place].argmax()
    return (first, second) if first != second else (first, np.argsort(floats[place])[-2])


class Variant:
    def __init__(self, folder, name, prompts):
        self.name = name
        self.model = onnx.load(os.path.join(folder, name, "model.onnx"))
        self.constants = {c.name: i for i, c in enumerate(self.model.graph.initializer)}
        self.scores = prompts.scores(self.model.SerializeToString())
        caches = [n for n in self.model.graph.node if n.op_type == "GroupQueryAttention" and len(n.input) > 13]
        self.caches = [n for n in caches if n.input[12] in self.constants]
        self.products = [n for n in self.model.graph.node if n.op_type == "MatMulNBits"]

    def kinds(self):
        return ("cache",) if self.caches else ("block", "scale")

    def constant(self, name):
        return numpy_helper.to_array(self.model.graph.initializer[self.constants[name]])

    def with_constant(self, name, value):
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        model.graph.initializer[self.constants[name]].CopyFrom(numpy_helper.from_array(value, name))
        return model


class Damage:
    """Of one kind, at a place that is drawn."""

    def __init__(self, variant, kind, draw):
        self.variant, self.kind = variant, kind
        node = draw.choice(variant.caches if kind == "cache" else variant.products)
        self.node = node.name.removesuffix("_Q4")
        self.name = node.input[draw.choice((12, 13)) if kind == "cache" else 2]
        self.scales = variant.constant(self.name)
        self.divides, self.index, self.rows = False, None, None
        if kind == "cache":
            self.index, self.divides = draw.randrange(self.scales.size), draw.random() < 0.5
        elif kind == "block":
            size = {a.name: a.i for a in node.attribute}
            blocks = -(-size["K"] // size["block_size"])
            self.index = draw.randrange(self.scales.size)
            first = self.index % blocks * size["block_size"]
            self.rows = (first, min(first + size["block_size"], size["K"]))

    def place(self):
        return self.variant.name, self.name, self.index, self.divides

    def model(self, strength):
        factor = np.asarray(1 / strength if self.divides else strength, self.scales.dtype)
        scales = self.scales.copy()
        if self.index is None:
            scales *= factor
        else:
            scales.reshape(-1)[self.index] *= factor
        return self.variant.with_constant(self.name, scales)

    def __str__(self):
        where = "" if self.index is None else f"[{self.index}]"
        return f"{self.variant.name} {self.kind} {self.name}{where}"


def meets(damage, floats, prompts, share):
    """The least strength that meets the criterion: (strength, model, place, share of the damage), else None."""
    for strength in STRENGTHS[damage.kind]:
        model = damage.model(strength)
        scores = prompts.scores(model.SerializeToString())
        place = worst_token(floats, scores)
        a, b = rivals(floats, scores, place)
        there, before, wanted = (s[place][a] - s[place][b] for s in (scores, damage.variant.scores, floats))
        if there != wanted and abs(there - before) >= share * abs(there - wanted):
            return strength, model, place, abs(there - before) / abs(there - wanted)
    return None


def blamed(cli, folder, path, prompts, place):
    out = os.path.join(folder, "blame.json")
    command = [cli, "compare", os.path.join(folder, "float.onnx"), path, "--data", prompts.path, "--quiet", "--blame",
               place, "--json", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-300:])
    with open(out, encoding="utf-8") as file:
        return json.load(file)


def moved(unit):
    there = [abs(unit[n]) for n in NUMBERS if unit[n] is not None]
    return sum(there) / len(there)


def first(units, kind):
    return max((u for u in units if u["kind"] == kind), key=moved, default=None)


def hits(damage, units):
    """(the node is first, its part is)"""
    node = first(units, "node")
    named = node is not None and node["unit"] == damage.node
    if damage.kind == "scale":
        return named, named
    part = first(units, "cache" if damage.kind == "cache" else "weight_block")
    inside = part is not None and part["parent"] == damage.node
    if inside and damage.kind == "block":
        low, high = (int(n) for n in part["unit"].rsplit("[", 1)[1][:-1].split(":"))
        inside = low <= damage.rows[0] and damage.rows[1] <= high
    return named, inside


def farthest_sum(document):
    total = document["blamed"]["total"]
    tops = [u for u in document["blame"] if not u["parent"]]
    return max(abs(sum(u[way] for u in tops) - total) for way in ("forward", "backward"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--variants", default="int4,int4_acc0_b64,kv8")
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=0.5)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--cli", default=os.path.join(here, "../../build/release/bin/quantscope-cli"))
    parser.add_argument("--verbose", action="store_true", help="show the first nodes of each case that is no hit")
    options = parser.parse_args()

    prompts = Prompts(os.path.join(options.folder, "prompts.npz"))
    variants = [Variant(options.folder, name, prompts) for name in options.variants.split(",")]
    float_model = onnx.load(os.path.join(options.folder, "fp32", "model.onnx"))
    floats = prompts.scores(float_model.SerializeToString())
    draw, taken, again, same_token, farthest = random.Random(options.seed), set(), 0, 0, 0.0
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(float_model, os.path.join(folder, "float.onnx"))
        path = os.path.join(folder, "damaged.onnx")
        for case in range(options.cases):
            variant = variants[case % len(variants)]
            kind = variant.kinds()[case // len(variants) % len(variant.kinds())]
            found = None
            while found is None:
                damage = Damage(variant, kind, draw)
                if damage.place() in taken:
                    continue
                taken.add(damage.place())
                found = meets(damage, floats, prompts, options.share)
                again += found is None
            strength, model, (prompt, position), share = found
            onnx.save(model, path)
            document = blamed(options.cli, folder, path, prompts, "worst")
            about = document["blamed"]
            if (about["prompt"], about["position"]) == (prompt, position):
                same_token += 1
            else:
                document = blamed(options.cli, folder, path, prompts, f"{prompt}:{position}")
            farthest = max(farthest, farthest_sum(document))
            named, part = hits(damage, document["blame"])
            count = counts.setdefault(kind, [0, 0, 0, 0])
            for i, one in enumerate((1, named, part, named and part)):
                count[i] += one
            print(f"{damage} {'/' if damage.divides else 'x'}{strength} at {prompt}:{position}, share {share:.2f}, "
                  f"moved {document['blamed']['total']:.2f}: {'hit' if named and part else 'MISS'}", flush=True)
            if options.verbose and not (named and part):
                nodes = sorted((u for u in document["blame"] if u["kind"] == "node"), key=moved, reverse=True)
                for unit in nodes[:4] + [u for u in nodes[4:] if u["unit"] == damage.node]:
                    print("   ", unit["unit"], *(f"{n} {unit[n]:.2f}" for n in NUMBERS))
    for kind, (cases, named, part, both) in counts.items():
        print(f"{kind}: {cases} cases, node first {named}, part first {part}, both {both}")
    both = sum(count[3] for count in counts.values())
    print(f"{both} of {options.cases} hits; {again} places drawn again; the token of --blame worst is the same in "
          f"{same_token}; increments sum to the total within {farthest:.2g}")
    return 0 if both >= 0.95 * options.cases and farthest <= 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
