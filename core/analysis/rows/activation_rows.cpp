// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/fill_rows.h"

#include "core/analysis/measure/pair_meter.h"
#include "core/analysis/pairs/masked_values.h"
#include "core/analysis/pairs/node_partners.h"
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rows/row_of_value.h"
#include "core/graph/handed_on.h"
#include "core/qdq/same_params.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_set>

namespace qs {

namespace {

struct Totals {
    PairSums sums;
    PairSums node;
    double scaleSquare = 0; ///< mean over samples
    std::vector<Number> sampleDb;
};

Totals addUp(const Measured& m, size_t pair)
{
    Totals t;
    size_t samples = 0;
    for (size_t s = 0; s < m.samples; ++s) {
        if (!m.done[s])
            continue;
        const PairSums& one = m.sums[pair * m.samples + s];
        t.sums.merge(one);
        if (!m.nodeSums.empty())
            t.node.merge(m.nodeSums[pair * m.samples + s]);
        t.scaleSquare += m.scaleSquares[pair * m.samples + s];
        t.sampleDb.push_back(powerRatioDb(one.xx, one.ee));
        ++samples;
    }
    if (std::isnan(t.sums.ee)) // whole numbers that differ: the difference is no noise
        t.sums = {};
    if (samples)
        t.scaleSquare /= static_cast<double>(samples);
    return t;
}

double widthOf(const PairSums& s) { return std::max(s.highX, 0.0) - std::min(s.lowX, 0.0); }

/// What ranges of each sample's own would give: noise of rounding is proportional to the square of the range's width.
void fillOwnRanges(const Measured& m, size_t pair, const PairSums& all, ActivationRow& row)
{
    const double width = widthOf(all);
    std::vector<double> shares;
    double own = 0;
    for (size_t s = 0; s < m.samples; ++s) {
        const PairSums& one = m.sums[pair * m.samples + s];
        if (!m.done[s] || one.count == 0)
            continue;
        shares.push_back(widthOf(one) / width);
        own += double(one.count) * shares.back() * shares.back();
    }
    if (shares.size() < 2 || !(width > 0) || !std::isfinite(width) || !(own > 0))
        return;
    row.ownRangesGainDb = 10 * std::log10(double(all.count) / own);
    const auto middle = shares.begin() + std::ptrdiff_t(shares.size() / 2);
    std::ranges::nth_element(shares, middle);
    row.medianSampleWidth = *middle;
}

/// The mean, and its standard error.
std::pair<double, double> meanOf(const std::vector<double>& values)
{
    double sum = 0, squares = 0;
    for (const double v : values)
        sum += v;
    const double n = double(values.size()), mean = sum / n;
    for (const double v : values)
        squares += (v - mean) * (v - mean);
    return { mean, std::sqrt(squares / (n - 1) / n) };
}

void fillMeanEnds(const Measured& m, size_t pair, ActivationRow& row)
{
    std::vector<double> lows, highs, peaks;
    for (size_t s = 0; s < m.samples; ++s) {
        const PairSums& one = m.sums[pair * m.samples + s];
        if (!m.done[s] || one.count == 0 || !std::isfinite(one.lowX) || !std::isfinite(one.highX))
            continue;
        lows.push_back(one.lowX);
        highs.push_back(one.highX);
        peaks.push_back(std::max(std::fabs(one.lowX), std::fabs(one.highX)));
    }
    if (lows.size() < 2)
        return;
    const auto [low, lowError] = meanOf(lows);
    const auto [high, highError] = meanOf(highs);
    const auto [peak, peakError] = meanOf(peaks);
    row.meanEnds = { low, high, peak, lowError, highError, peakError };
}

double meanScaleSquare(const QuantParams& params)
{
    double sum = 0;
    for (float s : params.scale)
        sum += double(s) * s;
    return sum / static_cast<double>(params.scale.size());
}

/// Of values that lie evenly in each power of two, where these are neither cut off nor too small: the mean square over
/// the mean of step²/12. The step is 1/2^digits of the power.
double idealOfFloats(DType type)
{
    constexpr double kMeanSquare = 7.0 / 3; // over 1 ... 2
    double nextToOne = 2; // the smallest value above 1
    for (int code = 0; code < 1 << dtypeBits(type); ++code)
        if (const double v = double(smallFloatToFloat(type, uint8_t(code))); v > 1)
            nextToOne = std::min(nextToOne, v);
    const double step = nextToOne - 1;
    return 10 * std::log10(kMeanSquare * 12 / (step * step));
}

void fillOwnQuantizer(const PairPlan& plan, const PairSums& s, ActivationRow& row)
{
    const auto n = static_cast<double>(s.count);
    const bool quantized = !row.params.scale.empty() || row.dynamic, known = hasKnownCodes(row.params);
    if (quantized && known) {
        row.localSqnrDb = powerRatioDb(s.xx, s.localEe);
        row.localExact = s.localEe == 0;
        row.floatClippedFraction = static_cast<double>(s.clippedX) / n;
    }
    if (plan.ownQuantizer) {
        row.qdqSqnrDb = powerRatioDb(s.pp, s.qdqEe);
        row.qdqExact = s.qdqEe == 0;
        if (known)
            row.clippedFraction = static_cast<double>(s.clipped) / n;
    }
    row.noise = { s.rounding / n, s.clipping / n, s.inherited / n, 0.0 };
    row.observedRange = { s.lowA, s.highA };
    row.floatRange = { s.lowX, s.highX };
    row.signalPower = s.xx / n;
}

void fillParameters(const PairPlan& plan, double dynamicScaleSquare, ActivationRow& row)
{
    double step2 = 0;
    if (!isInteger(row.params.dtype)) {
        if (hasKnownCodes(row.params) && row.signalPower.value_or(0) > 0)
            row.idealSqnrDb = idealOfFloats(row.params.dtype);
    } else if (plan.dynamicScale.valid())
        step2 = dynamicScaleSquare;
    else if (!row.params.scale.empty())
        step2 = meanScaleSquare(row.params);
    if (step2 > 0 && row.signalPower)
        row.idealSqnrDb = powerRatioDb(*row.signalPower, step2 / 12);
    if (!row.params.scale.empty()) {
        double low = row.params.low(0), high = row.params.high(0);
        for (size_t c = 1; c < row.params.scale.size(); ++c) {
            low = std::min(low, row.params.low(c));
            high = std::max(high, row.params.high(c));
        }
        row.range = { low, high };
    }
}

/// Lost is what is seen to pass, of what the quantizer's own range lets through: by more than rounding may do.
void fillLost(const PairPlan& plan, ActivationRow& row)
{
    constexpr double kRounding = 1e-5; // without a quantizer: of the largest value
    const auto passed = passedRange(row);
    if (!plan.lost.bounded() || !passed)
        return;
    const auto [low, high] = *passed;
    double beyond = kRounding * std::max(std::abs(low), std::abs(high));
    for (const float scale : row.params.scale)
        beyond = std::max(beyond, double(scale) / 2);
    if (low >= plan.lost.low - beyond && high <= plan.lost.high + beyond)
        return;
    row.lostActivation = plan.lostNode;
    row.lostBounds = { plan.lost.low, plan.lost.high };
}

/// Noise over signal in dB; exact tensors are as quiet as their floor.
Number noiseDb(const ActivationRow& row)
{
    if (row.accumulated.exact)
        return -std::numeric_limits<double>::infinity();
    if (row.accumulated.sqnrDb)
        return -*row.accumulated.sqnrDb;
    return std::nullopt;
}

/// A value that is a part of what its node reads: its own noise to signal says nothing beside that of the whole. The
/// later outputs of attention are the keys and values as they came, often out of one packed tensor.
bool isPartOfInput(const Graph& graph, const Node& node, ValueId value)
{
    static constexpr std::string_view kParts[]
        = { "Split", "Slice", "Gather", "GatherElements", "GatherND", "Compress", "SplitToSequence", "TopK" };
    const bool packed = node.opType.ends_with("Attention") && !node.hasInput(1); // queries, keys and values in one
    return packed || isAttentionState(graph, value) || std::ranges::find(kParts, node.opType) != std::end(kParts);
}

/// What float32 itself can hold. Less noise than that beside the signal means a few huge elements, as of masks, and
/// says nothing of what the others have.
constexpr double kFloatNoiseDb = -144.5;

/// Increase along the graph; see metrics.
class IncreaseFinder {
public:
    IncreaseFinder(const Graph& graph, std::vector<ActivationRow>& rows)
        : m_graph(graph)
        , m_rows(rows)
        , m_rowOf(rows)
    {
    }

    void fill()
    {
        for (ActivationRow& row : m_rows) {
            const Number here = noiseDb(row);
            if (!here || (row.floatNode.valid() && isPartOfInput(m_graph, m_graph.node(row.floatNode), row.floatValue)))
                continue;
            std::optional<double> input;
            if (row.floatNode.valid())
                input = comingIn(row.floatNode);
            Number floor;
            if (row.idealSqnrDb)
                floor = -*row.idealSqnrDb;
            const double bottom = floor.value_or(input && std::isfinite(*input) ? *input : *here);
            const double from = std::max(input.value_or(bottom), bottom);
            const double increase = std::max(*here, bottom) - from;
            if (std::isfinite(increase))
                row.increaseDb = increase;
        }
    }

private:
    /// Noise to signal that comes in: of factors it adds up, so a product does not make what they bring.
    std::optional<double> comingIn(NodeId id) const
    {
        const Node& node = m_graph.node(id);
        std::optional<double> all;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            std::optional<double> one;
            if (node.inputs[i].valid())
                largest(node.inputs[i], id, one, 0);
            const bool square = i > 0 && node.inputs[i] == node.inputs[0];
            if (one && all && node.opType == "Mul" && !square)
                all = 10 * std::log10(std::pow(10.0, *all / 10) + std::pow(10.0, *one / 10));
            else if (one)
                all = std::max(all.value_or(*one), *one);
        }
        return all;
    }

    void largest(ValueId value, NodeId reader, std::optional<double>& best, int depth) const
    {
        if (const auto row = m_rowOf.find(value, reader)) {
            if (const Number db = noiseDb(m_rows[*row]); db && (*db >= kFloatNoiseDb || std::isinf(*db)))
                best = std::max(best.value_or(*db), *db);
            return;
        }
        const NodeId producer = m_graph.value(value).producer;
        if (!producer.valid() || depth > 64)
            return;
        for (ValueId in : m_graph.node(producer).inputs)
            if (in.valid())
                largest(in, producer, best, depth + 1);
    }

    const Graph& m_graph;
    std::vector<ActivationRow>& m_rows;
    const RowOfValue m_rowOf;
};

/// What names the compared value: one before rounding has no name of its own, so the codes that come of it.
ValueId comparedValue(const Graph& graph, const PairPlan& plan)
{
    if (!plan.beforeRounding.valid())
        return plan.y;
    const auto& outputs = graph.node(plan.beforeRounding).outputs;
    return !outputs.empty() && outputs[0].valid() ? outputs[0] : plan.y;
}

/// What is counted in any order.
void fillShared(const PairPlan& plan, PairShared& shared, ActivationRow& row)
{
    const std::lock_guard lock(shared.mutex);
    row.shape = shared.shape;
    row.cachePeaks = shared.cachePeaks;
    row.floatHistogram = shared.histograms.x;
    row.quantHistogram = shared.histograms.y;
    row.errorHistogram = shared.histograms.error;
    row.beforeHistogram = shared.histograms.before;
    if (plan.maskedScores)
        row.lowestUnmasked = lowestUnmasked(row.floatHistogram);
    if (!row.dynamic)
        row.inherited = shared.histograms.inherited;
    if (plan.codes.valid() && row.params.perTensor())
        row.usedCodes
            = static_cast<double>(shared.codes.count()) / double(row.params.codes().high - row.params.codes().low + 1);
}

/// Nodes of the float model that read a pair, or another one that does the same with the same value.
std::vector<NodeId> readersOfPair(const ComparePair& pair, const NodePartners& partners, uint32_t quantizer)
{
    const Graph& graph = pair.quantPlan->graph();
    const auto& all = pair.quantView->quantizers();
    std::vector<NodeId> readers;
    for (const Quantizer& q : all) {
        if (q.real != all[quantizer].real || !sameParams(q.params, all[quantizer].params))
            continue;
        for (const NodeId dequantize : q.dequantize)
            for (const Use& use : graph.value(graph.node(dequantize).outputs[0]).uses) {
                if (!use.node.valid() || pair.quantView->isPlumbing(use.node))
                    continue;
                const NodeId reader = partners.of(use.node);
                if (reader.valid() && std::ranges::find(readers, reader) == readers.end())
                    readers.push_back(reader);
            }
    }
    return readers;
}

/// What tells rows of one float value apart.
void fillSiblings(const ComparePair& pair, std::vector<ActivationRow>& rows)
{
    std::map<ValueId, std::vector<size_t>> byValue;
    for (size_t i = 0; i < rows.size(); ++i)
        if (rows[i].quantizer)
            byValue[rows[i].floatValue].push_back(i);
    std::erase_if(byValue, [](const auto& one) { return one.second.size() < 2; });
    if (byValue.empty())
        return;
    const NodePartners partners(pair);
    for (const auto& [value, own] : byValue)
        for (const size_t i : own) {
            const ValueId real = pair.quantView->quantizers()[*rows[i].quantizer].real;
            rows[i].siblings = own.size() - 1;
            rows[i].readers = readersOfPair(pair, partners, *rows[i].quantizer);
            for (const NodeId reader : rows[i].readers)
                rows[i].readerNames.push_back(pair.floatPlan->graph().node(reader).name);
            rows[i].behindSibling = real.valid() && pair.quantView->ofQuantized(real);
        }
}

} // namespace

void fillActivations(const ComparePair& pair, const Measured& m, Comparison& result)
{
    const Graph& fg = pair.floatPlan->graph();
    const Graph& qg = pair.quantPlan->graph();
    std::unordered_set<uint32_t> quantizers;
    result.activations.reserve(m.pairs.size());
    for (size_t i = 0; i < m.pairs.size(); ++i) {
        const PairPlan& plan = m.pairs[i];
        ActivationRow row;
        row.floatValue = plan.x;
        row.quantValue = plan.y;
        row.name = fg.value(plan.x).name;
        row.quantizedName = qg.value(comparedValue(qg, plan)).name;
        row.floatNode = fg.value(plan.x).producer;
        row.quantNode = qg.value(plan.p.valid() ? plan.p : plan.y).producer;
        for (NodeId rounds : { plan.unrounded, plan.beforeRounding })
            if (const FusedUnit* unit = rounds.valid() ? pair.quantPlan->unit(rounds) : nullptr)
                row.quantNode = unit->node;
        if (row.floatNode.valid()) {
            row.node = fg.node(row.floatNode).name;
            row.opType = fg.node(row.floatNode).opType;
        }
        row.method = plan.pair.method;
        row.confidence = plan.pair.confidence;
        row.quantizer = plan.pair.quantizer;
        row.repeatsQuantizer = row.quantizer && !quantizers.insert(*row.quantizer).second;
        row.params = plan.params;
        row.equalized = result.equalized && result.equalized->contains(plan.x);
        row.dynamic = plan.dynamicScale.valid();
        row.foldedActivation = plan.activationName;
        if (plan.behind.bounded())
            row.boundsBehind = { plan.behind.low, plan.behind.high };
        Totals t = addUp(m, i);
        row.accumulated = similarityOf(t.sums);
        row.sampleSqnrDb = std::move(t.sampleDb);
        if (t.sums.count > 0) {
            fillOwnQuantizer(plan, t.sums, row);
            fillParameters(plan, t.scaleSquare, row);
            if (row.quantizer && !plan.cache && isInteger(row.params.dtype)) // steps of floats do not follow the range
                fillOwnRanges(m, i, t.sums, row);
            fillMeanEnds(m, i, row);
        }
        fillLost(plan, row);
        if (t.node.count > 0) {
            row.nodeSqnrDb = powerRatioDb(t.node.xx, t.node.nodeEe);
            row.nodeExact = t.node.nodeEe == 0;
        }
        fillShared(plan, *m.shared[i], row);
        result.activations.push_back(std::move(row));
    }
    fillSiblings(pair, result.activations);
    IncreaseFinder(fg, result.activations).fill();
}

std::vector<SaturationRow> saturationRows(const Plan& plan, const std::map<NodeId, PairCounts>& counts)
{
    std::vector<SaturationRow> rows;
    for (const auto& [last, sum] : counts) {
        const NodeId id = nodeOfSums(plan, last);
        const Node& node = plan.graph().node(id);
        if (sum.pairs > 0)
            rows.push_back({ id, node.name, node.opType, sum.pairs, sum.saturated, sum.worst });
    }
    return rows;
}

namespace {

/// What saturating makes of sums that end in no codes. A bias adds nothing to it.
void splitNoiseOfSums(const Plan& plan, const std::map<ValueId, SumDifference>& measured, Comparison& result)
{
    for (const SaturatingSums& sums : saturatingSums(plan)) {
        const auto row = std::ranges::find(result.saturation, nodeOfSums(plan, sums.last), &SaturationRow::quantNode);
        const auto found = measured.find(sums.scaled);
        if (row == result.saturation.end() || row->saturatedPairs() == 0 || found == measured.end()
            || found->second.count == 0)
            continue;
        const double noise = found->second.squares.total() / static_cast<double>(found->second.count);
        for (ActivationRow& activation : result.activations) {
            if (!activation.noise.inherited || !sums.endsIn(activation.quantValue))
                continue;
            activation.noise.kernel = std::min(noise, std::max(0.0, *activation.noise.inherited));
            *activation.noise.inherited -= *activation.noise.kernel;
        }
    }
}

/// What is not inherited but made by the unit's own sums. Values inside a unit have the same part of it as those that
/// it ends with; where nothing tells how much it is, nothing is said of what came in, either.
void splitKernelNoise(Comparison& result)
{
    std::map<NodeId, double> partOfUnit;
    for (ActivationRow& row : result.activations) {
        NoiseSplit& noise = row.noise;
        if (!row.implementation || !row.implementation->noisePower || !noise.inherited)
            continue;
        const double all = std::max(0.0, *noise.inherited);
        noise.kernel = std::min(*row.implementation->noisePower, all);
        *noise.inherited -= *noise.kernel;
        partOfUnit.try_emplace(row.quantNode, all > 0 ? *noise.kernel / all : 0);
    }
    std::set<NodeId> saturated;
    for (const SaturationRow& s : result.saturation)
        if (std::ranges::any_of(s.saturated, [](uint64_t count) { return count > 0; }))
            saturated.insert(s.quantNode);
    for (ActivationRow& row : result.activations) {
        NoiseSplit& noise = row.noise;
        if (noise.kernel || !noise.inherited || !row.quantNode.valid())
            continue;
        if (const auto part = partOfUnit.find(row.quantNode); part != partOfUnit.end()) {
            noise.kernel = part->second * std::max(0.0, *noise.inherited);
            *noise.inherited -= *noise.kernel;
        } else if (saturated.contains(row.quantNode)) {
            noise.inherited.reset();
            noise.weights.reset();
        }
    }
}

} // namespace

void fillImplementation(const ComparePair& pair, Measured& m, Comparison& result)
{
    if (!pair.writtenPlan)
        return;
    const std::lock_guard lock(m.implementation.mutex);
    for (ActivationRow& row : result.activations) {
        if (!row.quantizer)
            continue;
        const auto it = m.implementation.codes.find(pair.quantView->quantizers()[*row.quantizer].codes);
        if (it == m.implementation.codes.end() || it->second.count == 0)
            continue;
        const auto count = static_cast<double>(it->second.count);
        row.implementation = { double(it->second.offByOne) / count, double(it->second.beyond) / count, {} };
        if (row.params.scale.size() == 1) {
            const double scale = row.params.scale[0];
            row.implementation->noisePower = scale * scale * double(it->second.squares) / count;
        }
    }
    result.saturation = saturationRows(*pair.quantPlan, m.implementation.pairs);
    splitNoiseOfSums(*pair.quantPlan, m.implementation.sums, result);
    splitKernelNoise(result);
}

} // namespace qs
