// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/range_use.h"

#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace qs {

namespace {

/// Clipping is worth a word when this much of the tensor's own quality is lost to it.
constexpr double kLostDb = 6;
/// A range is too large when at most a quarter of it is used: two bits lost.
constexpr double kWastedDb = 12;
/// Above this nobody minds a waste.
constexpr double kGoodDb = 30;
/// Of ranges twice as wide, where a range of the data would leave more than kFewStepsDb and this one does not.
constexpr double kHalfUsedDb = 5.5, kFewStepsDb = 20;

/// By what the range is wider than one that holds the data, dB, whatever it cuts: with as many codes on either side of
/// zero, where it has so.
double widerDb(const ActivationRow& row)
{
    const auto& [low, high] = *row.floatRange;
    const double middle = double(middleCode(row.params)), peak = std::max(std::fabs(low), std::fabs(high));
    const bool symmetric = row.params.perTensor() && std::fabs(row.params.zero(0) - middle) <= 1;
    const double needed = symmetric ? 2 * peak : widthWithZero(*row.floatRange);
    const double whole = row.range->second - row.range->first;
    return needed > 0 && whole > 0 ? 20 * std::log10(whole / needed) : 0;
}

} // namespace

int64_t middleCode(const QuantParams& params) { return isSigned(params.dtype) ? 0 : (params.codes().high + 1) / 2; }

double widthWithZero(const std::pair<double, double>& range)
{
    return std::max(range.second, 0.0) - std::min(range.first, 0.0);
}

bool hasOwnRange(const ActivationRow& row)
{
    return row.range && row.floatRange && row.localSqnrDb && row.idealSqnrDb && row.cachePeaks.empty();
}

std::optional<QuantParams> typicalParams(const ActivationRow& row)
{
    if (!row.meanEnds && !row.floatRange)
        return std::nullopt;
    const double low = std::min(row.meanEnds ? row.meanEnds->low : row.floatRange->first, 0.0);
    const double high = std::max(row.meanEnds ? row.meanEnds->high : row.floatRange->second, 0.0);
    QuantParams params;
    params.dtype = DType::UInt8;
    const auto codes = params.codes();
    const double scale = (high - low) / double(codes.high - codes.low);
    if (!(scale > 0) || !std::isfinite(scale))
        return std::nullopt;
    params.scale = { float(scale) };
    params.zeroPoint = { int32_t(std::clamp(std::nearbyint(0.0 - low / scale), 0.0, double(codes.high))) };
    return params;
}

std::optional<std::pair<double, double>> passedRange(const ActivationRow& row)
{
    if (!row.observedRange || !row.range)
        return row.observedRange;
    return std::pair(std::clamp(row.observedRange->first, row.range->first, row.range->second),
        std::clamp(row.observedRange->second, row.range->first, row.range->second));
}

double ownNoiseShare(const ActivationRow& row)
{
    if (!row.signalPower || *row.signalPower <= 0)
        return 0;
    return std::max(0.0, (row.noise.rounding.value_or(0) + row.noise.clipping.value_or(0)) / *row.signalPower);
}

Number ownPartOfNoise(const ActivationRow& row)
{
    if (!row.noise.rounding || !row.noise.clipping || !row.accumulated.rmse || *row.accumulated.rmse <= 0)
        return std::nullopt;
    const double own = *row.noise.rounding + *row.noise.clipping;
    return std::clamp(own / (*row.accumulated.rmse * *row.accumulated.rmse), 0.0, 1.0);
}

double gainAtTensor(const ActivationRow& row, double gainDb)
{
    const Number own = ownPartOfNoise(row);
    return own ? 0.0 - 10 * std::log10(1 - *own * (1 - std::pow(10.0, -gainDb / 10))) : gainDb;
}

bool exceedsRange(const ActivationRow& row)
{
    if (!row.range || !row.floatRange || row.params.scale.empty())
        return false;
    const double half = isInteger(row.params.dtype) ? double(*std::ranges::max_element(row.params.scale)) / 2 : 0;
    return row.floatRange->first < row.range->first - half || row.floatRange->second > row.range->second + half;
}

bool cutsFloatData(const ActivationRow& row)
{
    return hasOwnRange(row) && exceedsRange(row) && *row.localSqnrDb < *row.idealSqnrDb - kLostDb;
}

bool clippingDominates(const ActivationRow& row)
{
    return cutsFloatData(row) && row.noise.clipping.value_or(0) > row.noise.rounding.value_or(0);
}

double unusedDb(const ActivationRow& row)
{
    const double used = widthWithZero(*row.floatRange);
    const double whole = row.range->second - row.range->first;
    const double wider = used > 0 && whole > 0 ? 20 * std::log10(whole / used) : 0;
    return isInteger(row.params.dtype) ? wider : std::min(wider, *row.idealSqnrDb - *row.localSqnrDb);
}

bool isWholeOfOperator(const ActivationRow& row)
{
    constexpr double kSame = 0.02; // the last code may lie a step below it
    const bool probability = row.opType == "Softmax" || row.opType == "Sigmoid" || row.opType == "HardSigmoid";
    const auto isNear = [](double end, double at) { return std::fabs(end - at) < kSame; };
    const bool low = isNear(row.range->first, -1) || (probability && isNear(row.range->first, 0)); // of symmetric codes
    return (probability || row.opType == "Tanh") && low && isNear(row.range->second, 1);
}

std::optional<double> wastedDb(const ActivationRow& row)
{
    if (!hasOwnRange(row) || clippingDominates(row) || *row.localSqnrDb > kGoodDb)
        return std::nullopt;
    if (!exceedsRange(row) && unusedDb(row) >= kWastedDb)
        return unusedDb(row);
    if (!isInteger(row.params.dtype))
        return std::nullopt;
    const double wider = widerDb(row);
    const bool coarse
        = std::max(*row.localSqnrDb, *row.idealSqnrDb) < kFewStepsDb && *row.idealSqnrDb + wider >= kFewStepsDb;
    const bool wasted = (exceedsRange(row) && wider >= kWastedDb) || (coarse && wider >= kHalfUsedDb);
    return wasted && !isWholeOfOperator(row) ? std::optional(wider) : std::nullopt;
}

double gainOfDataRange(const ActivationRow& row)
{
    if (!isInteger(row.params.dtype)) // any range that holds the data without what is too small
        return row.idealSqnrDb.value_or(0) - row.localSqnrDb.value_or(0);
    const double used = widthWithZero(*row.floatRange);
    const auto codes = row.params.codes();
    const double step = used / std::max<double>(double(codes.high) - double(codes.low), 1);
    if (step <= 0 || !row.signalPower || *row.signalPower <= 0)
        return 0;
    return 10 * std::log10(*row.signalPower / (step * step / 12)) - row.localSqnrDb.value_or(0);
}

Number growthDb(const ActivationRow& row)
{
    if (!row.increaseDb || !hasOwnRange(row))
        return row.increaseDb;
    const double unused = unusedDb(row);
    return *row.increaseDb + (unused >= kWastedDb ? unused : 0);
}

namespace {

/// Whether the range ends at the means of the samples' ends, within so many of their standard errors; nothing where the
/// range holds the data, or these means hardly differ from the ends of all samples.
std::optional<bool> endsAtMeans(const ActivationRow& row, double errors)
{
    constexpr double kSteps = 2, kWidth = 0.005; // what rounding to a zero point, or to a few bits, moves ends by
    if (!row.meanEnds || !hasOwnRange(row) || !row.params.perTensor() || !isInteger(row.params.dtype)
        || !exceedsRange(row))
        return std::nullopt;
    const auto& [low, high] = *row.range;
    const auto& [dataLow, dataHigh] = *row.floatRange;
    const MeanEnds& mean = *row.meanEnds;
    const double step = row.params.scale[0], room = std::max(kSteps * step, kWidth * (high - low));
    if (std::fabs(low + high) <= kSteps * step) { // of as many codes on either side of zero
        const double peak = std::max(std::fabs(mean.low), std::fabs(mean.high)); // the mean's, or the mean of peaks
        const double off = std::min(std::fabs(high - peak), std::fabs(high - mean.peak));
        const double beyond = std::max(std::fabs(dataLow), std::fabs(dataHigh)) - mean.peak;
        const double near = room + errors * mean.peakError;
        return beyond > room + near ? std::optional(off <= near) : std::nullopt;
    }
    const double meanLow = std::min(mean.low, 0.0), meanHigh = std::max(mean.high, 0.0);
    const double nearLow = room + errors * mean.lowError, nearHigh = room + errors * mean.highError;
    if (meanLow - dataLow <= room + nearLow && dataHigh - meanHigh <= room + nearHigh)
        return std::nullopt;
    return std::fabs(low - meanLow) <= nearLow && std::fabs(high - meanHigh) <= nearHigh;
}

/// Parameters that several tensors have: what is joined has one range for all, which is the widest's.
class SharedParameters {
public:
    explicit SharedParameters(const std::vector<ActivationRow>& rows)
    {
        for (const ActivationRow& row : rows) {
            const auto [known, isNew] = m_first.try_emplace(keyOf(row), row.quantizer);
            if (!isNew && known->second != row.quantizer)
                m_several.insert(keyOf(row));
        }
    }
    bool contains(const ActivationRow& row) const { return m_several.contains(keyOf(row)); }

private:
    using Key = std::tuple<DType, std::vector<float>, std::vector<int32_t>>;
    static Key keyOf(const ActivationRow& row) { return { row.params.dtype, row.params.scale, row.params.zeroPoint }; }

    std::map<Key, std::optional<uint32_t>> m_first; ///< the quantizer that was seen first
    std::set<Key> m_several;
};

/// Those that can be told, and of these those that end so.
std::pair<size_t, size_t> countAtMeans(const std::vector<ActivationRow>& rows, double errors)
{
    size_t told = 0, ends = 0;
    const SharedParameters shared(rows);
    for (const ActivationRow& row : rows)
        if (const auto fits = row.repeatsQuantizer ? std::nullopt : endsAtMeans(row, errors);
            fits && !shared.contains(row)) {
            ++told;
            ends += *fits;
        }
    return { told, ends };
}

} // namespace

bool isAveraged(const ActivationRow& row) { return endsAtMeans(row, 0).value_or(false); }

AveragedRanges averagedRanges(const std::vector<ActivationRow>& rows)
{
    constexpr double kMost = 0.75, kErrors = 2.5;
    const auto areMost = [](const std::pair<size_t, size_t>& counts, size_t fewest) {
        return counts.first >= fewest && double(counts.second) >= kMost * double(counts.first);
    };
    if (areMost(countAtMeans(rows, 0), 2))
        return AveragedRanges::Yes;
    return areMost(countAtMeans(rows, kErrors), 3) ? AveragedRanges::Perhaps : AveragedRanges::No;
}

namespace {

/// Mean squares and shares of values, as far as they pass a Relu or Clip behind their quantizer.
struct PassedSums {
    double signal = 0, rounding = 0, clipping = 0, inherited = 0;
    double clipped = 0; ///< share
};

/// Values are taken as evenly spread inside a bin. `before`: those are a(p), which came in with errors.
PassedSums passedSums(const ActivationRow& row, const Histogram& values, bool before)
{
    constexpr int kPlaces = 8; // in a bin
    const double step = row.params.scale[0], low = row.params.low(), high = row.params.high();
    PassedSums sums;
    for (size_t i = 0; i < values.counts().size(); ++i) {
        const double from = values.low() + double(i) * values.binWidth();
        const double to = std::min(from + values.binWidth(), values.largest());
        const double begin = std::max(from, values.smallest()), count = double(values.counts()[i]) / kPlaces;
        for (int place = 0; place < kPlaces && count > 0; ++place) {
            const double value = begin + (place + 0.5) * std::max(to - begin, 0.0) / kPlaces;
            const double passed = std::clamp(value, row.boundsBehind->first, row.boundsBehind->second);
            const double off = passed - std::clamp(passed, low, high);
            sums.signal += count * passed * passed;
            if (std::fabs(off) > step / 2) {
                sums.clipping += count * off * off;
                sums.clipped += count;
            } else if (passed == value)
                sums.rounding += count * step * step / 12;
            if (before && passed == value)
                sums.inherited += count * row.inherited.at(value).square;
        }
    }
    for (double* sum : { &sums.signal, &sums.rounding, &sums.clipping, &sums.inherited, &sums.clipped })
        *sum /= double(values.total());
    return sums;
}

std::pair<double, double> cutAt(const std::pair<double, double>& range, const std::pair<double, double>& bounds)
{
    return { std::clamp(range.first, bounds.first, bounds.second),
        std::clamp(range.second, bounds.first, bounds.second) };
}

} // namespace

std::optional<ActivationRow> behindActivation(const ActivationRow& row)
{
    if (!row.boundsBehind || !(row.boundsBehind->first <= row.boundsBehind->second) || !hasOwnRange(row)
        || !row.params.perTensor() || !isInteger(row.params.dtype) || row.floatHistogram.empty()
        || row.beforeHistogram.empty())
        return std::nullopt;
    const PassedSums x = passedSums(row, row.floatHistogram, false), p = passedSums(row, row.beforeHistogram, true);
    const double step = row.params.scale[0], noise = p.rounding + p.clipping + p.inherited;
    ActivationRow seen = row;
    seen.floatRange = cutAt(*row.floatRange, *row.boundsBehind);
    if (row.observedRange)
        seen.observedRange = cutAt(*row.observedRange, *row.boundsBehind);
    seen.signalPower = x.signal;
    seen.localSqnrDb = powerRatioDb(x.signal, x.rounding + x.clipping);
    seen.idealSqnrDb = powerRatioDb(x.signal, step * step / 12);
    seen.floatClippedFraction = x.clipped;
    seen.clippedFraction = p.clipped;
    seen.noise = { p.rounding, p.clipping, p.inherited };
    seen.accumulated.rmse = std::sqrt(noise);
    seen.accumulated.sqnrDb = powerRatioDb(x.signal, noise);
    return seen;
}

SeenRows::SeenRows(const std::vector<ActivationRow>& rows)
    : m_rows(rows)
{
    for (size_t i = 0; i < rows.size(); ++i)
        if (auto seen = behindActivation(rows[i]))
            m_behind.emplace(i, std::move(*seen));
}

const ActivationRow& SeenRows::operator[](size_t row) const
{
    const auto behind = m_behind.find(row);
    return behind == m_behind.end() ? m_rows[row] : behind->second;
}

namespace {

/// The unit computes the row's value: itself, or by sums that are scaled to it.
bool makes(const QuantView& view, const Graph& graph, const QuantUnit& unit, const ActivationRow& row)
{
    const auto& outputs = graph.node(unit.node).outputs;
    const ValueId sums = outputs.empty() ? ValueId() : outputs[0];
    return unit.node == row.quantNode || (sums.valid() && view.scaledSums(sums) == row.quantValue);
}

/// What is moved to become this value; itself where nothing moves it.
ValueId beforeMoves(const Graph& graph, ValueId value)
{
    for (NodeId maker = graph.value(value).producer; maker.valid(); maker = graph.value(value).producer) {
        const Node& node = graph.node(maker);
        if (!movesElements(node) || !node.hasInput(0))
            break;
        value = node.inputs[0];
    }
    return value;
}

} // namespace

bool hasOwnQuantizer(const ActivationRow& row) { return row.quantizer || row.dynamic || !row.params.scale.empty(); }

bool isQuantizedNode(const ComparePair& pair, const ActivationRow& row)
{
    if (hasOwnQuantizer(row))
        return true;
    const QuantView& view = *pair.quantView;
    const Graph& graph = pair.quantPlan->graph();
    const bool inSteps = std::ranges::any_of(pair.alignment->insideQuant, [&](const InsideValue& inside) {
        const NodeId step = graph.value(inside.value).producer;
        return inside.node == row.floatNode
            && (view.ofValue(inside.value)
                || std::ranges::find(view.units(), step, &QuantUnit::node) != view.units().end());
    });
    return inSteps
        || std::ranges::any_of(view.units(), [&](const QuantUnit& unit) { return makes(view, graph, unit, row); });
}

bool readsQuantized(const ComparePair& pair, const ActivationRow& row)
{
    const QuantView& view = *pair.quantView;
    const Graph& graph = pair.quantPlan->graph();
    if (std::ranges::any_of(view.units(), [&](const QuantUnit& unit) {
            return makes(view, graph, unit, row) && std::ranges::any_of(unit.inputs, [&](uint32_t q) {
                return view.quantizers()[q].role == QuantRole::Activation;
            });
        }))
        return true;
    return row.quantNode.valid() && std::ranges::any_of(graph.node(row.quantNode).inputs, [&](ValueId in) {
        const auto q = in.valid() ? view.ofQuantized(beforeMoves(graph, in)) : std::nullopt;
        return q && view.quantizers()[*q].role == QuantRole::Activation;
    });
}

bool losesQuantizersInFloat(const ComparePair& pair, const ActivationRow& row)
{
    if (hasOwnQuantizer(row) && !row.dynamic && readsQuantized(pair, row))
        return true;
    const QuantView& view = *pair.quantView;
    return std::ranges::any_of(pair.alignment->insideQuant, [&](const InsideValue& inside) {
        const auto q = view.ofValue(inside.value);
        return inside.node == row.floatNode && q && !view.quantizers()[*q].dynamic;
    });
}

} // namespace qs
