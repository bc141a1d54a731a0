// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/format.h"
#include "core/report/html/html_parts.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace qs::html {

namespace {

/// A plot area with linear axes inside a picture of its own.
struct Plot {
    double width, height; ///< of the picture
    double left, right, top, bottom; ///< margins
    double lowX, highX, lowY, highY;

    double x(double v) const { return left + (v - lowX) / (highX - lowX) * (width - left - right); }
    double y(double v) const { return height - bottom - (v - lowY) / (highY - lowY) * (height - top - bottom); }
    double endX() const { return width - right; }
    double endY() const { return height - bottom; }
    std::string open(const std::string& label) const
    {
        return "<svg class=\"plot\" role=\"img\" aria-label=\"" + escaped(label) + "\" viewBox=\"0 0 "
            + coordinate(width) + " " + coordinate(height) + "\">\n";
    }
};

std::string line(const char* cssClass, double x1, double y1, double x2, double y2)
{
    return "<line class=\"" + std::string(cssClass) + "\" x1=\"" + coordinate(x1) + "\" y1=\"" + coordinate(y1)
        + "\" x2=\"" + coordinate(x2) + "\" y2=\"" + coordinate(y2) + "\"/>\n";
}

std::string label(const char* cssClass, double x, double y, const std::string& content)
{
    return "<text class=\"" + std::string(cssClass) + "\" x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\">"
        + content + "</text>\n";
}

/// Steps of 1, 2 or 5 times a power of ten, about `wanted` over the span.
double niceStep(double span, int wanted)
{
    const double raw = span / wanted;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    const double part = raw / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

std::string verticalScale(const Plot& plot)
{
    std::string out;
    const double step = niceStep(plot.highY - plot.lowY, 5);
    for (double v = std::ceil(plot.lowY / step) * step; v <= plot.highY; v += step) {
        out += line("grid", plot.left, plot.y(v), plot.endX(), plot.y(v));
        out += label("tick end", plot.left - 6, plot.y(v) + 4, shown(text::number(std::round(v / step) * step)));
    }
    return out;
}

using ValueOf = std::function<Number(const ActivationRow&)>;

/// A dot for each row that has the number, joined by a line.
std::string curve(const Plot& plot, const std::vector<ActivationRow>& rows, const char* cssClass, const ValueOf& value)
{
    std::string path;
    std::string dots;
    for (size_t i = 0; i < rows.size(); ++i) {
        const Number v = value(rows[i]);
        if (!v || !std::isfinite(*v))
            continue;
        const std::string x = coordinate(plot.x(static_cast<double>(i)));
        const std::string y = coordinate(plot.y(*v));
        path += (path.empty() ? "M" : " L") + x + " " + y;
        dots += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"2.2\"/>";
    }
    return "<g class=\"curve " + std::string(cssClass) + "\"><path d=\"" + path + "\"/>" + dots + "</g>\n";
}

Number accumulated(const ActivationRow& r) { return r.accumulated.sqnrDb; }
Number added(const ActivationRow& r) { return r.localSqnrDb; }
Number ideal(const ActivationRow& r) { return r.idealSqnrDb; }

/// An invisible strip over each item that carries its numbers as a tool tip.
std::string hoverStrips(const Plot& plot, const std::vector<ActivationRow>& rows)
{
    std::string out;
    const double width = rows.size() > 1 ? plot.x(1) - plot.x(0) : plot.endX() - plot.left;
    for (size_t i = 0; i < rows.size(); ++i) {
        const ActivationRow& r = rows[i];
        const std::string tip = r.name + (r.opType.empty() ? "" : " (" + r.opType + ")") + "\naccumulated "
            + text::decibelUnit(r.accumulated.sqnrDb, r.accumulated.exact) + ", added "
            + text::decibelUnit(r.localSqnrDb, r.localExact) + ", ideal " + text::decibelUnit(r.idealSqnrDb);
        out += "<rect class=\"hover\" x=\"" + coordinate(plot.x(static_cast<double>(i)) - width / 2) + "\" y=\""
            + coordinate(plot.top) + "\" width=\"" + coordinate(width) + "\" height=\""
            + coordinate(plot.endY() - plot.top) + "\"><title>" + escaped(tip) + "</title></rect>\n";
    }
    return out;
}

/// Counts per unit of width in bins of at least 1/120 of the shown range.
struct Bars {
    double low = 0, width = 0;
    std::vector<double> counts;
    double highest() const { return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end()); }
};

Bars barsOf(const Histogram& h, double width)
{
    Bars bars { std::floor(h.low() / width) * width, width, {} };
    bars.counts.assign(static_cast<size_t>(std::ceil((h.high() - bars.low) / width)), 0.0);
    for (size_t i = 0; i < h.counts().size(); ++i) {
        const double at = (h.low() + (static_cast<double>(i) + 0.5) * h.binWidth() - bars.low) / width;
        bars.counts[std::min(static_cast<size_t>(std::max(at, 0.0)), bars.counts.size() - 1)]
            += static_cast<double>(h.counts()[i]);
    }
    return bars;
}

/// Logarithmic height, so that thin tails stay visible.
double barHeight(double count) { return std::log10(1 + count); }

std::string stairs(const Plot& plot, const Bars& bars, const char* cssClass)
{
    std::string path = "M" + coordinate(plot.x(bars.low)) + " " + coordinate(plot.y(0));
    for (size_t i = 0; i < bars.counts.size(); ++i) {
        const double left = bars.low + static_cast<double>(i) * bars.width;
        const std::string y = coordinate(plot.y(barHeight(bars.counts[i])));
        path += " L" + coordinate(plot.x(left)) + " " + y + " L" + coordinate(plot.x(left + bars.width)) + " " + y;
    }
    path += " L" + coordinate(plot.x(bars.low + static_cast<double>(bars.counts.size()) * bars.width)) + " "
        + coordinate(plot.y(0));
    return "<path class=\"" + std::string(cssClass) + "\" d=\"" + path + "\"/>\n";
}

/// The ends of the representable range, and what lies beyond shaded.
std::string rangeMarks(const Plot& plot, const std::pair<double, double>& range)
{
    std::string out;
    const auto shade = [&](double from, double to) {
        if (to > from)
            out += "<rect class=\"beyond\" x=\"" + coordinate(from) + "\" y=\"" + coordinate(plot.top) + "\" width=\""
                + coordinate(to - from) + "\" height=\"" + coordinate(plot.endY() - plot.top) + "\"/>\n";
    };
    const double low = std::clamp(plot.x(range.first), plot.left, plot.endX());
    const double high = std::clamp(plot.x(range.second), plot.left, plot.endX());
    shade(plot.left, low);
    shade(high, plot.endX());
    for (const double x : { low, high })
        if (x > plot.left && x < plot.endX())
            out += line("limit", x, plot.top, x, plot.endY());
    return out;
}

} // namespace

std::string layerChart(const Comparison& c)
{
    double low = 0;
    double high = 40;
    for (const ActivationRow& row : c.activations)
        for (const Number& v : { accumulated(row), added(row), ideal(row) })
            if (v && std::isfinite(*v)) {
                low = std::min(low, *v);
                high = std::max(high, *v);
            }
    const double last = std::max<double>(static_cast<double>(c.activations.size()) - 1, 1);
    const Plot plot { 1100, 300, 46, 12, 12, 30, 0, last, std::max(low - 2, -60.0), std::min(high + 2, 120.0) };
    std::string out
        = "<div class=\"legend\"><i class=\"key accumulated\"></i><span>accumulated</span><i class=\"key added\"></i>"
          "<span>added by the quantizer</span><i class=\"key ideal\"></i><span>ideal</span></div>\n";
    out += plot.open("SQNR along the network") + verticalScale(plot);
    out += curve(plot, c.activations, "ideal", ideal) + curve(plot, c.activations, "added", added)
        + curve(plot, c.activations, "accumulated", accumulated);
    out += label("tick mid", (plot.left + plot.endX()) / 2, plot.height - 8,
        "SQNR in dB of " + text::counted(c.activations.size(), "matched tensor")
            + ", from the input (left) to the output");
    return out + hoverStrips(plot, c.activations) + "</svg>\n";
}

std::string histogram(const ActivationRow& row)
{
    const Histogram& values = row.floatHistogram;
    if (values.empty())
        return "<p class=\"muted\">no finite values</p>\n";
    const Histogram& before = row.beforeHistogram;
    double low = values.low();
    double high = values.high();
    if (!before.empty()) {
        low = std::min(low, before.low());
        high = std::max(high, before.high());
    }
    double width = values.binWidth();
    while ((high - low) / width > 120)
        width *= 2;
    const Bars floatBars = barsOf(values, width);
    const Bars quantBars = before.empty() ? Bars {} : barsOf(before, width);
    const double highest = barHeight(std::max(floatBars.highest(), quantBars.highest()));
    const Plot plot { 420, 190, 14, 14, 12, 26, low, high, 0, std::max(highest, 0.1) * 1.05 };
    std::string out = plot.open("distribution of " + row.name);
    if (row.range)
        out += rangeMarks(plot, *row.range);
    out += stairs(plot, floatBars, "bars");
    if (!quantBars.counts.empty())
        out += stairs(plot, quantBars, "outline");
    out += line("axis", plot.left, plot.endY(), plot.endX(), plot.endY());
    const double step = niceStep(high - low, 5);
    for (double v = std::ceil(low / step) * step; v <= high; v += step)
        out += label("tick mid", plot.x(v), plot.height - 8, shown(text::number(std::round(v / step) * step)));
    return out + "</svg>\n";
}

} // namespace qs::html
