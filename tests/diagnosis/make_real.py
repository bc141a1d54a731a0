#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds pairs of real networks to the corpus: make_real.py FOLDER MODELS

MODELS is a folder of public models: mnist/float.onnx, micro_kws/, torch_vs_ort/, ppocr_v4/, mobilenetv2_qdq/; what is not
there is left out. Variants and truth as for the networks of our own; files that PyTorch quantized are taken as they are."""
import argparse
import functools
import pathlib
import signal

import numpy as np
import onnx

import make_pairs
import torch_quantizing
import truth
from pair_plans import Plan
from values import all_values

PLANS = (
    Plan("given", "given", style="u8s8"),
    Plan("given", "given", ("scrambled",), "s8_symmetric"),
    Plan("given", "given", ("preprocessed",), "u8s8_channel"),
    Plan("given", "given", ("preprocessed", "scrambled"), "qoperator"),
    Plan("given", "given", ("basic", "scrambled"), "dynamic"),
    Plan("given", "given", ("extended",)),
    Plan("given", "given", ("extended", "scrambled"), "u8s8"),
    Plan("given", "given", ("half",)),
    Plan("given", "given", ("tensorflow",), "reduced"),
    Plan("given", "given", ("scrambled",), "u8s8", "basic"),
    Plan("given", "given", style="s16_symmetric"),
)


def stored(path, name, count):
    array = np.load(path)[name].astype(np.float32)
    return array[np.arange(count) % len(array)]


def pictures(shape):
    def make(count):
        draw = np.random.default_rng(9)
        x = draw.normal(size=(count, *shape))
        for axis in (2, 3):
            x = x + 0.7 * np.roll(x, 1, axis)
        return x.astype(np.float32)
    return make


def sources(models):
    """{network: (file, function that gives so many samples, other files that PyTorch made)}"""
    kws, torch_files = models / "micro_kws", models / "torch_vs_ort"
    return {
        "real_mnist": (models / "mnist" / "float.onnx", lambda n: pictures((1, 28, 28))(n) * 60 + 60, ()),
        "real_kws": (kws / "float.onnx", lambda n: stored(kws / "samples.npz", "input", n)[:, 0], ()),
        "real_digits": (torch_files / "float_ts.onnx", lambda n: stored(torch_files / "samples.npz", "input", n),
                        [p for p in sorted(torch_files.glob("torch_*.onnx")) if "qat" not in p.name]),
        "real_digits_dynamo": (torch_files / "float_dynamo.onnx", lambda n: stored(torch_files / "samples.npz", "input", n),
                               [p for p in sorted(torch_files.glob("torch_*.onnx")) if "qat" not in p.name]),
        "real_ocr_class": (next(models.glob("ppocr_v4/*cls*.onnx"), models / "none"), lambda n: pictures((3, 48, 192))(n) * 0.5, ()),
        "real_mobilenet": (models / "mobilenetv2_qdq" / "float.onnx", pictures((3, 244, 244)), ()),
    }


class RealMaker(make_pairs.Maker):
    def __init__(self, name, folder, path, samples, few):
        self.name, self.folder, self.path, self.net = name, folder, path, None
        folder.mkdir(parents=True, exist_ok=True)
        self.key = onnx.load(str(path)).graph.input[0].name
        count = 4 if few else 16
        whole = {self.key: samples(3 + count)}
        self.data = {k: v[:3] for k, v in whole.items()}
        self.calibration = {k: v[3:] for k, v in whole.items()}
        np.savez(folder / "data.npz", **self.data)

    @functools.lru_cache(None)
    def exported(self, kind):
        model = onnx.load(str(self.path))
        del model.graph.value_info[:]
        return onnx.shape_inference.infer_shapes(model)

    def taken(self, path):
        """A pair with a file that PyTorch made."""
        floats, values = self.base("given", ())
        quantized = onnx.load(str(path))
        document = truth.pairs_by_bypass(floats, values, quantized, all_values(torch_quantizing.bypassed(quantized), self.data))
        document["doubtful"] = []  # some are badly calibrated on purpose
        self.write(Plan("given", path.stem, style="torch"), quantized, document)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("models", type=pathlib.Path)
    asked = options.parse_args()
    signal.signal(signal.SIGALRM, make_pairs.too_long)
    for name, (path, samples, others) in sources(asked.models).items():
        if not path.exists():
            continue
        large = path.stat().st_size > 4e6
        maker, made = RealMaker(name, asked.folder / "pairs" / name, path, samples, large), 0
        jobs = [(p.name, lambda p=p: maker.make(p)) for p in (PLANS[:4] if large else PLANS)]
        for label, job in [*jobs, *((p.stem, lambda p=p: maker.taken(p)) for p in others)]:
            try:
                signal.alarm(make_pairs.LIMIT_SECONDS * (4 if large else 1))
                job()
                made += 1
            except Exception as error:
                print(f"{name} {label}: {' '.join(str(error).split())[:200]}")
            signal.alarm(0)
        print(f"{name}: {made} pairs", flush=True)


if __name__ == "__main__":
    main()
