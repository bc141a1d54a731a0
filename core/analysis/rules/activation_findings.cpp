// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/node_partners.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

/// Relu and Clip of the float model that nothing does in the quantized one.
namespace qs {

namespace {

constexpr double kRuinedDb = 20; ///< lost at the output: an error
constexpr double kRank = 2e7; ///< before all that follows from it
constexpr const char* kSkipped = "skipped"; ///< cause: a node reads the value before what does the activation

/// Share of the values beyond the bounds, by bins whose middle is; nothing without a histogram.
Number shareBeyond(const ActivationRow& row)
{
    const Histogram& h = row.beforeHistogram.empty() ? row.quantHistogram : row.beforeHistogram;
    if (h.empty())
        return std::nullopt;
    double half = 0;
    for (const float scale : row.params.scale)
        half = std::max(half, double(scale) / 2);
    uint64_t beyond = 0;
    for (size_t bin = 0; bin < h.counts().size(); ++bin) {
        double at = h.low() + (double(bin) + 0.5) * h.binWidth();
        if (row.range) // whose ends cut
            at = std::clamp(at, row.range->first, row.range->second);
        if (at < row.lostBounds.first - half || at > row.lostBounds.second + half)
            beyond += h.counts()[bin];
    }
    return double(beyond) / double(std::max<uint64_t>(h.total(), 1));
}

std::string boundsText(const std::pair<double, double>& bounds)
{
    if (std::isinf(bounds.second))
        return fmt::format("below {:.4g}", bounds.first);
    if (std::isinf(bounds.first))
        return fmt::format("above {:.4g}", bounds.second);
    return fmt::format("outside of {:.4g} to {:.4g}", bounds.first, bounds.second);
}

/// As many codes on either side of zero, as files with symmetric activations are made.
bool isSymmetric(const QuantParams& params)
{
    return params.zeroPoint.empty() || std::abs(int64_t(params.zeroPoint[0]) - middleCode(params)) <= 1;
}

/// " The zero point is 1, the Relu wants 0." Of codes that begin about where the activation does.
std::string zeroPointText(const QuantParams& params, const std::string& opType, double low)
{
    if (!params.perTensor() || params.zeroPoint.empty() || !isInteger(params.dtype) || isSymmetric(params)
        || !std::isfinite(low))
        return {};
    const auto wanted = int64_t(std::llround(double(params.codes().low) - low / double(params.scale[0])));
    return wanted == params.zeroPoint[0]
        ? std::string()
        : fmt::format(" The zero point is {}, the {} wants {}.", params.zeroPoint[0], opType, wanted);
}

/// A range that only lies in the wrong place moves to the data, and cuts again. A symmetric one cannot cut on one side.
Remedy remedyOf(const ActivationRow& row, const std::string& node)
{
    const auto [low, high] = row.lostBounds;
    if (row.params.scale.size() != 1 || isSymmetric(row.params) || !row.floatRange || low > 0)
        return { RemedyKind::KeepActivations, node, row.name, low, high, 0 };
    const double first = std::min(std::max(row.floatRange->first, low), 0.0);
    const double last = std::max(std::min(row.floatRange->second, high), 0.0);
    return { RemedyKind::SetRange, node, row.name, first, last, 0 };
}

/// What putting them back gains.
std::string restoredText(const RestoredOutput& r)
{
    const std::string where
        = r.samples > 0 ? fmt::format(" On the {} samples of the largest error the", r.samples) : std::string(" The");
    const auto has
        = [](double db) { return db >= kExactDb ? std::string("is exact") : fmt::format("has {:.1f} dB", db); };
    if (r.hasSignal())
        return fmt::format("{} output {}, and {} with every lost activation put back.", where, has(r.asIsDb),
            r.isExact() ? has(r.restoredDb) : fmt::format("{:.1f} dB", r.restoredDb));
    return fmt::format("{} output is zero everywhere in the float model and not in the quantized one, so it has no "
                       "SQNR; {} with every lost activation put back.",
        where, r.isExact() ? "it is zero, too," : "it is not zero, either,");
}

Finding lostActivation(const ComparePair& pair, const Comparison& c, size_t index)
{
    const ActivationRow& row = c.activations[index];
    const Node& node = pair.floatPlan->graph().node(row.lostActivation);
    Finding f = activationFinding(c, index, Rule::ActivationLost);
    f.node = node.name;
    f.title = ruleTitle(f.rule, node.name);
    const Number share = shareBeyond(row);
    const auto [low, high] = passedRange(row).value_or(std::pair(0.0, 0.0));
    f.summary = fmt::format("{} of the float model has no node in the quantized file, and no range ends where it does: "
                            "{}; they reach from {:.4g} to {:.4g}.",
        node.opType,
        share ? fmt::format("{} of all values are {} and pass", percentText(*share), boundsText(row.lostBounds))
              : fmt::format("values {} pass", boundsText(row.lostBounds)),
        low, high);
    f.summary += zeroPointText(row.params, node.opType, row.lostBounds.first);
    f.evidence.push_back({ "activation", std::nullopt, node.opType, {} });
    if (share)
        f.evidence.push_back(evidence("share_beyond", 100 * *share, "%"));
    f.evidence.push_back(evidence("lowest", low));
    f.evidence.push_back(evidence("highest", high));
    if (c.restored) {
        f.summary += restoredText(*c.restored);
        if (c.restored->hasSignal())
            f.evidence.push_back(evidence("output_lost_db", c.restored->lostDb(), "dB"));
        if (c.restored->lostDb() > kRuinedDb)
            f.severity = Severity::Error;
        else if (c.restored->matterLittle() && c.network && c.network->same())
            f.severity = Severity::Note;
    }
    f.change = remedyOf(row, node.name);
    f.rank = kRank + (share ? *share : 0);
    return f;
}

/// The node of the float model that a reader of the value before a quantizer stands for, if it reads what is behind the
/// activation that the quantizer does, and that alone.
NodeId skipping(const ComparePair& pair, const NodePartners& partners, const PairPlan& plan, NodeId reader)
{
    const Node& node = pair.quantPlan->graph().node(reader);
    const bool sizesAlone = node.is("Shape") || node.is("Size");
    if (pair.quantView->isPlumbing(reader) || isQuantizeLinear(node) || sizesAlone)
        return {};
    const Graph& graph = pair.floatPlan->graph();
    const NodeId partner = partners.of(reader), activation = graph.value(plan.x).producer;
    const auto reads = [&](ValueId value) {
        const auto& inputs = graph.node(partner).inputs;
        return std::ranges::find(inputs, value) != inputs.end();
    };
    const bool behind = partner.valid() && activation.valid() && graph.node(activation).hasInput(0) && reads(plan.x)
        && !reads(graph.node(activation).inputs[0]);
    return behind ? partner : NodeId();
}

/// The activation that makes the value, perhaps with reshapes behind it.
const Node& activationOf(const Graph& graph, ValueId value, const std::string& type)
{
    const Node* node = &graph.node(graph.value(value).producer);
    while (node->opType != type && node->hasInput(0) && graph.value(node->inputs[0]).producer.valid())
        node = &graph.node(graph.value(node->inputs[0]).producer);
    return *node;
}

/// Told of at the reader, where what passes comes in.
Finding skippedActivation(const ComparePair& pair, const Comparison& c, const PairPlan& plan, NodeId reader)
{
    const Graph& graph = pair.floatPlan->graph();
    const Node& node = graph.node(reader);
    const std::string& activation = activationOf(graph, plan.x, plan.activationName).name;
    Finding f = makeFinding(Rule::ActivationLost);
    f.cause = kSkipped;
    f.node = node.name;
    f.tensor = graph.value(node.hasOutput(0) ? node.outputs[0] : plan.x).name;
    f.activation = RowOfValue(c.activations).find(graph.findValue(f.tensor));
    f.title = fmt::format("{} skips the activation {}", node.name, activation);
    f.summary
        = fmt::format("{} of the float model has no node in the quantized file: the range of a quantizer does what "
                      "it does. {} reads the value before that quantizer, so values {} pass to it.",
            plan.activationName, node.name, boundsText({ plan.activation.low, plan.activation.high }));
    f.evidence
        = { { "activation", std::nullopt, plan.activationName, {} }, { "skipped", std::nullopt, activation, {} } };
    f.remedy = fmt::format("Let {} read what is behind the quantizer, or keep the {}.", node.name, plan.activationName);
    f.rank = kRank;
    return f;
}

void findSkippedActivations(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const NodePartners partners(pair);
    for (const PairPlan& plan : planPairs(pair))
        if (plan.p.valid() && plan.activation.bounded())
            for (const Use& use : pair.quantPlan->graph().value(plan.p).uses)
                if (const NodeId reader = skipping(pair, partners, plan, use.node); reader.valid())
                    found.push_back(skippedActivation(pair, c, plan, reader));
}

} // namespace

void findLostActivations(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    std::vector<NodeId> told; // a reshape of the same has a row of its own
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const NodeId lost = c.activations[i].lostActivation;
        if (!lost.valid() || std::ranges::find(told, lost) != told.end())
            continue;
        told.push_back(lost);
        found.push_back(lostActivation(pair, c, i));
    }
    findSkippedActivations(pair, c, found);
}

void putCauseFirst(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const auto lost = std::ranges::find(found, Rule::ActivationLost, &Finding::rule);
    const auto other = std::ranges::find_if(
        found, [](const Finding& f) { return f.rule == Rule::ModelsDiffer && f.severity == Severity::Error; });
    if (lost == found.end() || other == found.end())
        return;
    // The files part at the tensor that tells of it, or at what the activation makes.
    const std::vector<FindingPlace> places = placesOf(*lost);
    const Graph& graph = pair.floatPlan->graph();
    const ValueId parted = graph.findValue(other->tensor);
    const NodeId made = parted.valid() ? graph.value(parted).producer : NodeId();
    const bool cause = std::ranges::any_of(places, [&](const FindingPlace& p) {
        return p.tensor == other->tensor || (made.valid() && graph.node(made).name == p.node);
    });
    const bool alone = c.network && c.network->lostAlone && lost->cause != kSkipped;
    if (!cause && !alone)
        return;
    if (alone) {
        lost->summary += " With them both files compute the same without quantizers.";
        lost->severity = other->severity;
        lost->rank = std::max(lost->rank, other->rank);
        found.erase(other);
        std::ranges::stable_sort(found, {}, &Finding::severity);
        return;
    }
    other->summary += lost->cause == kSkipped
        ? fmt::format(" The reason: {}.", lost->title)
        : fmt::format(" The reason: the activation behind {} is lost.", other->node);
    lost->severity = other->severity; // the most severe come first, and this is what they follow from
    lost->rank = std::max(lost->rank, other->rank);
    if (other < lost)
        std::rotate(other, lost, lost + 1);
}

} // namespace qs
