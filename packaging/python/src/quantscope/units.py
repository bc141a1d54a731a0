# SPDX-License-Identifier: GPL-3.0-or-later
"""What each part of a model costs when it is quantized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Union

from .data import Data, PreparedData, calibration_arrays
from .frames import frame_of
from .labels import Labels
from .options import arguments, check_options
from .paths import FilePath, file_argument
from .program import read_json, run_program
from .progress import Progress
from .quantizing import recipe_options
from .recipe import AnyRecipe
from .rows import ParetoPoint, Unit
from .running import inputs_of
from .words import Words
from .workspace import Workspace


@dataclass
class Sensitivity:
    """Result of sensitivity(). `json`: the program's whole document; `text`: its table."""

    units: List[Unit]
    pareto: List[ParetoPoint]
    json: Dict[str, Any]
    text: str

    def __str__(self) -> str:
        return self.text

    def frame(self) -> Any:
        """The units as a DataFrame of pandas."""
        return frame_of(self.json["units"])


def sensitivity(
    float_model: FilePath,
    data: Data = None,
    by: str = "node",
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
) -> Sensitivity:
    """Quantizes each unit alone, and leaves each out, and says what that does to the output (SQNR in dB).

    `by`: "node", "tensor" or "type". The recipe's arguments are those of quantize(). Other options are those of
    `quantscope-cli sensitivity`, with underscores.
    """
    given = {
        **recipe_options(recipe, method, per_channel, reduce_range, exclude),
        "by": by,
        "limit": limit,
        "threads": threads,
        **options,
    }
    check_options("sensitivity", given)
    prepared = PreparedData(data, inputs_of(float_model), labels, limit)
    calibration = calibration_arrays(given, inputs_of(float_model))
    words = Words(prepared.words, calibration.words)
    try:
        with Workspace() as place:
            result = place.file("sensitivity.json")
            line = ["sensitivity", file_argument(float_model), *prepared.arguments(), f"--json={result}"]
            line += arguments("sensitivity", given, place.path)
            words.add_option_files(place)
            outcome = run_program(line, progress, words=words)
            words.in_files(given)
            json = read_json(result, words)
    finally:
        prepared.close()
        calibration.close()
    return Sensitivity(
        [Unit.of(unit) for unit in json["units"]],
        [ParetoPoint.of(point) for point in json["pareto"]],
        json,
        outcome.text,
    )
