// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/bias_shifts.h"

#include "core/analysis/bypass/proof_distances.h"
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/pairs/weight_elements.h"
#include "core/match/graph/canonical.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>

namespace qs {

namespace {

constexpr size_t kMostBiases = 128, kAtOnce = 16; ///< whose values are in memory together
constexpr size_t kMostBiasFeeds = 4, kFewBiasFeeds = 2; ///< each takes a run of both files, for every kAtOnce of them
constexpr double kRoundedSteps = 1; ///< rounding takes an element half a step away

/// The stored bias minus the float model's, by channel; empty where rounding explains it, or no such difference is
/// known.
std::vector<double> offsetOf(const ComparePair& pair, const WeightPair& wp, const Tensor& constant)
{
    const Tensor* codes = storedCodes(*pair.quantPlan, pair.quantView->quantizers()[wp.quantizer]);
    const QuantParams params = paramsRead(pair, wp.quantizer, wp.quantNode);
    if (!codes || !isInteger(codes->dtype()) || params.scale.empty() || !isFloat(constant.dtype()))
        return {};
    const Tensor floats = floatElements(constant, wp);
    const std::vector<float> y = storedElements(*codes, params, wp);
    const auto x = floats.data<float>();
    if (x.size() != y.size() || (params.scale.size() != 1 && params.scale.size() != y.size()))
        return {};
    std::vector<double> offset(y.size());
    bool other = false;
    for (size_t i = 0; i < y.size(); ++i) {
        offset[i] = double(y[i]) - x[i];
        const double scale = params.scale[std::min(i, params.scale.size() - 1)];
        other = other || std::fabs(offset[i]) > kRoundedSteps * scale;
    }
    return other ? offset : std::vector<double> {};
}

/// Which axis a bias lies along, counted from the last as 1.
size_t longAxis(const Tensor& bias)
{
    const auto at = std::ranges::find_if(bias.shape(), [](int64_t size) { return size != 1; });
    return std::max<size_t>(size_t(bias.shape().end() - at), 1);
}

/// The channels of what a bias is added to, and how far apart their means are.
class ChannelMeans {
public:
    struct Place {
        ValueId x, y;
        size_t fromEnd = 0; ///< which axis channels are, 1: the last; 0: the second
        /// What the codes of y reach: a kernel that makes codes cuts what lies beyond, which an activation of the float
        /// model may do later.
        double low = -HUGE_VAL, high = HUGE_VAL;
    };
    ChannelMeans(uint32_t quantizer, ValueId bias, const Place& at, std::vector<double> offset)
        : m_shift { quantizer, bias, 0, 0 }
        , m_at(at)
        , m_offset(std::move(offset))
        , m_sums(m_offset.size())
        , m_counts(m_offset.size())
    {
    }
    ValueId x() const { return m_at.x; }
    ValueId y() const { return m_at.y; }

    void add(const ProofSample& sample, const Shape& shape, const std::vector<float>& x, const std::vector<float>& y)
    {
        const size_t rank = shape.size(), axis = m_at.fromEnd == 0 ? 1 : rank - m_at.fromEnd;
        if (rank <= axis || rank < m_at.fromEnd || x.size() != y.size() || size_t(shape[axis]) != m_offset.size()) {
            m_known = false;
            return;
        }
        size_t inner = 1;
        for (size_t i = axis + 1; i < rank; ++i)
            inner *= size_t(shape[i]);
        const auto counted = sample.counted ? sample.counted(m_at.x, shape) : std::nullopt;
        const ElementRuns all { { 0, x.size() } };
        for (const auto& [begin, end] : counted ? *counted : all)
            for (size_t i = begin; i < std::min(end, x.size()); ++i) {
                if (y[i] <= m_at.low || y[i] >= m_at.high)
                    continue;
                m_sums[i / inner % m_sums.size()] += double(y[i]) - x[i];
                ++m_counts[i / inner % m_sums.size()];
            }
    }

    /// Nothing where it is not known.
    std::optional<BiasShift> result() const
    {
        BiasShift shift = m_shift;
        const auto silent = size_t(std::ranges::count(m_counts, uint64_t(0))); // channels that are cut everywhere
        if (!m_known || 2 * silent > m_sums.size() || (silent > 0 && !std::isfinite(m_at.low)))
            return std::nullopt;
        for (size_t c = 0; c < m_sums.size(); ++c) {
            if (m_counts[c] == 0)
                continue;
            const double mean = m_sums[c] / double(m_counts[c]);
            shift.apart += mean * mean / double(m_sums.size() - silent);
            shift.left += std::pow(mean - m_offset[c], 2) / double(m_sums.size() - silent);
        }
        return std::isfinite(shift.apart) && std::isfinite(shift.left) ? std::optional(shift) : std::nullopt;
    }

private:
    BiasShift m_shift;
    Place m_at;
    std::vector<double> m_offset, m_sums;
    std::vector<uint64_t> m_counts;
    bool m_known = true;
};

/// Nothing says that these two are not the same value: the files may add the bias at different places.
bool areOneValue(const ComparePair& pair, ValueId x, ValueId y)
{
    const auto& quantizers = pair.quantView->quantizers();
    bool isOther = false;
    for (const ValuePair& both : pair.alignment->values) {
        const bool same = both.quantValue == y || (both.quantizer && quantizers[*both.quantizer].real == y);
        if (both.floatValue == x)
            return same;
        isOther = isOther || both.quantValue == y;
    }
    return !isOther;
}

std::vector<ChannelMeans> otherBiases(const ComparePair& pair)
{
    std::vector<ChannelMeans> found;
    std::optional<FoldedConstants> folded; // where the file's own is another one
    const Graph &f = pair.floatPlan->graph(), &q = pair.quantPlan->graph();
    for (const WeightPair& wp : pair.alignment->weights) {
        const Tensor* own
            = wp.floatNode.valid() && wp.quantNode.valid() ? pair.floatPlan->constant(wp.floatValue) : nullptr;
        if (!own || !(isBias(pair, wp) || addsVector(f.node(wp.floatNode).opType, own->shape())))
            continue;
        if (offsetOf(pair, wp, *own).empty())
            continue;
        if (!folded)
            folded.emplace(pair, FoldedConstants::Factors::Fitted);
        const Tensor* constant = folded->of(wp);
        std::vector<double> offset = constant ? offsetOf(pair, wp, *constant) : std::vector<double> {};
        const Node &x = f.node(wp.floatNode), &y = q.node(wp.quantNode);
        if (offset.empty() || !x.hasOutput(0) || !y.hasOutput(0) || !areOneValue(pair, x.outputs[0], y.outputs[0])
            || !holdsReals(pair, *pair.quantPlan, y.outputs[0]))
            continue;
        const bool second = x.opType == "Conv" || x.opType == "ConvTranspose" || y.opType.ends_with("Conv");
        ChannelMeans::Place at { x.outputs[0], y.outputs[0], second ? 0 : longAxis(*constant) };
        if (const QuantParams* codes = codesHeld(pair, *pair.quantPlan, at.y); codes && codes->perTensor())
            std::tie(at.low, at.high) = std::pair(codes->low(), codes->high());
        found.emplace_back(wp.quantizer, wp.floatValue, at, std::move(offset));
    }
    return found;
}

/// False where one of the files cannot be run.
bool addSample(
    const ComparePair& pair, const ProofSample& sample, std::span<ChannelMeans> biases, const WorkContext& work)
{
    std::vector<ValueId> x, y;
    for (const ChannelMeans& b : biases) {
        x.push_back(b.x());
        y.push_back(b.y());
    }
    const auto of = runNetwork(pair.floatPlan, pair.floatPlan, x, sample.inputs, work),
               with = runNetwork(pair.quantPlan, pair.floatPlan, y, sample.inputs, work);
    if (!of.ok() || !with.ok())
        return false;
    for (size_t i = 0; i < biases.size(); ++i)
        biases[i].add(sample, (*of)[i].shape(), toFloats((*of)[i]), realsHeld(pair, *pair.quantPlan, y[i], (*with)[i]));
    return true;
}

} // namespace

std::vector<BiasShift> measureBiasShifts(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work)
{
    std::vector<ChannelMeans> biases = otherBiases(pair);
    if (biases.size() > kMostBiases)
        biases.erase(biases.begin() + ptrdiff_t(kMostBiases), biases.end());
    const size_t feeds = std::min(samples.size(), biases.size() > kAtOnce ? kFewBiasFeeds : kMostBiasFeeds);
    for (size_t first = 0; first < biases.size(); first += kAtOnce) {
        const auto some = std::span(biases).subspan(first, std::min(kAtOnce, biases.size() - first));
        for (size_t n = 0; n < feeds; ++n)
            if (!addSample(pair, samples[n], some, work))
                return {};
    }
    std::vector<BiasShift> shifts;
    for (const ChannelMeans& b : biases)
        if (const auto shift = b.result())
            shifts.push_back(*shift);
    return shifts;
}

} // namespace qs
