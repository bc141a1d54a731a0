#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the corpus of pairs: make_pairs.py FOLDER [--nets a,b] [--plans GLOB] [--again]

FOLDER/pairs/NET/: data.npz, the float files, PLAN.onnx and PLAN.json with the truth."""
import argparse
import fnmatch
import functools
import json
import pathlib
import signal
import time

import numpy as np
import onnx
import torch

import exporting
import nets
import quantizing
import torch_quantizing
import truth
import variants
from pair_plans import STYLE_NONE, plans
from values import all_values

TOLERANCE = {"half": 4e-2}
LIMIT_SECONDS = 90  # some files make ONNX Runtime's quantizer run for ever


class Maker:
    def __init__(self, name, folder):
        self.name, self.net, self.folder = name, nets.NETS[name], folder
        folder.mkdir(parents=True, exist_ok=True)
        self.data = nets.samples(name, 4, seed=11)
        self.calibration = nets.samples(name, 24, seed=12)
        np.savez(folder / "data.npz", **self.data)

    @functools.lru_cache(None)
    def exported(self, kind):
        feeds = tuple(torch.from_numpy(v[:1]) for v in self.data.values())
        model = exporting.export(nets.network(self.name), feeds, list(self.data), kind)
        del model.graph.value_info[:]
        return onnx.shape_inference.infer_shapes(model)

    def changed(self, model, steps):
        for step in steps:
            model = {"scrambled": variants.scrambled, "tensorflow": variants.tensorflow_names, "half": variants.half,
                     "preprocessed": variants.preprocessed, "basic": lambda m: variants.optimized(m, "basic"),
                     "extended": lambda m: variants.optimized(m, "extended"),
                     "transformer": lambda m: variants.transformer_optimized(m, self.net)}[step](model)
        return model

    @functools.lru_cache(None)
    def base(self, kind, steps):
        """(float file, its values); the file is written."""
        model = self.changed(self.exported(kind), steps)
        onnx.save(model, str(self.folder / self.base_name(kind, steps)))
        return model, truth.finite_values(model, self.data)

    @staticmethod
    def base_name(kind, steps):
        return f"float-{'-'.join((kind, *steps))}.onnx"

    def make(self, plan):
        floats, values = self.base(plan.base, plan.base_steps)
        if plan.other in torch_quantizing.KINDS:
            quantized, document = self.made_by_torch(plan, floats, values)
        else:
            start = floats if plan.base_steps and plan.base == plan.other else self.exported(plan.other)
            if plan.needs and not any(n.op_type == plan.needs for n in start.graph.node):
                return False
            quantized, document = self.made_by_runtime(plan, floats, values, start)
        self.write(plan, quantized, document)
        return True

    def write(self, plan, quantized, document):
        onnx.save(quantized, str(self.folder / f"{plan.name}.onnx"))
        document |= {"net": self.name, "plan": plan.name, "float": self.base_name(plan.base, plan.base_steps),
                     "quantized": f"{plan.name}.onnx", "data": "data.npz", "style": plan.style}
        (self.folder / f"{plan.name}.json").write_text(json.dumps(document, indent=1))

    def made_by_runtime(self, plan, floats, values, start):
        structure = self.changed(start, plan.steps)
        quantized = structure if plan.style == STYLE_NONE else \
            quantizing.quantized(onnx.ModelProto.FromString(structure.SerializeToString()), plan.style, self.calibration)
        if plan.after:
            quantized = variants.optimized(quantized, plan.after)
        tolerance = max([TOLERANCE.get(s, 1e-3) for s in plan.steps], default=1e-3)
        computed = all_values(quantized, self.data)
        document = truth.true_pairs(floats, values, structure, quantized, computed, self.data, tolerance)
        document["doubtful"] = doubtful(values, computed, document)
        return quantized, document

    @functools.lru_cache(None)
    def torch_file(self, kind):
        return torch_quantizing.quantized(nets.network(self.name), kind, self.calibration)

    def made_by_torch(self, plan, floats, values):
        quantized = self.changed(self.torch_file(plan.other), plan.steps)
        without = torch_quantizing.bypassed(quantized)
        computed = all_values(without, self.data)
        if any(truth.distance(values[o.name], computed[o.name]) > 0.1 for o in floats.graph.output):
            raise ValueError("PyTorch made another network: a folded BatchNormalization whose input has other readers")
        document = truth.pairs_by_bypass(floats, values, quantized, computed)
        document["doubtful"] = doubtful(values, all_values(quantized, self.data), document)
        return quantized, document


def doubtful(a, b, document):
    """Pairs of the truth whose numbers are not alike in the quantized file itself: the truth, too, is to be checked."""
    out = []
    for name, pair in document["values"].items():
        for other in pair["accept"]:
            if name in a and other in b and a[name].size == b[other].size:
                x, y = a[name].astype(np.float64).ravel(), b[other].astype(np.float64).ravel()
                if y.std() > 0 and x.std() > 0 and abs(np.corrcoef(x, y)[0, 1]) < 0.6:
                    out.append([name, other, round(float(np.corrcoef(x, y)[0, 1]), 3)])
    return out


def too_long(*_):
    raise TimeoutError(f"not done after {LIMIT_SECONDS} s")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--nets", default=",".join(nets.NETS))
    options.add_argument("--plans", default="*")
    options.add_argument("--again", action="store_true", help="also those that are there")
    asked = options.parse_args()
    made, failed = 0, []
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, too_long)
    for name in asked.nets.split(","):
        maker, begin = Maker(name, asked.folder / "pairs" / name), time.time()
        for plan in plans(maker.net):
            if not fnmatch.fnmatch(plan.name, asked.plans):
                continue
            if (maker.folder / f"{plan.name}.json").exists() and not asked.again:
                made += 1
                continue
            try:
                signal.alarm(LIMIT_SECONDS)
                made += maker.make(plan)
            except Exception as error:
                failed.append(f"{name} {plan.name}: {' '.join(str(error).split())[:200]}")
            signal.alarm(0)
        print(f"{name}: {made} pairs so far, {time.time() - begin:.0f} s", flush=True)
    print(f"{made} pairs; {len(failed)} could not be made:")
    print("\n".join(failed))


if __name__ == "__main__":
    main()
