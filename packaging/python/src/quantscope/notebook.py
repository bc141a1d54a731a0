# SPDX-License-Identifier: GPL-3.0-or-later
"""How a comparison looks in a notebook: one table of HTML without anything from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, List, Optional, Sequence

if TYPE_CHECKING:
    from .comparison import Comparison

_WORST = 10  # tensors shown
_COLORS = {"error": "#c62828", "warning": "#b26a00", "note": "#1565c0"}


def _db(value: Optional[float], exact: bool) -> str:
    return "equal" if exact else "–" if value is None else f"{value:.1f}"


def _share(value: Optional[float]) -> str:
    """As the command line says it."""
    if value is None:
        return "–"
    percent = 100 * value
    if percent in (0, 100):
        return f"{percent:.0f} %"
    if 0 < percent < 0.05:
        return "<0.1 %"
    return ">99.9 %" if 99.95 < percent < 100 else f"{percent:.1f} %"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<th style='text-align:left'>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"


def _gain(finding: Any) -> str:
    """The options that carry out a remedy, and what it gains."""
    changes: List[Any] = []
    if finding.change is not None:
        changes = [place.get("change") for place in finding.extra.get("places", [])] or [finding.change]
        changes += finding.extra.get("together_with", [])
    options = [change["options"] for change in changes if change]
    # A part of them would do something else.
    text = f" <code>{escape(' '.join(dict.fromkeys(options)))}</code>" if options and all(options) else ""
    if finding.measured_gain_db is not None:
        return f"{text} Measured at the output: {finding.measured_gain_db:+.1f} dB."
    if finding.expected_gain_db is not None and finding.change is not None:
        return f"{text} At this tensor about {finding.expected_gain_db:.1f} dB; at the output not measured."
    return text


def _findings(comparison: Comparison) -> str:
    items: List[str] = []
    for finding in comparison.findings:
        color = _COLORS.get(finding.severity, "inherit")
        items.append(
            f"<li><b style='color:{color}'>{escape(finding.title or finding.rule)}</b> "
            f"<code>{escape(finding.tensor or finding.node)}</code><br>{escape(finding.summary)}<br>"
            f"<i>{escape(finding.remedy)}</i>{_gain(finding)}</li>"
        )
    return f"<ul>{''.join(items)}</ul>" if items else "<p>No findings.</p>"


def _worst(comparison: Comparison) -> List[Any]:
    measured = [row for row in comparison.activations if row.sqnr_db is not None]
    return sorted(measured, key=lambda row: row.sqnr_db or 0.0)[:_WORST]


def comparison_html(comparison: Comparison) -> str:
    """Outputs, findings and the worst tensors."""
    json = comparison.json
    title = (
        f"<b>{escape(_name(json.get('float')))}</b> against <b>{escape(_name(json.get('quantized')))}</b>, "
        f"{json.get('samples')} samples, {escape(str(json.get('arithmetic')))}"
    )
    outputs = _table(
        ["output", "SQNR dB", "cosine", "top-1 agreement"],
        [
            [o.name, _db(o.sqnr_db, o.exact), "–" if o.cosine is None else f"{o.cosine:.4f}", _share(o.top1_agreement)]
            for o in comparison.outputs
        ],
    )
    worst = _table(
        ["tensor", "operator", "SQNR dB", "added dB", "clipped"],
        [
            [r.name, r.op_type, _db(r.sqnr_db, r.exact), _db(r.local_sqnr_db, False), _share(r.clipped_fraction)]
            for r in _worst(comparison)
        ],
    )
    accuracy = ""
    if comparison.accuracy is not None:
        accuracy = (
            f"<p>accuracy {_share(comparison.accuracy.float)} float, "
            f"{_share(comparison.accuracy.quantized)} quantized</p>"
        )
    return f"<div><p>{title}</p>{accuracy}{outputs}{_findings(comparison)}{worst}</div>"


def _name(file: Any) -> str:
    return str((file or {}).get("path", "")).rpartition("/")[2]
