#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes files with one planted fault each, and healthy ones: make_faults.py FOLDER [--nets a,b] [--kinds GLOB]

FOLDER/faults/NET-NNN-KIND/: fault.json (the truth), the files and the samples; FOLDER/healthy/NET-STYLE/ likewise.
A fault counts only if it costs at least 3 dB at the output, by ONNX Runtime, against the good file of its style."""
import argparse
import fnmatch
import json
import pathlib
import time
import zlib

import numpy as np
import onnx

import fault_ranges
import fault_weights
import healthy
import trained
from measuring import accuracy, outputs, sqnr

COSTS_DB = 3.0
# kind: (function, how many of it in each network, style of the good file)
KINDS = {
    "range_too_small": (fault_ranges.range_too_small, 4, "u8s8_channel"),
    "range_too_large": (fault_ranges.range_too_large, 3, "u8s8"),
    "zero_point_moved": (fault_ranges.zero_point_moved, 2, "u8s8_channel"),
    "zero_point_apart": (fault_ranges.zero_point_apart, 3, "u8s8"),
    "wrong_calibration": (fault_ranges.wrong_calibration, 2, "u8s8_channel"),
    "noise_calibration": (fault_ranges.noise_calibration, 1, "u8s8_channel"),
    "other_data": (fault_ranges.other_data, 1, "u8s8_channel"),
    "softmax_range": (fault_ranges.softmax_range, 1, "u8s8"),
    "mask_ruins": (fault_ranges.mask_ruins, 3, "u8s8"),
    "weight_channel_scale": (fault_weights.weight_channel_scale, 2, "u8s8_channel"),
    "weight_perturbed": (fault_weights.weight_perturbed, 2, "u8s8"),
    "qoperator_perturbed": (fault_weights.qoperator_perturbed, 1, "qoperator_channel"),
    "dynamic_perturbed": (fault_weights.dynamic_perturbed, 1, "dynamic"),
    "bias_scale": (fault_weights.bias_scale, 2, "u8s8"),
    "bias_saturated": (fault_weights.bias_saturated, 1, "u8s8"),
    "unlike_channels": (fault_weights.unlike_channels, 2, "u8s8"),
    "outlier_channel": (fault_weights.outlier_channel, 1, "u8s8_channel"),
    "unlike_branches": (fault_weights.unlike_branches, 3, "u8s8_channel"),
    "activation_lost": (fault_weights.activation_lost, 3, "s8_symmetric"),
    "int4_a_tensor": (fault_weights.int4_a_tensor, 1, "u16s8"),
    "int4_large_blocks": (fault_weights.int4_large_blocks, 1, "int4"),
    "int4_block_scale": (fault_weights.int4_block_scale, 2, "int4"),
    "saturating": (fault_weights.saturating, 3, "u8s8_channel"),
    "one_class": (fault_ranges.one_class, 1, "u8s8_channel"),
}


def write(folder, floats, model, data, labels, document):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(floats, str(folder / "float.onnx"))
    onnx.save(model, str(folder / "quantized.onnx"))
    np.savez(folder / "data.npz", **data, labels=labels)
    (folder / "fault.json").write_text(json.dumps(document, indent=1))


def make_healthy(subject, folder):
    for style in healthy.STYLES:
        if not subject.offers(style):
            continue
        best = subject.best(style)
        write(folder / f"{subject.name}-{style}", subject.floats, best["model"], subject.data, subject.labels,
              {"net": subject.name, "style": style, "db": best["db"], "accuracy": best["accuracy"],
               "float_accuracy": subject.accuracy, "healthy": best["healthy"]})


def planted(subject, kind, folder, start):
    """How many of this kind were made."""
    function, count, style = KINDS[kind]
    draw, made = np.random.default_rng(zlib.crc32(f"{subject.name} {kind}".encode())), 0
    if not subject.offers(style) or not subject.best(style)["healthy"]:
        return 0
    for description, model, truth, more in function(subject, draw):
        if made == count:
            break
        floats, data = more.get("floats", subject.floats), more.get("data", subject.data)
        reference = subject.logits if not more else outputs(floats, data)
        logits = outputs(model, data)
        db = sqnr(reference, logits)
        good = sqnr(reference, outputs(more["good"], data)) if "good" in more else subject.best(style)["db"]
        if good - db < COSTS_DB and "arithmetic" not in truth:  # what another CPU makes of it is not ONNX Runtime's here
            continue
        good = db if "arithmetic" in truth else good  # as the file says, without that CPU
        made += 1
        write(folder / f"{subject.name}-{start + made:03d}-{kind}", floats, model, data, subject.labels,
              {"net": subject.name, "kind": kind, "style": style, "what": description, "db": db, "good_db": good,
               "accuracy": accuracy(logits, subject.labels), "good_accuracy": subject.best(style)["accuracy"], **truth})
    return made


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--nets", default=",".join(trained.TRAINED))
    options.add_argument("--kinds", default="*")
    asked = options.parse_args()
    kept = asked.folder / "trained"
    kept.mkdir(parents=True, exist_ok=True)
    total, failed = 0, []
    for name in asked.nets.split(","):
        begin, count = time.time(), 0
        subject = healthy.Subject(name, kept)
        if asked.kinds == "*":
            make_healthy(subject, asked.folder / "healthy")
        for kind in KINDS:
            if fnmatch.fnmatch(kind, asked.kinds):
                try:
                    count += planted(subject, kind, asked.folder / "faults", 10 * list(KINDS).index(kind))
                except Exception as error:
                    failed.append(f"{name} {kind}: {type(error).__name__}: {' '.join(str(error).split())[:200]}")
        total += count
        print(f"{name}: {count} faults, {time.time() - begin:.0f} s", flush=True)
    print(f"{total} faults; failed: {len(failed)}")
    print("\n".join(failed))


if __name__ == "__main__":
    main()
