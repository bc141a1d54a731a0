// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include "core/analysis/rows/range_use.h"
#include "core/kernels/instruction_sets.h"
#include "core/qdq/qlinear_signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace qs {

bool isInputLike(const Graph& graph, const ActivationRow& row)
{
    ValueId value = row.floatValue;
    while (graph.value(value).producer.valid()) {
        const Node& node = graph.node(graph.value(value).producer);
        const bool selects = node.opType == "MaxPool" || node.opType == "GlobalMaxPool";
        if (!movesElements(node) || selects || !node.hasInput(0))
            return false;
        value = node.inputs[0];
    }
    return graph.isInput(value);
}

bool onlyWeightsQuantized(const Comparison& c)
{
    return !c.weights.empty() && std::ranges::none_of(c.activations, hasOwnQuantizer);
}

bool firstOfQuantizer(const Comparison& c, size_t row) { return !c.activations[row].repeatsQuantizer; }

const std::string& placeName(const ActivationRow& row) { return row.node.empty() ? row.name : row.node; }

Finding activationFinding(const Comparison& c, size_t index, Rule rule)
{
    const ActivationRow& row = c.activations[index];
    Finding f = makeFinding(rule, placeName(row));
    f.node = row.node;
    f.tensor = row.name;
    f.activation = index;
    f.rank = ownNoiseShare(row);
    return f;
}

bool isChangedByRecipe(const ComparePair& pair) { return pair.provenance && pair.provenance->changesWeights(); }

Finding weightFinding(const Comparison& c, size_t index, Rule rule)
{
    const WeightRow& row = c.weights[index];
    Finding f = makeFinding(rule, row.node);
    f.node = row.node;
    f.tensor = row.name;
    f.weight = index;
    f.rank = row.similarity.sqnrDb ? std::pow(10.0, -*row.similarity.sqnrDb / 10) : 0;
    return f;
}

bool isTold(
    const std::vector<Finding>& found, Rule rule, std::optional<size_t> activation, std::optional<size_t> weight)
{
    return std::ranges::any_of(found, [&](const Finding& f) {
        return f.rule == rule && ((activation && f.activation == activation) || (weight && f.weight == weight));
    });
}

namespace {

constexpr double kMostOfCause = 0.5; ///< of the noise that something is told of as the cause of

/// What the node reads and what that is made of.
std::set<ValueId> valuesBefore(const Graph& graph, NodeId node)
{
    std::set<ValueId> seen;
    std::vector<NodeId> left { node };
    while (!left.empty()) {
        const NodeId at = left.back();
        left.pop_back();
        for (const ValueId in : graph.node(at).inputs)
            if (in.valid() && seen.insert(in).second && graph.value(in).producer.valid())
                left.push_back(graph.value(in).producer);
    }
    return seen;
}

} // namespace

bool hasOtherNoise(const Comparison& c)
{
    const auto& n = c.network;
    return n && ((n->known() && !n->same()) || n->harmfulConstants || n->lostConstants);
}

namespace {

/// Of a wrong bias: it makes most of what is off right behind its node, and not little of `came`.
bool makesMostBehindNode(const Comparison& c, const Finding& bias, double came)
{
    constexpr double kLittleOfCause = 0.1;
    const NodeId node = c.weights[*bias.weight].floatNode;
    return node.valid() && bias.rank >= kLittleOfCause * came
        && std::ranges::any_of(c.activations, [&](const ActivationRow& row) {
               return row.floatNode == node && row.accumulated.sqnrDb
                   && bias.rank >= kMostOfCause * std::pow(10.0, -*row.accumulated.sqnrDb / 10);
           });
}

} // namespace

double rankBehindCause(const ComparePair& pair, const Comparison& c, size_t row, const std::vector<Finding>& found)
{
    constexpr double kBehind = 0.99;
    const ActivationRow& grows = c.activations[row];
    const double came = std::pow(10.0, -(*grows.accumulated.sqnrDb + *grows.increaseDb) / 10);
    std::vector<const Finding*> causes;
    for (const Finding& f : found) {
        const bool bias = f.rule == Rule::WrongBiasScale && f.weight;
        if ((!f.activation && !bias) || f.severity > Severity::Warning || f.rule == Rule::SensitiveOperator)
            continue;
        if (f.activation ? ownNoiseShare(c.activations[*f.activation]) >= kMostOfCause * came
                         : makesMostBehindNode(c, f, came))
            causes.push_back(&f);
    }
    const std::set<ValueId> before
        = causes.empty() ? std::set<ValueId> {} : valuesBefore(pair.floatPlan->graph(), grows.floatNode);
    double rank = HUGE_VAL;
    for (const Finding* f : causes)
        if (before.contains(
                f->activation ? c.activations[*f->activation].floatValue : c.weights[*f->weight].floatValue))
            rank = std::min(rank, kBehind * f->rank);
    return rank;
}

namespace {

constexpr size_t kNamedReaders = 3;

/// Of which pair of several it is told.
void nameSiblings(const Comparison& c, std::vector<Finding>& found)
{
    static constexpr std::array kOfQuantizer { Rule::RangeTooSmall, Rule::RangeTooLarge, Rule::SymmetricOnSkewed,
        Rule::InputMismatch, Rule::Outliers, Rule::WrongZeroPoint, Rule::BrokenScale };
    for (Finding& f : found) {
        const ActivationRow* row = f.activation ? &c.activations[*f.activation] : nullptr;
        if (!row || row->siblings == 0 || std::ranges::find(kOfQuantizer, f.rule) == kOfQuantizer.end())
            continue;
        f.summary += fmt::format(
            " The tensor has {} pairs of QuantizeLinear and DequantizeLinear with parameters of their own; this is {}",
            row->siblings + 1, row->quantizedName);
        const std::vector<std::string>& readers = row->readerNames;
        const auto named = std::span(readers).first(std::min(readers.size(), kNamedReaders));
        const std::string more = readers.size() > named.size()
            ? fmt::format(" and {} more", readers.size() - named.size())
            : std::string();
        f.summary += readers.empty()
            ? "."
            : fmt::format(", which {}{} read{}.", fmt::join(named, ", "), more, readers.size() > 1 ? "" : "s");
        f.evidence.push_back({ "pair", std::nullopt, row->quantizedName, {} });
    }
}

/// Data that a Clip on codes cuts were scaled as those of the calibration.
void sayClippedInputs(const std::vector<Finding>& found, std::vector<InputRow>& inputs)
{
    for (InputRow& input : inputs)
        if (input.all && input.calibrated && std::ranges::any_of(found, [&](const Finding& f) {
                return f.rule == Rule::RangeTooSmall && f.cause == "clip" && f.tensor == input.name;
            })) {
            input.otherScale = false;
            input.note
                = fmt::format("values from {:.4g} to {:.4g}, of which a Clip on its codes leaves {:.4g} to {:.4g}",
                    input.all->lowest, input.all->highest, input.calibrated->first, input.calibrated->second);
        }
}

/// What else is told of a weight whose reader misreads its codes follows from that, and a bias in the scale of what was
/// written is right.
void keepOddConstants(std::vector<Finding>& found)
{
    std::set<size_t> odd;
    std::set<std::string> nodes;
    for (const Finding& f : found)
        if (f.rule == Rule::WrongZeroPoint && f.weight && f.severity != Severity::Note) {
            odd.insert(*f.weight);
            nodes.insert(f.node);
        }
    std::erase_if(found, [&](const Finding& f) {
        return f.rule != Rule::WrongZeroPoint
            && ((f.weight && odd.contains(*f.weight)) || (f.rule == Rule::WrongBiasScale && nodes.contains(f.node)));
    });
}

/// Where inputs or outputs are exchanged, pairs of weights and ranges are wrong, not these.
void dropExchanged(const Comparison& c, std::vector<Finding>& found)
{
    if (c.network && !c.network->exchanged.empty())
        std::erase_if(found, [](const Finding& f) {
            return f.rule == Rule::WeightsDiffer || f.rule == Rule::WrongBiasScale || f.rule == Rule::InputMismatch;
        });
}

} // namespace

void fillFindings(const ComparePair& pair, Comparison& c)
{
    std::vector<Finding> found;
    findLostActivations(pair, c, found);
    findUnderflow(pair, c, found);
    findFaultyParameters(pair, found);
    findOtherNetwork(pair, c, found);
    findBrokenScales(c, found);
    findExtremeConstants(pair, c, found);
    findJoins(pair, c, found);
    findBrokenPairs(pair, c, found);
    findOddReaders(pair, c, found);
    findOddConstants(pair, c, found);
    findMisreadCaches(pair, c, found);
    if (!pair.quantizedReference) { // whose data are cut already, or not yet
        findInputMismatch(pair, c, found);
        findRangeTooSmall(pair, c, found);
        findRangeTooLarge(pair, c, found);
        findAveragedRanges(c, found);
        findCacheScales(pair, c, found);
    }
    findCoarseTensors(pair, c, found);
    findOutlierChannels(pair, c, found);
    findChannelImbalance(pair, c, found);
    findCoarseWeights(pair, c, found);
    findRoundedConstants(c, found);
    findClippedCodes(pair, c, found);
    sayClippedInputs(found, c.inputs);
    findWeightsDiffer(pair, c, found);
    findSharedBiases(pair, c, found);
    findWrongBiases(pair, c, found);
    putBehindCauses(pair, c, found);
    findMovedOtherwise(pair, c, found);
    findCancellations(pair, c, found);
    findSaturatingAccumulation(pair, c, found);
    findImplementationDiffers(pair, c, found);
    findForms(pair, found);
    findInherited(pair, c, found);
    findSampleSpread(c, found);
    findSymmetricOnSkewed(c, found);
    findRangeVaries(pair, c, found);
    findReducedRanges(c, found);
    findCalibrationSet(c, found);
    findSaturationRisk(pair, c, addsPairsIn16Bits(), found);
    findAccuracyDrop(c, found);
    findSplitProducts(pair, c, found);
    if (!pair.quantView->quantizers().empty()) // of float16, say: nothing was meant to have them
        findLeftInFloat(c, found);
    else
        findNothingQuantized(pair, c, found);
    findUnmatched(pair, c, found);
    dropExchanged(c, found);
    keepOddConstants(found);
    nameSiblings(c, found);
    std::ranges::stable_sort(found, [](const Finding& a, const Finding& b) {
        return a.severity != b.severity ? a.severity < b.severity : a.rank > b.rank;
    });
    foldFindings(found);
    putCauseFirst(pair, c, found);
    c.findings = std::move(found);
}

} // namespace qs
