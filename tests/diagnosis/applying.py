# SPDX-License-Identifier: GPL-3.0-or-later
"""Does what a remedy says, by the command line alone: the recipe that the file was made with, the change, a new file."""
import json
import pathlib
import shlex
import subprocess
import tempfile

from running import Refused, command, compare, shown

ANEW = ("recalibrate", "requantize")


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
    if change["kind"] == "keep_extreme_constants":
        recipe["keep_extreme_constants"] = True
    return recipe


def all_changes(finding):
    """Those of all places that the finding speaks of: its button does them together."""
    out = []
    for part in [finding, *finding.get("places", [])]:
        if part.get("change") and part["change"] not in out:
            out.append(part["change"])
    return out


def applied(cli, floats, quantized, data, changes):
    """The document of the comparison after these changes, and the commands that made it. `changes` are values of `change`
    in JSON; one that brings a recipe of its own is done by that."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        recipe, ranges, out = folder / "recipe.json", folder / "ranges.json", folder / "out.onnx"
        static = True
        try:
            run(command(cli, "quantize", floats, "-o", folder / "like.onnx", "--like", quantized, "--save-recipe", recipe,
                        "--save-ranges", ranges, "--quiet"))
        except Refused:  # a form without ranges
            static = False
            run(command(cli, "quantize", floats, "-o", folder / "like.onnx", "--like", quantized, "--save-recipe", recipe, "--quiet"))
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
        source = ["--data", data] if anew or not (static and ranges.exists()) else ["--ranges", ranges]
        last = command(cli, "quantize", floats, "-o", out, "--recipe", recipe, *source, *options, "--quiet", "--threads", 1)
        run(last)
        return compare(cli, floats, out, data)[0], shown(last)
