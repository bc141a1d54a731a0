#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs what `quantscope-cli quantize --format weight-only` writes in ONNX Runtime and in `quantscope-cli run`, and the
script of `--script`.

    weight_only_run.py [--cli PATH] [--only SUBSTRING] [--net SUBSTRING]

For each option set of weight_only.py and net: the file loads in ONNX Runtime, both give the same outputs within 1e-4 of
their size, and the script makes the same file (where ONNX Runtime can). Exit 1 when one does not.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime as ort

import weight_only
from quantizer import Net, differences, exclude_of, known, recipe_of
from quantizer_cases import CASES
from quantizer_nets import NETS

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip())[-300:])


def farthest(net, path, data, folder, cli):
    """Largest difference of any output, relative to the largest value of that output."""
    how = ort.SessionOptions()
    how.log_severity_level = 4
    # Otherwise it would multiply what a DequantizeLinear gives with activations of 8 bits.
    how.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
    session = ort.InferenceSession(path, how, providers=["CPUExecutionProvider"])
    out = os.path.join(folder, "out.npz")
    run([cli, "run", path, "--data", data, "--out", out, "--quiet"])
    ours = np.load(out)
    worst = 0.0
    for k, feed in enumerate(net.feeds):
        for name, theirs in zip([o.name for o in session.get_outputs()], session.run(None, feed)):
            mine = ours[name][k].astype(np.float64).reshape(theirs.shape)
            theirs = theirs.astype(np.float64)
            if not np.all(np.isfinite(mine) & np.isfinite(theirs)):
                return float("inf")
            worst = max(worst, float(np.max(np.abs(mine - theirs)) / max(np.max(np.abs(theirs)), 1e-30)))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=os.path.join(HERE, "../../build/release/bin/quantscope-cli"))
    parser.add_argument("--only", default="")
    parser.add_argument("--net", default="")
    args = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        nets = [Net(name, make(), folder) for name, make in {**NETS, **weight_only.NETS}.items() if args.net in name]
        for name, case in CASES.items():
            if case.get("format") != "weight-only" or args.only not in name:
                continue
            cells = []
            for net in nets:
                if not case["when"](net):
                    continue
                data, recipe = os.path.join(folder, "data.npz"), os.path.join(folder, "recipe.json")
                made, script, theirs = (os.path.join(folder, f) for f in ("made.onnx", "make.py", "theirs.onnx"))
                weight_only.write_data(net, data)
                with open(recipe, "w", encoding="utf-8") as f:
                    json.dump(recipe_of(net, case), f)
                try:
                    run([args.cli, "quantize", net.path, "-o", made, "--recipe", recipe, "--data", data, "--script", script,
                         "--quiet"])
                    error = farthest(net, made, data, folder, args.cli)
                    limit = 2e-2 if "half" in net.name else 1e-4 if case.get("accuracy") != 4 else 4e-3
                    bad += error > limit
                    cells.append(f"{net.name}:{error:.0e}" + ("!" if error > limit else ""))
                except Exception as e:  # noqa: BLE001
                    if name == "weight-only 8 hqq" and "MatMulNBits" in str(e):
                        cells.append(f"{net.name}:listed")  # its CPU has no 8-bit kernel for real zero points
                        continue
                    bad += 1
                    cells.append(f"{net.name}:FAILS")
                    print(f"  {name} {net.name}: {type(e).__name__}: {str(e)[:300]}")
                    continue
                try:
                    weight_only.theirs(net, case, exclude_of(case, net), theirs)
                except Exception:  # noqa: BLE001 - ONNX Runtime cannot
                    continue
                if os.path.exists(theirs):
                    os.remove(theirs)
                try:
                    run([sys.executable, script, net.path, theirs, data])
                    found = [d for d in differences(theirs, made)[0] if "only ONNX Runtime's has it" not in d and not known(name, net)]
                    bad += bool(found)
                    cells[-1] += ",script:" + ("=" if not found else str(found[:1]))
                except RuntimeError as e:
                    bad += 1
                    cells[-1] += ",SCRIPT-FAILS"
                    print(f"  {name} {net.name}: {e}")
            print(f"{name:40} " + " ".join(cells), flush=True)
    print(f"{bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
