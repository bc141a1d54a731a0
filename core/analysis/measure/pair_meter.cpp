// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/pair_meter.h"

#include "core/analysis/pairs/masked_values.h"
#include "core/kernels/elementwise/unary.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace qs {

namespace {

constexpr size_t kBlock = 32768; ///< elements that stay in the second cache from the sums to the histograms
constexpr size_t kInheritedElements = 4096; ///< of a run are enough for means by bin

int32_t zeroPointOf(const QuantParams& params, size_t channel)
{
    const auto& zeros = params.zeroPoint;
    return zeros.empty() ? 0 : zeros[std::min(channel, zeros.size() - 1)];
}

} // namespace

void PairHistograms::merge(const PairHistograms& other)
{
    x.merge(other.x);
    y.merge(other.y);
    error.merge(other.error);
    before.merge(other.before);
    inherited.merge(other.inherited);
}

PairQuantizer quantizerOf(const QuantParams& params, size_t channel)
{
    const CodeValues codes = params.values();
    return { params.scale[channel], zeroPointOf(params, channel), int32_t(codes.low), int32_t(codes.high),
        isInteger(params.dtype) ? DType::Undefined : params.dtype };
}

bool hasKnownCodes(const QuantParams& params)
{
    const CodeValues codes = params.values();
    return codes.high > codes.low && (isInteger(params.dtype) || (codes.low < 0 && params.blockSize == 0));
}

const float* withFactors(const ValueFactors& factors, const Shape& shape, const float* x, std::vector<float>& scratch)
{
    const size_t channels = factors.factors.size(), axis = factors.last && !shape.empty() ? shape.size() - 1 : 1;
    if (axis >= shape.size() || channels == 0 || shape[axis] % int64_t(channels) != 0)
        return x;
    size_t outer = 1, inner = size_t(shape[axis]) / channels;
    for (size_t d = 0; d < shape.size(); ++d)
        (d < axis ? outer : inner) *= d == axis ? 1 : size_t(shape[d]);
    scratch.resize(outer * channels * inner);
    for (size_t o = 0, at = 0; o < outer; ++o)
        for (const float factor : factors.factors)
            for (size_t i = 0; i < inner; ++i, ++at)
                scratch[at] = x[at] * factor;
    return scratch.data();
}

PairMeter::PairMeter(PairSums& sums, PairHistograms* histograms, Counts counts, std::vector<float>& scratch)
    : m_sums(sums)
    , m_histograms(histograms)
    , m_counts(counts)
    , m_scratch(scratch)
{
    if (m_histograms)
        m_scratch.resize(2 * kBlock);
}

void PairMeter::addRun(const PairRun& run)
{
    const size_t stride = (run.n / kInheritedElements) | 1; // odd, so that it does not keep to a few channels
    for (size_t begin = 0; begin < run.n; begin += kBlock) {
        const PairRun block = blockOf(run, begin);
        const uint64_t before = m_sums.nonFinite;
        addPairSums(m_sums, m_extremes, block);
        if (!m_histograms)
            continue;
        count(block, m_sums.nonFinite == before && std::isfinite(m_extremes.highError - m_extremes.lowError));
        if (run.p && run.quantizer)
            countInherited(block, begin, stride);
    }
}

void PairMeter::countInherited(const PairRun& block, size_t begin, size_t stride)
{
    const PairQuantizer& q = *block.quantizer;
    const double low = double(q.scale) * (double(q.low) - q.zeroPoint);
    const double high = double(q.scale) * (double(q.high) - q.zeroPoint);
    if (!(high > low))
        return;
    if (!m_histograms->inherited.hasRange())
        m_histograms->inherited = InheritedBins(low, high);
    for (size_t i = (begin + stride - 1) / stride * stride - begin; i < block.n; i += stride) {
        const float a = std::clamp(block.p[i], block.activation.low, block.activation.high);
        m_histograms->inherited.add(a, double(a) - block.x[i]);
    }
}

void PairMeter::addChannels(const PairRun& run, const QuantParams& params, size_t offset, size_t channels, size_t inner)
{
    PairQuantizer quantizer = quantizerOf(params, 0);
    for (size_t i = 0, n = 0; inner > 0 && i < run.n; i += n) {
        n = std::min(inner - (offset + i) % inner, run.n - i); // a sample may end within a channel
        const size_t channel = std::min(((offset + i) / inner) % channels, params.scale.size() - 1);
        quantizer.scale = params.scale[channel];
        quantizer.zeroPoint = zeroPointOf(params, channel);
        addPairSums(m_sums, m_extremes,
            { run.x + i, run.y + i, run.p ? run.p + i : nullptr, n, run.quantizer ? &quantizer : nullptr,
                run.activation });
    }
    countAll(run);
}

/// Of a run whose sums were made in other pieces.
void PairMeter::countAll(const PairRun& run)
{
    for (size_t begin = 0; m_histograms && begin < run.n; begin += kBlock) {
        const PairRun block = blockOf(run, begin);
        for (size_t i = 0; i < block.n; ++i)
            block.error[i] = block.y[i] - block.x[i];
        count(block, false);
    }
}

void PairMeter::addScores(const PairRun& run, size_t rowLength, bool mask)
{
    const size_t rows = std::max<size_t>(1, kBlock / rowLength) * rowLength;
    const size_t stride = (run.n / kInheritedElements) | 1;
    std::vector<float> kept;
    for (size_t begin = 0; begin < run.n; begin += rows) {
        PairRun part = run;
        part.n = std::min(rows, run.n - begin);
        part.x += begin;
        part.y += begin;
        part.p = run.p ? run.p + begin : nullptr;
        part.error = nullptr;
        addUnmasked(part, rowLength, mask, kept);
        if (m_histograms && part.p && part.quantizer)
            countInherited(part, begin, stride);
    }
    countAll(run);
}

void PairMeter::addUnmasked(const PairRun& rows, size_t rowLength, bool mask, std::vector<float>& kept)
{
    kept.resize(3 * rows.n);
    float *const x = kept.data(), *const y = x + rows.n, *const p = y + rows.n;
    size_t n = 0;
    for (size_t row = 0; row < rows.n; row += rowLength) {
        const size_t length = std::min(rowLength, rows.n - row);
        const ScoreRow scores({ rows.x + row, length }, { rows.y + row, length });
        for (size_t i = row; i < row + length; ++i) {
            if (mask ? isMasking(rows.x[i]) && isMasking(rows.y[i]) : scores.isMasked(rows.x[i], rows.y[i])) {
                addRange(rows, i);
                continue;
            }
            x[n] = rows.x[i];
            y[n] = rows.y[i];
            p[n++] = rows.p ? rows.p[i] : 0;
        }
    }
    addPairSums(m_sums, m_extremes, { x, y, rows.p ? p : nullptr, n, rows.quantizer, rows.activation });
}

/// Ranges reach over finite masks, too.
void PairMeter::addRange(const PairRun& run, size_t i)
{
    const float x = run.x[i], p = run.p ? run.p[i] : run.y[i];
    const double a = std::clamp(p, run.activation.low, run.activation.high);
    if (!std::isfinite(x) || !std::isfinite(run.y[i]) || !std::isfinite(p))
        return;
    m_sums.lowX = std::min(m_sums.lowX, double(x));
    m_sums.highX = std::max(m_sums.highX, double(x));
    m_sums.lowA = std::min(m_sums.lowA, a);
    m_sums.highA = std::max(m_sums.highA, a);
}

PairRun PairMeter::blockOf(const PairRun& run, size_t begin) const
{
    PairRun block = run;
    block.n = std::min(kBlock, run.n - begin);
    block.x += begin;
    block.y += begin;
    block.p = run.p ? run.p + begin : nullptr;
    block.error = m_histograms ? m_scratch.data() : nullptr;
    return block;
}

/// `known`: all values of the block are finite, and sums and extremes reach over them.
void PairMeter::count(const PairRun& block, bool known)
{
    auto add = [&](Histogram& histogram, const float* values, double low, double high) {
        if (known)
            histogram.add(std::span(values, block.n), static_cast<float>(low), static_cast<float>(high));
        else
            histogram.add(std::span(values, block.n));
    };
    if (m_counts.x)
        add(m_histograms->x, block.x, m_sums.lowX, m_sums.highX);
    if (m_counts.y)
        add(m_histograms->y, block.y, m_extremes.lowY, m_extremes.highY);
    add(m_histograms->error, block.error, m_extremes.lowError, m_extremes.highError);
    if (block.p)
        add(m_histograms->before, activated(block), m_sums.lowA, m_sums.highA);
}

const float* PairMeter::activated(const PairRun& block) const
{
    if (!block.activation.bounded())
        return block.p;
    float* const a = m_scratch.data() + kBlock;
    unaryFast(UnaryOp::Clip, { .low = block.activation.low, .high = block.activation.high }, block.p, a, block.n);
    return a;
}

} // namespace qs
