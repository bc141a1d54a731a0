#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a transformer whose attention mask adds -3.4e38, as PyTorch exports of BERT do: quantized by ONNX
Runtime's tools and by `quantscope-cli quantize`, with each calibrator, from the same samples.

    masked_transformer.py [--cli PATH] [--keep FOLDER]

Needs a Python with torch, onnx, onnxruntime and numpy. Prints the SQNR of both files' outputs in ONNX Runtime. Exit 1
unless ours stays above 10 dB by every calibrator and says why it keeps the constant out, and --ort-defaults makes ONNX
Runtime's file in every bit (with its ranges; with our own calibration its scales within 1e-5)."""
import argparse
import contextlib
import io
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime.quantization import CalibrationMethod, quantize_static
from torch import nn

import quantizer
from quantizer_torch_nets import exported

SAMPLES, LENGTH, WIDTH, HEADS, WORDS = 16, 24, 64, 4, 200
METHODS = {"minmax": CalibrationMethod.MinMax, "percentile": CalibrationMethod.Percentile, "entropy": CalibrationMethod.Entropy}


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        for linear in (self.q, self.k):  # as decided as trained attention is; by default all would look alike
            nn.init.normal_(linear.weight, std=0.3)

    def forward(self, x, mask):
        def heads(y):
            return y.view(y.shape[0], LENGTH, HEADS, -1).transpose(1, 2)

        scores = heads(self.q(x)) @ heads(self.k(x)).transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        mixed = torch.softmax(scores + mask, dim=-1) @ heads(self.v(x))
        x = self.norm1(x + self.out(mixed.transpose(1, 2).reshape(x.shape)))
        return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))


class Bert(nn.Module):
    """Embeddings, two layers, a head; the mask is made as transformers' BertModel makes it."""

    def __init__(self):
        super().__init__()
        self.words, self.places, self.norm = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH), nn.LayerNorm(WIDTH)
        self.layers, self.head = nn.ModuleList([Layer(), Layer()]), nn.Linear(WIDTH, 10)

    def forward(self, ids, mask):
        x = self.norm(self.words(ids) + self.places.weight)
        added = (1.0 - mask[:, None, None, :]) * torch.finfo(torch.float32).min
        for layer in self.layers:
            x = layer(x, added)
        return self.head(x)


def feeds(seed, count):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        length = rng.integers(LENGTH // 2, LENGTH)
        mask = (np.arange(LENGTH) < length).astype(np.float32)
        made.append({"ids": rng.integers(0, WORDS, (1, LENGTH)), "mask": mask[None]})
    return made


def outputs(path, samples):
    session = quantizer.session(path)
    return [session.run(None, feed)[0] for feed in samples]


def sqnr(expected, path, samples):
    error = sum(float(np.sum((a.astype(float) - b) ** 2)) for a, b in zip(expected, outputs(path, samples)))
    return 10 * np.log10(sum(float(np.sum(a.astype(float) ** 2)) for a in expected) / error)


def cli(program, *arguments):
    done = subprocess.run([program, "quantize", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout + done.stderr


def largest_difference(a_path, b_path):
    """Of the scales, relative; and whether all else but zero points and codes of constants is equal."""
    a, b = ({i.name: onnx.numpy_helper.to_array(i) for i in onnx.load(p).graph.initializer} for p in (a_path, b_path))
    nodes = [quantizer.contents(onnx.load(p).graph)[0] for p in (a_path, b_path)]
    if a.keys() != b.keys() or nodes[0] != nodes[1]:
        return float("inf")
    return max(np.max(np.abs(a[n] - b[n]) / np.abs(a[n])) for n in a if n.endswith("_scale"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=os.path.join(quantizer.HERE, "../../build/release/bin/quantscope-cli"))
    parser.add_argument("--keep", help="folder that the models are left in")
    args = parser.parse_args()
    failures = 0
    with contextlib.ExitStack() as stack:
        folder = args.keep or stack.enter_context(tempfile.TemporaryDirectory())
        path, data = os.path.join(folder, "float.onnx"), os.path.join(folder, "data.npz")
        onnx.save(exported(Bert, [((1, LENGTH), torch.int64), ((1, LENGTH), torch.float32)], ["ids", "mask"]), path)
        calibration, test = feeds(1, SAMPLES), feeds(2, 8)
        np.savez(data, **{n: np.stack([f[n] for f in calibration]) for n in calibration[0]})
        expected = outputs(path, test)
        print("calibrator   ONNX Runtime                              Quantscope")
        for name, method in METHODS.items():
            theirs, ours = os.path.join(folder, name + "_ort.onnx"), os.path.join(folder, name + ".onnx")
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    quantize_static(path, theirs, quantizer.Reader(calibration), calibrate_method=method)
                told = f"{sqnr(expected, theirs, test):.1f} dB"
            except Exception as e:  # noqa: BLE001
                told = f"{type(e).__name__}: {e}"
            said = cli(args.cli, path, "-o", ours, "--data", data, "--method", name)
            db = sqnr(expected, ours, test)
            failures += db < 10 or "stays float" not in said
            print(f"{name:12} {told[:41]:41} {db:.1f} dB")
        print("said:", next((line for line in said.splitlines() if "stays float" in line), "nothing").strip())

        default, cache = os.path.join(folder, "defaults.onnx"), os.path.join(folder, "ranges.json")
        if os.path.exists(cache):  # would be read
            os.remove(cache)
        quantize_static(path, os.path.join(folder, "again.onnx"), quantizer.Reader(calibration), calibration_cache_path=cache)
        theirs = os.path.join(folder, "minmax_ort.onnx")
        cli(args.cli, path, "-o", default, "--ort-defaults", "--ranges", cache, "--quiet")
        found = quantizer.differences(theirs, default)[0]
        print("--ort-defaults with ONNX Runtime's ranges:", f"{len(found)} differences" if found else "equal in every bit")
        cli(args.cli, path, "-o", default, "--ort-defaults", "--data", data, "--quiet")
        worst = largest_difference(theirs, default)
        print(f"--ort-defaults with our own calibration: scales within {worst:.1e}")
        failures += bool(found) or not worst < 1e-5
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
