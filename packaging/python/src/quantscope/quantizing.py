# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes quantized models."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .data import Data, PreparedData
from .labels import Labels
from .options import arguments, check_options
from .paths import FilePath, file_argument
from .program import read_json, run_program
from .progress import Progress
from .recipe import AnyRecipe
from .rows import Row
from .running import inputs_of
from .words import Words
from .workspace import Workspace


@dataclass
class Quantized(Row):
    """What was written. `recipe`: its file or preset, empty where a dict was given; `ranges`: activations with a
    calibrated range; `time_ms` by step."""

    path: str = ""
    float: str = ""
    recipe: str = ""
    format: str = ""
    nodes: int = 0
    ranges: int = 0
    time_ms: Dict[str, Any] = field(default_factory=dict)
    warnings: List[str] = field(default_factory=list)


def recipe_options(
    recipe: AnyRecipe,
    method: Optional[str],
    per_channel: Optional[bool],
    reduce_range: Optional[bool],
    exclude: Union[str, Sequence[str]],
) -> Dict[str, Any]:
    """What the named arguments say beside the recipe; None is what the recipe has."""
    return {
        "recipe": recipe,
        "method": method,
        "per_channel": per_channel,
        "reduce_range": reduce_range,
        "exclude": exclude or None,
    }


def quantize_prepared(
    float_model: FilePath,
    out: FilePath,
    data: PreparedData,
    options: Dict[str, Any],
    progress: Progress = None,
    folder: Optional[str] = None,
) -> Quantized:
    """quantize() with data that are prepared already. `folder`: where relative paths begin."""
    words = Words(data.words)
    with Workspace() as place:
        result = place.file("quantize.json")
        line = [
            "quantize",
            file_argument(float_model),
            f"--out={os.fspath(out)}",
            *data.arguments(),
            f"--json={result}",
            *arguments("quantize", options, place.path),
        ]
        words.add_option_files(place)
        run_program(line, progress, words=words, folder=folder)
        words.in_files(options)
        made = Quantized.of(read_json(result, words))
    if isinstance(options.get("recipe"), Mapping):
        made.recipe = ""
    return made


def quantize(
    float_model: FilePath,
    out: FilePath,
    data: Data = None,
    recipe: AnyRecipe = None,
    *,
    method: Optional[str] = None,
    per_channel: Optional[bool] = None,
    reduce_range: Optional[bool] = None,
    exclude: Union[str, Sequence[str]] = (),
    labels: Labels = None,
    limit: Optional[int] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
    **options: Any,
) -> Quantized:
    """Writes a quantized model that ONNX Runtime loads.

    `data`: samples that ranges are found with; not needed for dynamic and weight-only formats. `recipe`: what to start
    from; arguments that are given go before it, and what neither says is as in the preset (min-max, per tensor).
    `method`: "minmax", "moving-average", "percentile", "entropy" or "mse". `exclude`: nodes that stay float, names or
    patterns. Other options are those of `quantscope-cli quantize`, with underscores.
    """
    given = {
        **recipe_options(recipe, method, per_channel, reduce_range, exclude),
        "limit": limit,
        "threads": threads,
        **options,
    }
    check_options("quantize", given)
    prepared = PreparedData(data, inputs_of(float_model), labels, limit)
    try:
        return quantize_prepared(float_model, out, prepared, given, progress)
    finally:
        prepared.close()
