# SPDX-License-Identifier: GPL-3.0-or-later
"""Gates that are given as a dict, in the form of the program's gate files (TOML)."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping

from .errors import BadUse
from .plain import plain


def _value(value: Any, at: str) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, list):
        return "[" + ", ".join(_value(part, f"{at}[{index}]") for index, part in enumerate(value)) + "]"
    raise BadUse(f"'{at}' is {value!r}, which a gate file does not have; docs/ci.md lists what it has")


def _lines(values: Mapping[str, Any], at: str) -> List[str]:
    given = {key: value for key, value in values.items() if value is not None}
    return [f"{_value(key, at)} = {_value(value, f'{at}.{key}')}" for key, value in given.items()]


def _from_here(parts: Dict[str, Any]) -> Dict[str, Any]:
    """A baseline's path is by the folder of its gate file; a dict has none, so it is by the current one."""
    baseline = parts.get("baseline")
    if isinstance(baseline, dict) and isinstance(baseline.get("file"), str):
        parts["baseline"] = {**baseline, "file": os.path.abspath(baseline["file"])}
    return parts


def gate_text(gates: Mapping[str, Any]) -> str:
    """The text of a gate file with these parts; None is left out."""
    values: List[str] = []
    tables: List[str] = []
    for name, part in _from_here(plain(gates, "gate")).items():
        if isinstance(part, dict):
            tables += [f"[{_value(name, 'gate')}]", *_lines(part, f"gate.{name}")]
        elif isinstance(part, list) and part and all(isinstance(entry, dict) for entry in part):
            for index, entry in enumerate(part):
                tables += [f"[[{_value(name, 'gate')}]]", *_lines(entry, f"gate.{name}[{index}]")]
        elif part is not None:
            values.append(f"{_value(name, 'gate')} = {_value(part, f'gate.{name}')}")
    return "\n".join(values + tables) + "\n"
