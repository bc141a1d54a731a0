// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/parameter_difference.h"
#include "core/report/format.h"
#include "core/report/html_parts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>

namespace qs::html {

namespace {

struct Head {
    const char* title;
    const char* tip;
    bool numeric = true;
};

std::string open(const char* id, std::initializer_list<Head> heads)
{
    std::string out = "<div class=\"scroll\"><table id=\"" + std::string(id) + "\"><thead><tr>";
    for (const Head& h : heads)
        out += std::string("<th scope=\"col\"") + (h.numeric ? " class=\"n\"" : "") + " title=\"" + escaped(h.tip)
            + "\"><button type=\"button\">" + escaped(h.title) + "</button></th>";
    return out + "</tr></thead><tbody>\n";
}

std::string close() { return "</tbody></table></div>\n"; }

std::string textCell(const std::string& text, const char* cssClass = "")
{
    return "<td class=\"" + std::string(cssClass) + "\">" + escaped(text) + "</td>";
}

/// A cell that sorts by `key`; without one it sorts last.
std::string numberCell(const std::string& text, const Number& key, const std::string& inner = {})
{
    const bool sortable = key && std::isfinite(*key);
    return "<td class=\"n\"" + (sortable ? fmt::format(" data-key=\"{}\"", *key) : "") + ">" + inner + shown(text)
        + "</td>";
}

std::string plain(const Number& v) { return numberCell(text::number(v), v); }
std::string share(const Number& v) { return numberCell(text::percent(v), v); }

std::string decibels(const Number& v, bool exact = false)
{
    return numberCell(text::decibel(v, exact), exact ? Number(1e6) : v);
}

std::string coloured(const Similarity& s)
{
    const std::string swatch = "<i class=\"swatch " + colourClass(s) + "\"></i>";
    return numberCell(text::decibel(s.sqnrDb, s.exact), s.exact ? Number(1e6) : s.sqnrDb, swatch);
}

/// Stacked bar of the positive shares; the numbers are its tool tip.
std::string noiseCell(const ActivationRow& row)
{
    const text::NoiseShares noise = text::noiseShares(row);
    if (!noise.inherited && !noise.rounding && !noise.clipping)
        return "<td></td>";
    double sum = 0;
    for (const Number& part : { noise.clipping, noise.rounding, noise.inherited })
        sum += std::max(part.value_or(0), 0.0);
    const std::string tip = "clipping " + text::percent(noise.clipping) + ", rounding " + text::percent(noise.rounding)
        + ", inherited " + text::percent(noise.inherited);
    std::string out = "<td data-key=\"" + fmt::format("{}", noise.clipping.value_or(0))
        + "\"><div class=\"split\" title=\"" + escaped(tip) + "\">";
    for (const auto& [name, part] : { std::pair { "clipping", noise.clipping },
             std::pair { "rounding", noise.rounding }, std::pair { "inherited", noise.inherited } })
        if (sum > 0 && part.value_or(0) > 0)
            out += fmt::format("<i class=\"{}\" style=\"width:{:.1f}%\"></i>", name, *part / sum * 100);
    return out + "</div></td>";
}

} // namespace

std::string activationTable(const Comparison& c)
{
    std::string out = open("activations",
        { { "tensor", "name in the float file; below it the value compared in the quantized file", false },
            { "op", "operator that makes it", false }, { "match", "how the pair was found, and how surely", false },
            { "accumulated dB", "SQNR of the quantized model's value against the float one" },
            { "ideal dB", "signal power over s\xc2\xb2/12" },
            { "added dB", "SQNR of the float value through this quantizer alone" },
            { "node dB", "SQNR of the quantized node alone (--local)" },
            { "increase dB", "noise-to-signal here minus the largest among the inputs" },
            { "noise", "clipping, rounding, inherited", false }, { "clipped", "share of elements beyond the range" },
            { "RMSE", "root of the mean squared error" }, { "max error", "largest absolute error" },
            { "cosine", "cosine similarity" }, { "range", "representable range", false },
            { "observed", "range of the values before the quantizer", false },
            { "quantizer", "scale * (code - zero point)", false } });
    for (const size_t i : text::worstFirst(c.activations)) {
        const ActivationRow& a = c.activations[i];
        out += "<tr><td class=\"name\">" + escaped(a.name);
        if (a.quantizedName != a.name)
            out += "<small>" + escaped(a.quantizedName) + "</small>";
        out += "</td>" + textCell(a.opType.empty() ? "input" : a.opType) + textCell(text::match(a.method, a.confidence))
            + coloured(a.accumulated) + decibels(a.idealSqnrDb) + decibels(a.localSqnrDb, a.localExact)
            + decibels(a.nodeSqnrDb, a.nodeExact) + decibels(a.increaseDb) + noiseCell(a) + share(a.clippedFraction)
            + plain(a.accumulated.rmse) + plain(a.accumulated.maxAbsError)
            + numberCell(text::number(a.accumulated.cosine, 5), a.accumulated.cosine) + "<td>"
            + shown(text::range(a.range)) + "</td><td>" + shown(text::range(a.observedRange)) + "</td>"
            + textCell(text::quantizer(a.params, a.dynamic), "code") + "</tr>\n";
    }
    return out + close();
}

std::string worstChannelCell(const WeightRow& w)
{
    const auto worst = text::worstChannel(w);
    return numberCell(text::worstChannelText(w), worst ? Number(worst->sqnrDb) : Number());
}

std::string weightTable(const Comparison& c)
{
    std::string out = open("weights",
        { { "weight", "name in the float file; below it the one in the quantized file", false },
            { "op", "operator that uses it", false }, { "SQNR dB", "dequantized against float" },
            { "ideal dB", "signal power over s\xc2\xb2/12" },
            { "worst channel dB", "lowest SQNR of an output channel, and which one" },
            { "per tensor dB", "what one symmetric int8 scale would give" },
            { "per channel dB", "what one symmetric int8 scale a channel would give" },
            { "range ratio", "largest over median absolute maximum of the channels" },
            { "clipped", "share of elements beyond the range" }, { "RMSE", "root of the mean squared error" },
            { "max error", "largest absolute error" }, { "quantizer", "scale * (code - zero point)", false } });
    for (const size_t i : text::worstFirst(c.weights)) {
        const WeightRow& w = c.weights[i];
        out += "<tr><td class=\"name\">" + escaped(w.name);
        if (w.quantizedName != w.name)
            out += "<small>" + escaped(w.quantizedName) + "</small>";
        out += "</td>" + textCell(w.opType) + coloured(w.similarity) + decibels(w.idealSqnrDb) + worstChannelCell(w)
            + decibels(w.perTensorSqnrDb) + decibels(w.perChannelSqnrDb) + plain(w.rangeRatio)
            + share(w.clippedFraction) + plain(w.similarity.rmse) + plain(w.similarity.maxAbsError)
            + textCell(text::quantizer(w.params, false), "code") + "</tr>\n";
    }
    return out + close();
}

std::string outputTable(const Comparison& c)
{
    std::string out = open("outputs",
        { { "output", "name in the float file", false }, { "SQNR dB", "over all samples together" },
            { "cosine", "cosine similarity" }, { "RMSE", "root of the mean squared error" },
            { "max error", "largest absolute error" }, { "mean error", "mean of quantized minus float" },
            { "top-1 agreement", "samples with the same largest element" },
            { "top-5 agreement", "samples whose float class is among the five largest" } });
    for (const OutputRow& o : c.outputs)
        out += "<tr>" + textCell(o.name, "name") + coloured(o.similarity)
            + numberCell(text::number(o.similarity.cosine, 5), o.similarity.cosine) + plain(o.similarity.rmse)
            + plain(o.similarity.maxAbsError) + plain(o.similarity.meanError) + share(o.top1Agreement)
            + share(o.top5Agreement) + "</tr>\n";
    return out + close();
}

std::string differenceTable(const Comparison& a, const Comparison& b)
{
    std::string out = open("parameters",
        { { "tensor", "name in the float file", false }, { "kind", "activation, weight or bias", false },
            { "op", "operator that makes or uses it", false },
            { "B over A dB", "what B's quantizer gives at this tensor over A's" },
            { "A", "scale * (code - zero point)", false }, { "B", "scale * (code - zero point)", false },
            { "scale B/A", "largest scale of B over largest of A" },
            { "A added dB", "SQNR of the float value through A's quantizer alone" },
            { "B added dB", "SQNR of the float value through B's quantizer alone" },
            { "A accumulated dB", "SQNR of A's value against the float one" },
            { "B accumulated dB", "SQNR of B's value against the float one" } });
    for (const ParameterDifference& d : parameterDifferences(a, b)) {
        auto quantizer = [](const std::optional<TensorParameters>& p) {
            return textCell(p ? text::quantizer(p->params, p->dynamic) : std::string("float"), "code");
        };
        auto number = [](const std::optional<TensorParameters>& p, Number TensorParameters::*value) {
            return decibels(p ? (*p).*value : Number());
        };
        out += "<tr>" + textCell(d.name, "name") + textCell(std::string(parameterKindName(d.kind)))
            + textCell(d.opType.empty() ? "input" : d.opType) + decibels(d.gainDb) + quantizer(d.a) + quantizer(d.b)
            + plain(d.scaleRatio) + number(d.a, &TensorParameters::localSqnrDb)
            + number(d.b, &TensorParameters::localSqnrDb) + number(d.a, &TensorParameters::sqnrDb)
            + number(d.b, &TensorParameters::sqnrDb) + "</tr>\n";
    }
    return out + close();
}

std::string unmatchedTable(const Snapshot& s)
{
    std::string out = open(
        "unmatched", { { "value", "without a partner in the other file", false }, { "file", "where it is", false } });
    const auto add = [&](const std::vector<ValueId>& values, const Graph& graph, const char* file) {
        for (const ValueId v : values)
            out += "<tr>" + textCell(graph.value(v).name, "name") + textCell(file) + "</tr>\n";
    };
    add(s.alignment->unmatchedFloat, s.floatModel->graph(), "float");
    add(s.alignment->unmatchedQuant, s.quantModel->graph(), "quantized");
    return out + close();
}

} // namespace qs::html
