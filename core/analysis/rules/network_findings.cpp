// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

/// Whether both files are one network.
namespace qs {

namespace {

constexpr double kFirst = 1e7; ///< rank of what makes all other numbers doubtful
constexpr size_t kNamed = 3; ///< other functions that a summary names
/// Constants that take away more than half of the output's noise power when they are the float model's are a fault.
constexpr double kErrorWithoutThem = 0.7;
constexpr double kSpoiled = 0.1; ///< error over signal, -20 dB
/// Weights that are further apart than the coarsest rounding explains.
constexpr double kOtherWeight = 0.1;
constexpr double kFarMore = 10; ///< times what rounding the weights may explain

bool areRetrained(const Comparison& c)
{
    return std::ranges::any_of(
        c.weights, [](const WeightRow& w) { return !w.bias && w.offByMoreThanHalfStep.value_or(0) > kDifferingShare; });
}

/// What cannot be compared has no partner: where one is read here, the files part there.
ValueId firstOfUnmatched(const ComparePair& pair, ValueId place)
{
    const Graph& graph = pair.floatPlan->graph();
    const auto& unmatched = pair.alignment->unmatchedFloat;
    if (std::ranges::find(unmatched, place) != unmatched.end())
        return place; // compared by its name: what it is made of agrees
    if (const NodeId producer = graph.value(place).producer; producer.valid())
        for (ValueId in : graph.node(producer).inputs)
            if (in.valid() && std::ranges::find(unmatched, in) != unmatched.end())
                place = in;
    return place;
}

std::string listed(const std::vector<std::string>& sentences)
{
    std::string text;
    for (size_t i = 0; i < std::min(sentences.size(), kNamed); ++i)
        text += (i > 0 ? "; " : "") + sentences[i];
    return sentences.size() > kNamed ? text + fmt::format("; and {} more", sentences.size() - kNamed) : text;
}

std::string upper(std::string text)
{
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = char(text[0] - 'a' + 'A');
    return text;
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

std::string summaryOf(const NetworkVerdict& verdict, const std::string& place, double there)
{
    const NetworkDistance& d = verdict.distance;
    std::string text
        = fmt::format("Without its quantizers and with the {} weights in both, the quantized file is off by "
                      "{:.2g} of the output's size.",
            verdict.storedWeights ? "stored" : "float model's", d.worstOutput.distance);
    if (d.explained)
        text += fmt::format(" Rounding to {} explains {:.2g}.", precisionName(verdict.step.precision), *d.explained);
    text += d.mostFrom ? fmt::format(
                " They part by {:.2g} before, most comes in at {} ({:.2g}).", d.firstApart->distance, place, there)
                       : fmt::format(" They part at {} ({:.2g}).", place, there);
    text += otherWeights(verdict);
    return verdict.otherFunctions.empty() ? text : text + " " + upper(listed(verdict.otherFunctions)) + ".";
}

void findDistance(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.floatPlan->graph();
    const NetworkDistance& distance = c.network->distance;
    const ValueDistance place
        = distance.mostFrom ? *distance.mostFrom : distance.firstApart.value_or(distance.worstOutput);
    const bool lost = std::ranges::any_of(c.activations,
        [&](const ActivationRow& row) { return row.floatValue == place.floatValue && row.lostActivation.valid(); });
    const ValueId value = lost ? place.floatValue : firstOfUnmatched(pair, place.floatValue);
    Finding f = makeFinding(Rule::ModelsDiffer);
    f.tensor = graph.value(value).name;
    if (const NodeId producer = graph.value(value).producer; producer.valid())
        f.node = graph.node(producer).name;
    for (size_t i = 0; i < c.activations.size() && !f.activation; ++i)
        if (c.activations[i].floatValue == value)
            f.activation = i;
    f.summary = summaryOf(*c.network, f.node.empty() ? f.tensor : f.node, place.distance);
    f.evidence = { evidence("output_distance", distance.worstOutput.distance),
        { "output", std::nullopt, graph.value(distance.worstOutput.floatValue).name, {} },
        evidence("distance_at_place", place.distance), evidence("tolerance", distance.tolerance) };
    f.rank = kFirst;
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
    f.summary = fmt::format("On the first sample {} elements are no finite numbers in the quantized file, which has "
                            "float16 here; in the float model they reach up to {:.4g}.",
        overflow.elements, overflow.largest);
    if (all > 0)
        f.summary += fmt::format(" On all samples {} are.", all);
    f.summary += " Before it the files agree, so they may be one network: behind it nothing can be compared.";
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
        names.push_back(fmt::format("{} ({:.2g} apart)", r->name, r->distance));
    return listed(names);
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
    f.summary
        = fmt::format("Beside its codes the quantized file has other constants: {}. They move the output by "
                      "{:.2g} of its size{}. With the float model's in their place, and without its quantizers, it "
                      "computes what the float model does.",
            listOf(others), effect,
            harmful ? ", which is much of its error"
                    : ", and its error would hardly be less without them: so it is where "
                      "biases are corrected");
    f.evidence = { evidence("output_moved", effect), evidence("constants", double(others.size())) };
    f.remedy = harmful ? "Store the float model's values there, and find out what changed them."
                       : "Nothing has to be done where that is intended.";
    f.rank = harmful ? kFirst : 0;
    found.push_back(std::move(f));
}

/// One function, in other constants.
void findRearranged(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const NetworkDistance& distance = c.network->distance;
    Finding f = makeFinding(Rule::WeightsDiffer);
    f.severity = Severity::Note;
    f.cause = "rearranged";
    f.tensor = pair.floatPlan->graph().value(distance.worstOutput.floatValue).name;
    f.title = "Factors were moved between constants";
    f.summary
        = fmt::format("Its weights and constants are not the float model's, but without quantizers of activations "
                      "they compute the same within {:.2g} of the output's size, where rounding the float model's "
                      "weights makes {:.2g}. Smoothing (SmoothQuant), equalization and bias correction do so.",
            distance.worstOutput.distance, distance.explained.value_or(0));
    f.evidence = { evidence("output_distance", distance.worstOutput.distance),
        evidence("explained", distance.explained.value_or(0)), evidence("tolerance", distance.tolerance) };
    f.remedy = "Nothing has to be done; what is told of single weights compares other numbers.";
    found.push_back(std::move(f));
}

/// Constants make up for what else is other: with the float model's in their place far more is apart.
bool makeUp(const NetworkProof& proof)
{
    return proof.rearranged && proof.withFloatWeights && !proof.withFloatConstants
        && proof.withFloatWeights->worstOutput.distance > kFarMore * proof.rearranged->tolerance;
}

} // namespace

std::optional<NetworkVerdict> networkVerdict(const std::optional<NetworkProof>& proof, const Comparison& c)
{
    if (!proof)
        return std::nullopt;
    NetworkVerdict verdict;
    verdict.step = proof->step;
    verdict.otherFunctions = proof->otherFunctions;
    // Where the weights are the float model's, these tell more than what rounding hides.
    const bool stored = proof->withStoredWeights && proof->withStoredWeights->same();
    if (proof->rearranged && (!proof->withFloatWeights || (areRetrained(c) && !stored) || makeUp(*proof))) {
        verdict.rearranged = true;
        verdict.distance = *proof->rearranged;
        return verdict;
    }
    if (proof->withActivations && c.restored && c.restored->matterLittle()
        && proof->withFloatWeights->worstOutput.distance <= kSpoiled) { // which are told of by themselves
        verdict.distance = *proof->withActivations;
        return verdict;
    }
    if (proof->withFloatConstants && otherConstants(proof->step).empty()) { // weights on a grid of codes alone
        verdict.distance = *proof->withFloatConstants;
        return verdict;
    }
    if (proof->withFloatConstants) {
        const ValueDistance& moved = proof->withFloatWeights->worstOutput;
        verdict.otherConstants = moved.distance;
        verdict.harmfulConstants = proof->errorWithout.value_or(0) < kErrorWithoutThem;
        verdict.distance = verdict.harmfulConstants ? *proof->withFloatWeights : *proof->withFloatConstants;
        return verdict;
    }
    // Where weights are others, the float model's prove nothing unless the files agree with them.
    const auto& own = proof->withFloatWeights;
    verdict.storedWeights = !(own && (!areRetrained(c) || own->same()));
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
    return verdict;
}

void findOtherNetwork(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (!c.network)
        return; // other weights are told of by themselves
    if (!c.network->known() && c.network->distance.overflow) {
        findOverflow(pair, c, found);
    } else if (!c.network->known()) {
        Finding f = makeFinding(Rule::ModelsDiffer);
        f.severity = Severity::Note;
        f.title = "Not shown to be one network";
        f.summary = "Whether the quantized file, without its quantizers, computes the float model could not be tested: "
            + c.network->reason + ".";
        f.remedy = "Take care that both files come from one model.";
        found.push_back(std::move(f));
    } else if (c.network->otherConstants) {
        findOtherConstants(c, found);
    } else if (!c.network->same()) {
        findDistance(pair, c, found);
    } else if (c.network->rearranged) {
        findRearranged(pair, c, found);
    } else if (!c.network->otherFunctions.empty()) {
        Finding f = makeFinding(Rule::ModelsDiffer);
        f.severity = Severity::Note;
        f.title = "Other functions within the tolerance";
        f.summary = fmt::format("The files agree within {:.2g} of the output's size, but not only by rounding: {}.",
            c.network->distance.tolerance, listed(c.network->otherFunctions));
        f.evidence = { evidence("output_distance", c.network->distance.worstOutput.distance) };
        f.remedy = "Nothing has to be done where that is intended.";
        found.push_back(std::move(f));
    }
}

} // namespace qs
