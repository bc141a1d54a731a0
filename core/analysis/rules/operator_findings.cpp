// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/masked_values.h"
#include "core/analysis/rounding/added_factors.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"

#include "core/qdq/qlinear_signature.h"
#include "core/quant/model/opsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>

/// Operators and tensors that 8 bits do not suit, and forms that runtimes do not like.
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
            f.rank = std::min(f.rank, rankBehindCause(pair, c, i, found));
            f.cause = row.opType + " amplifies";
            f.summary += stepsText(pair, row);
            f.change = { RemedyKind::ExcludeNode, row.node, row.name, 0, 0, 0 };
            found.push_back(std::move(f));
        }
    }
}

namespace {

constexpr size_t kLongestChain = 8; ///< nodes between a product and what its input was made of
constexpr double kMostOfNoise = 0.5; ///< share that came in

bool sumsProducts(const std::string& type)
{
    return type == "Conv" || type == "ConvTranspose" || type == "MatMul" || type == "Gemm";
}

/// From what makes the input of a product back to the next product, that one not included.
std::vector<NodeId> makersOfInput(const Graph& graph, NodeId product)
{
    std::vector<NodeId> chain;
    const auto add = [&](ValueId value) {
        const NodeId maker = value.valid() ? graph.value(value).producer : NodeId();
        if (maker.valid() && !sumsProducts(graph.node(maker).opType) && chain.size() < kLongestChain
            && std::ranges::find(chain, maker) == chain.end())
            chain.push_back(maker);
    };
    add(graph.node(product).inputs.empty() ? ValueId() : graph.node(product).inputs[0]);
    for (size_t i = 0; i < chain.size(); ++i)
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

/// The noise grows in a product that is linear: not because it is steep, but because its sums cancel the signal.
bool cancels(const ActivationRow& row)
{
    if (!amplifies(row) || !sumsProducts(row.opType) || *row.accumulated.sqnrDb + *row.increaseDb < kCoarseDb)
        return false;
    const double rmse = row.accumulated.rmse.value_or(0);
    return row.noise.inherited.value_or(0) >= kMostOfNoise * rmse * rmse; // neither its quantizer's nor its weights'
}

const ActivationRow* inputRow(const Graph& graph, const Comparison& c, NodeId product)
{
    const auto& inputs = graph.node(product).inputs;
    const auto row = inputs.empty() ? std::nullopt : RowOfValue(c.activations).find(inputs[0], product);
    return row ? &c.activations[*row] : nullptr;
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
    for (const Finding& f : found) {
        if (f.severity == Severity::Error) // or wrong codes
            return;
        told.insert(f.node);
        if (f.cause == kMovedScale && f.activation) // what its readers make of it follows
            for (const Use& use : pair.floatPlan->graph().value(c.activations[*f.activation].floatValue).uses)
                told.insert(pair.floatPlan->graph().node(use.node).name);
    }
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (!cancels(row) || told.contains(row.node))
            continue;
        const Graph& graph = pair.floatPlan->graph();
        const ActivationRow* input = inputRow(graph, c, row.floatNode);
        if (input && hasOutlierChannel(c, found, *input))
            continue;
        const bool ownInput = input && input->dynamic; // quantized for the product alone
        std::vector<NodeId> makers = ownInput ? std::vector<NodeId> {} : makersOfInput(graph, row.floatNode);
        if (!areQuantized(c, makers)) {
            makers.clear();
            if (!readsQuantized(pair, row)) // all in float, as far as the products before
                continue;
        }
        Finding f = growthFinding(c, i,
            "these sums cancel most of what their input holds, such as a mean that all values share, and not its "
            "noise");
        f.cause = "sums that cancel";
        for (const NodeId maker : makers) {
            Remedy change { RemedyKind::ExcludeNode, graph.node(maker).name, {}, 0, 0, 0 };
            if (f.change.kind == RemedyKind::None)
                f.change = std::move(change);
            else
                f.together.push_back(std::move(change));
        }
        if (f.change.kind == RemedyKind::None)
            leaveInFloat(graph, row, ownInput, f);
        else
            f.remedy = fmt::format("Leave what makes its input in float, from {} on backwards.", f.change.node);
        found.push_back(std::move(f));
    }
}

namespace {

/// Places of one kind, told of once.
struct FormNotes {
    std::vector<std::string> nodes;
    void add(const Node& node) { nodes.push_back(node.name.empty() ? "a " + node.opType : node.name); }
    /// `summary`: {} = the number of places.
    std::optional<Finding> finding(Rule rule, std::string_view summary, RemedyKind change) const
    {
        if (nodes.empty())
            return std::nullopt;
        Finding f = makeFinding(rule);
        f.node = nodes.front();
        f.summary = fmt::format(fmt::runtime(summary), nodes.size());
        f.evidence.push_back(evidence("nodes", double(nodes.size())));
        f.change.kind = change;
        return f;
    }
};

/// What a chain of casts begins with.
ValueId beforeCasts(const Graph& graph, ValueId value)
{
    while (graph.value(value).producer.valid()) {
        const Node& node = graph.node(graph.value(value).producer);
        if (node.opType != "Cast" || !node.hasInput(0))
            break;
        value = node.inputs[0];
    }
    return value;
}

/// A Clip or Cast between codes. Casts that lead back to the type that was there are none: ONNX Runtime removes them
/// (its CastElimination and CastChainElimination) before it looks for units.
bool isIntegerCopy(const Plan& plan, const Node& node)
{
    if ((node.opType != "Cast" && node.opType != "Clip") || !node.hasInput(0) || !node.hasOutput(0))
        return false;
    const DType type = plan.facts().of(node.outputs[0]).dtype;
    if (!isInteger(type) || dtypeBits(type) != 8)
        return false;
    return node.opType == "Clip" || plan.facts().of(beforeCasts(plan.graph(), node.inputs[0])).dtype != type;
}

/// What stands between the codes of pairs, and what may be done about it.
struct CodeCopies {
    FormNotes all;
    bool casts = false, clips = false;
    bool narrow = false; ///< some Clip leaves fewer codes than the type has

    void add(const ComparePair& pair, const Node& node)
    {
        all.add(node);
        casts = casts || node.is("Cast");
        clips = clips || node.is("Clip");
        const auto q = pair.quantView->ofQuantized(node.outputs[0]);
        narrow = narrow || (node.is("Clip") && q && pair.quantView->quantizers()[*q].params.kept);
    }

    std::optional<Finding> finding() const
    {
        auto f = all.finding(Rule::RuntimeRejects,
            "{} Cast or Clip nodes stand on 8-bit codes: each is a pass over the data, and runtimes that look for "
            "QuantizeLinear right before its DequantizeLinear join nothing there.",
            RemedyKind::Requantize);
        if (!f)
            return f;
        f->severity = Severity::Note;
        f->title = fmt::format("{} stand between quantizing and dequantizing",
            casts && clips ? "Casts and Clips"
                : casts    ? "Casts"
                           : "Clips");
        f->remedy = "Remove them: codes are of that type already, or clip before quantizing.";
        if (narrow) // without it there are more codes
            f->remedy
                = "Keep a Clip that leaves fewer codes where so few bits are meant; else give the quantizer a scale "
                  "whose own range ends there, and take it out.";
        return f;
    }
};

/// Scales of shape [1] where operators on codes want scalars.
bool hasListedScale(const Plan& plan, const Node& node)
{
    if (node.opType != "QLinearAdd" && node.opType != "QLinearMul")
        return false;
    return std::ranges::any_of(node.inputs, [&](ValueId in) {
        const Tensor* t = in.valid() ? plan.constant(in) : nullptr;
        return t && t->rank() == 1 && t->count() == 1;
    });
}

bool readsHalves(const Plan& plan, const Node& node)
{
    return std::ranges::any_of(node.inputs, [&](ValueId in) {
        const Tensor* t = in.valid() ? plan.constant(in) : nullptr;
        return t && t->dtype() == DType::Float16;
    });
}

constexpr int64_t kOpsetOfOtherScales = 23; ///< from which a scale need not have the type of what it quantizes

bool hasScaleOfOtherType(const Plan& plan, const Node& node)
{
    if (!isQuantizeLinear(node) || !node.hasInput(0) || !node.hasInput(1))
        return false;
    const DType values = plan.facts().of(node.inputs[0]).dtype, scale = plan.facts().of(node.inputs[1]).dtype;
    return isFloat(values) && isFloat(scale) && values != scale;
}

bool isPairBefore(const Node& node, int64_t opset)
{
    return (isQuantizeLinear(node) || isDequantizeLinear(node)) && node.domain.empty() && node.opset > 0
        && node.opset < opset;
}

/// Forms with which ONNX Runtime does not load a file (the same as loadWarnings() tells of).
class RefusedForms {
public:
    void add(const Plan& plan, const Node& node)
    {
        if (isPairBefore(node, kOpsetOfAxes) && node.attributes.has("axis"))
            m_axes.add(node);
        if (isPairBefore(node, kOpsetOfHalfScales) && readsHalves(plan, node))
            m_halves.add(node);
        else if (isPairBefore(node, kOpsetOfOtherScales) && hasScaleOfOtherType(plan, node))
            m_types.add(node);
        if (node.opType.starts_with("QLinear") && readsHalves(plan, node))
            m_codes.add(node);
        m_opset = node.domain.empty() && node.opset > 0 ? node.opset : m_opset;
    }

    void tell(std::vector<Finding>& found) const
    {
        const std::string raise = "Export the float model with a newer opset, or quantize it with the recipe "
                                  "quantscope, which raises it.";
        tell(m_halves, "ONNX Runtime does not load this file: float16 scales",
            needed("a float16 scale", kOpsetOfHalfScales), raise, found);
        tell(m_axes, "ONNX Runtime does not load this file: scales along an axis",
            needed("a scale for each channel", kOpsetOfAxes), raise, found);
        tell(m_types, "ONNX Runtime does not load this file: scales of another type",
            fmt::format("{{}} quantizers have a scale of another type than the values that they quantize, which needs "
                        "opset {}; the model has opset {}.",
                kOpsetOfOtherScales, m_opset),
            "Store these scales in the type of the values.", found);
        tell(m_codes, "ONNX Runtime does not load this file: float16 scales",
            "{} operators on codes have float16 scales, which they do not take.", "Use the Q/DQ form.", found);
    }

private:
    std::string needed(const char* what, int64_t opset) const
    {
        return fmt::format("{{}} quantizers or dequantizers have {}, which needs opset {}; the model has opset {}.",
            what, opset, m_opset);
    }
    static void tell(const FormNotes& notes, const char* title, const std::string& summary, const std::string& remedy,
        std::vector<Finding>& found)
    {
        auto f = notes.finding(Rule::RuntimeRejects, summary, RemedyKind::None);
        if (!f)
            return;
        f->title = title;
        f->remedy = remedy;
        found.push_back(std::move(*f));
    }

    FormNotes m_axes, m_halves, m_types, m_codes;
    int64_t m_opset = 0;
};

bool hasSignedCodes(const ComparePair& pair, const Node& node)
{
    if (node.opType.rfind("QLinearConv", 0) != 0 && node.opType != "QLinearMatMul")
        return false;
    const auto q = node.inputs.empty() ? std::nullopt : pair.quantView->ofQuantized(node.inputs[0]);
    return q && pair.quantView->quantizers()[*q].params.dtype == DType::Int8;
}

/// Dequantized only to be quantized again.
bool isPingPong(const Graph& graph, const Node& node)
{
    if (!isDequantizeLinear(node) || !node.hasOutput(0))
        return false;
    const auto& uses = graph.value(node.outputs[0]).uses;
    return !uses.empty() && !graph.isOutput(node.outputs[0])
        && std::ranges::all_of(uses, [&](const auto& use) { return isQuantizeLinear(graph.node(use.node)); });
}

} // namespace

void findForms(const ComparePair& pair, std::vector<Finding>& found)
{
    const Plan& plan = *pair.quantPlan;
    FormNotes lists, codes, pingPong;
    CodeCopies copies;
    RefusedForms refused;
    for (const Node& node : plan.graph().nodes()) {
        refused.add(plan, node);
        const bool folded = node.hasOutput(0) && plan.constant(node.outputs[0]);
        if (folded)
            continue;
        if (isIntegerCopy(plan, node))
            copies.add(pair, node);
        if (hasListedScale(plan, node))
            lists.add(node);
        if (hasSignedCodes(pair, node))
            codes.add(node);
        if (isPingPong(plan.graph(), node))
            pingPong.add(node);
    }
    refused.tell(found);
    auto listed = lists.finding(Rule::RuntimeRejects,
        "{} operators have scales or zero points of shape [1]; at its default level ONNX Runtime wants scalars.",
        RemedyKind::Requantize);
    auto copied = copies.finding();
    auto slow = codes.finding(Rule::SlowForm,
        "{} operators read int8 activations; ONNX Runtime runs them slower than float on x86.",
        RemedyKind::UnsignedActivations);
    auto again = pingPong.finding(Rule::RequantizationPingPong,
        "{} dequantized values are read by quantizers alone: cost and noise without a use.", RemedyKind::Requantize);
    for (auto* finding : { &listed, &copied, &slow, &again })
        if (*finding)
            found.push_back(std::move(**finding));
}

} // namespace qs
