// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/badges.h"
#include "core/layout/graph_layout.h"
#include "core/report/format.h"
#include "core/report/html/html_parts.h"

#include <limits>
#include <unordered_map>

namespace qs::html {

namespace {

/// Boxes beyond which a drawing in a page helps nobody.
constexpr size_t kMostBoxes = 4000;

std::string attribute(const char* name, double v) { return std::string(" ") + name + "=\"" + coordinate(v) + "\""; }

std::string textAt(double x, double y, const char* cssClass, const std::string& content)
{
    return "<text class=\"" + std::string(cssClass) + "\"" + attribute("x", x) + attribute("y", y) + ">" + content
        + "</text>";
}

/// Of two pairs of quantizers of one value of the float model, the second has more error.
bool isWorsePair(const ActivationRow& first, const ActivationRow& second)
{
    const auto sqnrOf = [](const ActivationRow& row) {
        return row.accumulated.sqnrDb.value_or(std::numeric_limits<double>::infinity());
    };
    return first.siblings > 0 && first.floatValue == second.floatValue && sqnrOf(second) < sqnrOf(first);
}

/// The row of one of the box's values; one behind a quantizer wins, since the next node sees it, and of several
/// quantizers the worst.
const ActivationRow* rowOf(const DisplayBox& box, const std::unordered_map<ValueId, const ActivationRow*>& rows)
{
    const ActivationRow* found = nullptr;
    for (const ValueId value : box.values)
        if (const auto it = rows.find(value); it != rows.end())
            if (!found || (!found->quantizer && it->second->quantizer) || isWorsePair(*found, *it->second))
                found = it->second;
    return found;
}

std::string toolTip(const DisplayBox& box, const ActivationRow* row)
{
    std::string text = box.title;
    if (row) {
        text += "\n" + row->name + "\naccumulated " + text::decibelUnit(row->accumulated.sqnrDb, row->accumulated.exact)
            + ", ideal " + text::decibelUnit(row->idealSqnrDb) + "\nadded by the quantizer "
            + text::decibelUnit(row->localSqnrDb, row->localExact) + ", clipped " + text::percent(row->clippedFraction)
            + "\n" + text::quantizer(row->params, row->dynamic);
    }
    return "<title>" + escaped(text) + "</title>";
}

std::string boxDrawing(const DisplayBox& box, const LayoutRect& r, const ActivationRow* row)
{
    const std::string colour = row ? colourClass(row->accumulated) : "none";
    std::string out = "<g class=\"box " + colour + "\">" + toolTip(box, row) + "<rect rx=\"5\"" + attribute("x", r.x)
        + attribute("y", r.y) + attribute("width", r.width) + attribute("height", r.height) + "/>";
    constexpr double kTwoLines = 36;
    const bool two = !box.subtitle.empty() && r.height >= kTwoLines;
    out += textAt(r.x + 9, two ? r.y + 17 : r.centreY() + 4, "title", escaped(box.title));
    if (two)
        out += textAt(r.x + 9, r.y + 32, "sub", escaped(box.subtitle));
    if (row)
        out += textAt(r.right() - 9, r.centreY() + 4, "num",
            shown(text::decibelUnit(row->accumulated.sqnrDb, row->accumulated.exact)));
    return out + "</g>\n";
}

std::string edgeDrawing(const EdgePath& edge)
{
    std::string out = "<path d=\"";
    for (size_t i = 0; i < edge.points.size(); ++i)
        out += (i == 0 ? "M" : i == 1 ? " C" : " ") + coordinate(edge.points[i].x) + " " + coordinate(edge.points[i].y);
    return out + "\"/>\n";
}

std::string badgeDrawing(const std::string& badge, LayoutPoint at)
{
    const LayoutSize size = badgeSize(badge);
    return "<g class=\"badge\"><rect" + attribute("rx", size.height / 2) + attribute("x", at.x - size.width / 2)
        + attribute("y", at.y - size.height / 2) + attribute("width", size.width) + attribute("height", size.height)
        + "/>" + textAt(at.x, at.y + 3.5, "mid", escaped(badge)) + "</g>\n";
}

std::string legend()
{
    std::string out = "<div class=\"legend\"><span>accumulated SQNR, dB</span><span>&#8804; 0</span>";
    for (int step = 8; step >= 0; --step)
        out += "<i class=\"swatch c" + std::to_string(step) + "\"></i>";
    return out + "<span>&#8805; 40</span><i class=\"swatch none\"></i><span>not compared</span></div>\n";
}

} // namespace

std::string graphDrawing(const Snapshot& s)
{
    const LoadedModel& model = *s.quantModel;
    const Plan& plan = *model.plan;
    const auto constants = [&](ValueId v) { return plan.constant(v); };
    const auto dims = [&](ValueId v) {
        const Tensor* constant = plan.constant(v);
        return constant ? std::optional(toDims(constant->shape())) : plan.facts().of(v).dims;
    };
    const FoldedGraph graph = foldGraph(model.graph(), *model.quant, constants, dims, FoldMode::Folded);
    if (graph.boxes.size() > kMostBoxes)
        return "<p class=\"muted\">The network has " + text::count(graph.boxes.size())
            + " operators, too many for a drawing here; the window shows it.</p>\n";
    const auto layout = layoutGraph(graph, {}, {});
    if (!layout)
        return {};
    std::unordered_map<ValueId, const ActivationRow*> rows;
    for (const ActivationRow& row : s.comparison->activations)
        rows.try_emplace(row.quantValue, &row);

    const std::string size = coordinate(layout->size.width) + " " + coordinate(layout->size.height);
    std::string out = legend()
        + "<div class=\"scroll graph\"><svg class=\"network\" role=\"img\" aria-label=\"network\" viewBox=\"0 0 " + size
        + "\"" + attribute("width", layout->size.width) + attribute("height", layout->size.height)
        + ">\n<g class=\"edges\">\n";
    for (const EdgePath& edge : layout->edges)
        out += edgeDrawing(edge);
    out += "</g>\n";
    for (size_t i = 0; i < graph.boxes.size(); ++i)
        out += boxDrawing(graph.boxes[i], layout->boxes[i], rowOf(graph.boxes[i], rows));
    for (size_t i = 0; i < graph.edges.size(); ++i)
        if (layout->edges[i].badge && !graph.edges[i].badge.empty())
            out += badgeDrawing(graph.edges[i].badge, *layout->edges[i].badge);
    return out + "</svg></div>\n";
}

} // namespace qs::html
