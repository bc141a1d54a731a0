// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/masked_values.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rows/row_of_value.h"
#include "core/analysis/rules/findings.h"
#include "core/tensor/largest_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

/// Values that have to share a scale with others, or have none.
namespace qs {

namespace {

constexpr double kUnequal = 8; ///< three bits
constexpr double kLostBranchDb = 25;
constexpr double kSpoiledBranchDb = 20;
/// Beyond any activation: float16 ends at 6.5e4, masks are -1e9 or -3.4e38.
constexpr double kExtreme = 1e8;

struct Branch {
    size_t row;
    double width; ///< of the data
    double sqnrDb; ///< with the scale it has to take
};

/// The branches of a join that are quantized, before or behind it.
std::vector<Branch> branchesOf(const Comparison& c, const Node& join, const ActivationRow& output)
{
    std::vector<Branch> branches;
    for (ValueId in : join.inputs)
        for (size_t i = 0; in.valid() && i < c.activations.size(); ++i) {
            const ActivationRow& row = c.activations[i];
            if (row.floatValue != in || !row.floatRange || !row.signalPower || *row.signalPower <= 0)
                continue;
            // The coarser of its own steps and the join's.
            double step = 0;
            for (const QuantParams* params : { &row.params, &output.params })
                if (params->scale.size() == 1 && isInteger(params->dtype))
                    step = std::max(step, double(params->scale[0]));
            if (step > 0)
                branches.push_back(
                    { i, widthWithZero(*row.floatRange), 10 * std::log10(*row.signalPower / (step * step / 12)) });
            break;
        }
    return branches;
}

Finding joinFinding(const Comparison& c, const Node& join, const Branch& small, const Branch& large)
{
    const ActivationRow& row = c.activations[small.row];
    Finding f = activationFinding(c, small.row, Rule::ScaleMismatchAtJoin);
    if (small.sqnrDb < kSpoiledBranchDb)
        f.severity = Severity::Warning;
    const double ratio = large.width / small.width;
    f.node = join.name;
    f.cause = join.name;
    f.title = ruleTitle(f.rule, join.name);
    f.summary = fmt::format("{} is {:.1f} times as wide as {}, which loses {:.1f} bits to the common scale and is left "
                            "with {:.1f} dB.",
        c.activations[large.row].name, ratio, row.name, std::log2(ratio), small.sqnrDb);
    f.evidence = { evidence("width_ratio", ratio), evidence("bits_lost", std::log2(ratio)),
        evidence("local_sqnr_db", small.sqnrDb, "dB"),
        { "largest_branch", std::nullopt, c.activations[large.row].name, {} } };
    f.rank = std::pow(10.0, -small.sqnrDb / 10);
    f.remedy = ruleRemedy(f.rule, join.name);
    // In a file's recipe the branch has the range of the join, which would stay.
    f.change = { RemedyKind::ExcludeNode, join.name, row.name, std::min(row.floatRange->first, 0.0),
        std::max(row.floatRange->second, 0.0), 0 };
    return f;
}

} // namespace

void findJoins(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.floatPlan->graph();
    for (const ActivationRow& output : c.activations) {
        if (output.opType != "Concat")
            continue;
        const Node& join = graph.node(output.floatNode);
        const auto branches = branchesOf(c, join, output);
        if (branches.size() < 2)
            continue;
        const Branch& large = *std::ranges::max_element(branches, {}, &Branch::width);
        for (const Branch& small : branches)
            if (small.width > 0 && large.width > kUnequal * small.width && small.sqnrDb < kLostBranchDb)
                found.push_back(joinFinding(c, join, small, large));
    }
}

namespace {

/// A mask leaves the scores of a Softmax this many times the step that they need, and one that changes a probability by
/// a tenth or more.
constexpr double kMaskCosts = 3, kCoarseScore = 0.1;
/// Probabilities that nobody minds.
constexpr double kFineMaskedDb = 30, kPoorMaskedDb = 20;

std::optional<Finding> maskFinding(const ComparePair& pair, const Comparison& c, const RowOfValue& rows, size_t index)
{
    const ActivationRow& row = c.activations[index];
    if (!row.lowestUnmasked || !row.range || !row.floatRange || row.params.scale.size() != 1
        || !isInteger(row.params.dtype))
        return std::nullopt;
    const double step = row.params.scale[0], low = std::min(*row.lowestUnmasked - kMaskedDistance, 0.0);
    const double high = std::max(row.floatRange->second, 0.0);
    if (step < kCoarseScore || row.range->second - row.range->first < kMaskCosts * (high - low))
        return std::nullopt;
    const Graph& graph = pair.floatPlan->graph();
    double worst = kFineMaskedDb;
    for (const NodeId softmax : softmaxReaders(graph, row.floatValue))
        if (const auto reader = rows.find(graph.node(softmax).outputs[0]))
            worst = std::min(worst, c.activations[*reader].accumulated.sqnrDb.value_or(kFineMaskedDb));
    if (worst >= kFineMaskedDb)
        return std::nullopt;
    Finding f = activationFinding(c, index, Rule::ExtremeConstant);
    f.severity = worst < kPoorMaskedDb ? Severity::Warning : Severity::Note;
    f.title = fmt::format("A mask takes the range of {}", f.tensor);
    f.summary
        = fmt::format("Masked scores reach down to {:.4g}, so that one step is {:.3g}, where the others lie within "
                      "{:.4g} … {:.4g}; the Softmax behind is left with {:.1f} dB.",
            row.floatRange->first, step, *row.lowestUnmasked, row.floatRange->second, worst);
    f.evidence = { evidence("scale", step), evidence("data_low", row.floatRange->first),
        evidence("data_high", row.floatRange->second), evidence("lowest_unmasked", *row.lowestUnmasked) };
    f.remedy = fmt::format("Let the range end at {:.4g}: what lies below counts for nothing in Softmax.", low);
    f.change = { RemedyKind::SetRange, f.node, f.tensor, low, high, 0 };
    f.cause = "mask";
    f.rank = std::pow(10.0, -worst / 10);
    return f;
}

} // namespace

namespace {

/// Below zero it may lie.
bool isBroken(float scale) { return scale == 0 || !std::isfinite(scale); }

/// Of an activation with this largest value. Among zeros any scale is as good.
size_t brokenScales(const QuantParams& params, double absMax)
{
    return size_t(std::ranges::count_if(
        params.scale, [&](float scale) { return isBroken(scale) && (!std::isfinite(scale) || absMax > 0); }));
}

size_t brokenScales(const WeightRow& row)
{
    return row.lostScales
        + size_t(std::ranges::count_if(row.params.scale, [](float scale) { return !std::isfinite(scale); }));
}

/// Of blocks: which part of the outputs has one without a scale.
std::string lostChannelsText(const WeightRow& row)
{
    const bool blocks = row.params.blockSize > 0 && row.lostScales > 0;
    return blocks ? fmt::format(" in {} of {} channels", row.lostChannels, row.channelAbsMax.size()) : std::string();
}

/// `data`: the float model's values; those that nothing finite stands beside were not measured.
void tellBroken(Finding f, const QuantParams& params, size_t broken, const std::string& where,
    const std::optional<std::pair<double, double>>& data, std::vector<Finding>& found)
{
    const float scale = params.scale[0];
    const std::string one = std::isnan(scale) ? "is no number" : scale == 0 ? "is zero" : "is infinite";
    f.title = ruleTitle(f.rule, f.tensor);
    f.summary = params.scale.size() == 1 ? "Its scale " + one
                                         : fmt::format("{} of its {} scales {} zero, infinite or no numbers{}", broken,
                                             params.scale.size(), broken == 1 ? "is" : "are", where);
    f.evidence = { evidence("broken_scales", double(broken)) };
    if (data) {
        f.summary
            += fmt::format(", where the float model's values reach from {:.4g} to {:.4g}: no code stands for them.",
                data->first, data->second);
        f.evidence.push_back(evidence("data_low", data->first));
        f.evidence.push_back(evidence("data_high", data->second));
    } else {
        f.summary += ": no code stands for anything.";
    }
    f.rank = 1e6;
    found.push_back(std::move(f));
}

} // namespace

void findBrokenScales(const Comparison& c, std::vector<Finding>& found)
{
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        const auto [low, high] = row.floatRange.value_or(std::pair(0.0, 0.0));
        const size_t broken = brokenScales(row.params, std::max(std::fabs(low), std::fabs(high)));
        if (broken == 0 || !firstOfQuantizer(c, i))
            continue;
        Finding f = activationFinding(c, i, Rule::BrokenScale);
        f.change = row.params.scale.size() == 1 && row.floatRange
            ? Remedy { RemedyKind::SetRange, row.node, row.name, low, high, 0 }
            : Remedy { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
        tellBroken(std::move(f), row.params, broken, {}, row.floatRange, found);
    }
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        const size_t broken = brokenScales(row);
        if (broken == 0)
            continue;
        const double most = row.channelAbsMax.empty() ? 0 : std::ranges::max(row.channelAbsMax);
        Finding f = weightFinding(c, i, Rule::BrokenScale);
        f.change = { RemedyKind::Requantize, row.node, row.name, 0, 0, 0 };
        tellBroken(std::move(f), row.params, broken, lostChannelsText(row), std::pair(-most, most), found);
    }
}

namespace {

/// Quantizers of activations that no row is about: those of tensors that the float file does not have.
std::vector<const Quantizer*> unpairedQuantizers(const ComparePair& pair, const Comparison& c)
{
    std::set<size_t> told;
    for (const ActivationRow& row : c.activations)
        if (row.quantizer)
            told.insert(*row.quantizer);
    std::vector<const Quantizer*> found;
    const auto& all = pair.quantView->quantizers();
    for (size_t i = 0; i < all.size(); ++i)
        if (all[i].role == QuantRole::Activation && !told.contains(i)
            && !(all[i].codes.valid() && pair.quantPlan->constant(all[i].codes)))
            found.push_back(&all[i]);
    return found;
}

/// Such a range is told of by the quantized file alone.
void findUnpairedExtremes(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const Graph& graph = pair.quantPlan->graph();
    for (const Quantizer* q : unpairedQuantizers(pair, c)) {
        const ValueId value = q->real.valid() ? q->real : q->codes;
        const bool wide = q->params.scale.size() == 1 && isInteger(q->params.dtype)
            && double(q->params.scale[0]) * 255 >= kExtreme && !isBroken(q->params.scale[0]);
        if (!wide || !value.valid() || pair.quantPlan->constant(value))
            continue;
        const double scale = q->params.scale[0];
        const NodeId producer = graph.value(value).producer;
        Finding f = makeFinding(Rule::ExtremeConstant);
        f.tensor = graph.value(value).name;
        f.node = producer.valid() ? graph.node(producer).name : std::string();
        f.title = ruleTitle(f.rule, f.tensor);
        f.summary = fmt::format("Its range reaches from {:.3g} to {:.3g}, so that one step is {:.3g}: everything else "
                                "becomes zero. The float file has no such tensor.",
            q->params.low(), q->params.high(), scale);
        f.evidence = { evidence("scale", scale), evidence("range_low", q->params.low()),
            evidence("range_high", q->params.high()) };
        f.rank = 1e6;
        found.push_back(std::move(f));
    }
}

} // namespace

void findExtremeConstants(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const RowOfValue rows(c.activations);
    const auto finish = [&](Finding f, double scale, const std::pair<double, double>& data, bool ofRange) {
        f.title = ruleTitle(f.rule, f.tensor);
        f.summary = fmt::format("Its {} from {:.3g} to {:.3g}, so that one step is {:.3g}: everything else "
                                "becomes zero.",
            ofRange ? "range reaches" : "values reach", data.first, data.second, scale);
        f.evidence = { evidence("scale", scale), evidence("data_low", data.first), evidence("data_high", data.second) };
        f.change = { RemedyKind::KeepExtremeConstants, f.node, f.tensor, 0, 0, 0 };
        f.rank = 1e6;
        found.push_back(std::move(f));
    };
    for (size_t i = 0; i < c.activations.size(); ++i) {
        const ActivationRow& row = c.activations[i];
        if (row.params.scale.empty() || isBroken(row.params.scale[0]) || !row.floatRange || !firstOfQuantizer(c, i))
            continue;
        if (double(row.params.scale[0]) * 255 < kExtreme) {
            if (auto masks = maskFinding(pair, c, rows, i))
                found.push_back(std::move(*masks));
            continue;
        }
        // Values that became infinite are in no range that was seen.
        const bool ofRange = row.range && row.accumulated.nonFinite > 0;
        finish(activationFinding(c, i, Rule::ExtremeConstant), row.params.scale[0],
            ofRange ? *row.range : *row.floatRange, ofRange);
    }
    for (size_t i = 0; i < c.weights.size(); ++i) {
        const WeightRow& row = c.weights[i];
        const double largest = largestScale(row.params);
        if (row.bias || row.params.scale.empty() || largest * 255 < kExtreme || !std::isfinite(largest))
            continue;
        const double most = row.channelAbsMax.empty() ? 0 : std::ranges::max(row.channelAbsMax);
        finish(weightFinding(c, i, Rule::ExtremeConstant), largest, { -most, most }, false);
    }
    findUnpairedExtremes(pair, c, found);
}

namespace {

/// The largest constant of reals that a node reads and that is no single number; null where it reads none.
const Tensor* largestWeight(const Plan& plan, const Node& node)
{
    const Tensor* weight = nullptr;
    for (const ValueId in : node.inputs)
        if (const Tensor* t = in.valid() ? plan.constant(in) : nullptr; t && isFloat(t->dtype()) && t->count() > 1)
            if (!weight || t->count() > weight->count())
                weight = t;
    return weight;
}

/// What is reached from a value past nodes without weights, in either direction, and the weights where that ends.
struct Neighbourhood {
    std::set<ValueId> values;
    std::map<NodeId, const Tensor*> weights; ///< by the node that reads it

    Neighbourhood(const Plan& plan, ValueId from)
    {
        const Graph& graph = plan.graph();
        std::vector<ValueId> front { from };
        values.insert(from);
        std::set<NodeId> crossed;
        const auto cross = [&](NodeId id) {
            if (!crossed.insert(id).second)
                return;
            const Node& node = graph.node(id);
            if (const Tensor* weight = largestWeight(plan, node)) {
                weights.emplace(id, weight);
                return;
            }
            for (const auto* side : { &node.inputs, &node.outputs })
                for (const ValueId v : *side)
                    if (v.valid() && !plan.constant(v) && values.insert(v).second)
                        front.push_back(v);
        };
        constexpr size_t kMostValues = 1024; // what is further away has nothing to do with it
        for (size_t i = 0; i < std::min(front.size(), kMostValues); ++i) {
            const Value& value = graph.value(front[i]);
            if (value.producer.valid())
                cross(value.producer);
            for (const Use& use : value.uses)
                cross(use.node);
        }
    }
};

bool isOneConstant(const Tensor& a, const Tensor& b)
{
    return &a == &b || (a.dtype() == b.dtype() && a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes()));
}

} // namespace

bool mayShareScale(const ComparePair& pair, ValueId a, ValueId b)
{
    const Graph& graph = pair.floatPlan->graph();
    const auto isOuter = [&](ValueId v) { return graph.isInput(v) || graph.isOutput(v); };
    if (a == b || (isOuter(a) && isOuter(b)))
        return true;
    const Neighbourhood ofA(*pair.floatPlan, a);
    if (ofA.values.contains(b))
        return true;
    const Neighbourhood ofB(*pair.floatPlan, b);
    return std::ranges::any_of(ofA.weights, [&](const auto& x) {
        return std::ranges::any_of(
            ofB.weights, [&](const auto& y) { return x.first != y.first && isOneConstant(*x.second, *y.second); });
    });
}

} // namespace qs
