// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/weight_rows.h"

#include "core/analysis/measure/moved_factors.h"
#include "core/analysis/measure/pair_memory.h"
#include "core/analysis/measure/weight_grid.h"
#include "core/analysis/pairs/body_pairs.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/pairs/weight_elements.h"
#include "core/analysis/rows/weight_forms.h"
#include "core/base/work/cancel_scope.h"
#include "core/base/work/parallel.h"
#include "core/kernels/statistics/bins.h"
#include "core/match/graph/canonical.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <optional>
#include <set>

namespace qs {

namespace {

/// Share of the codes that occur; below 16 bits.
double usedCodes(const Tensor& codes, const QuantParams& params)
{
    std::bitset<256> used;
    markCodes(unpacked(codes).data<uint8_t>(), used);
    const auto range = params.codes();
    return double(used.count()) / double(range.high - range.low + 1);
}

void fillChannels(std::span<const float> x, std::span<const float> y, const Channels& channels, WeightRow& row)
{
    const auto count = static_cast<size_t>(channels.count);
    std::vector<double> signal(count), noise(count);
    row.channelAbsMax.assign(count, 0);
    channels.eachRun(x.size(), [&](size_t c, size_t begin, size_t n) {
        signal[c] += sumOf(begin, begin + n, [&](size_t i) { return double(x[i]) * x[i]; });
        noise[c] += sumOf(begin, begin + n, [&](size_t i) {
            const double error = double(y[i]) - x[i];
            return error * error;
        });
        float most = 0;
        for (size_t i = begin; i < begin + n; ++i)
            most = std::max(most, std::fabs(x[i]));
        row.channelAbsMax[c] = std::max(row.channelAbsMax[c], double(most));
    });
    for (size_t c = 0; c < count; ++c)
        row.channelSqnrDb.push_back(powerRatioDb(signal[c], noise[c]));
    row.rangeRatio = largestOverMedian(row.channelAbsMax);
}

/// Names and places.
void identify(const ComparePair& pair, const WeightPair& wp, WeightRow& row)
{
    const Graph& fg = pair.floatPlan->graph();
    const Graph& qg = pair.quantPlan->graph();
    const Quantizer& q = pair.quantView->quantizers()[wp.quantizer];
    row.floatValue = wp.floatValue;
    row.quantizer = wp.quantizer;
    row.name = fg.value(wp.floatValue).name;
    row.quantizedName = qg.value(q.shown()).name;
    row.floatNode = wp.floatNode;
    row.quantNode = wp.quantNode;
    row.node = fg.node(wp.floatNode).name;
    row.opType = fg.node(wp.floatNode).opType;
    row.bias = isBias(pair, wp);
    const Tensor* constant = pair.floatPlan->constant(wp.floatValue);
    row.added = row.bias || (constant && addsVector(row.opType, constant->shape()));
    row.method = wp.method;
    row.confidence = wp.confidence;
}

void fillLostScales(std::span<const float> x, const QuantParams& params, const WeightGrid& grid, WeightRow& row)
{
    const std::vector<bool> lost = lostScales(x, params, grid);
    row.lostScales = size_t(std::ranges::count(lost, true));
    if (row.lostScales == 0)
        return;
    const Channels channels = channelsOf(row.shape, row.channelAxis);
    std::vector<bool> lostElements(x.size()), lostChannels(size_t(channels.count));
    grid.eachRun(x.size(), [&](size_t scale, size_t begin, size_t n) {
        if (lost[std::min(scale, lost.size() - 1)])
            std::fill_n(lostElements.begin() + ptrdiff_t(begin), n, true);
    });
    channels.eachRun(x.size(), [&](size_t c, size_t begin, size_t n) {
        for (size_t i = begin; i < begin + n && !lostChannels[c]; ++i)
            lostChannels[c] = lostElements[i];
    });
    row.lostChannels = size_t(std::ranges::count(lostChannels, true));
}

/// Read otherwise, the same codes are the float model's: halves of bytes, the sign of the type, the codes' upper bit.
std::optional<WeightOrder> readOtherwise(const Tensor& codes, const QuantParams& params, const WeightPair& wp,
    std::span<const float> x, std::span<const float> y, const Shape& shape, double room)
{
    const auto fits = [&](const Tensor& read, const QuantParams& as) {
        const std::vector<float> there = storedElements(read, as, wp);
        return RoundedWeight(there, shape, as, WeightGrid(codes.shape(), as, wp, shape), room).holds(x, y);
    };
    if (const auto turned = withExchangedHalves(codes, params); turned && fits(*turned, params))
        return WeightOrder { WeightOrder::Kind::Pairs };
    if (const auto read = withOtherSign(codes, params); read && fits(read->codes, read->params))
        return WeightOrder { WeightOrder::Kind::Sign, 0, 0, {}, {}, {}, read->params.dtype };
    if (const auto read = withOtherUpperBit(codes, params); read && fits(read->codes, read->params))
        return WeightOrder { WeightOrder::Kind::UpperBit };
    return std::nullopt;
}

/// Whose elements the weight has, where they are not its own and no change of these explains them.
void fillOrder(const Tensor& codes, const QuantParams& params, const WeightPair& wp, const Tensor& weight,
    std::span<const float> y, const WeightGrid& grid, double room, WeightRow& row)
{
    constexpr size_t kTold = 8; // rows
    const auto x = weight.data<float>();
    const RoundedWeight stored(y, row.shape, params, grid, room);
    if (row.otherRows)
        row.otherRows->from = stored.linesOf(
            x, row.otherRows->axis, std::span(row.otherRows->rows).first(std::min(row.otherRows->rows.size(), kTold)));
    if (row.bias || row.change || row.otherRows || !isOtherWeight(row))
        return;
    row.order = readOtherwise(codes, params, wp, x, y, row.shape, room);
    if (!row.order)
        row.order = stored.orderOf(x);
}

/// What scales would be that were found for this weight alone; of a part only those that no other part has.
void fillScalesAnew(const Tensor& codes, const QuantParams& params, const WeightPair& wp, std::span<const float> x,
    std::span<const float> y, const WeightGrid& grid, double signal, WeightRow& row)
{
    if (row.bias || row.shape.size() < 2 || !isInteger(params.dtype) || params.scale.empty())
        return;
    WeightOnGrid stored { x, y, signal, params, grid, {} };
    if (row.part || wp.places) {
        stored.elements.resize(params.scale.size());
        WeightGrid(codes.shape(), params).eachRun(size_t(codes.count()), [&](size_t scale, size_t, size_t n) {
            stored.elements[std::min(scale, params.scale.size() - 1)] += n;
        });
    }
    row.anew = scalesAnew(stored, weightForm(params, codes));
}

/// Numbers that need the scale of each element; `params`: as stored.
void fillAgainstGrid(const Tensor& codes, const QuantParams& params, const WeightPair& wp, const Tensor& weight,
    std::span<const float> y, double signal, WeightRow& row)
{
    const WeightGrid grid(codes.shape(), params, wp, row.shape);
    row.params = grid.paramsFor(row.shape, params);
    if (!isInteger(params.dtype) && dtypeBits(params.dtype) > 8)
        return;
    const double room = roomOfTypes(weight.data<float>(), params);
    fillLostScales(weight.data<float>(), params, grid, row);
    fillScalesAnew(codes, params, wp, weight.data<float>(), y, grid, signal, row);
    const GridNumbers numbers = againstGrid(weight.data<float>(), y, params, grid, room);
    const auto n = static_cast<double>(weight.count());
    row.idealSqnrDb = powerRatioDb(signal, numbers.idealNoise);
    row.clippedFraction = double(numbers.outside) / n;
    if (numbers.outside < y.size())
        row.offByMoreThanHalfStep = double(numbers.off) / double(y.size() - numbers.outside);
    if (numbers.off > 0) {
        if (isInteger(params.dtype))
            row.mostStepsOff = numbers.mostStepsOff;
        row.change = weightChange(weight.data<float>(), y, params, grid, room, row.shape);
        row.otherRows = otherRows(weight.data<float>(), y, row.shape, params, grid, room);
        fillOrder(codes, params, wp, weight, y, grid, room, row);
    }
    if (isOtherWeight(row))
        row.factors = row.added
            ? biasFactors(weight.data<float>(), y, params, grid)
            : channelFactors(weight.data<float>(), y, row.shape, row.channelAxis, params, grid, room);
    if (isInteger(params.dtype) && dtypeBits(params.dtype) <= 8)
        row.usedCodes = usedCodes(codes, params);
}

/// Scales a channel are scales for several elements each: biases of recurrent operators, slopes, and what is added or
/// multiplied by channel hold one number for each, which a scale of its own would store as it is.
bool holdsChannels(const Node& node, ValueId weight, const Shape& shape, int64_t axis)
{
    constexpr ptrdiff_t kFirstBias = 3; // behind the input, W and R
    const std::string type = floatOpType(node);
    const auto slot = std::ranges::find(node.inputs, weight) - node.inputs.begin();
    if ((type == "LSTM" || type == "GRU" || type == "RNN") && slot >= kFirstBias)
        return false;
    for (size_t d = 0; d < shape.size(); ++d)
        if (int64_t(d) != axis && shape[d] > 1)
            return true;
    return false;
}

/// What other granularities and, where it is coarse, more bits would give; `channels`: see holdsChannels().
void fillTrials(
    const Tensor& codes, const QuantParams& params, const Tensor& weight, double signal, bool channels, WeightRow& row)
{
    const WeightForm form = weightForm(params, codes);
    const auto tried = [&](std::optional<int64_t> axis) -> Number {
        const auto noise = formNoise(weight, form, { axis, 0, false });
        return noise ? powerRatioDb(signal, *noise) : Number();
    };
    row.perTensorSqnrDb = tried(std::nullopt);
    if (channels)
        row.perChannelSqnrDb = tried(row.channelAxis);
    if (row.similarity.sqnrDb && *row.similarity.sqnrDb < kFinerWeightsDb)
        row.finer = finerWeights(weight, form, params, row.channelAxis, signal);
    if (row.finer && !channels)
        row.finer->eightBitsPerChannel.reset();
}

WeightRow makeRow(const ComparePair& pair, const WeightPair& wp, const Tensor& floatTensor, bool histograms)
{
    const Quantizer& q = pair.quantView->quantizers()[wp.quantizer];
    const Tensor& codes = *storedCodes(*pair.quantPlan, q);
    WeightRow row;
    identify(pair, wp, row);
    const Tensor weight = floatElements(floatTensor, wp);
    row.shape = weight.shape();
    const auto x = weight.data<float>();
    const QuantParams params = paramsRead(pair, wp.quantizer, wp.quantNode);
    const auto y = storedElements(codes, params, wp);
    PairSums sums;
    addPairSums(sums, x.data(), y.data(), nullptr, x.size(), nullptr, {});
    row.similarity = similarityOf(sums);
    row.part = codes.count() != weight.count();
    row.turned = wp.transposed && codes.rank() == 2;
    const Node& node = pair.floatPlan->graph().node(wp.floatNode);
    row.channelAxis = outputAxis(node, wp.floatValue, row.shape, row.bias);
    fillAgainstGrid(codes, params, wp, weight, y, sums.xx, row);
    fillChannels(x, y, channelsOf(row.shape, row.channelAxis), row);
    if (!row.bias && row.shape.size() >= 2)
        fillTrials(codes, params, weight, sums.xx, holdsChannels(node, wp.floatValue, row.shape, row.channelAxis), row);
    if (histograms) {
        row.floatHistogram.add(x);
        row.quantHistogram.add(y);
    }
    return row;
}

/// The row that an earlier comparison of the same weight and codes made, if there is one.
WeightRow remembered(const ComparePair& pair, const WeightPair& wp, bool histograms, PairMemory& memory)
{
    const Node& node = pair.floatPlan->graph().node(wp.floatNode);
    const bool bias = isBias(pair, wp);
    const Shape& shape = pair.floatPlan->constant(wp.floatValue)->shape();
    const auto key = weightKey(pair, wp.floatValue, wp.quantizer,
        { histograms, wp.transposed, bias, bias || addsVector(node.opType, shape),
            outputAxis(node, wp.floatValue, shape, bias) });
    const Quantizer& q = pair.quantView->quantizers()[wp.quantizer];
    if (!key || wp.places || paramsRead(pair, wp.quantizer, wp.quantNode).scale != q.params.scale)
        return makeRow(pair, wp, *pair.floatPlan->constant(wp.floatValue), histograms);
    if (const auto known = memory.findWeight(*key)) {
        WeightRow row = *known;
        identify(pair, wp, row);
        return row;
    }
    auto made
        = std::make_shared<const WeightRow>(makeRow(pair, wp, *pair.floatPlan->constant(wp.floatValue), histograms));
    memory.keepWeight(*key, made);
    return *made;
}

/// Weights that have nothing in common with the float model's may be those of another layer.
void findStrangers(const ComparePair& pair, const FoldedConstants& folded, std::vector<WeightRow>& rows)
{
    constexpr double kInCommonDb = 6;
    const auto& weights = pair.alignment->weights;
    for (size_t i = 0; i < weights.size(); ++i) {
        WeightRow& row = rows[i];
        if (row.bias || row.part || row.change || row.order || row.otherRows || !isOtherWeight(row)
            || row.similarity.sqnrDb.value_or(0) >= kInCommonDb)
            continue;
        const QuantParams& params = pair.quantView->quantizers()[weights[i].quantizer].params;
        const Tensor& codes = *storedCodes(*pair.quantPlan, pair.quantView->quantizers()[weights[i].quantizer]);
        const std::vector<float> y = storedElements(codes, params, weights[i]);
        const WeightGrid grid(codes.shape(), params, weights[i], row.shape);
        for (size_t k = 0; k < weights.size() && !row.order; ++k) {
            if (rows[k].bias || rows[k].part || weights[k].floatValue == weights[i].floatValue
                || rows[k].shape != row.shape)
                continue;
            const Tensor other = floatElements(*folded.of(weights[k]), weights[k]);
            if (RoundedWeight(y, row.shape, params, grid, roomOfTypes(other.data<float>(), params))
                    .holds(other.data<float>()))
                row.order = WeightOrder { WeightOrder::Kind::Another, 0, 0, {}, rows[k].node, rows[k].name };
        }
    }
}

/// Normalizations of the float file that the other one has in the weights of the layers before them.
std::set<NodeId> takenIn(const ComparePair& pair)
{
    const Graph& graph = pair.floatPlan->graph();
    std::optional<FoldedConstants> folded; // where there is one at all
    std::set<NodeId> found;
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
        const Node& node = graph.nodes()[n];
        const NodeId layer
            = node.is("BatchNormalization") && node.hasInput(0) ? graph.value(node.inputs[0]).producer : NodeId();
        if (!layer.valid() || graph.value(node.inputs[0]).uses.size() != 1)
            continue;
        if (!folded)
            folded.emplace(pair, FoldedConstants::Factors::Fitted);
        if (folded->at(layer, 1))
            found.insert(NodeId(n));
    }
    return found;
}

/// Both files have it outside of the body, where another row is of it.
bool isShared(const BodyPair& body, const WeightPair& wp, const WeightRow& row, const std::vector<WeightRow>& rows)
{
    const Graph &f = body.pair.floatPlan->graph(), &q = body.pair.quantPlan->graph();
    const ValueId codes = body.pair.quantView->quantizers()[wp.quantizer].codes;
    const auto outside = [](const Graph& graph, ValueId id) {
        return id.valid() && !graph.value(id).initializer && !graph.value(id).producer.valid();
    };
    return outside(f, wp.floatValue) && outside(q, codes) && std::ranges::any_of(rows, [&](const WeightRow& other) {
        return other.untaken.empty() && other.name == row.name && other.quantizedName == row.quantizedName;
    });
}

/// `untaken`: the branch that the bodies are in; "": one that may be taken.
void addBodyRows(
    const std::vector<BodyPair>& bodies, const std::string& untaken, bool histograms, std::vector<WeightRow>& rows)
{
    for (const BodyPair& body : bodies) {
        const FoldedConstants own(body.pair.floatPlan);
        for (const WeightPair& wp : body.pair.alignment->weights) {
            if (stopAsked())
                return;
            WeightRow row = makeRow(body.pair, wp, *own.of(wp), histograms);
            if (!untaken.empty() && isShared(body, wp, row, rows))
                continue;
            row.floatValue = ValueId();
            row.floatNode = body.floatNode;
            row.quantNode = body.quantNode;
            row.untaken = untaken;
            rows.push_back(std::move(row));
        }
    }
}

} // namespace

EqualizedLayers equalizedLayers(const ComparePair& pair, const std::vector<WeightRow>& rows)
{
    if (std::ranges::none_of(rows, [](const WeightRow& row) { return row.factors && !row.factors->in.empty(); }))
        return {};
    const Graph& graph = pair.floatPlan->graph();
    std::vector<LayerConstant> constants;
    for (const WeightRow& row : rows)
        if (row.floatNode.valid() && row.floatValue.valid())
            constants.push_back({ row.floatNode, row.floatValue, row.added, row.factors ? &*row.factors : nullptr,
                isOtherWeight(row) });
    for (const NodeId node : takenIn(pair)) // what it adds is a bias of the layer before it
        constants.push_back({ node, graph.node(node).inputs[0], true, nullptr, false });
    return equalizedLayers(graph, constants);
}

std::vector<WeightRow> compareWeights(const ComparePair& pair, bool histograms, size_t threads, PairMemory* memory)
{
    const auto& weights = pair.alignment->weights;
    const FoldedConstants folded(pair, FoldedConstants::Factors::Fitted);
    std::vector<WeightRow> rows(weights.size());
    const CancelToken cancel = cancelOfScope();
    parallelFor(weights.size(), std::min(threads, std::max<size_t>(weights.size(), 1)), [&](size_t i, size_t) {
        if (cancel.cancelled())
            return;
        rows[i] = memory && folded.isOwn(weights[i]) ? remembered(pair, weights[i], histograms, *memory)
                                                     : makeRow(pair, weights[i], *folded.of(weights[i]), histograms);
    });
    if (cancel.cancelled())
        return rows;
    findStrangers(pair, folded, rows);
    const EqualizedLayers layers = equalizedLayers(pair, rows);
    for (WeightRow& row : rows)
        row.equalized = row.factors && row.floatNode.valid() && pair.floatPlan->graph().node(row.floatNode).hasOutput(0)
            && (row.added ? layers.values.contains(pair.floatPlan->graph().node(row.floatNode).outputs[0])
                          : layers.nodes.contains(row.floatNode));
    addBodyRows(bodyPairs(pair), "", histograms, rows);
    for (const UntakenPair& branch : pair.untaken)
        addBodyRows(bodyPairs(branch), branch.name, histograms, rows);
    return rows;
}

} // namespace qs
