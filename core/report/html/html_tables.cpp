// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/definitions.h"
#include "core/analysis/rows/parameter_difference.h"
#include "core/report/format.h"
#include "core/report/html/html_cells.h"
#include "core/report/html/html_parts.h"
#include "core/report/task_text.h"
#include "core/report/text/language_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace qs::html {

namespace {

/// Stacked bar of the positive shares; the numbers are its tool tip.
std::string noiseCell(const ActivationRow& row)
{
    const text::NoiseShares noise = text::noiseShares(row);
    if (!noise.inherited && !noise.rounding && !noise.clipping)
        return "<td></td>";
    double sum = 0;
    for (const Number& part : { noise.clipping, noise.rounding, noise.weights, noise.kernel, noise.inherited })
        sum += std::max(part.value_or(0), 0.0);
    const std::string tip = "clipping " + text::percent(noise.clipping) + ", rounding " + text::percent(noise.rounding)
        + ", weights " + text::percent(noise.weights)
        + (noise.kernel ? ", kernel " + text::percent(noise.kernel) : std::string()) + ", inputs "
        + text::percent(noise.inherited) + (text::cancels(noise) ? " (parts cancel)" : "");
    std::string out = "<td data-key=\"" + fmt::format("{}", noise.clipping.value_or(0))
        + "\"><div class=\"split\" title=\"" + escaped(tip) + "\">";
    for (const auto& [name, part] : { std::pair { "clipping", noise.clipping },
             std::pair { "rounding", noise.rounding }, std::pair { "weights", noise.weights },
             std::pair { "kernel", noise.kernel }, std::pair { "inherited", noise.inherited } })
        if (sum > 0 && part.value_or(0) > 0)
            out += fmt::format("<i class=\"{}\" style=\"width:{:.1f}%\"></i>", name, *part / sum * 100);
    return out + "</div></td>";
}

} // namespace

std::string activationTable(const Comparison& c)
{
    std::string out = openTable("activations",
        { { "tensor", "name in the float file; below it the value compared in the quantized file", false },
            { "op", "operator that makes it", false }, { "match", "how the pair was found, and how surely", false },
            { "accumulated dB", definition::kAccumulated.brief }, { "ideal dB", definition::kIdeal.brief },
            { "added dB", definition::kAdded.brief }, { "node dB", definition::kNodeAlone.brief },
            { "increase dB", definition::kIncrease.brief }, { "noise", definition::kNoise.brief, false },
            { "clipped", definition::kClipped.brief }, { "RMSE", definition::kRmse.brief },
            { "max error", definition::kMaxError.brief }, { "cosine", definition::kCosine.brief },
            { "range", definition::kRange.brief, false }, { "observed", definition::kObservedRange.brief, false },
            { "quantizer", "scale * (code - zero point)", false } });
    for (const size_t i : text::worstFirst(c.activations)) {
        const ActivationRow& a = c.activations[i];
        out += "<tr><td class=\"name\">" + escaped(text::tensorFor(a));
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
    return out + closeTable();
}

std::string worstChannelCell(const WeightRow& w)
{
    const auto worst = text::worstChannel(w);
    return numberCell(text::worstChannelText(w), worst ? Number(worst->sqnrDb) : Number());
}

std::string weightTable(const Comparison& c)
{
    std::string out = openTable("weights",
        { { "weight", "name in the float file; below it the one in the quantized file", false },
            { "op", "operator that uses it", false }, { "SQNR dB", "dequantized against float" },
            { "ideal dB", definition::kIdeal.brief },
            { "worst channel dB", "lowest SQNR of an output channel, and which one" },
            { "per tensor dB", definition::kPerTensor.brief }, { "per channel dB", definition::kPerChannel.brief },
            { "range ratio", definition::kRangeRatio.brief }, { "clipped", definition::kClipped.brief },
            { "RMSE", definition::kRmse.brief }, { "max error", definition::kMaxError.brief },
            { "quantizer", "scale * (code - zero point)", false } });
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
    return out + closeTable();
}

std::string outputTable(const Comparison& c)
{
    std::string out = openTable("outputs",
        { { "output", "name in the float file", false }, { "SQNR dB", "over all samples together" },
            { "cosine", definition::kCosine.brief }, { "RMSE", definition::kRmse.brief },
            { "max error", definition::kMaxError.brief }, { "mean error", definition::kMeanError.brief },
            { "task", "what the output is for", false }, { "agreement", definition::kTask.brief },
            { "top-1 agreement", definition::kTop1.brief }, { "top-5 agreement", definition::kTop5.brief },
            { "KL", definition::kKl.brief } });
    for (const OutputRow& o : c.outputs)
        out += "<tr>" + textCell(o.name, "name") + coloured(o.similarity)
            + numberCell(text::number(o.similarity.cosine, 5), o.similarity.cosine) + plain(o.similarity.rmse)
            + plain(o.similarity.maxAbsError) + plain(o.similarity.meanError) + textCell(text::taskName(o.task))
            + numberCell(text::taskAgreement(o.task), o.task.agreement) + share(o.top1Agreement)
            + share(o.top5Agreement) + plain(o.klMean) + "</tr>\n";
    out += closeTable();
    for (const OutputRow& o : c.outputs)
        if (const std::string sentence = text::taskSentence(o.task); !sentence.empty())
            out += "<p>" + escaped(o.name + ": " + sentence) + ".</p>\n";
    for (const OutputRow& o : c.outputs)
        if (o.language)
            out += "<p>" + escaped(o.name + ": " + text::languageSentence(*o.language)) + ".</p>\n";
    return out;
}

std::string differenceTable(const Comparison& a, const Comparison& b)
{
    std::string out = openTable("parameters",
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
    return out + closeTable();
}

std::string ladderTable(const Ladder& ladder)
{
    std::string out = openTable("ladder",
        { { "step", "the later side against the earlier one", false }, { "value", "name in the file", false },
            { "agrees", "by the rule of this step", false }, { "rule", "what was asked for", false },
            { "SQNR dB", "over all samples" }, { "relative error", "norm of the difference over norm of the value" },
            { "max error", definition::kMaxError.brief },
            { "beyond one step", "share of the elements more than one quantization step apart" },
            { "top-1 agreement", definition::kTop1.brief },
            { "accuracy", "share of samples with the right class, before and after the step", false } });
    for (const LadderRow& row : ladder.rows)
        out += "<tr>" + textCell(std::string(ladderStepName(row.step))) + textCell(row.name, "name")
            + textCell(row.agrees ? "yes" : "no") + textCell(row.rule) + coloured(row.similarity) + plain(row.relative)
            + plain(row.similarity.maxAbsError) + share(row.beyondStep) + share(row.top1Agreement)
            + textCell(text::ladderAccuracy(row)) + "</tr>\n";
    return "<p>" + escaped(text::ladderVerdict(ladder)) + "</p>" + out + closeTable();
}

namespace {

std::string insideTable(const Snapshot& s)
{
    const Graph &f = s.floatModel->graph(), &q = s.quantModel->graph();
    std::string out = "<h3>Inside one operator of the other file</h3>"
        + openTable("inside",
            { { "value", "the other file computes it inside a node and does not give it out", false },
                { "file", "where the value is", false }, { "node", "of the other file", false },
                { "operator", "that this node is", false } });
    const auto add
        = [&](const std::vector<InsideValue>& values, const Graph& graph, const Graph& other, const char* file) {
              for (const InsideValue& v : values)
                  out += "<tr>" + textCell(graph.value(v.value).name, "name") + textCell(file)
                      + textCell(other.node(v.node).name, "name") + textCell(other.node(v.node).opType) + "</tr>\n";
          };
    add(s.alignment->insideFloat, f, q, "float");
    add(s.alignment->insideQuant, q, f, "quantized");
    return out + closeTable();
}

std::string aloneTable(const Snapshot& s)
{
    std::string out = openTable("unmatched",
        { { "value", "without a partner in the other file", false }, { "file", "where it is", false },
            { "why", "as far as the graphs tell", false } });
    const auto add = [&](const std::vector<ValueId>& values, const std::map<ValueId, WhyAlone>& why, const Graph& graph,
                         const char* file) {
        for (const ValueId v : values) {
            const auto reason = why.find(v);
            out += "<tr>" + textCell(graph.value(v).name, "name") + textCell(file)
                + textCell(reason == why.end() ? std::string() : std::string(whyAloneText(reason->second))) + "</tr>\n";
        }
    };
    add(s.alignment->unmatchedFloat, s.alignment->whyFloat, s.floatModel->graph(), "float");
    add(s.alignment->unmatchedQuant, s.alignment->whyQuant, s.quantModel->graph(), "quantized");
    return out + closeTable();
}

} // namespace

std::string unmatchedTable(const Snapshot& s)
{
    const Alignment& a = *s.alignment;
    std::string out = a.unmatchedFloat.empty() && a.unmatchedQuant.empty() ? std::string() : aloneTable(s);
    if (!a.insideFloat.empty() || !a.insideQuant.empty())
        out += insideTable(s);
    if (s.alignment->links.empty())
        return out;
    out += "<h3>Alike by their numbers beside the pairs</h3>"
        + openTable("links",
            { { "float value", "name in the float file", false },
                { "quantized value", "name in the quantized file", false },
                { "how", "elements in the same order, or with exchanged axes", false }, { "confidence", "0 to 1" } });
    for (const NumericLink& link : s.alignment->links)
        out += "<tr>" + textCell(s.floatModel->graph().value(link.floatValue).name, "name")
            + textCell(s.quantModel->graph().value(link.quantValue).name, "name")
            + textCell(link.permuted ? "axes exchanged" : "equal") + plain(link.confidence) + "</tr>\n";
    return out + closeTable();
}

} // namespace qs::html
