# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables for pandas, where it is installed."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence


def _flat(row: Mapping[str, Any]) -> Dict[str, Any]:
    """Keys of nested objects get a dot, as in the program's CSV."""
    flat: Dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            flat.update({f"{key}.{inner}": v for inner, v in _flat(value).items()})
        else:
            flat[key] = value
    return flat


def frame_of(rows: Sequence[Mapping[str, Any]], kind: str = "") -> Any:
    """A DataFrame with a column for each key; `kind` fills a first column of that name."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("a frame needs pandas; install it with `pip install pandas`") from error
    begin: Dict[str, Any] = {"kind": kind} if kind else {}
    table: List[Dict[str, Any]] = [{**begin, **_flat(row)} for row in rows]
    return pandas.DataFrame(table)
