# SPDX-License-Identifier: GPL-3.0-or-later
"""How a float model is quantized, as a value."""

from __future__ import annotations

import copy
import json
import os
from typing import Any, Dict, Mapping, Union

from .paths import FilePath
from .plain import write_json


class Recipe(Dict[str, Any]):
    """A recipe: a dict with the keys of the program's recipe files; what is not said is as the preset has it.

    `Recipe()` starts from the program's preset, `Recipe(preset="onnxruntime")` from the defaults of ONNX Runtime's
    quantize_static. Keys are checked by the program when the recipe is used.

        recipe = Recipe(per_channel=True, calibration={"method": "percentile", "percentile": 99.9})
        recipe.exclude("/head/*")
        recipe.tensor("conv1_out", lowest=-4, highest=4)
    """

    def __init__(self, fields: Mapping[str, Any] = {}, **more: Any) -> None:
        merged = copy.deepcopy({**fields, **more})
        merged.setdefault("preset", "quantscope")
        super().__init__(merged)

    @classmethod
    def load(cls, path: FilePath) -> Recipe:
        """Reads a recipe file. One without a preset starts from ONNX Runtime's defaults."""
        with open(path, encoding="utf-8") as file:
            return cls({"preset": "onnxruntime", **json.load(file)})

    def save(self, path: FilePath) -> None:
        """Writes a recipe file."""
        write_json(os.fspath(path), self, "recipe", indent=1)

    def exclude(self, *nodes: str) -> Recipe:
        """Leaves nodes float: names or patterns. Returns the recipe."""
        self["exclude"] = [*self.get("exclude", []), *nodes]
        return self

    def tensor(self, name: str, **override: Any) -> Recipe:
        """Asks for something else at one tensor: type, lowest, highest, scale, zero_point, symmetric, reduce_range,
        axis (of a constant). Returns the recipe."""
        tensors = self.setdefault("tensors", {})
        tensors[name] = {**tensors.get(name, {}), **override}
        return self


#: A recipe, the path of a recipe file, or a dict with its keys; None: the program's preset.
AnyRecipe = Union[Recipe, Mapping[str, Any], str, "os.PathLike[str]", None]
