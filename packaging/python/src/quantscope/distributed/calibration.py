# SPDX-License-Identifier: GPL-3.0-or-later
"""A min-max calibration in shards."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Sequence

from ..errors import BadInput, BadUse, ProgramWarning
from ..inspecting import info
from ..options import arguments, check_options
from ..paths import FilePath
from ..program import Check, read_json, run_program
from ..workspace import Workspace
from .job import Job, absolute, check_folder, check_shards, data_path, fingerprint, with_files
from .ranges import load, merged, save, whole
from .samples import Samples, samples_of

_SET_BY_JOB = {"ranges", "save_ranges", "save_recipe", "calibration_cache", "script", "carry", "text", "limit"}
#: They follow the ranges and change none; each costs a look at all samples.
_LATER = {"adaround": False, "bias_correction": False}
_EMPTY = re.compile(r"^'(?P<tensor>.*)' holds no value in any of the \d+ samples, so its scale is 1$", re.DOTALL)


def _check_calibrator(calibration: Any, where: str) -> None:
    """Only extremes of parts add up to those of the whole."""
    method = calibration.get("method") or "minmax"
    if method != "minmax":
        raise BadUse(
            f"{where}calibration by {method} needs all samples at once: quantscope-cli writes ranges alone, and those "
            "of parts add up for minmax only; use quantscope.quantize with that method, or method='minmax' here"
        )
    for name in ("stride", "max_intermediate_outputs"):
        if calibration.get(name):
            raise BadUse(f"{where}calibration with '{name}' takes samples in order: they cannot be split; leave it out")


def check_recipe(recipe: Any) -> None:
    """Raises BadUse for what cannot be calibrated in parts. `recipe`: as the program wrote it."""
    if recipe.get("format", "qdq") not in ("qdq", "qoperator"):
        raise BadUse(f"the format {recipe['format']} has no calibrated ranges; use quantscope.quantize")
    if recipe.get("smooth_quant") or recipe.get("corrections", {}).get("equalize"):
        raise BadUse(
            "equalization and SmoothQuant change the ranges, so a file with ranges cannot serve them; use "
            "quantscope.quantize with all samples, or leave these corrections out"
        )
    _check_calibrator(recipe.get("calibration", {}), "")
    for name, override in recipe.get("tensors", {}).items():
        _check_calibrator(override.get("calibrator", {}), f"'{name}': ")


@dataclass(frozen=True)
class CalibrationJob(Job):
    """Finds min-max ranges over a set in shards. Made by of()."""

    float_model: str
    data: str
    limit: Optional[int]
    shapes: Mapping[str, Any]  # of the model's inputs

    @classmethod
    def of(
        cls,
        float_model: FilePath,
        data: FilePath,
        *,
        shards: int,
        folder: FilePath,
        limit: Optional[int] = None,
        **options: Any,
    ) -> CalibrationJob:
        """`data`: npz, npy, or a folder of pictures or of ONNX test data, of which each shard reads its own part.
        `folder`: for a small file with the ranges of each shard. Other options are those of quantscope.quantize;
        `threads` are those of each shard."""
        check_options("quantize", options)
        for name in _SET_BY_JOB.intersection(options):
            raise TypeError(f"calibration in shards has no option '{name}'")
        _check_calibrator({"method": options.get("method")}, "")
        path = data_path(data)
        if path is None or path.startswith("random:"):
            raise BadUse(f"{path}: cannot be split for calibration; give a file or a folder")
        model = os.path.abspath(float_model)
        given, place = absolute(options), check_folder(folder)
        key = fingerprint("calibrate", [model, path], check_shards(shards), {**given, "limit": limit})
        of_shards = {"threads": 1, **with_files("quantize", given, place, key), **_LATER}
        shapes = {port["name"]: port["shape"] for port in info(model)["inputs"]}
        return cls(int(shards), place, key, of_shards, model, path, limit, shapes)

    def _samples(self) -> Samples:
        return samples_of(self.data, self.shapes, self.limit)

    def _written(self, index: int) -> Optional[str]:
        path = self._file(index, "json")
        if not os.path.exists(path) and self._samples().part(index, self.shards):
            raise BadInput(f"{path}: shard {index} of {self.shards} is missing; run it, too")
        return path if os.path.exists(path) else None

    def _run(self, index: int, check: Check, place: Optional[str]) -> Optional[str]:
        found = self._file(index, "json")
        if os.path.exists(found):
            return found
        check()
        samples = self._samples()
        part = samples.part(index, self.shards)
        if not part:
            return None
        with Workspace(samples.size(part), place) as own:
            document = self._ranges_of(samples.write(part, own.path), own, check)
        save(document, found)
        return found

    def _ranges_of(self, data: str, place: Workspace, check: Check) -> Dict[str, Any]:
        ranges, recipe, summary = (place.file(f"quantscope-{name}.json") for name in ("ranges", "recipe", "summary"))
        line = ["quantize", self.float_model, f"--out={place.file('quantized.onnx')}", f"--data={data}"]
        line += [f"--save-ranges={ranges}", f"--save-recipe={recipe}", f"--json={summary}", "--quiet"]
        run_program([*line, *arguments("quantize", self.options, place.path)], check=check)
        check_recipe(read_json(recipe))
        said = (_EMPTY.match(warning) for warning in read_json(summary)["warnings"])
        return load(ranges, [match["tensor"] for match in said if match])

    def merge(self, parts: Optional[Sequence[Optional[str]]], out: FilePath) -> str:
        """Writes the ranges over all samples, as `quantscope.quantize(..., ranges=out)` takes them. `parts`: what run()
        returned for each shard, in order (None: those in the folder). Returns the path."""
        document, empty = whole(merged(self._found(parts)))
        for name in empty:
            warnings.warn(f"'{name}' holds no value in any sample, so its scale is 1", ProgramWarning, stacklevel=2)
        save(document, os.fspath(out))
        return os.fspath(out)

    def merge_some(self, parts: Sequence[Optional[str]], name: str) -> Optional[str]:
        """One step of a tree: the sum of consecutive shards, or of such sums, as a file in the folder."""
        found = [path for path in parts if path]
        if not found:
            return None
        path = os.path.join(self.folder, f"{self.key}-sum-{name}.json")
        save(merged(found), path)
        return path
