// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/network_outputs.h"
#include "core/analysis/confirm/lacked_inputs.h"
#include "core/analysis/confirm/parting_place.h"
#include "core/analysis/rounding/attribute_differences.h"
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

/// Whether both files are one network.
namespace qs {

namespace {

constexpr double kFirst = kNetworkRank;
constexpr size_t kNamed = 3; ///< other functions that a summary names
/// Constants that take away more than half of the output's noise power when they are the float model's are a fault.
constexpr double kErrorWithoutThem = 0.7;
/// Where nothing but weights is quantized, a decibel; of constants that hold others' values, whatever is felt.
constexpr double kHardlyLess = 0.95, kLeastLeft = 1e-6;
constexpr double kDecibelLess = 0.89, kFeltLess = 0.98;
constexpr double kSpoiled = 0.1; ///< error over signal, -20 dB
constexpr double kUntestedDb = 20, kDecade = 10;
/// Part of what is between the files that a cause makes alone.
constexpr double kExplains = 0.3;
constexpr double kTooMuch = 3; ///< times that: what moves more is made up for, and not the cause
constexpr double kBesideUnpaired = 0.8; ///< confidence
/// Weights that are further apart than the coarsest rounding explains.
constexpr double kOtherWeight = 0.1;
constexpr double kFarMore = 10; ///< times what rounding the weights may explain
constexpr double kNothingLeft = 0.99; ///< so far from the float model's: no correction

bool areRetrained(const Comparison& c)
{
    return std::ranges::any_of(
        c.weights, [](const WeightRow& w) { return !w.bias && w.offByMoreThanHalfStep.value_or(0) > kDifferingShare; });
}

std::string listed(const std::vector<std::string>& sentences)
{
    std::string text;
    for (size_t i = 0; i < std::min(sentences.size(), kNamed); ++i)
        text += (i > 0 ? "; " : "") + sentences[i];
    return sentences.size() > kNamed ? text + fmt::format("; and {} more", sentences.size() - kNamed) : text;
}

/// Constants that are other ones in the two files, the furthest first.
std::string otherWeights(const NetworkVerdict& verdict)
{
    const WeightRounding* worst = nullptr;
    for (const WeightRounding& r : verdict.step.roundings)
        if (r.other() && r.distance > kOtherWeight && (!worst || r.distance > worst->distance))
            worst = &r;
    return worst ? fmt::format(" The constant {} is another one ({:.2g} apart).", worst->name, worst->distance) : "";
}

std::string nameOf(const Comparison& c, ValueId value)
{
    for (const OutputRow& out : c.outputs)
        if (out.floatValue == value)
            return out.name;
    const auto row = RowOfValue(c.activations).find(value);
    return row ? c.activations[*row].name : "the output";
}

/// The node of the quantized file that makes in one what the float model does in several, and what it reads has no
/// partner either: a sentence, empty where nodes stand for nodes.
std::string fusedText(const ComparePair& pair, ValueId place)
{
    const Graph &f = pair.floatPlan->graph(), &q = pair.quantPlan->graph();
    const auto& values = pair.alignment->values;
    const auto at = std::ranges::find(values, place, &ValuePair::floatValue);
    const NodeId theirs = f.value(place).producer;
    const NodeId own = at == values.end() || at->quantizer ? NodeId() : q.value(at->quantValue).producer;
    if (!own.valid() || !theirs.valid() || q.node(own).domain.empty() || q.node(own).opType == f.node(theirs).opType)
        return {};
    std::string text = fmt::format(" In the quantized file {} '{}' makes it", q.node(own).opType, q.node(own).name);
    const auto& alone = pair.alignment->unmatchedQuant;
    for (const ValueId in : q.node(own).inputs)
        if (const NodeId before = in.valid() ? q.value(in).producer : NodeId(); before.valid()
            && isFloat(pair.quantPlan->facts().of(in).dtype) && std::ranges::find(alone, in) != alone.end())
            return text
                + fmt::format(
                    ", of what {} '{}' makes, which has no partner.", q.node(before).opType, q.node(before).name);
    return text + ".";
}

/// Which elements of the output are numbers in one of the files alone; empty: none are.
std::string numbersInOne(const NetworkDistance& distance)
{
    const auto text = [](uint64_t count, std::string_view there, std::string_view here) {
        return fmt::format(
            "{} {} {} there and {} in the float model", count, count == 1 ? "element is" : "elements are", there, here);
    };
    return distance.noNumbers > 0   ? text(distance.noNumbers, "infinite or NaN", "finite")
        : distance.numbersAlone > 0 ? text(distance.numbersAlone, "finite", "infinite or NaN")
                                    : std::string();
}

std::string offBy(const NetworkVerdict& verdict)
{
    const double distance = verdict.distance.worstOutput.distance;
    if (verdict.distance.counted)
        return fmt::format(
            "given the float model's own numbers, makes other whole numbers of them: {} of {} are others",
            percentText(distance), verdict.output);
    if (std::isfinite(distance))
        return fmt::format("off by {:.2g} of the size of {}", distance, verdict.output);
    if (const std::string numbers = numbersInOne(verdict.distance); !numbers.empty())
        return fmt::format("off in {}, of which {}", verdict.output, numbers);
    return "off in " + verdict.output
        + (verdict.distance.zeroInFloat ? ", which is zero everywhere in the float model and is not there"
                                        : ", which has another shape or no finite numbers and cannot be compared");
}

/// The other function that explains what is between the files; null where none does.
const ChangedFunction* causeOf(const NetworkVerdict& verdict)
{
    const double distance = verdict.distance.worstOutput.distance;
    if (verdict.changed.empty())
        return nullptr;
    const ChangedFunction& first = verdict.changed.front();
    const bool explains = first.effect >= kExplains * std::min(distance, 1.0) && first.effect <= kTooMuch * distance;
    return explains && (first.output.empty() || first.output == verdict.output) ? &first : nullptr;
}

/// The other functions beside the one that is told of.
std::string restOf(const NetworkVerdict& verdict, const ChangedFunction& told)
{
    std::vector<std::string> rest;
    std::ranges::copy_if(
        verdict.otherFunctions, std::back_inserter(rest), [&](const std::string& other) { return other != told.text; });
    return rest.empty() ? std::string() : " " + asSentence(listed(rest)) + ".";
}

/// What is said of the place: how far the files are apart there; what is before or behind it.
struct PlaceText {
    std::string name;
    double distance = 0;
    std::string before, behind;
};

std::string summaryOf(const NetworkVerdict& verdict, const PlaceText& place, const std::vector<std::string>& settings)
{
    const NetworkDistance& d = verdict.distance;
    std::string text = d.counted ? fmt::format("The quantized file, {}.", offBy(verdict))
                                 : fmt::format("Without its quantizers and with the {}, the quantized file is {}.",
                                     !verdict.unpaired.empty() ? "float model's weights where they have a partner there"
                                         : verdict.storedWeights ? "stored weights in both"
                                                                 : "float model's weights in both",
                                     offBy(verdict));
    if (!verdict.unpaired.empty() && !d.counted)
        text += fmt::format(
            " Without one {}: {}. Rounding explains no more than {:.2g}: an operator is another one, or one "
            "of these holds other values.",
            verdict.unpaired.size() == 1 ? "is" : "are", listed(verdict.unpaired), d.tolerance);
    if (d.explained && verdict.unpaired.empty())
        text += fmt::format(" Rounding to {} explains {:.2g}.", precisionName(verdict.step.precision), *d.explained);
    if (verdict.past == PastProof::Apart)
        text += " With empty caches the files compute the same: they part behind a past, which the first half of the "
                "text was made to be.";
    if (d.sample > 0)
        text += fmt::format(" So it is on sample {}.", d.sample);
    if (!verdict.exchanged.empty())
        return text + " " + asSentence(verdict.exchanged) + ".";
    const ChangedFunction* const cause = causeOf(verdict);
    if (cause)
        return text
            + fmt::format(" {}: this alone moves the float model's {} by {:.2g}.", asSentence(cause->text),
                cause->output.empty() ? "outputs" : cause->output, cause->effect)
            + restOf(verdict, *cause);
    const std::string far
        = std::isfinite(place.distance) ? fmt::format("{:.2g}", place.distance) : "of which no ratio can be told";
    text += d.counted ? fmt::format(" They part at {}.", place.name)
        : d.mostFrom  ? fmt::format(" They part by {:.2g} before, most comes in at {} ({}){}.", d.firstApart->distance,
               place.name, far, place.before)
        : !place.behind.empty() ? place.behind
                                : fmt::format(" They part at {} ({}){}.", place.name, far, place.before);
    if (!settings.empty())
        text += " There " + listed(settings) + ".";
    text += otherWeights(verdict);
    std::vector<std::string> elsewhere;
    std::ranges::copy_if(verdict.otherFunctions, std::back_inserter(elsewhere),
        [&](const std::string& other) { return std::ranges::find(settings, other) == settings.end(); });
    return elsewhere.empty() ? text : text + " " + asSentence(listed(elsewhere)) + ".";
}

void sayPadding(const ComparePair& pair, const ReadPadding& padding, Finding& f)
{
    f.title = fmt::format("The {} reads padding as text", padding.inFloat ? "float model" : "quantized file");
    f.summary += paddingText(pair, padding);
    f.remedy = countsLengths(pair, padding) ? "Pad texts behind their end, or run them without padding."
        : padding.inFloat ? "Compare with a float model whose attention reads the mask, or run texts without padding."
                          : "Let attention in the quantized file read the mask, as in the float model.";
}

/// Where the files part at a fused node that lacks an input.
void sayLackedInput(const ComparePair& pair, NodeId floatNode, Finding& f)
{
    const std::vector<LackedInput> lacked = lackedInputs(pair);
    const std::string text = lackedText(pair, lacked, floatNode);
    if (text.empty())
        return;
    f.summary += text;
    f.remedy = "Leave these nodes in float, or quantize them before they are fused.";
    const Graph& graph = pair.floatPlan->graph();
    f.change = { RemedyKind::ExcludeNode, graph.node(floatNode).name, f.tensor, 0, 0, 0 };
    std::set<NodeId> told { floatNode };
    for (const LackedInput& other : lacked)
        if (told.insert(other.floatNode).second)
            f.together.push_back({ RemedyKind::ExcludeNode, graph.node(other.floatNode).name, {}, 0, 0, 0 });
}

void findDistance(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.floatPlan->graph();
    const NetworkDistance& distance = c.network->distance;
    const ValueDistance place
        = distance.mostFrom ? *distance.mostFrom : distance.firstApart.value_or(distance.worstOutput);
    const bool lost = std::ranges::any_of(c.activations,
        [&](const ActivationRow& row) { return row.floatValue == place.floatValue && row.lostActivation.valid(); });
    const ChangedFunction* const cause = causeOf(*c.network);
    const ValueId changed = cause ? graph.findValue(cause->tensor) : ValueId();
    const ValueId value = changed.valid() ? changed
        : lost                            ? place.floatValue
                                          : firstOfUnmatched(pair, place.floatValue);
    Finding f = makeFinding(Rule::ModelsDiffer);
    f.tensor = graph.value(value).name;
    if (!c.network->unpaired.empty())
        f.confidence = kBesideUnpaired;
    if (!c.network->exchanged.empty())
        f.title = c.network->exchanged.starts_with("the caches") ? "Caches are exchanged"
            : c.network->exchanged.starts_with("the inputs")     ? "Inputs are exchanged"
                                                                 : "Outputs are exchanged";
    const NodeId producer = graph.value(value).producer;
    if (producer.valid())
        f.node = graph.node(producer).name;
    for (size_t i = 0; i < c.activations.size() && !f.activation; ++i)
        if (c.activations[i].floatValue == value)
            f.activation = i;
    const std::string before = lost ? std::string() : orBefore(pair, place.floatValue);
    const NodeId at = before.empty() ? producer : graph.value(place.floatValue).producer;
    const PlaceText text { at.valid() ? graph.node(at).name : f.tensor, place.distance, before,
        distance.firstApart ? std::string() : behindPartner(pair, distance.worstOutput.floatValue) };
    f.summary = summaryOf(*c.network, text, settingsAt(pair, producer));
    if (!cause && !distance.counted && c.network->exchanged.empty())
        f.summary += fusedText(pair, place.floatValue) + unreadText(pair);
    f.evidence = { evidence("output_distance", distance.worstOutput.distance),
        { "output", std::nullopt, graph.value(distance.worstOutput.floatValue).name, {} },
        evidence("distance_at_place", place.distance), evidence("tolerance", distance.tolerance) };
    f.rank = kFirst;
    if (cause && cause->byConstant)
        f.remedy = std::string(kStoreThere) + "; nothing else is to be trusted before.";
    f.change = { RemedyKind::Requantize, {}, {}, 0, 0, 0 };
    if (!cause && !distance.counted && c.network->exchanged.empty())
        sayLackedInput(pair, at, f);
    if (c.network->padding && c.network->exchanged.empty())
        sayPadding(pair, *c.network->padding, f);
    if (c.network->exchanged.starts_with("the caches"))
        f.remedy = "Let each node read the past that its own present becomes.";
    found.push_back(std::move(f));
}

void findOverflow(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.floatPlan->graph();
    const ValueOverflow& overflow = *c.network->distance.overflow;
    const Value& value = graph.value(overflow.floatValue);
    const std::string node = value.producer.valid() ? graph.node(value.producer).name : std::string();
    Finding f = makeFinding(Rule::ValueOverflows, node.empty() ? value.name : node);
    f.tensor = value.name;
    f.node = node;
    f.activation = RowOfValue(c.activations).find(overflow.floatValue);
    const uint64_t all = f.activation ? c.activations[*f.activation].accumulated.nonFinite : 0;
    const bool cast = !overflow.cast.empty();
    f.summary = cast
        ? fmt::format("On sample {} {} elements are no finite numbers behind '{}', which casts to float16 in the "
                      "quantized file; before it they reach up to {:.4g}.",
            c.network->distance.sample, overflow.elements, overflow.cast, overflow.largest)
        : fmt::format("On sample {} {} elements are no finite numbers in the quantized file, which has float16 "
                      "here; in the float model they reach up to {:.4g}.",
            c.network->distance.sample, overflow.elements, overflow.largest);
    if (all > 0)
        f.summary += fmt::format(" On all samples {} are.", all);
    f.summary += " Before it the files agree, so they may be one network: behind it nothing can be compared.";
    if (cast)
        f.remedy = "Take out the Casts between what is in float32 there, use bfloat16, or scale the values down before "
                   "it.";
    else
        f.summary += " On a CPU ONNX Runtime computes operators without a float16 kernel in float32 and does not round "
                     "between two of them: there these values may stay finite.";
    f.evidence = { evidence("overflowed", double(overflow.elements)), evidence("largest", overflow.largest) };
    if (all > 0)
        f.evidence.push_back(evidence("non_finite", double(all)));
    f.rank = kFirst;
    found.push_back(std::move(f));
}

/// Constants that are no codes and other ones than the float model's, the furthest first.
std::vector<const WeightRounding*> otherConstants(const PrecisionStep& step)
{
    std::vector<const WeightRounding*> others;
    for (const WeightRounding& r : step.roundings)
        if (r.other())
            others.push_back(&r);
    std::ranges::stable_sort(others, std::greater {}, &WeightRounding::distance);
    return others;
}

std::string listOf(const std::vector<const WeightRounding*>& constants)
{
    std::vector<std::string> names;
    for (const WeightRounding* r : constants)
        names.push_back(
            fmt::format("{} ({}{:.2g} apart{})", r->name, r->holds.empty() ? "" : r->holds + ", ", r->distance,
                r->rows.empty()
                    ? std::string()
                    : fmt::format(", {} {} alone", r->rows.size() == 1 ? "row" : "rows", fmt::join(r->rows, ", "))));
    return listed(names);
}

/// What other constants do to the output; the furthest first.
std::string effectOf(const NetworkVerdict& verdict, const std::vector<const WeightRounding*>& others)
{
    const auto zeros = std::ranges::find_if(others, &WeightRounding::zeros);
    if (verdict.lostConstants)
        return zeros != others.end()
            ? fmt::format("; {} holds nothing but zeros: it was lost, not corrected", (*zeros)->name)
            : fmt::format(
                "; {} is as far from the float model's as zeros are, and so not corrected", others.front()->name);
    const double without = verdict.errorWithoutThem.value_or(1);
    const double db = std::fabs(20 * std::log10(std::max(without, kLeastLeft)));
    const bool there = verdict.errorOutput.empty();
    const std::string its = there ? "its error" : "the error of " + verdict.errorOutput;
    if (verdict.harmfulConstants && without < kErrorWithoutThem && there)
        return ", which is much of its error";
    if (verdict.harmfulConstants || without < kHardlyLess)
        return fmt::format(", and {} would be {:.1f} dB less without them", its, db);
    if (std::ranges::any_of(others, [](const WeightRounding* r) { return !r->holds.empty(); }))
        return fmt::format(", and {} would hardly be less without them", its);
    return fmt::format(", and {} would {} without them: so it is where biases are corrected", its,
        without > 1 / kHardlyLess ? fmt::format("be {:.1f} dB more", db) : std::string("hardly be less"));
}

/// One network but for constants that are no codes.
void findOtherConstants(const Comparison& c, std::vector<Finding>& found)
{
    const auto others = otherConstants(c.network->step);
    const double effect = *c.network->otherConstants;
    const bool harmful = c.network->harmfulConstants;
    Finding f = makeFinding(Rule::WeightsDiffer);
    f.node = others.front()->node;
    f.tensor = others.front()->name;
    f.cause = "constants";
    f.severity = !harmful ? Severity::Note : effect > kSpoiled ? Severity::Error : Severity::Warning;
    f.title = fmt::format("{} other than the float model's",
        others.size() == 1 ? std::string("A constant is") : fmt::format("{} constants are", others.size()));
    f.summary = fmt::format(
        "Beside its codes the quantized file has other constants: {}. They move {} by up to {:.2g} of its "
        "size{}. With the float model's in their place, and without its quantizers, it computes what the "
        "float model does.",
        listOf(others), c.network->movedOutput, effect, effectOf(*c.network, others));
    f.evidence = { evidence("output_moved", effect), evidence("constants", double(others.size())) };
    f.remedy = harmful ? "Store the float model's values there, and find out what changed them."
                       : "Nothing has to be done where that is intended.";
    f.rank = harmful ? kFirst : 0;
    for (const WeightRounding* r : others)
        if (harmful)
            f.together.push_back({ RemedyKind::StoreConstant, r->node, r->name, 0, 0, 0 });
    if (harmful) {
        f.change = f.together.front();
        f.together.erase(f.together.begin());
    }
    found.push_back(std::move(f));
}

/// Constants make up for what else is other: with the float model's in their place far more is apart.
bool makeUp(const NetworkProof& proof)
{
    return proof.rearranged && proof.withFloatWeights && !proof.withFloatConstants
        && proof.withFloatWeights->worstOutput.distance > kFarMore * proof.rearranged->tolerance;
}

/// Whoever reads only the text has to hear of other functions, too.
void sayOtherFunctions(const Comparison& c, size_t before, std::vector<Finding>& found)
{
    const NetworkVerdict& verdict = *c.network;
    std::vector<std::string> rest;
    std::ranges::copy_if(verdict.otherFunctions, std::back_inserter(rest), [&](const std::string& other) {
        return std::ranges::find(verdict.changed, other, &ChangedFunction::text) == verdict.changed.end();
    });
    const bool told = verdict.known() && !verdict.same() && !verdict.otherConstants && verdict.exchanged.empty();
    if (rest.empty() || told) // see summaryOf()
        return;
    if (found.size() > before) {
        if (std::string& text = found.back().summary;
            text.find(rest[0]) == std::string::npos && text.find(asSentence(rest[0])) == std::string::npos)
            text += " " + asSentence(listed(rest)) + ".";
        return;
    }
    Finding f = makeFinding(Rule::ModelsDiffer);
    f.severity = Severity::Note;
    f.title = "Other functions within the tolerance";
    f.summary = fmt::format("The files agree within {:.2g} of the size of {}, but not only by rounding: {}.",
        verdict.distance.tolerance, verdict.output, listed(rest));
    f.evidence = { evidence("output_distance", verdict.distance.worstOutput.distance) };
    f.remedy = "Nothing has to be done where that is intended.";
    found.push_back(std::move(f));
}

/// Nothing of the quantized file is compared behind them.
Finding cannotRun(const ComparePair& pair, const std::string& operators)
{
    Finding f = makeFinding(Rule::ModelsDiffer);
    f.severity = Severity::Warning;
    f.cause = "operators";
    const auto unsupported = pair.quantPlan->unsupported();
    const std::string& first = pair.quantPlan->graph().node(unsupported.front().first).name;
    f.title = unsupported.size() == 1 ? "An operator cannot be run"
                                      : fmt::format("{} operators cannot be run", unsupported.size());
    f.summary = fmt::format("Every output of the quantized file depends on operators that cannot be run here: {}. The "
                            "first is '{}'. What depends on them has no numbers, and whether the two files are one "
                            "network could not be tested.",
        operators, first);
    f.evidence = { evidence("operators", double(unsupported.size())) };
    f.remedy = "Compare a file with operators of ONNX or ONNX Runtime in their place.";
    f.rank = kNetworkRank;
    return f;
}

/// Nothing is proved: more than a note where the output is spoiled and nothing says by what.
Finding notShown(const Comparison& c, bool causeTold)
{
    const NetworkVerdict& verdict = *c.network;
    const OutputRow* const worst = worstOutput(c.outputs);
    const double db = worst && !worst->similarity.exact ? worst->similarity.sqnrDb.value_or(kUntestedDb) : kUntestedDb;
    Finding f = makeFinding(Rule::ModelsDiffer);
    f.severity = verdict.untested && db < kUntestedDb && !causeTold ? Severity::Warning : Severity::Note;
    f.title = "Not shown to be one network";
    f.summary = "Whether the quantized file, without its quantizers, computes the float model could not be tested: "
        + verdict.reason + ".";
    if (!verdict.exchanged.empty())
        f.summary += " But " + verdict.exchanged + ".";
    f.remedy = "Take care that both files come from one model.";
    if (f.severity != Severity::Note) {
        f.summary += fmt::format(" {} stands at {:.1f} dB, which may be for that very reason.", worst->name, db);
        f.rank = worst->similarity.sqnrDb ? std::pow(kDecade, -db / kDecade) : 0;
    }
    return f;
}

/// Zeros, or, where only weights are quantized, what is as far off as these: no bias is corrected there by that much.
bool hasLostConstants(const NetworkProof& proof, const Comparison& c)
{
    const bool weightsOnly
        = std::ranges::none_of(c.activations, [](const ActivationRow& row) { return row.quantizer.has_value(); });
    const double without = proof.errorWithout.value_or(0);
    const bool told = without < kErrorWithoutThem; // they make much of the error, whatever they are
    return without <= 1 // else its own do good
        && std::ranges::any_of(proof.step.roundings, [&](const WeightRounding& r) {
               return r.other() && (r.zeros || (weightsOnly && !told && r.distance > kNothingLeft));
           });
}

/// They cost the output much, or are no corrected values and cost it anything.
bool areHarmful(const NetworkProof& proof, const Comparison& c)
{
    const bool weightsOnly = onlyWeightsQuantized(c);
    const bool others = std::ranges::any_of(
        proof.step.roundings, [](const WeightRounding& r) { return r.other() && !r.holds.empty(); });
    return proof.errorWithout.value_or(0) < (others ? kFeltLess : weightsOnly ? kDecibelLess : kErrorWithoutThem);
}

/// The output that NetworkProof::errorWithout is of; empty where that is `moved`.
std::string otherErrorOutput(const NetworkProof& proof, const Comparison& c, ValueId moved)
{
    return proof.errorWithout && proof.errorOutput != moved ? nameOf(c, proof.errorOutput) : std::string();
}

NetworkVerdict judgedConstants(const NetworkProof& proof, const Comparison& c, NetworkVerdict verdict)
{
    const ValueDistance& moved = proof.withFloatWeights->worstOutput;
    verdict.otherConstants = moved.distance;
    verdict.movedOutput = nameOf(c, moved.floatValue);
    verdict.lostConstants = hasLostConstants(proof, c);
    verdict.errorWithoutThem = proof.errorWithout;
    verdict.errorOutput = otherErrorOutput(proof, c, moved.floatValue);
    verdict.harmfulConstants = verdict.lostConstants || areHarmful(proof, c);
    verdict.distance = verdict.harmfulConstants ? *proof.withFloatWeights : *proof.withFloatConstants;
    return verdict;
}

std::optional<NetworkVerdict> judged(const std::optional<NetworkProof>& proof, const Comparison& c)
{
    if (!proof)
        return std::nullopt;
    NetworkVerdict verdict { *proof };
    // Where the weights are the float model's, these tell more than what rounding hides.
    const bool stored = proof->withStoredWeights && proof->withStoredWeights->same();
    if (proof->rearranged
        && (!proof->withFloatWeights || (areRetrained(c) && !stored) || makeUp(*proof)
            || !proof->otherCaches.empty())) {
        verdict.rearranged = true;
        verdict.unpaired.clear();
        verdict.distance = *proof->rearranged;
        return verdict;
    }
    if (proof->withActivations && c.restored && c.restored->matterLittle()
        && proof->withFloatWeights->worstOutput.distance <= kSpoiled) { // which are told of by themselves
        verdict.restoredActivations = true;
        verdict.distance = *proof->withActivations;
        return verdict;
    }
    if (proof->withFloatConstants && otherConstants(proof->step).empty()) { // weights on a grid of codes alone
        verdict.roundedConstants = proof->withFloatWeights->worstOutput.distance;
        verdict.movedOutput = nameOf(c, proof->withFloatWeights->worstOutput.floatValue);
        verdict.errorWithoutThem = proof->errorWithout;
        verdict.errorOutput = otherErrorOutput(*proof, c, proof->withFloatWeights->worstOutput.floatValue);
        verdict.distance = *proof->withFloatConstants;
        return verdict;
    }
    if (proof->withFloatConstants)
        return judgedConstants(*proof, c, std::move(verdict));
    // Where weights are others, the float model's prove nothing unless the files agree with them.
    const auto& own = proof->withFloatWeights;
    verdict.storedWeights = !(own && (!areRetrained(c) || own->same()));
    if (verdict.storedWeights && proof->withStoredWeights)
        verdict.unpaired.clear();
    if (const auto& told = verdict.storedWeights ? proof->withStoredWeights : own)
        verdict.distance = *told;
    else if (proof->reason.empty())
        return std::nullopt;
    else
        verdict.reason = own
            ? "the quantized file has other weights, and the float model cannot be run with them: " + proof->reason
            : proof->reason;
    if (verdict.known() && verdict.distance.overflow)
        verdict.reason = "values overflow in float16";
    else if (verdict.known() && verdict.distance.hidden)
        verdict.reason = fmt::format("rounding to {} alone may move {} by {:.2g} of its size on sample {}, which hides "
                                     "what else differs",
            precisionName(verdict.step.precision), nameOf(c, verdict.distance.worstOutput.floatValue),
            verdict.distance.tolerance, verdict.distance.sample);
    return verdict;
}

} // namespace

std::optional<NetworkVerdict> networkVerdict(const std::optional<NetworkProof>& proof, const Comparison& c)
{
    auto verdict = judged(proof, c);
    if (verdict && proof->withActivations && verdict->known() && !verdict->same())
        verdict->lostAlone = !verdict->storedWeights && !verdict->otherConstants && verdict->otherFunctions.empty();
    if (verdict && verdict->distance.worstOutput.floatValue.valid())
        verdict->output = nameOf(c, verdict->distance.worstOutput.floatValue);
    if (verdict)
        verdict->givenWeights = !verdict->storedWeights && !verdict->rearranged
            && std::ranges::any_of(
                c.weights, [](const WeightRow& row) { return !row.bias && !row.equalized && isOtherWeight(row); });
    return verdict;
}

void findOtherNetwork(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (!c.network)
        return; // other weights are told of by themselves
    const size_t before = found.size();
    const std::string blocking = c.network->known() ? std::string() : blockingOperators(*pair.quantPlan);
    if (!c.network->known() && c.network->distance.overflow) {
        findOverflow(pair, c, found);
    } else if (!blocking.empty()) {
        if (std::ranges::find(found, kFaultyParameters, &Finding::cause) == found.end())
            found.push_back(cannotRun(pair, blocking));
    } else if (!c.network->known()) {
        found.push_back(
            notShown(c, std::ranges::find(found, "underflow", &Finding::cause) != found.end())); // see findUnderflow()
    } else if (c.network->otherConstants) {
        findOtherConstants(c, found);
    } else if (!c.network->same()) {
        findDistance(pair, c, found);
    } else {
        findRearranged(pair, c, found);
    }
    findUnlikeWeights(c, found);
    sayOtherFunctions(c, before, found);
    if (!c.network->known())
        findLostConstants(pair, c, found);
    if (c.network->same() || !c.network->known())
        findChangedFunctions(pair, c, found);
    findUnreachedByData(c, found);
}

} // namespace qs
