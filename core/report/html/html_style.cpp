// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/definitions.h"
#include "core/report/html/html_parts.h"

namespace qs::html {

/// Colours: cividis for magnitudes, Okabe-Ito for categories.
std::string style()
{
    return R"css(
:root{color-scheme:light dark;--page:#f6f8fa;--panel:#fff;--raised:#eaeef2;--border:#d0d7de;--grid:#e7ebef;--text:#1f2328;
--muted:#59636e;--accent:#0969da;--error:#bc4c00;--warning:#bf8700;--note:#57606a;--float:#0072b2;--quant:#b87700;
--ideal:#8c959f;--clipping:#d55e00;--rounding:#0072b2;--weights:#009e73;--kernel:#cc79a7;--inherited:#b8bec4;--edge:#8c959f}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--panel:#161b22;--raised:#262c36;--border:#30363d;--grid:#252b33;
--text:#e6edf3;--muted:#9aa4af;--accent:#4493f8;--error:#f0883e;--warning:#d4a72c;--note:#8b949e;--float:#56b4e9;
--quant:#e69f00;--ideal:#7d8590;--clipping:#e8731a;--rounding:#56b4e9;--weights:#2bb58c;--kernel:#d694bb;--inherited:#565e67;--edge:#6e7681}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:14px/1.45 system-ui,"Noto Sans","DejaVu Sans",sans-serif}
main{max-width:1280px;margin:0 auto;padding:20px 20px 60px}
h1{font-size:20px;margin:0 0 2px}h2{font-size:15px;margin:0 0 10px}h3{font-size:13px;margin:0 0 2px;overflow-wrap:anywhere}
p{margin:0 0 6px}.muted,small{color:var(--muted)}small{display:block;font-size:11px}
section{background:var(--panel);border:1px solid var(--border);border-radius:6px;padding:14px 16px;margin-top:14px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(210px,1fr));gap:14px;margin-top:14px}
.cards section{margin:0}.cards .big{font-size:22px;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.cards h2{font-size:12px;color:var(--muted);font-weight:500;margin:0 0 4px}
.finding{border-left:5px solid var(--note);padding:2px 0 2px 12px;margin-bottom:14px}
.finding:last-child{margin-bottom:0}.finding.error{border-color:var(--error)}.finding.warning{border-color:var(--warning)}
.finding p{margin:2px 0}.tag{font-size:11px;color:var(--muted);font-weight:400;margin-left:6px}
.evidence{color:var(--muted);font-size:12px}
.scroll{overflow:auto;max-height:640px}.graph{max-height:720px;text-align:center}
table{border-collapse:collapse;width:100%;font-size:12.5px}
th,td{padding:4px 8px;text-align:left;white-space:nowrap;border-bottom:1px solid var(--grid)}
th{position:sticky;top:0;background:var(--panel);z-index:1;font-weight:600}
th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--accent)}
th[aria-sort=ascending] button::after{content:" \25B4"}th[aria-sort=descending] button::after{content:" \25BE"}
.n{text-align:right;font-variant-numeric:tabular-nums}.code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:11.5px}
.name{white-space:normal;overflow-wrap:anywhere;min-width:300px}tbody tr:hover{background:var(--raised)}
.swatch{display:inline-block;width:18px;height:11px;border-radius:2px;margin-right:7px;vertical-align:-1px}
.legend .swatch{margin:0;border-radius:0;width:22px}
.legend{display:flex;align-items:center;gap:0;flex-wrap:wrap;font-size:12px;color:var(--muted);margin-bottom:8px}
.legend span{margin:0 8px}.key{width:20px;border-top:3px solid}.key.ideal{border-top-style:dashed}
.split{display:flex;width:90px;height:10px;background:var(--grid);border-radius:2px;overflow:hidden}
.split i{display:block;height:100%}i.clipping{background:var(--clipping)}i.rounding{background:var(--rounding)}
i.weights{background:var(--weights)} i.kernel{background:var(--kernel)} i.inherited{background:var(--inherited)}
.c0{--c:#00224e;--on:#fff}.c1{--c:#15376f;--on:#fff}.c2{--c:#434e6c;--on:#fff}.c3{--c:#5f636f;--on:#fff}
.c4{--c:#7d7b75;--on:#111418}.c5{--c:#9a9376;--on:#111418}.c6{--c:#b9ab6e;--on:#111418}.c7{--c:#dcc859;--on:#111418}
.c8{--c:#fee838;--on:#111418}.none{--c:var(--raised);--on:var(--text)}.swatch{background:var(--c)}
svg text{font-family:inherit;fill:var(--text)}.network{max-width:none}.network .box rect{fill:var(--c);stroke:var(--edge)}
.network .box text{fill:var(--on)}.title{font-size:12px;font-weight:600}.sub{font-size:11px}
.num{font-size:11px;font-weight:600;text-anchor:end}.edges path{fill:none;stroke:var(--edge);stroke-width:1.3}
.badge rect{fill:var(--panel);stroke:var(--border)}.badge text{font-size:10px;fill:var(--muted)}.mid{text-anchor:middle}
.end{text-anchor:end}.plot{width:100%;height:auto;display:block}.grid{stroke:var(--grid)}.axis{stroke:var(--edge)}
.tick{font-size:11px;fill:var(--muted)!important}.curve path{fill:none;stroke-width:2;stroke-linejoin:round}
.curve.accumulated path{stroke:var(--float)}.curve.accumulated circle{fill:var(--float)}.curve.added path{stroke:var(--quant)}
.curve.added circle{fill:var(--quant)}.curve.ideal path{stroke:var(--ideal);stroke-dasharray:5 4}
.curve.ideal circle{fill:var(--ideal)}
.key.accumulated{border-color:var(--float)}.key.added{border-color:var(--quant)}.key.ideal{border-color:var(--ideal)}
.hover{fill:transparent}.hover:hover{fill:var(--edge);fill-opacity:.15}
.bars{fill:var(--float);fill-opacity:.3;stroke:var(--float)}.outline{fill:none;stroke:var(--quant);stroke-width:1.3}
.beyond{fill:var(--clipping);fill-opacity:.12}.limit{stroke:var(--clipping);stroke-width:2}
.strip path{fill:none;stroke:var(--float)}.strip .zero{stroke:var(--edge);stroke-opacity:.6}
.histograms{display:grid;grid-template-columns:repeat(auto-fill,minmax(340px,1fr));gap:18px}
.hkey{width:20px;height:11px;display:inline-block}.hkey.f{background:var(--float);opacity:.5}
.hkey.q{border:1.5px solid var(--quant)}.hkey.r{border-left:3px solid var(--clipping);width:4px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:5px 16px;margin:0;font-size:13px}dt{font-weight:600}dd{margin:0}
@media print{body{background:#fff}.scroll{max-height:none;overflow:visible}section{break-inside:avoid}}
)css";
}

/// Tables sort by a click on a heading: numbers by data-key, worst (lowest) first, then the other way round.
std::string script()
{
    return R"js(//<![CDATA[
"use strict";
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.querySelectorAll("th")];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const numeric = head.classList.contains("n");
    const key = row => {
      const cell = row.cells[column];
      return "key" in cell.dataset ? Number(cell.dataset.key) : numeric ? null : cell.textContent;
    };
    const rows = [...table.tBodies[0].rows].map(row => [key(row), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows.map(entry => entry[1]));
  }));
}
//]]>)js";
}

std::string definitions()
{
    std::string out = "<dl>\n";
    const auto add = [&](const char* name, const std::string& text) {
        out += "<dt>" + std::string(name) + "</dt><dd>" + escaped(text) + "</dd>\n";
    };
    add("accumulated, dB", sentencesOf(definition::kAccumulated) + " 10 dB = 10 % noise power, 20 dB = 1 %.");
    add("added, dB", sentencesOf(definition::kAdded));
    add("node, dB", sentencesOf(definition::kNodeAlone));
    add("increase, dB", sentencesOf(definition::kIncrease));
    add("ideal, dB", sentencesOf(definition::kIdeal));
    add("noise", sentencesOf(definition::kNoise));
    add("clipped, %", sentencesOf(definition::kClipped));
    add("RMSE", sentencesOf(definition::kRmse));
    add("max error", sentencesOf(definition::kMaxError));
    add("mean error", sentencesOf(definition::kMeanError));
    add("range ratio", sentencesOf(definition::kRangeRatio));
    add("8 tensor, 8 channel, 4 ... dB",
        "SQNR of the weight alone under scales that the quantizer would choose: 8 or 4 bits, one scale or one a "
        "channel, symmetric or with a zero point. After cross-layer equalization neighbouring layers share their "
        "ranges channel by channel, which leaves the float model as it is.");
    add("exact", "Both tensors are equal in every element; there is no noise to measure.");
    add("match",
        "How the pair was found (manual, name, suffix, unit, topology, numeric) and the confidence from 0 to 1.");
    add("agreement", sentencesOf(definition::kTask));
    add("top-1 agreement, %", sentencesOf(definition::kTop1));
    return out + "</dl>\n";
}

} // namespace qs::html
