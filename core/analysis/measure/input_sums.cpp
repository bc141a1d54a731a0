// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/input_sums.h"

#include "core/data/sample_hash.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace qs {

namespace {

constexpr int64_t kMostColours = 4;

/// The axis of few channels of a picture: second or last of four.
std::optional<size_t> colourAxis(const std::optional<Dims>& dims)
{
    if (!dims || dims->size() != 4)
        return std::nullopt;
    for (const size_t axis : { size_t(1), size_t(3) })
        if ((*dims)[axis].known() && (*dims)[axis].value > 1 && (*dims)[axis].value <= kMostColours)
            return axis;
    return std::nullopt;
}

void addRun(std::span<const float> values, InputSums& sums)
{
    for (const float v : values) {
        if (!std::isfinite(v)) {
            ++sums.nonFinite;
            continue;
        }
        ++sums.count;
        sums.sum += v;
        sums.squares += double(v) * v;
        sums.low = std::min(sums.low, double(v));
        sums.high = std::max(sums.high, double(v));
    }
}

} // namespace

void InputSums::merge(const InputSums& other)
{
    count += other.count;
    nonFinite += other.nonFinite;
    sum += other.sum;
    squares += other.squares;
    low = std::min(low, other.low);
    high = std::max(high, other.high);
}

InputStatistics InputStatistics::of(const Plan& floatPlan, const CarryNames& carry, size_t samples)
{
    InputStatistics statistics;
    size_t rows = 0;
    const Graph& graph = floatPlan.graph();
    for (const ValueId id : graph.inputs()) {
        FedInput input { id, graph.value(id).name, 1, 0, rows };
        if (isCarried(carry, input.name))
            continue;
        if (const auto axis = colourAxis(floatPlan.facts().of(id).dims)) {
            input.channelAxis = *axis;
            input.channels = size_t((*floatPlan.facts().of(id).dims)[*axis].value);
        }
        rows += input.channels;
        statistics.inputs.push_back(std::move(input));
    }
    statistics.sums.resize(rows * samples);
    statistics.hashes.resize(samples);
    return statistics;
}

void InputStatistics::add(const Feed& feed)
{
    const size_t samples = hashes.size();
    const std::vector<uint64_t> fed = sampleHashes(feed);
    std::ranges::copy(fed, hashes.begin() + std::ptrdiff_t(feed.firstSample));
    for (size_t i = 0; i < std::min(inputs.size(), feed.inputs.size()); ++i) {
        const Tensor plain = toPlain(feed.inputs[i]);
        if (!isFloat(plain.dtype()) && !isInteger(plain.dtype()))
            continue;
        const bool floats = plain.dtype() == DType::Float32;
        const std::vector<float> converted = floats ? std::vector<float>() : toFloats(plain);
        const std::span<const float> x = floats ? plain.data<float>() : std::span<const float>(converted);
        const FedInput& input = inputs[i];
        const size_t slices = feed.slicesOf(x.size()), size = x.size() / slices;
        const bool coloured
            = input.channels > 1 && plain.rank() == 4 && plain.dim(input.channelAxis) == int64_t(input.channels);
        const Channels channels = coloured ? channelsOf(plain.shape(), int64_t(input.channelAxis)) : Channels {};
        for (size_t s = 0; s < slices; ++s) {
            const auto row
                = [&](size_t c) -> InputSums& { return sums[(input.firstRow + c) * samples + feed.firstSample + s]; };
            const auto values = x.subspan(s * size, size);
            if (!coloured)
                addRun(values, row(0));
            else
                channels.eachRun(
                    size, [&](size_t c, size_t begin, size_t n) { addRun(values.subspan(begin, n), row(c)); });
        }
    }
}

} // namespace qs
