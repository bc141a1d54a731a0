# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one model."""

from __future__ import annotations

import functools
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from .arrays import load_npz
from .data import Data, PreparedData
from .errors import BadUse
from .inspecting import input_ranks
from .labels import Labels
from .options import arguments, check_options
from .paths import FilePath, file_argument
from .program import run_program
from .progress import Progress
from .workspace import Workspace


def inputs_of(model: FilePath) -> Any:
    """The model's inputs, read when asked for, once."""
    return functools.lru_cache(maxsize=None)(lambda: input_ranks(model))


def _choice(tensors: Union[str, Sequence[str]]) -> List[str]:
    if isinstance(tensors, str) and not tensors or "" in tensors and not isinstance(tensors, str):
        raise BadUse('tensors names nothing; give "outputs", "all", names or patterns')
    if isinstance(tensors, str):
        return {"all": ["--all-tensors"], "outputs": []}.get(tensors, [f"--tensors={tensors}"])
    return [f"--tensors={name}" for name in tensors]


def run_prepared(
    model: FilePath,
    data: PreparedData,
    tensors: Union[str, Sequence[str]],
    options: Dict[str, Any],
    progress: Progress = None,
    folder: Optional[str] = None,
) -> Dict[str, np.ndarray[Any, Any]]:
    """run() on data that are prepared already. `folder`: where relative paths begin."""
    with Workspace() as place:
        result = place.file("out.npz")
        run_program(
            [
                "run",
                file_argument(model),
                *data.arguments(),
                f"--out={result}",
                *_choice(tensors),
                *arguments("run", options, place.path),
            ],
            progress,
            words=data.words,
            folder=folder,
        )
        return load_npz(result)


def run(
    model: FilePath,
    data: Data = None,
    tensors: Union[str, Sequence[str]] = "outputs",
    *,
    arithmetic: str = "simulated",
    labels: Labels = None,
    limit: Optional[int] = None,
    threads: Optional[int] = None,
    progress: Progress = None,
    **options: Any,
) -> Dict[str, np.ndarray[Any, Any]]:
    """Runs a model and returns arrays by tensor name, each with a leading axis of samples, in the tensors' own types.

    `tensors`: "outputs", "all" (inputs and every output of every node), or names and patterns. `arithmetic`:
    "simulated", "integer" or "integer-avx2". `limit`: samples. `labels`: True where the samples of a loader end with
    class numbers, which are left out. Other options are those of `quantscope-cli run`, with underscores.
    """
    given = {"arithmetic": arithmetic, "limit": limit, "threads": threads, **options}
    check_options("run", given)
    prepared = PreparedData(data, inputs_of(model), labels, limit)
    try:
        return run_prepared(model, prepared, tensors, given, progress)
    finally:
        prepared.close()
