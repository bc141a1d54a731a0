# SPDX-License-Identifier: GPL-3.0-or-later
"""Does what a remedy says, by the command line alone: the recipe that the file was made with, the change, a new file."""
import collections
import json
import math
import pathlib
import shlex
import subprocess
import tempfile

import numpy
import onnx
import onnxruntime

from editing import with_range
from running import Refused, command, compare, shown

ANEW = ("recalibrate", "requantize", "asymmetric_activations")  # need data: other ranges than those of the file


def worst_db(document):
    """SQNR of the worst output; None where all are exact."""
    found = [o["sqnr_db"] for o in document["outputs"] if o["sqnr_db"] is not None]
    return min(found, default=None)


def run(parts):
    done = subprocess.run(parts, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise Refused(f"exit {done.returncode}: {done.stderr.strip()[:300]}  ({shown(parts)})")


def changed_recipe(recipe, change):
    """The part of a change that has no option of the command line."""
    if change["kind"] == "set_range":
        part = recipe.setdefault("tensors", {}).setdefault(change["tensor"], {})
        part |= {"lowest": change["range"][0], "highest": change["range"][1]}
        for key in ("scale", "zero_point"):
            part.pop(key, None)
    if change["kind"] == "per_channel":
        recipe.setdefault("tensors", {}).setdefault(change["tensor"], {})["axis"] = change["axis"]
    if change["kind"] == "eight_bit_weight":
        recipe.setdefault("tensors", {}).setdefault(change["tensor"], {}).update(type="int8", axis=change["axis"])
    if change["kind"] == "keep_extreme_constants":
        recipe["keep_extreme_constants"] = True
    return recipe


def all_changes(finding):
    """Those of all places that the finding speaks of: its button does them together."""
    out = []
    for part in [finding, *finding.get("places", [])]:
        if part.get("change") and part["change"] not in out:
            out.append(part["change"])
    return out + [c for c in finding.get("together_with") or [] if c not in out]


def db_in_onnxruntime(folder, mended):
    """SQNR of the worst output of the mended file, both run by ONNX Runtime without optimizations."""
    def outputs(path, feeds):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        names = [i.name for i in session.get_inputs()]
        return [session.run(None, {n: feed[n] for n in names if n in feed}) for feed in feeds]

    data = numpy.load(folder / "data.npz")
    ranks = {i.name: len(i.type.tensor_type.shape.dim) for i in onnx.load(str(folder / "float.onnx")).graph.input}
    count = max(len(data[n]) for n in ranks if n in data)
    feeds = [{n: data[n][i] if data[n].ndim > ranks[n] else data[n][i:i + 1] for n in ranks if n in data} for i in range(count)]
    signal, noise = collections.Counter(), collections.Counter()
    for x, y in zip(outputs(folder / "float.onnx", feeds), outputs(mended, feeds)):
        for i, (a, b) in enumerate(zip(x, y)):
            signal[i] += float((a.astype("f8") ** 2).sum())
            noise[i] += float(((a.astype("f8") - b) ** 2).sum())
    found = [10 * math.log10(signal[i] / noise[i]) for i in signal if noise[i] > 0 and signal[i] > 0]
    return min(found, default=None)


def by_hand(cli, floats, quantized, data, changes, more, out):
    """Where the program makes no recipe of the file: the ranges alone, in the file itself."""
    model = onnx.load(str(quantized))
    for change in changes:
        model = with_range(model, change["tensor"], *change["range"])
        if model is None:
            raise Refused(f"{change['tensor']} has no quantizer of its own in {quantized}")
    onnx.save(model, str(out))
    return compare(cli, floats, out, data, *more)[0], "ranges written by hand", False


def applied(cli, floats, quantized, data, changes, more=()):
    """The document of the comparison after these changes, the command that made it, and whether it had to find ranges
    that the change would have kept (then it says less about what was promised). `changes` are values of `change`
    in JSON; one that brings a recipe of its own is done by that."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        recipe, ranges, out = folder / "recipe.json", folder / "ranges.json", folder / "out.onnx"
        like = command(cli, "quantize", floats, "-o", folder / "like.onnx", "--like", quantized, "--save-recipe", recipe, "--quiet")
        fresh = False  # ranges anew: the file does not show all of them
        try:
            run([*like, "--save-ranges", ranges])
        except Refused:
            try:  # a form without ranges
                run(like)
            except Refused:
                if all(c["kind"] == "set_range" for c in changes):
                    return by_hand(cli, floats, quantized, data, changes, more, out)
                run([*like, "--data", data])
                fresh = True
        document = json.loads(recipe.read_text())
        options, anew = [], False
        for change in changes:
            document = change["recipe"] if isinstance(change.get("recipe"), dict) else changed_recipe(document, change)
            anew |= change["kind"] in ANEW or "--data" in change.get("options", "")
            own = shlex.split(change.get("options", ""))
            own = [o for k, o in enumerate(own) if o != "--data" and (k == 0 or own[k - 1] != "--data")]
            if not (change["kind"] == "per_channel" and change.get("tensor")):
                options += own
        recipe.write_text(json.dumps(document))
        last = command(cli, "quantize", floats, "-o", out, "--recipe", recipe, *options, "--quiet", "--threads", 1)
        try:
            run([*last, *(["--data", data] if anew or not ranges.exists() else ["--ranges", ranges])])
        except Refused:  # a change that quantizes tensors of which the file shows no range
            run([*last, "--data", data])
            fresh = True
        return compare(cli, floats, out, data, *more)[0], shown(last), fresh and not anew
