// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/masked_values.h"
#include "core/analysis/rounding/added_factors.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>

/// Operators and tensors that 8 bits do not suit.
namespace qs {

namespace {

constexpr double kCoarseDb = 20;
constexpr double kGrowthDb = 10;

/// Operators with steep or long-tailed outputs.
constexpr std::array<std::string_view, 15> kSensitive { "Softmax", "LogSoftmax", "LayerNormalization",
    "InstanceNormalization", "Sigmoid", "HardSigmoid", "Tanh", "Log", "Exp", "Erf", "Pow", "Sqrt", "Reciprocal", "Div",
    "Gelu" };

bool isSensitive(const std::string& type) { return std::ranges::find(kSensitive, type) != kSensitive.end(); }

/// The range holds the data and wastes little, and still too few steps fall where the values are.
bool isCoarse(const ActivationRow& row)
{
    return row.localSqnrDb && row.idealSqnrDb && *row.idealSqnrDb < kCoarseDb && *row.localSqnrDb < kCoarseDb
        && !row.lowestUnmasked // a mask is told of as such
        && row.range && row.signalPower && !clippingDominates(row) && !wastedDb(row);
}

/// Noise that an operator makes of the little that came in.
bool amplifies(const ActivationRow& row)
{
    return row.increaseDb && *row.increaseDb > kGrowthDb && row.accumulated.sqnrDb
        && *row.accumulated.sqnrDb < kCoarseDb && !row.node.empty();
}

/// Something that its node reads has no partner: the noise may have grown anywhere before.
bool readsUnmatched(const ComparePair& pair, const ActivationRow& row)
{
    const auto& unmatched = pair.alignment->unmatchedFloat;
    return row.floatNode.valid()
        && std::ranges::any_of(pair.floatPlan->graph().node(row.floatNode).inputs,
            [&](ValueId in) { return std::ranges::find(unmatched, in) != unmatched.end(); });
}

/// What another function moves the output by: an error, worth telling of.
constexpr double kWrongFunction = 0.01, kFelt = 1e-3;
constexpr double kFarBelowDb = 10; ///< below the noise of the file: it adds less than half a decibel

Severity severityOfEffect(double effect)
{
    return effect >= kWrongFunction ? Severity::Error : effect >= kFelt ? Severity::Warning : Severity::Note;
}

Finding changedFinding(const Comparison& c, const ChangedFunction& changed)
{
    Finding f = makeFinding(Rule::ModelsDiffer, changed.node);
    f.title = changed.byConstant ? "A constant is another number" : "An operator computes another function";
    f.cause = "function";
    f.severity = severityOfEffect(changed.effect);
    f.node = changed.node;
    f.tensor = changed.tensor;
    for (size_t i = 0; i < c.activations.size() && !f.activation; ++i)
        if (c.activations[i].name == changed.tensor)
            f.activation = i;
    f.summary = fmt::format("{}. In the float model this alone moves the outputs by {:.2g} of their size.",
        asSentence(changed.text), changed.effect);
    f.evidence = { evidence("output_moved", changed.effect) };
    f.remedy = changed.byConstant
        ? std::string(kStoreThere) + ", or compare with a float model that has the same."
        : "Give the operator of the quantized file what the float model has there, or compare with a float model "
          "that has the same.";
    f.rank = f.severity == Severity::Error ? kNetworkRank : changed.effect * changed.effect;
    return f;
}

/// Numbers near 1 that the quantized file multiplies by: a note where its own noise is far larger than what they do.
Finding addedFactorsFinding(const Comparison& c, const ChangedFunction& changed, size_t count)
{
    Finding f = changedFinding(c, changed);
    f.cause = "factor";
    f.title = count == 1 ? "A factor near 1 is added" : fmt::format("{} factors near 1 are added", count);
    f.summary = fmt::format("{}. They move the outputs by {:.2g} of their size, {:.1f} dB below the signal",
        asSentence(changed.text), changed.effect, -20 * std::log10(changed.effect));
    f.evidence.push_back(evidence("factors", double(count)));
    const OutputRow* const worst = worstOutput(c.outputs);
    if (worst && !worst->similarity.exact && worst->similarity.sqnrDb) {
        const double below = -20 * std::log10(changed.effect) - *worst->similarity.sqnrDb;
        f.summary += fmt::format(" and {:.1f} dB {} the quantized file's own noise at {}", std::fabs(below),
            below < 0 ? "above" : "below", worst->name);
        f.evidence.push_back(evidence("below_noise_db", below, "dB"));
        if (below >= kFarBelowDb)
            f.severity = Severity::Note;
    }
    f.summary
        += c.network->same() ? ". Without them and without its quantizers it computes what the float model does." : ".";
    f.remedy = f.severity == Severity::Note
        ? "Nothing has to be done: quantizers for accelerators put them where these compute with rounded factors."
        : "Take them out, unless the accelerator computes so.";
    f.rank = f.severity == Severity::Error ? kNetworkRank : changed.effect * changed.effect;
    return f;
}

/// Of a row that amplifies(), and why it does.
Finding growthFinding(const Comparison& c, size_t index, const std::string& why)
{
    const ActivationRow& row = c.activations[index];
    Finding f = activationFinding(c, index, Rule::SensitiveOperator);
    f.rank = std::pow(10.0, -*row.accumulated.sqnrDb / 10);
    f.title = ruleTitle(f.rule, row.opType);
    f.summary = fmt::format(
        "The noise grows by {:.1f} dB here, to {:.1f} dB: {}.", *row.increaseDb, *row.accumulated.sqnrDb, why);
    f.evidence = { evidence("increase_db", *row.increaseDb, "dB"), evidence("sqnr_db", *row.accumulated.sqnrDb, "dB") };
    f.confidence = 0.7;
    return f;
}

/// An operator of the float model that the file computes in steps: what is said of it may be one of theirs.
std::string stepsText(const ComparePair& pair, const ActivationRow& row)
{
    const auto& inside = pair.alignment->insideQuant;
    if (std::ranges::find(inside, row.floatNode, &InsideValue::node) == inside.end())
        return {};
    return " The file computes it in several steps with quantizers of their own, any of which may be the cause: a "
           "float file with the same steps tells them apart.";
}

double peakOverRms(const ActivationRow& row)
{
    const double rms = std::sqrt(*row.signalPower);
    const double peak = std::max(std::fabs(row.floatRange->first), std::fabs(row.floatRange->second));
    return rms > 0 ? peak / rms : 0;
}

/// Large values stretch the range, rather than that few bits leave few steps for values of any kind.
bool hasOutliers(const ActivationRow& row)
{
    constexpr double kOutlying = 8; // normally distributed values do not reach that
    return row.params.bits() >= 8 || peakOverRms(row) >= kOutlying;
}

void finishCoarse(const ActivationRow& row, bool sensitive, Finding& f)
{
    const double ratio = peakOverRms(row);
    const std::string& place = row.opType.empty() ? row.name : row.opType;
    if (sensitive)
        f.title = hasOutliers(row) ? fmt::format("{} does not suit {} bits", place, row.params.bits())
                                   : fmt::format("{} bits are too few for {}{}", row.params.bits(),
                                       row.opType.empty() ? "" : "the values of ", place);
    f.summary = fmt::format("The largest value is {:.0f} times the root mean square, {}: "
                            "this quantizer alone leaves {:.1f} dB.",
        ratio,
        hasOutliers(row) ? std::string("so most values share a few steps")
                         : fmt::format("and {} bits leave few steps for all of them", row.params.bits()),
        *row.localSqnrDb);
    f.evidence = { evidence("peak_over_rms", ratio), evidence("local_sqnr_db", *row.localSqnrDb, "dB"),
        evidence("ideal_sqnr_db", row.idealSqnrDb.value_or(0), "dB") };
    f.confidence = 0.8;
    if (!hasOutliers(row))
        f.remedy = row.node.empty() ? "Give this tensor more bits."
                                    : fmt::format("Leave {} in float, or give this tensor more bits.", row.node);
    else
        f.remedy = row.node.empty() ? "Cut the outliers off with the percentile or mse calibrator."
                                    : ruleRemedy(Rule::Outliers, row.node);
    f.change = { row.node.empty() ? RemedyKind::None : RemedyKind::ExcludeNode, row.node, row.name, 0, 0, 0 };
}

} // namespace

std::string asSentence(std::string text)
{
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
        text[0] = char(text[0] - 'a' + 'A');
    return text;
}

void findChangedFunctions(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const auto factors = c.network->changed.empty() ? std::vector<AddedFactor> {} : addedFactors(pair);
    const std::string added = addedFactorsText(pair, factors);
    for (const ChangedFunction& changed : c.network->changed)
        found.push_back(
            changed.text == added ? addedFactorsFinding(c, changed, factors.size()) : changedFinding(c, changed));
}

namespace {

constexpr std::string_view kAmplifies = " amplifies"; ///< ends the cause of an operator that makes noise grow

} // namespace

void findCoarseTensors(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const bool other = hasOtherNoise(c);
    std::unordered_set<std::string> told;
    std::set<NodeId> masked; // Softmax nodes whose scores lost their steps to a mask: nothing of theirs
    for (const Finding& f : found) {
        told.insert(f.tensor);
        if (f.rule == Rule::ExtremeConstant && f.activation)
            for (const NodeId node : softmaxReaders(pair.floatPlan->graph(), c.activations[*f.activation].floatValue))
                masked.insert(node);
    }
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (!firstOfQuantizer(c, i) || told.contains(row.name) || !row.cachePeaks.empty())
            continue;
        const bool sensitive = isSensitive(row.opType);
        if (isCoarse(row)) {
            const bool few = sensitive || !hasOutliers(row);
            Finding f = activationFinding(c, i, few ? Rule::SensitiveOperator : Rule::Outliers);
            finishCoarse(row, few, f);
            f.cause = few ? row.opType : std::string();
            found.push_back(std::move(f));
        } else if (sensitive && !other && amplifies(row) && !masked.contains(row.floatNode)
            && losesQuantizersInFloat(pair, row) && !readsUnmatched(pair, row)) {
            Finding f = growthFinding(c, i, fmt::format("{} is steep where the values lie", row.opType));
            f.cause = row.opType + std::string(kAmplifies);
            f.summary += stepsText(pair, row);
            f.change = { RemedyKind::ExcludeNode, row.node, row.name, 0, 0, 0 };
            found.push_back(std::move(f));
        }
    }
}

void putBehindCauses(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    for (Finding& f : found)
        if (f.rule == Rule::SensitiveOperator && f.activation && f.cause.ends_with(kAmplifies))
            f.rank = std::min(f.rank, rankBehindCause(pair, c, *f.activation, found));
}

namespace {

constexpr size_t kLongestChain = 8; ///< nodes between a product and what its input was made of
constexpr double kMostOfNoise = 0.5; ///< share that came in

bool sumsProducts(const std::string& type)
{
    return type == "Conv" || type == "ConvTranspose" || type == "MatMul" || type == "Gemm";
}

/// Sums and differences of elements.
bool addsElements(const std::string& type)
{
    static constexpr std::array<std::string_view, 6> types { "Add", "Sub", "Sum", "Mean", "ReduceSum", "ReduceMean" };
    return std::ranges::find(types, type) != types.end();
}

/// After what of its argument this function has the same values again; 0: it has no period.
double periodOf(const std::string& type)
{
    constexpr double kPi = std::numbers::pi;
    return type == "Sin" || type == "Cos" ? 2 * kPi : type == "Tan" ? kPi : 0;
}

/// From what makes the input of a product back to the next product, that one not included; from what makes the inputs
/// of another operator back to the next product, with that one.
std::vector<NodeId> makersOfInput(const Graph& graph, NodeId of)
{
    std::vector<NodeId> chain;
    const bool product = sumsProducts(graph.node(of).opType);
    const auto add = [&](ValueId value) {
        const NodeId maker = value.valid() ? graph.value(value).producer : NodeId();
        if (maker.valid() && !(product && sumsProducts(graph.node(maker).opType)) && chain.size() < kLongestChain
            && std::ranges::find(chain, maker) == chain.end())
            chain.push_back(maker);
    };
    const auto& inputs = graph.node(of).inputs;
    for (size_t i = 0; i < (product ? std::min<size_t>(inputs.size(), 1) : inputs.size()); ++i)
        add(inputs[i]);
    for (size_t i = 0; i < chain.size(); ++i)
        if (!sumsProducts(graph.node(chain[i]).opType))
            for (const ValueId in : graph.node(chain[i]).inputs)
                add(in);
    return chain;
}

/// The product whose output this one reads itself; invalid where something else makes it.
NodeId productBefore(const Graph& graph, NodeId product)
{
    const auto& inputs = graph.node(product).inputs;
    const NodeId maker = !inputs.empty() && inputs[0].valid() ? graph.value(inputs[0]).producer : NodeId();
    return maker.valid() && sumsProducts(graph.node(maker).opType) ? maker : NodeId();
}

/// Some of these nodes gives what it makes to a quantizer that the file stores.
bool areQuantized(const Comparison& c, const std::vector<NodeId>& nodes)
{
    return std::ranges::any_of(c.activations, [&](const ActivationRow& row) {
        return hasOwnQuantizer(row) && !row.dynamic && std::ranges::find(nodes, row.floatNode) != nodes.end();
    });
}

/// The noise grows where the input stands well: not because a function is steep, but because sums cancel the signal, or
/// the function repeats within what its argument is off by.
bool growsFromInput(const ActivationRow& row)
{
    if (!amplifies(row) || !(sumsProducts(row.opType) || addsElements(row.opType) || periodOf(row.opType) > 0)
        || *row.accumulated.sqnrDb + *row.increaseDb < kCoarseDb)
        return false;
    const double rmse = row.accumulated.rmse.value_or(0);
    return row.noise.inherited.value_or(0) >= kMostOfNoise * rmse * rmse; // neither its quantizer's nor its weights'
}

/// Why it does.
std::string whyItGrows(const ActivationRow& row, const ActivationRow* input)
{
    const double period = periodOf(row.opType);
    if (period == 0)
        return "these sums cancel most of what their input holds, such as a mean that all values share, and not its "
               "noise";
    std::string argument = "it";
    if (input && input->accumulated.rmse)
        argument = fmt::format("its argument{} is off by {:.2g} (root mean square), and {}",
            input->quantizer && input->params.perTensor() && isInteger(input->params.dtype)
                ? fmt::format(", in steps of {:.3g},", input->params.scale[0])
                : std::string(),
            *input->accumulated.rmse, row.opType);
    return fmt::format("{} repeats after {:.3g}", argument, period);
}

const ActivationRow* inputRow(const Graph& graph, const Comparison& c, NodeId product)
{
    const auto& inputs = graph.node(product).inputs;
    const auto row = inputs.empty() ? std::nullopt : RowOfValue(c.activations).find(inputs[0], product);
    return row ? &c.activations[*row] : nullptr;
}

/// Some quantizer stands at what the node reads or makes.
bool isQuantizedMaker(const ComparePair& pair, const Comparison& c, NodeId maker)
{
    return std::ranges::any_of(
        c.activations, [&](const ActivationRow& row) { return row.floatNode == maker && isQuantizedNode(pair, row); });
}

/// What makes its input, as far as that has quantizers; nothing where all is in float, as far as the products before.
std::optional<std::vector<NodeId>> makersToLeave(
    const ComparePair& pair, const Comparison& c, const ActivationRow& row, bool ownInput)
{
    const Graph& graph = pair.floatPlan->graph();
    std::vector<NodeId> makers = ownInput ? std::vector<NodeId> {} : makersOfInput(graph, row.floatNode);
    if (!areQuantized(c, makers)) {
        makers.clear();
        if (!readsQuantized(pair, row))
            return std::nullopt;
    }
    if (!sumsProducts(row.opType))
        std::erase_if(makers, [&](NodeId maker) { return !isQuantizedMaker(pair, c, maker); });
    return makers;
}

/// The product itself, with the one that makes its input: else that has its quantizer still.
void leaveInFloat(const Graph& graph, const ActivationRow& row, bool ownInput, Finding& f)
{
    f.change = { RemedyKind::ExcludeNode, row.node, row.name, 0, 0, 0 };
    f.remedy = ruleRemedy(f.rule, row.node);
    const NodeId before = ownInput ? NodeId() : productBefore(graph, row.floatNode);
    if (!before.valid())
        return;
    f.together = { f.change };
    f.change = { RemedyKind::ExcludeNode, graph.node(before).name, {}, 0, 0, 0 };
    f.remedy = fmt::format(
        "Leave {} and {} in float, so that the value between them is not rounded.", f.change.node, row.node);
}

/// One large channel takes the steps of the others: that, not the sums, lets the noise grow.
bool hasOutlierChannel(const Comparison& c, const std::vector<Finding>& found, const ActivationRow& input)
{
    return std::ranges::any_of(found, [&](const Finding& f) {
        return f.rule == Rule::Outliers && f.activation && c.activations[*f.activation].floatValue == input.floatValue;
    });
}

} // namespace

void findCancellations(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    if (!c.network || !c.network->same() || areInOtherOrder(*c.network)) // the noise may be another function or order
        return;
    if (!isAnythingQuantized(pair)) // no quantizer makes it, and nothing could be left in float
        return;
    std::unordered_set<std::string> told;
    std::set<ValueId> arguments; // of functions that repeat
    bool wrong = false; // something else: sums may hold noise of that
    for (const Finding& f : found) {
        wrong = wrong || f.severity == Severity::Error;
        told.insert(f.node);
        if (f.cause == kMovedScale && f.activation) // what its readers make of it follows
            for (const Use& use : pair.floatPlan->graph().value(c.activations[*f.activation].floatValue).uses)
                told.insert(pair.floatPlan->graph().node(use.node).name);
    }
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        const bool repeats = periodOf(row.opType) > 0;
        if (!growsFromInput(row) || told.contains(row.node) || (wrong && !repeats))
            continue;
        const Graph& graph = pair.floatPlan->graph();
        const ActivationRow* input = inputRow(graph, c, row.floatNode);
        if (input && !repeats && hasOutlierChannel(c, found, *input))
            continue;
        const bool ownInput = input && input->dynamic; // quantized for the product alone
        const auto makers = makersToLeave(pair, c, row, ownInput);
        if (!makers || (repeats && !arguments.insert(graph.node(row.floatNode).inputs[0]).second)) // Sin and Cos of one
            continue;
        Finding f = growthFinding(c, i, whyItGrows(row, input));
        f.cause = repeats ? "repeats" : "sums that cancel";
        for (const NodeId maker : *makers) {
            Remedy change { RemedyKind::ExcludeNode, graph.node(maker).name, {}, 0, 0, 0 };
            if (f.change.kind == RemedyKind::None)
                f.change = std::move(change);
            else
                f.together.push_back(std::move(change));
        }
        if (f.change.kind != RemedyKind::None && !sumsProducts(row.opType)) // its own inputs have none, either
            f.together.push_back({ RemedyKind::ExcludeNode, row.node, {}, 0, 0, 0 });
        if (f.change.kind == RemedyKind::None)
            leaveInFloat(graph, row, ownInput, f);
        else
            f.remedy = fmt::format("Leave what makes its input in float, from {} on backwards.", f.change.node);
        found.push_back(std::move(f));
    }
}

} // namespace qs
