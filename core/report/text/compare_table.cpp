// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/findings/finding_groups.h"
#include "core/analysis/rows/parameter_difference.h"
#include "core/base/text/distinct_names.h"
#include "core/base/text/elided.h"
#include "core/report/format.h"
#include "core/report/remedy_text.h"
#include "core/report/report.h"
#include "core/report/task_text.h"
#include "core/report/text/blame_text.h"
#include "core/report/text/files_table.h"
#include "core/report/text/iterations_text.h"
#include "core/report/text/language_text.h"
#include "core/report/text/matching_text.h"
#include "core/report/text/saturation.h"
#include "core/report/text/text_table.h"

#include <algorithm>

namespace qs {

namespace {

using Align = TextTable::Align;

constexpr size_t kNameWidth = 40;
constexpr size_t kWorstActivations = 12;
constexpr size_t kWorstWeights = 5;
constexpr size_t kShownFindings = 6;
constexpr size_t kShownNames = 5;
constexpr size_t kShownDifferences = 15;
constexpr size_t kTextWidth = 100;

struct Listing {
    std::vector<size_t> order;
    bool complete = true;
    std::string caption(const char* what, size_t all) const
    {
        if (complete)
            return std::string(what) + ", lowest SQNR first (all " + text::count(all) + ")\n";
        return std::string(what) + ", lowest SQNR first (" + text::count(order.size()) + " of " + text::count(all)
            + "; --verbose shows all)\n";
    }
};

Listing listed(std::vector<size_t> order, size_t shown, bool verbose)
{
    Listing l { std::move(order), true };
    if (!verbose && l.order.size() > shown) {
        l.order.resize(shown);
        l.complete = false;
    }
    return l;
}

std::string header(const Snapshot& s)
{
    const Comparison& c = *s.comparison;
    const auto [floatName, quantName] = distinctFileNames(s.floatModel->model->path, s.quantModel->model->path);
    return floatName + " against " + quantName + " (" + std::string(quantFormName(s.quantModel->quant->form()))
        + "): " + text::counted(c.samples, "sample") + ", " + std::string(profileName(c.profile))
        + (c.partial ? ", partial" : "") + "\n";
}

std::string outputsTable(const Comparison& c, size_t nameWidth)
{
    TextTable table({ { "output", Align::Left, nameWidth }, { "SQNR dB" }, { "cosine" }, { "RMSE" }, { "max error" },
        { "task", Align::Left }, { "agreement", Align::Left }, { "KL" } });
    for (const OutputRow& o : c.outputs)
        table.add(
            { o.name, text::decibel(o.similarity.sqnrDb, o.similarity.exact), text::number(o.similarity.cosine, 4),
                text::number(o.similarity.rmse), text::number(o.similarity.maxAbsError), text::taskName(o.task),
                text::taskAgreement(o.task), text::number(o.klMean) });
    std::string lines;
    for (const OutputRow& o : c.outputs)
        if (const std::string sentence = text::taskSentence(o.task); !sentence.empty())
            lines += "  " + printable(o.name) + ": " + printable(sentence) + "\n";
    for (const OutputRow& o : c.outputs)
        if (o.language)
            lines += "  " + printable(o.name) + ": " + text::languageSentence(*o.language) + "\n";
    return table.text("") + lines;
}

/// Which output is which, where names do not say it and they stand in another order.
std::string orderText(const Snapshot& s)
{
    if (!s.quantModel->plan)
        return {};
    const auto& theirs = s.quantModel->plan->graph().outputs();
    std::ptrdiff_t last = 0;
    bool inOrder = true, named = true;
    std::string pairs;
    for (const OutputRow& o : s.comparison->outputs) {
        const auto place = std::ranges::find(theirs, o.quantValue) - theirs.begin();
        inOrder = inOrder && place >= last;
        last = place;
        named = named && o.name == o.quantizedName;
        pairs += (pairs.empty() ? "" : ", ") + printable(o.name) + " is its " + printable(o.quantizedName);
    }
    return inOrder || named ? std::string() : "  the quantized file has its outputs in another order: " + pairs + "\n";
}

/// Integer profiles: how far the runtime's arithmetic is from the file as written.
std::string implementationText(const Comparison& c)
{
    if (c.profile == ArithmeticProfile::Simulated)
        return {};
    const ActivationRow *one = nullptr, *more = nullptr;
    for (const ActivationRow& a : c.activations) {
        if (!a.implementation)
            continue;
        if (!one || a.implementation->offByOne > one->implementation->offByOne)
            one = &a;
        if (a.implementation->beyond > 0 && (!more || a.implementation->beyond > more->implementation->beyond))
            more = &a;
    }
    std::string out = "\nagainst the file as written, each unit from the same codes: ";
    if (one) {
        out += "at most " + text::percent(one->implementation->offByOne) + " of a tensor's codes one step apart ("
            + printable(one->name) + "), ";
        out += more ? text::percent(more->implementation->beyond) + " further (" + printable(more->name) + ")\n"
                    : "none further\n";
    } else {
        out += "no codes to compare\n";
    }
    for (const OutputRow& o : c.outputs)
        if (o.implementation)
            out += "  output " + printable(o.name)
                + ", end to end: " + text::decibel(o.implementation->sqnrDb, o.implementation->exact) + " dB, at most "
                + text::number(o.implementation->maxAbsError) + " apart\n";
    return out;
}

std::string accuracyText(const Comparison& c)
{
    if (!c.accuracy)
        return {};
    std::string line = "\naccuracy (" + text::counted(c.accuracy->labels, "label") + "): float "
        + text::percent(c.accuracy->floatAccuracy) + ", quantized " + text::percent(c.accuracy->quantizedAccuracy)
        + "; " + text::counted(c.flipped.size(), "sample") + " with another class";
    for (size_t i = 0; i < std::min(c.flipped.size(), kShownNames); ++i)
        line += (i ? ", " : c.flipped.size() == 1 ? ": sample " : ": ") + std::to_string(c.flipped[i]);
    return line + (c.flipped.size() > kShownNames ? " ...\n" : "\n");
}

std::string ladderText(const Ladder& ladder)
{
    TextTable table({ { "step", Align::Left }, { "value", Align::Left, kNameWidth }, { "agrees", Align::Left },
        { "SQNR dB" }, { "relative error" }, { "max error" }, { "beyond a step" }, { "top-1 agreement" },
        { "accuracy", Align::Left }, { "rule", Align::Left } });
    for (const LadderRow& row : ladder.rows)
        table.add({ std::string(ladderStepName(row.step)), row.name, row.agrees ? "yes" : "no",
            text::decibel(row.similarity.sqnrDb, row.similarity.exact), text::number(row.relative),
            text::number(row.similarity.maxAbsError), text::percent(row.beyondStep), text::percent(row.top1Agreement),
            text::ladderAccuracy(row), row.rule });
    return "\nfrom the framework to the device: " + printable(text::ladderVerdict(ladder)) + "\n" + table.text("  ");
}

/// What does not fit about the samples.
std::string samplesText(const Comparison& c)
{
    std::string out;
    for (const InputRow& row : c.inputs)
        if (!row.note.empty())
            out += wrapped("input " + printable(row.name) + ": " + row.note, kTextWidth, "");
    if (c.coverage && c.coverage->tensorsOutside > 0)
        out += wrapped(text::percent(c.coverage->outside) + " of the values lie outside the calibrated ranges, most at "
                + printable(elided(c.coverage->worst, kNameWidth)) + " (" + text::percent(c.coverage->worstShare) + ")",
            kTextWidth, "");
    size_t equal = 0;
    for (const auto& group : c.duplicates)
        equal += group.size() - 1;
    if (equal > 0)
        out += text::counted(equal, "sample") + (equal == 1 ? " equals" : " equal")
            + " an earlier one, the first: " + std::to_string(c.duplicates.front()[1]) + "\n";
    return out.empty() ? out : "\n" + out;
}

/// Cut, where they are long, so that those that differ still do; 0 = not cut.
std::string namesText(const std::vector<std::string>& names, size_t widest)
{
    std::string out;
    for (const std::string& name : distinctNames(names, widest))
        out += (out.empty() ? "" : ", ") + printable(name);
    return out;
}

/// "and 19 more like it: a, b ...": the other members of a group.
std::string moreText(const std::vector<Finding>& findings, const FindingGroup& group)
{
    const size_t count = group.members.size();
    if (count < 2)
        return {};
    std::string out = "and " + text::count(count - 1) + " more like it: ";
    const size_t listed = std::min(count, 1 + kShownNames);
    std::vector<std::string> names;
    for (size_t i = 1; i < listed; ++i) {
        const Finding& f = findings[group.members[i]];
        names.push_back(f.node.empty() ? f.tensor : f.node);
    }
    out += namesText(names, kNameWidth);
    return wrapped(out + (listed < count ? " ..." : ""), kTextWidth, "      ");
}

/// As a shell takes it; a word or an option with its value is not broken.
std::string commandText(const std::vector<std::string>& words)
{
    std::string out, line;
    for (const std::string& given : words) {
        const std::string word = printable(given);
        if (!line.empty() && line.size() + word.size() > kTextWidth) {
            out += line + " \\\n";
            line = "          " + word;
        } else {
            line += (line.empty() ? "         " : " ") + word;
        }
    }
    return line.empty() ? out : out + line + "\n";
}

std::string findingText(
    const Snapshot& s, const Finding& f, const std::vector<Remedy>& changes, bool verbose, const std::string& more)
{
    const auto name
        = [&](const std::string& text, size_t widest) { return printable(verbose ? text : elided(text, widest)); };
    const std::string& place = f.tensor.empty() ? f.node : f.tensor;
    std::string out = "  [" + std::string(severityName(f.severity)) + "] " + std::string(ruleId(f.rule)) + ": "
        + name(f.title, kTextWidth) + "\n";
    if (!place.empty() && f.title.find(place) == std::string::npos)
        out += "      at " + name(place, kTextWidth) + "\n";
    out += wrapped(printable(f.summary), kTextWidth, "      ");
    std::vector<std::string> names;
    const size_t listed = verbose ? f.places.size() : std::min(f.places.size(), 1 + kShownNames);
    for (size_t i = 1; i < listed; ++i)
        names.push_back(f.places[i].node.empty() ? f.places[i].tensor : f.places[i].node);
    std::string others = names.empty() ? std::string() : "also at " + namesText(names, verbose ? 0 : kNameWidth);
    if (listed < f.places.size())
        others += " and " + text::count(f.places.size() - listed) + " more";
    out += wrapped(others, kTextWidth, "      ");
    out += more;
    if (f.remedy.empty())
        return out;
    const std::string gain = text::gainSentence(f, s.comparison->accuracy);
    return out + wrapped("-> " + printable(f.remedy) + (gain.empty() ? "" : " " + gain), kTextWidth, "      ")
        + commandText(text::remedyCommand(s, f, changes));
}

std::string findingsText(const Snapshot& s, bool verbose)
{
    const Comparison& c = *s.comparison;
    if (c.findings.empty())
        return "\nfindings: none\n";
    std::vector<FindingGroup> groups = findingGroups(c.findings);
    if (verbose) { // each by itself
        groups.clear();
        for (size_t i = 0; i < c.findings.size(); ++i)
            groups.push_back({ { i } });
    }
    const size_t shown = verbose ? groups.size() : std::min(groups.size(), kShownFindings);
    std::string out
        = c.trials && c.trials->tried > 0 ? "\nfindings (" + text::trialsText(*c.trials) + ")\n" : "\nfindings\n";
    for (size_t i = 0; i < shown; ++i)
        out += findingText(s, c.findings[groups[i].members.front()], changesOf(c.findings, groups[i]), verbose,
            moreText(c.findings, groups[i]));
    size_t left = 0;
    for (size_t i = shown; i < groups.size(); ++i)
        left += groups[i].members.size();
    if (left > 0)
        out += "  ... and " + text::counted(left, "finding") + " more; --verbose shows all\n";
    return out;
}

std::string activationsTable(const Comparison& c, bool verbose)
{
    const Listing l = listed(text::worstFirst(c.activations), kWorstActivations, verbose);
    const bool alone = std::ranges::any_of(c.activations, [](const ActivationRow& a) { return bool(a.nodeSqnrDb); });
    const bool kernel = std::ranges::any_of(c.activations, [](const ActivationRow& a) { return bool(a.noise.kernel); });
    std::vector<TextTable::Column> columns { { "tensor", Align::Left, verbose ? 0 : kNameWidth },
        { "op", Align::Left, 24 }, { "accumulated" }, { "ideal" }, { "added" }, { "increase" }, { "rounding" },
        { "clipping" }, { "weights" }, { "inputs" }, { "clipped" }, { "match", Align::Left } };
    if (kernel)
        columns.insert(columns.end() - 3, { "kernel" });
    if (alone)
        columns.insert(columns.end() - 1, { "node alone" });
    TextTable table(std::move(columns));
    for (const size_t i : l.order) {
        const ActivationRow& a = c.activations[i];
        const text::NoiseShares noise = text::noiseShares(a);
        std::vector<std::string> cells { text::tensorFor(a), a.opType.empty() ? "input" : a.opType,
            text::decibel(a.accumulated.sqnrDb, a.accumulated.exact), text::decibel(a.idealSqnrDb),
            text::decibel(a.localSqnrDb, a.localExact), text::decibel(a.increaseDb), text::percent(noise.rounding),
            text::percent(noise.clipping), text::percent(noise.weights), text::percent(noise.inherited),
            text::percent(a.clippedFraction), text::match(a.method, a.confidence) };
        if (kernel)
            cells.insert(cells.end() - 3, text::percent(noise.kernel));
        if (alone)
            cells.insert(cells.end() - 1, text::decibel(a.nodeSqnrDb, a.nodeExact));
        table.add(std::move(cells));
    }
    const bool cancel
        = std::ranges::any_of(l.order, [&](size_t i) { return text::cancels(text::noiseShares(c.activations[i])); });
    return "\n" + l.caption("tensors", c.activations.size()) + table.text("  ")
        + (cancel ? "  Shares of the noise below 0 or above 100 %: there one part takes back what another adds.\n"
                  : "");
}

std::string weightsTable(const Comparison& c, bool verbose)
{
    if (c.weights.empty())
        return {};
    const Listing l = listed(text::worstFirst(c.weights), kWorstWeights, verbose);
    TextTable table({ { "weight", Align::Left, verbose ? 0 : kNameWidth }, { "op", Align::Left, 24 },
        { "type", Align::Left }, { "SQNR dB" }, { "ideal" }, { "worst channel" }, { "RMSE" }, { "max error" },
        { "range ratio" }, { "clipped" } });
    for (const size_t i : l.order) {
        const WeightRow& w = c.weights[i];
        table.add({ w.name, w.opType, std::string(dtypeName(w.params.dtype)),
            text::decibel(w.similarity.sqnrDb, w.similarity.exact), text::decibel(w.idealSqnrDb),
            text::worstChannelText(w), text::number(w.similarity.rmse), text::number(w.similarity.maxAbsError),
            text::number(w.rangeRatio), text::percent(w.clippedFraction) });
    }
    return "\n" + l.caption("weights", c.weights.size()) + table.text("  ");
}

std::string bothOutputs(const Comparison& a, const Comparison& b)
{
    TextTable table({ { "output", Align::Left, kNameWidth }, { "A dB" }, { "B dB" }, { "A top-1" }, { "B top-1" } });
    for (size_t i = 0; i < std::min(a.outputs.size(), b.outputs.size()); ++i) {
        const OutputRow &x = a.outputs[i], &y = b.outputs[i];
        table.add({ y.name, text::decibel(x.similarity.sqnrDb, x.similarity.exact),
            text::decibel(y.similarity.sqnrDb, y.similarity.exact), text::percent(x.top1Agreement),
            text::percent(y.top1Agreement) });
    }
    std::string out = table.text("  ");
    if (a.accuracy && b.accuracy)
        out += "  accuracy: float " + text::percent(b.accuracy->floatAccuracy) + ", A "
            + text::percent(a.accuracy->quantizedAccuracy) + ", B " + text::percent(b.accuracy->quantizedAccuracy)
            + "\n";
    return out;
}

/// Two quantized files of one float model: what they do otherwise.
std::string differencesText(const Snapshot& a, const Snapshot& b, bool verbose)
{
    auto all = parameterDifferences(*a.comparison, *b.comparison);
    const size_t compared = all.size();
    std::erase_if(all, [](const ParameterDifference& d) { return d.same; });
    const size_t shown = verbose ? all.size() : std::min(all.size(), kShownDifferences);
    TextTable table({ { "tensor", Align::Left, verbose ? 0 : kNameWidth }, { "kind", Align::Left }, { "B over A dB" },
        { "A", Align::Left }, { "B", Align::Left }, { "scale B/A" }, { "A added" }, { "B added" } });
    for (size_t i = 0; i < shown; ++i) {
        const ParameterDifference& d = all[i];
        auto quantizer = [](const std::optional<TensorParameters>& p) {
            return p ? text::quantizer(p->params, p->dynamic) : std::string("float");
        };
        table.add({ d.name, std::string(parameterKindName(d.kind)), text::decibel(d.gainDb), quantizer(d.a),
            quantizer(d.b), text::number(d.scaleRatio), d.a ? text::decibel(d.a->localSqnrDb) : "-",
            d.b ? text::decibel(d.b->localSqnrDb) : "-" });
    }
    const auto [nameOfA, nameOfB] = distinctFileNames(a.quantModel->model->path, b.quantModel->model->path);
    return "A = " + nameOfA + ", B = " + nameOfB + ", both against " + text::fileName(b.floatModel->model->path) + "\n"
        + bothOutputs(*a.comparison, *b.comparison) + "\nparameters that differ, largest consequence first ("
        + text::count(shown) + " of " + text::count(all.size()) + "; " + text::count(compared - all.size())
        + " tensors have the same)\n" + table.text("  ") + "\nB: ";
}

std::string continuedText(const Comparison& c, const ReportInfo& info)
{
    std::string text;
    for (const OutputRow& row : c.outputs)
        if (row.language && row.language->freeRun)
            text += continuationsText(*row.language->freeRun, info.words, info.verbose);
    return text;
}

std::string fittedText(const Snapshot& s)
{
    std::string text;
    for (const std::string& fitted : text::fittedInputs(*s.quantModel))
        text += "\n" + fitted + "\n";
    return text;
}

} // namespace

std::string compareTable(const Snapshot& s, const ReportInfo& info)
{
    const Comparison& c = *s.comparison;
    std::string out = info.other ? differencesText(*info.other, s, info.verbose) : std::string();
    out += header(s) + "\n" + outputsTable(c, info.verbose ? 0 : kNameWidth) + orderText(s) + accuracyText(c)
        + (c.network ? "\n" + text::networkVerdict(*c.network) + "\n" : "") + fittedText(s) + implementationText(c)
        + (c.profile == ArithmeticProfile::IntegerAvx2 ? saturationText(c.saturation, info.verbose) : "")
        + (info.files ? filesText(*info.files) : "") + (info.ladder ? ladderText(*info.ladder) : "")
        + (info.elements ? elementsText(*info.elements, info.verbose) : "") + continuedText(c, info)
        + (info.blame ? blameText(*info.blame, info.words, info.verbose) : "") + findingsText(s, info.verbose)
        + samplesText(c) + activationsTable(c, info.verbose) + iterationsText(s, info.verbose)
        + weightsTable(c, info.verbose);
    out += matchingText(s, info.verbose);
    out += "\nSQNR, ideal, added, increase in dB; added = by the tensor's own quantizer; rounding, clipping, weights, "
           "inputs = shares of the noise\ninputs = what came in with them; clipped = of the quantized model's own "
           "values\n";
    out += "load " + text::milliseconds(s.timing.loadMs) + ", match " + text::milliseconds(s.timing.matchMs) + ", run "
        + text::milliseconds(s.timing.runMs) + ", peak memory " + text::bytes(info.peakMemoryBytes) + "\n";
    return out;
}

} // namespace qs
