# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as JSON has them."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Mapping

from .arrays import is_array, to_array
from .errors import BadUse


def plain(value: Any, at: str = "") -> Any:
    """Numbers and arrays of numpy and others, sets, tuples and paths as what JSON has. `at`: where in the whole."""
    if isinstance(value, Mapping):
        return {str(key): plain(part, f"{at}.{key}" if at else str(key)) for key, part in value.items()}
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if isinstance(value, (list, tuple)):
        return [plain(part, f"{at}[{index}]") for index, part in enumerate(value)]
    if is_array(value):
        return plain(to_array(value, at).tolist(), at)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise BadUse(f"'{at}' is {value}, which JSON does not have; give a finite number, or leave it out")
    return value


def write_json(path: str, value: Mapping[str, Any], what: str, **style: Any) -> None:
    """A file of them. `what`: what it is to the user."""
    try:
        text = json.dumps(plain(value, what), **style)
    except TypeError as error:
        raise BadUse(f"{what} holds what no JSON holds: {error}") from error
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")
