# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares a float model with its quantized counterpart."""

from __future__ import annotations

import difflib
import os
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from .data import Data, PreparedData, calibration_arrays
from .dequantize import dynamic_names, real_values
from .errors import BadUse, ThresholdMissed
from .frames import frame_of
from .labels import Labels, tell_of_labels
from .notebook import comparison_html
from .options import arguments, check_options, shared
from .paths import FilePath, file_argument
from .program import Outcome, read_json, run_program
from .progress import Progress
from .quantizing import quantize_prepared
from .recipe import AnyRecipe
from .rows import Accuracy, Activation, Finding, Output, Sample, Unmatched, Weight
from .running import inputs_of, run_prepared
from .states import Remembered, current_folder, files_of
from .words import Words
from .workspace import Workspace


class Task:
    """What was compared, to be asked again: files, samples (kept as long as this lives) and options."""

    def __init__(
        self, float_model: FilePath, quantized_model: Optional[FilePath], data: PreparedData, options: Dict[str, Any]
    ) -> None:
        self._files = [file for file in (float_model, quantized_model) if file is not None]
        self.float_model: FilePath = options.get("reference") or float_model
        self.quantized_model = quantized_model
        self.data = data
        self.options = options
        self._calibration = calibration_arrays(options, inputs_of(float_model))
        self._made: Optional[Workspace] = None
        self._folder = current_folder()  # where relative paths begin
        self._remembered = Remembered()

    def remember_files(self) -> None:
        """The files as they are now are those that the result is of."""
        words = self.words()
        models = map(file_argument, [*self._files, self.float_model])
        read = [*models, self.data.path, *files_of(self.options)]
        self._remembered = Remembered(*(path for path in read if path not in words))

    def check_files(self) -> None:
        """Raises where a file was written since: its numbers would not be those of the result."""
        self._remembered.check()

    def words(self) -> Words:
        """What the samples are called that were given as arrays."""
        return Words(self.data.words, self._calibration.words)

    def run(self, more: List[str], progress: Progress = None, words: Optional[Words] = None) -> Outcome:
        """The command, with further arguments. `words` learns of the files that stand for options."""
        files = [file_argument(file) for file in self._files]
        words = words or self.words()
        with Workspace() as place:
            line = ["compare", *files, *self.data.arguments(), *arguments("compare", self.options, place.path), *more]
            words.add_option_files(place)
            outcome = self.started(line, words, progress)
        words.in_files(self.options)
        return outcome

    def started(self, line: List[str], words: Words, progress: Progress = None) -> Outcome:
        """The program, in the folder where the result was made."""
        return run_program(line, progress, words=words, folder=self._folder)

    def arrays(self, model: FilePath, names: List[str], options: Dict[str, Any]) -> Dict[str, np.ndarray[Any, Any]]:
        """Tensors of one of the models."""
        return run_prepared(model, self.data, names, options, folder=self._folder)

    def quantized_file(self) -> FilePath:
        """The quantized model; where a recipe stands for it, it is made now."""
        if self.quantized_model is not None:
            return self.quantized_model
        if self._made is None:
            made = Workspace()
            options = {**self._calibration_options(), **shared("quantize", self.options)}
            out, data = made.file("quantized.onnx"), self._calibration_data()
            quantize_prepared(self.float_model, out, data, options, folder=self._folder)
            self._made = made
        return self._made.file("quantized.onnx")

    def _calibration_options(self) -> Dict[str, Any]:
        return {"limit": self.options.get("calibration_limit")} if self.options.get("calibration_data") else {}

    def _calibration_data(self) -> PreparedData:
        return self.data if self._calibration.path is None else self._calibration

    def close(self) -> None:
        """Removes what was kept."""
        self.data.close()
        self._calibration.close()
        if self._made is not None:
            self._made.close()


class Comparison:
    """Result of compare().

    `outputs`, `activations`, `weights`, `findings` and `samples` are lists of dataclasses whose fields are the keys of
    the program's JSON; `json` is the whole document and `text` the program's table. Arrays that were given are kept
    for tensor() and report() until close(), or until nobody knows the result any more.
    """

    def __init__(self, task: Task, json: Dict[str, Any], outcome: Outcome) -> None:
        self._task = task
        self.json = json
        self.text = outcome.text
        self.threshold_missed = outcome.threshold_missed
        self.outputs = [Output.of(row) for row in json.get("outputs", ())]
        self.activations = [Activation.of(row) for row in json.get("activations", ())]
        self.weights = [Weight.of(row) for row in json.get("weights", ())]
        self.findings = [Finding.of(row) for row in json.get("findings", ())]
        self.samples = [Sample.of(row) for row in json.get("sample_details", ())]
        self.unmatched = Unmatched.of(json.get("unmatched") or {})
        accuracy = json.get("accuracy")
        self.accuracy = Accuracy.of(accuracy) if accuracy else None
        self._rows: Dict[str, Union[Activation, Weight]] = {}
        rows: List[Union[Activation, Weight]] = [*self.activations, *self.weights]
        for name, row in [*((r.name, r) for r in rows), *((r.quantized_name, r) for r in rows)]:
            self._rows.setdefault(name, row)

    def __getitem__(self, name: str) -> Union[Activation, Weight]:
        """The row of a tensor or weight by its name in either file (that of the float file goes first)."""
        if not isinstance(name, str):
            raise TypeError(f"a row has the name of its tensor, not {name!r}; `activations` and `weights` are lists")
        try:
            return self._rows[name]
        except KeyError:
            near = difflib.get_close_matches(name, list(self._rows), 3, 0.3)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise KeyError(f"no tensor is called '{name}'{hint}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        outputs = ", ".join(
            f"{o.name} {'equal' if o.exact else f'{o.sqnr_db:.1f} dB' if o.sqnr_db is not None else '-'}"
            for o in self.outputs
        )
        return f"<Comparison of {self.json.get('samples')} samples: {outputs}; {len(self.findings)} findings>"

    def tensor(self, name: str) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Values of a tensor or weight in the float model and, dequantized, in the quantized one, both with a leading
        axis of samples (of a weight: of one). Both models are run for it."""
        row = self[name]
        self._task.check_files()
        options = shared("run", self._task.options)
        if isinstance(row, Weight):
            options["limit"] = 1
        wanted = [row.quantized_name, *dynamic_names(row)]
        after = self._task.arrays(self._task.quantized_file(), wanted, options)
        options["arithmetic"] = "simulated"  # the float model has no other
        before = self._task.arrays(self._task.float_model, [row.name], options)
        return before[row.name], real_values(after, row, before[row.name].shape)

    def frame(self, rows: str = "activations") -> Any:
        """A DataFrame of pandas: "activations", "weights", "outputs", "findings" or "samples"."""
        key = "sample_details" if rows == "samples" else rows
        if key not in ("activations", "weights", "outputs", "findings", "sample_details"):
            raise ValueError(f"there are no rows '{rows}': use activations, weights, outputs, findings or samples")
        return frame_of(self.json[key])

    def report(self, path: FilePath, progress: Progress = None) -> None:
        """Writes the program's self-contained HTML report. The comparison is made again for it, with histograms."""
        self._task.check_files()
        options = self._task.options
        written: Dict[str, Any] = {
            key: options.pop(key)
            for key in ("html", "csv", "junit", "sarif", "markdown", "state", "save_map", "save_mended")
            if key in options
        }
        try:
            target = os.path.abspath(path)
            words = self._task.words()
            self._task.run([f"--html={target}"], progress, words)
            words.in_files({"html": target})
        finally:
            options.update(written)

    def _repr_html_(self) -> str:
        return comparison_html(self)

    def close(self) -> None:
        """Removes kept arrays; tensor() and report() do not work afterwards."""
        self._task.close()

    def __enter__(self) -> Comparison:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def compare(
    float_model: FilePath,
    quantized_model: Optional[FilePath] = None,
    data: Data = None,
    *,
    recipe: AnyRecipe = None,
    labels: Labels = None,
    limit: Optional[int] = None,
    arithmetic: str = "simulated",
    threads: Optional[int] = None,
    progress: Progress = None,
    raise_on_threshold: bool = False,
    **options: Any,
) -> Comparison:
    """Runs both models over the same samples and compares all their tensors.

    `quantized_model`: None where `recipe` (or an option of one) says how to make it. `data`: a path as `--data`
    takes it, a dict of arrays (first axis: samples), an iterable of dicts (one sample each), or a loader of tensors
    or tuples. `calibration_data`: the same. `labels`: class numbers, one a sample, or True where each sample of a
    loader ends with them. `limit`: samples. `arithmetic`: "simulated", "integer" or "integer-avx2". `reference`: a
    float model; the two files before it are then two quantized ones, and the result describes the second
    (`json["a"]` the first). Other options are those of `quantscope-cli compare`, with underscores. A missed limit
    (`fail_below_sqnr`, dB, …) is told by `threshold_missed`, or raised.
    """
    given = {"recipe": recipe, "limit": limit, "arithmetic": arithmetic, "threads": threads, **options}
    check_options("compare", given)
    if options.get("shard"):
        raise BadUse("a shard has no result of its own; use quantscope.distributed or `quantscope-cli merge`")
    if data is None and not options.get("text"):
        raise TypeError("compare() needs data (a path, a dict of arrays, or an iterable of samples), or a text")
    task = Task(float_model, quantized_model, PreparedData(data, inputs_of(float_model), labels, limit), given)
    try:
        with Workspace() as place:
            result = place.file("compare.json")
            task.remember_files()
            words = task.words()
            outcome = task.run([f"--json={result}"], progress, words)
            if outcome.threshold_missed and raise_on_threshold:
                raise ThresholdMissed(missed_limits(outcome.text))
            json = read_json(result, words)
            tell_of_labels(json, task.data.path, outcome.warnings)
            return Comparison(task, json, outcome)
    except BaseException:
        task.close()
        raise


def missed_limits(text: str) -> str:
    """What the program says of limits, without the lines' common beginning."""
    begin = "missed: "
    lines = [line[len(begin) :] for line in text.splitlines() if line.startswith(begin)]
    return "; ".join(lines) or "a limit that was set is missed"
