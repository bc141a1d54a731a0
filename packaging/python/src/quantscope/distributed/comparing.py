# SPDX-License-Identifier: GPL-3.0-or-later
"""A comparison in shards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ..comparison import Comparison, Task
from ..data import PreparedData
from ..errors import BadInput
from ..options import arguments, check_options, options_of
from ..paths import FilePath
from ..program import Check, Outcome, read_json, run_program
from ..progress import Progress
from ..running import inputs_of
from ..words import Words
from ..workspace import Workspace
from .job import OF_EACH, Job, absolute, check_folder, check_shards, data_path, fingerprint, with_files


def _merge_options(options: Mapping[str, Any]) -> Dict[str, Any]:
    """Files and limits of the whole, which single shards know nothing of."""
    known = options_of("merge")
    return {name: value for name, value in options.items() if name in known and name not in OF_EACH}


@dataclass(frozen=True)
class ComparisonJob(Job):
    """Compares two files over a set in shards. Made by of()."""

    float_model: str
    quantized_model: Optional[str]
    data: Optional[str]
    whole: Mapping[str, Any]  # options of the sum: reports and limits

    @classmethod
    def of(
        cls,
        float_model: FilePath,
        quantized_model: Optional[FilePath] = None,
        data: Optional[FilePath] = None,
        *,
        shards: int,
        folder: FilePath,
        **options: Any,
    ) -> ComparisonJob:
        """`data`: a path; each shard reads its own part of it. `folder`: for state files (.qstate) of shards. Other
        options are those of quantscope.compare; `threads` are those of each shard."""
        check_options("compare", options)
        for name in ("shard", "state"):
            if name in options:
                raise TypeError(f"a job sets '{name}' itself")
        before = os.path.abspath(float_model)
        after = None if quantized_model is None else os.path.abspath(quantized_model)
        samples = data_path(data)
        given = absolute(options)
        place = check_folder(folder)
        whole = _merge_options(given)
        of_shards = {name: value for name, value in given.items() if name not in whole}
        key = fingerprint("compare", [before, after, samples], check_shards(shards), of_shards)
        of_shards = {"threads": 1, **with_files("compare", of_shards, place, key)}
        return cls(int(shards), place, key, of_shards, before, after, samples, whole)

    def _written(self, index: int) -> List[str]:
        path = self._file(index, "qstate")
        if not os.path.exists(path):
            raise BadInput(f"{path}: shard {index} of {self.shards} is missing; run it, too")
        return [path]

    def files(self) -> List[str]:
        """The model files."""
        return [self.float_model, *([self.quantized_model] if self.quantized_model else [])]

    def _run(self, index: int, check: Check) -> str:
        state = self._file(index, "qstate")
        if os.path.exists(state):
            return state
        check()
        line = ["compare", *self.files(), *([f"--data={self.data}"] if self.data else [])]
        line += [f"--shard={index}/{self.shards}", f"--state={state}"]
        run_program([*line, *arguments("compare", self.options, self.folder)], check=check)
        return state

    def merge(
        self, states: Optional[Sequence[Optional[str]]] = None, keep: Optional[Workspace] = None, **options: Any
    ) -> Comparison:
        """The comparison over all samples, from the state files of all shards (in any order; None: those in the
        folder). `keep`: a folder that is removed when the result is closed. `options`: further ones of
        `quantscope-cli merge`. The result's report() adds the shards up again, so it needs the state files, too."""
        check_options("merge", options)
        if "state" in options:
            raise TypeError("a job's merge() makes results; sums() adds shards up to files")
        task = _ShardedTask(self, self._found(states), {**self.whole, **options}, keep)
        try:
            with Workspace() as place:
                result = place.file("compare.json")
                task.remember_files()
                outcome = task.run([f"--json={result}"])
                return Comparison(task, read_json(result), outcome)
        except BaseException:
            task.close()
            raise


class _ShardedTask(Task):
    """A comparison whose shards are there, to be added up again."""

    def __init__(
        self, job: ComparisonJob, states: List[str], options: Dict[str, Any], keep: Optional[Workspace]
    ) -> None:
        data = PreparedData(job.data, inputs_of(job.float_model))
        of_shards = {name: value for name, value in job.options.items() if name not in OF_EACH}
        super().__init__(job.float_model, job.quantized_model, data, {**of_shards, **options})
        self._states = states
        self._keep = keep

    def run(self, more: List[str], progress: Progress = None, words: Optional[Words] = None) -> Outcome:
        """The sum, with further arguments."""
        with Workspace() as place:
            options = arguments("merge", _merge_options(self.options), place.path)
            return self.started(["merge", *self._states, *options, *more], words or Words(), progress)

    def close(self) -> None:
        """Removes the state files with their folder, where it is ours."""
        super().close()
        if self._keep is not None:
            self._keep.close()
