# SPDX-License-Identifier: GPL-3.0-or-later
"""Files with calibrated ranges, in the form of ONNX Runtime's calibration cache, and their union."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, List, Sequence, Tuple

from ..errors import BadInput

_EMPTY = "empty"  # tensors without a value so far, whose range stands for nothing


def load(path: str, empty: Sequence[str] = ()) -> Dict[str, Any]:
    """A file of `--save-ranges`; `empty`: tensors that held no value."""
    with open(path, encoding="utf-8") as file:
        document: Dict[str, Any] = json.load(file)
    if empty:
        document[_EMPTY] = sorted(empty)
    return document


def save(document: Dict[str, Any], path: str) -> None:
    """Writes it as the program does, complete or not at all."""
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.replace(part, path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}; give another path") from error
    finally:
        if os.path.exists(part):
            os.remove(part)


def _number(data: Any) -> float:
    """Of a number within lists of one element."""
    while isinstance(data, list):
        data = data[0]
    return float(data)


def _widen(kept: Dict[str, Any], entry: Dict[str, Any]) -> None:
    """Of two zeros of different signs the first stays, as in the program."""
    ends: Sequence[Any] = (("lowest", min), ("highest", max))
    for end, choose in ends:
        pick: Callable[..., Any] = choose
        kept[end] = pick(kept[end], entry[end], key=lambda one: _number(one["data"]))


def merged(paths: Sequence[str]) -> Dict[str, Any]:
    """Smallest and largest values over all files, which are of consecutive shards in order."""
    if not paths:
        raise BadInput("there are no samples to calibrate with; give data that hold some")
    sum_: Dict[str, Any] = {}
    empty: Dict[str, Any] = {}  # with their ranges, as long as there are no others
    for path in paths:
        document = load(path)
        data, without = document["data"], document.pop(_EMPTY, [])
        sum_ = sum_ or {**document, "data": {}}  # keys stay in their order
        for name, entry in data.items():
            if name in without:
                empty[name] = entry
            elif name in sum_["data"]:
                _widen(sum_["data"][name], entry)
            else:
                sum_["data"][name] = entry
    left = sorted(name for name in empty if name not in sum_["data"])
    sum_["data"].update((name, empty[name]) for name in left)
    # In the order of the program: by the names' bytes.
    sum_["data"] = dict(sorted(sum_["data"].items(), key=lambda item: item[0].encode("utf-8", "surrogatepass")))
    return {**sum_, _EMPTY: left} if left else sum_


def whole(document: Dict[str, Any]) -> Tuple[Dict[str, Any], List[str]]:
    """What stands in the file for the program, and tensors that held no value in any sample."""
    return {key: value for key, value in document.items() if key != _EMPTY}, document.get(_EMPTY, [])
