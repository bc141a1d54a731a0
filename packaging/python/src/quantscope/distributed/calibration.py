# SPDX-License-Identifier: GPL-3.0-or-later
"""A calibration in shards."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ..errors import BadInput
from ..options import arguments, check_options, options_of
from ..paths import FilePath
from ..program import Check, run_program
from ..workspace import Workspace
from .job import OF_EACH, Job, absolute, check_folder, check_shards, data_path, fingerprint, with_files

_SET_BY_JOB = {"ranges", "save_ranges", "save_recipe", "calibration_cache", "script"}
_SET_BY_JOB |= {"shard", "state", "calibrated", "carry"}
#: Of comparisons: about all samples in order, or at once.
_NOT_IN_SHARDS = {"calibration_data", "carry", "rtol", "atol", "measure_time", "try_remedies", "framework", "device"}
#: They follow the ranges and change none; each costs a look at all samples.
_LATER = {"adaround": False, "bias_correction": False}
_WHOLE, _FIRST, _SECOND = "qcal", "first.qcal", "second.qcal"  # endings: of a shard that takes one round, or two


def options_of_calibration(options: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
    """Those of quantscope.compare's options by which a recipe is calibrated. None: there is no recipe, or it takes its
    ranges from elsewhere, or the comparison has options that shards refuse, which it says sooner by itself."""
    if any(options.get(name) is not None for name in _NOT_IN_SHARDS | {"ranges", "calibration_cache"}):
        return None
    known = set(options_of("quantize")).difference(_SET_BY_JOB)
    given = {name: value for name, value in options.items() if name in known}
    of_any_run = options_of("run")  # data, threads and the like
    makes_recipe = any(value is not None and name not in of_any_run for name, value in given.items())
    return given if makes_recipe else None


@dataclass(frozen=True)
class CalibrationJob(Job):
    """Finds ranges over a set in shards, by any method. Made by of()."""

    float_model: str
    data: Optional[str]
    extremes: Sequence[str] = ()  # sums of the first round, which count() reads in place of all its files

    @classmethod
    def of(
        cls,
        float_model: FilePath,
        data: Optional[FilePath] = None,
        *,
        shards: int,
        folder: FilePath,
        **options: Any,
    ) -> CalibrationJob:
        """`data`: a path; each shard reads its own part of it. `folder`: for state files (.qcal) of shards. Other
        options are those of quantscope.quantize; `threads` are those of each shard."""
        check_options("quantize", options)
        for name in _SET_BY_JOB.intersection(options):
            raise TypeError(f"calibration in shards has no option '{name}'")
        samples = data_path(data)
        model = os.path.abspath(float_model)
        given, place = absolute(options), check_folder(folder)
        key = fingerprint("calibrate", [model, samples], check_shards(shards), given)
        of_shards = {"threads": 1, **with_files("quantize", given, place, key), **_LATER}
        return cls(int(shards), place, key, of_shards, model, samples)

    def _line(self, place: str) -> List[str]:
        data = [f"--data={self.data}"] if self.data else []
        return ["quantize", self.float_model, *data, *arguments("quantize", self.options, place)]

    def _there(self, index: int, *endings: str) -> Optional[str]:
        """The shard's file with one of these endings."""
        paths = [self._file(index, ending) for ending in endings]
        return next((path for path in paths if os.path.exists(path)), None)

    def _first(self, index: int) -> str:
        path = self._there(index, _WHOLE, _FIRST)
        if path is None:
            raise BadInput(f"{self._file(index, _FIRST)}: shard {index} of {self.shards} is missing; run it, too")
        return path

    def _run(self, index: int, check: Check) -> str:
        found = self._there(index, _WHOLE, _FIRST)
        if found:
            return found
        check()
        path, whole = self._file(index, _FIRST), self._file(index, _WHOLE)
        line = [*self._line(self.folder), f"--shard={index}/{self.shards}", f"--state={path}", "--json=-"]
        if json.loads(run_program(line, check=check).text)["needs_second_round"]:
            return path
        os.replace(path, whole)
        return whole

    def has_second_round(self) -> bool:
        """Whether the method needs count(), when run() has done all shards."""
        return self._first(1).endswith(_FIRST)

    def with_sums(self, states: Sequence[str]) -> CalibrationJob:
        """The same, whose count() reads these sums of the first round (see sums()) in place of all its files."""
        return replace(self, extremes=tuple(states))

    def count(self, index: int, check: Optional[Check] = None) -> Optional[str]:
        """The second round of one shard, when run() has done the first one of all: counts between edges that follow
        from all shards. None: the method needs none. Otherwise as run()."""
        if self._there(index, _WHOLE):
            return None
        path = self._file(index, _SECOND)
        if os.path.exists(path):
            return path
        if check is not None:
            check()
        line = [*self._line(self.folder), f"--shard={index}/{self.shards}", f"--state={path}", "--quiet"]
        extremes = self.extremes or [self._first(other) for other in self]
        run_program([*line, *(f"--calibrated={first}" for first in extremes)], check=check)
        return path

    def _written(self, index: int) -> List[str]:
        first = self._first(index)
        second = self._there(index, _SECOND)
        if second is None and first.endswith(_FIRST):
            raise BadInput(
                f"{self._file(index, _SECOND)}: the second round of shard {index} of {self.shards} is missing; run "
                "count() of it, too"
            )
        return [first, second] if second else [first]

    def merge(self, states: Optional[Sequence[Optional[str]]], out: FilePath) -> str:
        """Writes the ranges over all samples, in every bit those of one run, as `quantscope.quantize(..., ranges=out)`
        takes them. `states`: what run() and count() returned, in any order (None: those in the folder). Returns the
        path."""
        self._add_up(states, [f"--save-ranges={os.fspath(out)}"])
        return os.fspath(out)

    def merge_cache(self, states: Optional[Sequence[Optional[str]]], out: FilePath) -> str:
        """Writes the calibration over all samples as a calibration cache, which `quantscope.compare(..., recipe=...,
        calibration_cache=out)` and `quantscope.quantize(..., calibration_cache=out)` find again by the model and the
        samples, which are read for that. `states` and what is returned: as of merge()."""
        data = [f"--data={self.data}"] if self.data else []
        self._add_up(states, [*data, f"--calibration-cache={os.fspath(out)}"])
        return os.fspath(out)

    def _add_up(self, states: Optional[Sequence[Optional[str]]], more: List[str]) -> None:
        with Workspace() as place:
            options = {name: value for name, value in self.options.items() if name not in OF_EACH}
            line = ["quantize", self.float_model, f"--out={place.file('quantized.onnx')}", "--quiet", *more]
            line += arguments("quantize", options, place.path)
            run_program([*line, *(f"--calibrated={path}" for path in self._found(states))])
