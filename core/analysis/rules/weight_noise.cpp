// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/fill_rows.h"

#include "core/analysis/pairs/weight_elements.h"
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <span>

/// What the quantized weights of a node make of the error at its output, and weights that are not compared one by one.
namespace qs {

namespace {

constexpr size_t kNamedLost = 3; ///< constants
constexpr double kPassedByActivation = 0.5; ///< of the error: values that a Relu cuts off on both sides have none

/// A node of the float model that reads a weight, and its partner.
struct Reader {
    NodeId floatNode, quantNode;
};

/// A weight has one row, whoever reads it: also the readers whose partners read the same codes.
std::vector<Reader> readersOf(const ComparePair& pair, const Comparison& c, const WeightRow& weight)
{
    std::vector<Reader> readers { { weight.floatNode, weight.quantNode } };
    const Graph& quantized = pair.quantPlan->graph();
    const auto readsCodes = [&](NodeId node) {
        return std::ranges::any_of(quantized.node(node).inputs,
            [&](ValueId in) { return in.valid() && pair.quantView->ofQuantized(in) == weight.quantizer; });
    };
    for (const Use& use : pair.floatPlan->graph().value(weight.floatValue).uses) {
        const bool other = std::ranges::find(readers, use.node, &Reader::floatNode) == readers.end();
        const auto row = std::ranges::find_if(
            c.activations, [&](const ActivationRow& r) { return r.floatNode == use.node && r.quantNode.valid(); });
        if (other && row != c.activations.end() && readsCodes(row->quantNode))
            readers.push_back({ use.node, row->quantNode });
    }
    return readers;
}

/// Products that each element of the output is the sum of, in the mean; `outputs`: of the weight.
double productsOf(const Node& node, const std::string& type, const WeightRow& weight, int64_t outputs)
{
    const Shape& shape = weight.shape;
    if (type == "MatMul") // several matrices, one for each of the outer indices
        return double(shape[shape.size() - 1] * shape[shape.size() - 2]) / double(outputs);
    double products = double(std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()));
    if (type == "ConvTranspose") { // each input meets the whole kernel, and its products go to as many outputs
        products /= double(std::max<int64_t>(node.attributes.integer("group", 1), 1));
        for (const int64_t stride : node.attributes.integers("strides"))
            products /= double(std::max<int64_t>(stride, 1));
    }
    return products / double(outputs);
}

/// Power of the values that the node multiplies the weight with.
Number inputPower(
    const Graph& graph, const Comparison& c, const RowOfValue& rows, const WeightRow& weight, NodeId reader)
{
    for (const ValueId input : graph.node(reader).inputs)
        if (const auto row = input.valid() && input != weight.floatValue ? rows.find(input, reader) : std::nullopt)
            return c.activations[*row].signalPower;
    return std::nullopt;
}

/// The node adds the constant, or takes it away: what that is off by is off behind it.
bool addsConstant(const std::string& type) { return type == "Add" || type == "Sub"; }

/// A bias shifts its channel as far as it is off. One that was moved on purpose, as correction does it, makes up for
/// what its weight does; one whose codes were cut does not.
double madeByBias(const Node& node, const std::string& type, double power, const WeightRow& bias)
{
    const bool product = type == "Conv" || type == "ConvTranspose" || type == "Gemm";
    const bool moved = bias.offByMoreThanHalfStep.value_or(0) > kDifferingShare && bitsOfCutBias(bias) == 0;
    if ((!product && !addsConstant(type)) || moved)
        return 0;
    const double factor = type == "Gemm" ? double(node.attributes.real("beta", 1)) : 1;
    return power * factor * factor;
}

/// Mean squared error at the node's output. Rounding errors of different elements have nothing to do with each other,
/// so the power of a sum of products is the sum of their powers.
Number madeByWeight(
    const ComparePair& pair, const Comparison& c, const RowOfValue& rows, const WeightRow& weight, NodeId reader)
{
    const Graph& graph = pair.floatPlan->graph();
    const Node& node = graph.node(reader);
    const std::string type = floatOpType(node);
    const bool moved = (c.network && c.network->rearranged) || (pair.provenance && pair.provenance->movesFactors);
    if (weight.equalized || (moved && isOtherWeight(weight)))
        return std::nullopt; // factors have moved to its input
    if (!weight.similarity.rmse)
        return 0.0;
    const double power = *weight.similarity.rmse * *weight.similarity.rmse;
    if (weight.bias)
        return madeByBias(node, type, power, weight);
    constexpr double kMask = 1000; // what so much is added to may not count
    if (addsConstant(type))
        return std::ranges::all_of(weight.channelAbsMax, [](double most) { return most < kMask; }) ? Number(power)
                                                                                                   : std::nullopt;
    if (type == "Mul") { // what is multiplied is as large wherever the constant is off
        const Number input = inputPower(graph, c, rows, weight, reader);
        return input ? Number(power * *input) : std::nullopt;
    }
    if (weight.shape.size() < 2)
        return 0.0;
    if (type == "Gather")
        return power;
    if (type != "Conv" && type != "ConvTranspose" && type != "Gemm" && type != "MatMul")
        return std::nullopt;
    const Number input = inputPower(graph, c, rows, weight, reader);
    const auto outputs = weight.shape[size_t(weight.channelAxis)];
    if (!input || outputs <= 0)
        return std::nullopt;
    const double factor = type == "Gemm" ? double(node.attributes.real("alpha", 1)) : 1;
    return power * productsOf(node, type, weight, outputs) * *input * factor * factor;
}

/// Weights that the file has rounded to codes and stored in floats, as rows of their own.
std::vector<WeightRow> roundedFloats(const ComparePair& pair, const Comparison& c)
{
    std::vector<WeightRow> rows;
    const Graph& graph = pair.floatPlan->graph();
    for (const WeightRounding& r : c.network ? c.network->step.roundings : std::vector<WeightRounding>()) {
        const ValueId value = r.onGrid ? graph.findValue(r.name) : ValueId();
        const Tensor* weight = value.valid() ? pair.floatPlan->constant(value) : nullptr;
        if (!weight || graph.value(value).uses.empty() || weight->count() == 0)
            continue;
        double power = 0;
        WeightRow row;
        for (const float v : toFloats(*weight)) {
            power += double(v) * v / double(weight->count());
            row.channelAbsMax
                = { std::max(row.channelAbsMax.empty() ? 0 : row.channelAbsMax[0], std::fabs(double(v))) };
        }
        row.floatValue = value;
        row.shape = weight->shape();
        row.similarity.rmse = r.distance * std::sqrt(power);
        for (const Use& use : graph.value(value).uses) {
            const auto read = std::ranges::find(c.activations, use.node, &ActivationRow::floatNode);
            if (read == c.activations.end() || !read->quantNode.valid())
                continue;
            row.floatNode = use.node;
            row.quantNode = read->quantNode;
            row.channelAxis = outputAxis(graph.node(use.node), value, row.shape, false);
            rows.push_back(row);
        }
    }
    return rows;
}

/// Nothing comes in: all that the node reads is exact, or constant, and it does what the float model's does.
bool readsExact(const ComparePair& pair, const Comparison& c, const RowOfValue& rows, NodeId reader)
{
    const Graph& graph = pair.floatPlan->graph();
    return !(c.network && c.network->known() && !c.network->same()) && reader.valid()
        && std::ranges::all_of(graph.node(reader).inputs, [&](ValueId in) {
               if (!in.valid() || pair.floatPlan->constant(in))
                   return true;
               const auto row = rows.find(in, reader);
               return row && c.activations[*row].accumulated.exact;
           });
}

void moveFromInherited(const Number& made, NoiseSplit& noise)
{
    if (!noise.inherited)
        return;
    noise.weights.reset();
    if (!made)
        return;
    noise.weights = std::clamp(*made, 0.0, std::max(0.0, *noise.inherited));
    *noise.inherited -= *noise.weights;
}

} // namespace

Number gainAtOutput(const Comparison& c, const std::vector<double>& shares, const WeightRow& row, double gainDb)
{
    const double left = std::pow(10.0, -gainDb / 10);
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& a = c.activations[i];
        if (!row.floatNode.valid() || a.floatNode != row.floatNode)
            continue;
        double noise = 0;
        for (const Number* part :
            { &a.noise.rounding, &a.noise.clipping, &a.noise.inherited, &a.noise.weights, &a.noise.kernel })
            noise += part->value_or(0);
        if (!a.noise.weights && row.opType != "Gather") // which hands its table's noise on
            return std::nullopt;
        const double own = !a.noise.weights ? 1 : noise > 0 ? *a.noise.weights / noise : 0;
        return -10 * std::log10(1 - std::min(shares[i] * own, 1.0) * (1 - left));
    }
    return std::nullopt;
}

void splitWeightNoise(const ComparePair& pair, Comparison& c)
{
    const RowOfValue rows(c.activations);
    std::map<NodeId, Number> byFloatNode, byQuantNode;
    const auto add = [&](const WeightRow& weight, const Reader& reader) {
        const Number made = madeByWeight(pair, c, rows, weight, reader.floatNode);
        for (Number* sum : { &byFloatNode.try_emplace(reader.floatNode, 0.0).first->second,
                 &byQuantNode.try_emplace(reader.quantNode, 0.0).first->second })
            *sum = *sum && made ? Number(**sum + *made) : Number();
    };
    for (const WeightRow& weight : c.weights)
        if (weight.floatValue.valid()) // else in a body
            for (const Reader& reader : readersOf(pair, c, weight))
                add(weight, reader);
    for (const WeightRow& weight : roundedFloats(pair, c))
        add(weight, { weight.floatNode, weight.quantNode });
    for (ActivationRow& row : c.activations) {
        const auto own = byFloatNode.find(row.floatNode);
        const auto fused = byQuantNode.find(row.quantNode);
        if (row.floatNode.valid() && own != byFloatNode.end())
            moveFromInherited(
                !own->second && readsExact(pair, c, rows, row.floatNode) ? row.noise.inherited : own->second,
                row.noise);
        else if (row.quantNode.valid() && fused != byQuantNode.end() && !row.foldedActivation.empty())
            moveFromInherited(fused->second ? Number(*fused->second * kPassedByActivation) : Number(), row.noise);
    }
}

namespace {

constexpr size_t kNamedOthers = 3;
constexpr double kMostUnlike = 0.75; ///< share of the weights
constexpr double kNothingInCommon = 0.5; ///< cosine
constexpr double kBeforeAll = 2e7; ///< rank: the file as a whole is another one

std::string namedOf(const std::vector<std::string>& names)
{
    const size_t count = std::min(names.size(), kNamedOthers);
    return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + ptrdiff_t(count), ", "),
        names.size() > count ? fmt::format(" and {} more", names.size() - count) : "");
}

/// Some weight, bias or constant is another one: else no factor went from one to another.
bool movesFactors(const Comparison& c)
{
    return std::ranges::any_of(c.network->step.roundings, [](const WeightRounding& r) { return r.other(); })
        || std::ranges::any_of(
            c.weights, [](const WeightRow& w) { return w.offByMoreThanHalfStep.value_or(0) > kDifferingShare; });
}

/// What is said of weights that the others were measured to make up for.
void tellMadeUp(const NetworkVerdict& verdict, Finding& f)
{
    const auto& caches = verdict.otherCaches;
    const NetworkDistance& d = *verdict.withOwnWeights;
    f.title = "Weights are rearranged";
    f.summary = fmt::format(
        "With all that it stores, without quantizers of activations, the quantized file computes what the float model "
        "does, within {:.2g} of its size; rounding the float model's weights makes {:.2g}.",
        d.worstOutput.distance, d.explained.value_or(0));
    if (!verdict.madeUp.empty())
        f.summary += fmt::format(" {} not the float model's ({}), and the others make up for {}: put back alone, {} "
                                 "the results further off. Neurons or channels in another order, turned, or times "
                                 "factors that the next weights take away, are so.",
            verdict.madeUp.size() == 1 ? std::string("One weight is")
                                       : fmt::format("{} weights are", verdict.madeUp.size()),
            namedOf(verdict.madeUp), verdict.madeUp.size() == 1 ? "it" : "them",
            verdict.madeUp.size() == 1 ? "it takes" : "each takes");
    if (!caches.empty())
        f.summary += fmt::format(" What {} hold{} is in another order, or turned: each file has to go on from its own.",
            namedOf(caches), caches.size() == 1 ? "s" : "");
    f.summary += " Single weights, and the tensors between them, cannot be compared.";
    f.evidence.push_back(evidence("made_up_weights", double(verdict.madeUp.size())));
}

} // namespace

bool areMadeUp(const Comparison& c, const WeightRow& row)
{
    if (!c.network)
        return false;
    const NetworkVerdict& verdict = *c.network;
    if (std::ranges::find(verdict.madeUp, row.name) != verdict.madeUp.end())
        return true;
    // Where nothing but these tells that the files are the same, the rest is held against the float model's.
    const bool byThese = !verdict.madeUp.empty() && verdict.distance.tolerance == verdict.withOwnWeights->tolerance;
    return verdict.rearranged && !byThese;
}

void findRearranged(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const NetworkVerdict& verdict = *c.network;
    const bool madeUp = areInOtherOrder(verdict);
    if (!madeUp && !(verdict.rearranged && movesFactors(c)))
        return;
    const NetworkDistance& distance = madeUp ? *verdict.withOwnWeights : verdict.distance;
    Finding f = makeFinding(Rule::WeightsDiffer);
    f.severity = Severity::Note;
    f.cause = "rearranged";
    f.tensor = pair.floatPlan->graph().value(distance.worstOutput.floatValue).name;
    f.title = "Factors were moved between constants";
    f.summary
        = fmt::format("Its weights and constants are not the float model's, but without quantizers of activations "
                      "they compute the same within {:.2g} of the size of {}, where rounding the float model's "
                      "weights makes {:.2g}. Smoothing (SmoothQuant), equalization and bias correction do so.",
            distance.worstOutput.distance, c.network->output, distance.explained.value_or(0));
    f.evidence = { evidence("output_distance", distance.worstOutput.distance),
        evidence("explained", distance.explained.value_or(0)), evidence("tolerance", distance.tolerance) };
    f.remedy = "Nothing has to be done; what is told of single weights compares other numbers.";
    if (madeUp)
        tellMadeUp(verdict, f);
    found.push_back(std::move(f));
}

void findLostConstants(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.quantPlan->graph();
    const auto isStored = [&](const WeightRounding& r) {
        const ValueId id = graph.findValue(r.quantizedName);
        const NodeId by = id.valid() ? graph.value(id).producer : NodeId();
        return id.valid() && (!by.valid() || graph.node(by).is("Constant"));
    };
    std::vector<const WeightRounding*> lost;
    bool moved = false; // others may hold what these do not
    for (const WeightRounding& r : c.network->step.roundings)
        if (r.other() && isStored(r)) {
            if (r.zeros)
                lost.push_back(&r);
            moved = moved || !r.zeros;
        }
    if (lost.empty())
        return;
    std::vector<std::string> named;
    for (const WeightRounding* r : std::span(lost).first(std::min(lost.size(), kNamedLost)))
        named.push_back(r->name);
    Finding f = makeFinding(Rule::WeightsDiffer);
    f.severity = moved ? Severity::Note : Severity::Warning;
    f.cause = "lost";
    f.node = lost.front()->node;
    f.tensor = lost.front()->name;
    f.title = lost.size() == 1 ? "A constant is lost" : fmt::format("{} constants are lost", lost.size());
    f.summary = fmt::format("{}{} {} nothing but zeros, in the float model other numbers. What that does to the "
                            "outputs is not known, nor is whether the files are one network.",
        fmt::join(named, ", "),
        lost.size() > named.size() ? fmt::format(" and {} more", lost.size() - named.size()) : "",
        lost.size() == 1 ? "holds" : "hold");
    if (moved)
        f.summary += " Other constants differ, too, and may have taken them over.";
    f.evidence = { evidence("constants", double(lost.size())) };
    f.remedy = std::string(kStoreThere) + ".";
    f.rank = kNetworkRank;
    for (const WeightRounding* r : lost)
        f.together.push_back({ RemedyKind::StoreConstant, r->node, r->name, 0, 0, 0 });
    f.change = f.together.front();
    f.together.erase(f.together.begin());
    found.push_back(std::move(f));
}

void findUnlikeWeights(const Comparison& c, std::vector<Finding>& found)
{
    const NetworkVerdict& verdict = *c.network;
    size_t all = 0, unlike = 0;
    for (const WeightRow& row : c.weights) {
        all += !row.bias;
        unlike += !row.bias && std::fabs(row.similarity.cosine.value_or(1)) < kNothingInCommon;
    }
    if (double(unlike) <= kMostUnlike * double(all) || (verdict.same() && verdict.rearranged))
        return;
    Finding f = makeFinding(Rule::WeightsDiffer);
    f.severity = Severity::Error;
    f.cause = "unlike";
    f.title = "The weights are those of another network";
    f.summary = fmt::format(
        "{} of {} weights have nothing in common with the float model's: single weights, and the tensors between them, "
        "cannot be compared.",
        unlike, all);
    f.evidence = { evidence("unlike_weights", double(unlike)), evidence("weights", double(all)) };
    if (const auto& own = verdict.withOwnWeights; own && std::isfinite(own->worstOutput.distance)) {
        f.summary += fmt::format(" With all that it stores, without quantizers of activations, the quantized file is "
                                 "{:.2g} of the size of the float model's results apart; rounding the float model's "
                                 "weights makes {:.2g}.",
            own->worstOutput.distance, own->explained.value_or(0));
        f.evidence.push_back(evidence("output_distance", own->worstOutput.distance));
        f.evidence.push_back(evidence("explained", own->explained.value_or(0)));
    }
    f.remedy = "Give the float model that this file was quantized from.";
    f.rank = kBeforeAll;
    found.push_back(std::move(f));
}

} // namespace qs
