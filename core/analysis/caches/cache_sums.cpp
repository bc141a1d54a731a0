// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/caches/cache_sums.h"

#include "core/analysis/rows/similarity.h"
#include "core/base/rounding.h"

#include <algorithm>

namespace qs {

namespace {

constexpr float kLeastThreshold = 1e-6f, kLeastShare = 0.2f;

int highestCode(CacheBits bits) { return bits == CacheBits::Eight ? 127 : 7; }

float largestOf(const std::vector<float>& values) { return values.empty() ? 0 : *std::ranges::max_element(values); }

/// Shares of the largest magnitude, ascending: to all of it, then on until it has a code on either side.
float thresholdShare(size_t index, CacheBits bits)
{
    constexpr size_t kAll = kThresholds - kWiderThresholds - 1;
    if (index < kAll)
        return kLeastShare + (1 - kLeastShare) * float(index) / float(kAll);
    const float widest = codeOfThreshold(bits) / float(highestCode(bits));
    return 1 + (widest - 1) * float(index - kAll) / float(kWiderThresholds);
}

std::array<float, kThresholds> scaleLadder(float largest, CacheBits bits)
{
    std::array<float, kThresholds> scales {};
    for (size_t i = 0; i < kThresholds; ++i)
        scales[i] = cacheScale(largest * thresholdShare(i, bits), bits);
    return scales;
}

/// The last of the least.
size_t bestThreshold(const std::array<double, kThresholds>& errors)
{
    size_t best = 0;
    for (size_t i = 1; i < kThresholds; ++i)
        best = errors[i] <= errors[best] ? i : best;
    return best;
}

/// The largest magnitude has a code on either side.
float tokenScale(std::span<const float> row, CacheBits bits)
{
    float largest = 0;
    for (const float x : row)
        if (std::isfinite(x))
            largest = std::max(largest, std::abs(x));
    return largest > 0 ? largest / float(highestCode(bits)) : 1;
}

} // namespace

int bitsOf(CacheBits bits) { return bits == CacheBits::Eight ? 8 : 4; }

std::string_view cacheScalesName(CacheScales scales)
{
    return scales == CacheScales::PerTensor ? "per_tensor"
        : scales == CacheScales::PerChannel ? "per_channel"
                                            : "per_token";
}

std::string_view scaleChoiceName(ScaleChoice choice) { return choice == ScaleChoice::LeastError ? "mse" : "minmax"; }

float codeOfThreshold(CacheBits bits) { return bits == CacheBits::Eight ? 128 : 8; }

float cacheScale(float threshold, CacheBits bits)
{
    return std::max(threshold, kLeastThreshold) / codeOfThreshold(bits);
}

float throughCode(float x, float scale, CacheBits bits)
{
    const int high = highestCode(bits);
    return float(clampOr(roundHalfEven(x * (1 / scale)), -high - 1, high, high)) * scale;
}

Status CacheExtents::add(const CacheRows& rows, const CachePlace& place)
{
    if (m_channels.empty()) {
        m_heads = rows.heads(), m_size = rows.channels();
        m_channels.resize(m_heads * m_size);
        if (place.rotary)
            m_lengths.resize(m_heads * m_size);
    }
    if (rows.heads() != m_heads || rows.channels() != m_size) {
        Issue issue
            = badInput("has other heads or channels in one prompt than in another", {}, "leave it out of the outputs");
        issue.tensor = place.name;
        return issue;
    }
    rows.each([&](size_t, size_t head, size_t position, std::span<const float> row) {
        m_positions = std::max(m_positions, position + 1);
        m_byPosition.resize(std::max(m_byPosition.size(), m_positions * m_heads));
        for (size_t d = 0; d < row.size(); ++d) {
            if (!std::isfinite(row[d])) {
                ++m_nonFinite;
                continue;
            }
            ++m_elements;
            m_channels[head * m_size + d].add(row[d]);
            m_byPosition[position * m_heads + head].add(row[d]);
            if (m_lengths.empty())
                continue;
            const auto other = size_t(place.rotary->partner(int64_t(d), int64_t(m_size)));
            const float square = row[d] * row[d] + (other == d ? 0 : row[other] * row[other]);
            if (std::isfinite(square))
                m_lengths[head * m_size + d] = std::max(m_lengths[head * m_size + d], square);
        }
    });
    return {};
}

std::vector<float> CacheExtents::largest(bool anyPosition) const
{
    std::vector<float> found;
    for (size_t c = 0; c < m_channels.size(); ++c)
        found.push_back(anyPosition && !m_lengths.empty() ? std::sqrt(m_lengths[c]) : m_channels[c].largest());
    return found;
}

void CacheExtents::fill(CacheRow& row) const
{
    row.headCount = m_heads, row.size = m_size, row.positions = m_positions;
    row.elements = m_elements, row.nonFinite = m_nonFinite;
    row.channels = m_channels, row.byPosition = m_byPosition;
    row.heads.resize(m_heads);
    std::vector<float> sizes = largest(false);
    for (size_t c = 0; c < sizes.size(); ++c) {
        row.range.add(m_channels[c]);
        row.heads[c / m_size].range.add(m_channels[c]);
    }
    std::ranges::sort(sizes);
    const size_t n = sizes.size();
    const double median = n == 0 ? 0 : n % 2 ? sizes[n / 2] : (double(sizes[n / 2 - 1]) + double(sizes[n / 2])) / 2;
    for (size_t c = 0; c < n && median > 0; ++c)
        if (const double ratio = double(m_channels[c].largest()) / median; ratio > kOutlierFactor) {
            row.outliers.push_back({ c, ratio });
            ++row.heads[c / m_size].outliers;
        }
    std::ranges::stable_sort(row.outliers, std::greater<>(), &OutlierChannel::ratio);
}

FoundScales scalesOf(const std::vector<float>& largest)
{
    FoundScales found;
    for (const CacheBits bits : kCacheBits) {
        found.tensor[size_t(bits)] = cacheScale(largestOf(largest), bits);
        for (const float threshold : largest)
            found.channels[size_t(bits)].push_back(cacheScale(threshold, bits));
    }
    return found;
}

ThresholdSearch::ThresholdSearch(std::vector<float> largest)
    : m_largest(std::move(largest))
{
    for (const CacheBits bits : kCacheBits) {
        m_tensorScales[size_t(bits)] = scaleLadder(largestOf(m_largest), bits);
        m_channels[size_t(bits)].resize(m_largest.size());
        for (const float one : m_largest)
            m_channelScales[size_t(bits)].push_back(scaleLadder(one, bits));
    }
}

void ThresholdSearch::add(const CacheRows& rows)
{
    const auto measure = [](float x, const std::array<float, kThresholds>& scales, CacheBits bits, Errors& errors) {
        for (size_t i = 0; i < kThresholds; ++i) {
            const double error = double(throughCode(x, scales[i], bits)) - double(x);
            errors[i] += error * error;
        }
    };
    rows.each([&](size_t, size_t head, size_t, std::span<const float> row) {
        for (size_t d = 0; d < row.size(); ++d) {
            if (!std::isfinite(row[d]))
                continue;
            const size_t channel = head * row.size() + d;
            for (const CacheBits bits : kCacheBits) {
                const auto b = size_t(bits);
                measure(row[d], m_tensorScales[b], bits, m_tensor[b]);
                measure(row[d], m_channelScales[b][channel], bits, m_channels[b][channel]);
            }
        }
    });
}

FoundScales ThresholdSearch::best() const
{
    FoundScales found;
    for (size_t b = 0; b < kCacheBits.size(); ++b) {
        found.tensor[b] = m_tensorScales[b][bestThreshold(m_tensor[b])];
        for (size_t c = 0; c < m_largest.size(); ++c)
            found.channels[b].push_back(m_channelScales[b][c][bestThreshold(m_channels[b][c])]);
    }
    return found;
}

void CodingSums::Sums::add(float x, float y)
{
    const double error = double(y) - double(x);
    ++count;
    signal += double(x) * double(x);
    noise += error * error;
    absolute += std::abs(error);
    largest = std::max(largest, float(std::abs(error)));
}

void CodingSums::Sums::add(const Sums& other)
{
    count += other.count;
    signal += other.signal, noise += other.noise, absolute += other.absolute;
    largest = std::max(largest, other.largest);
}

CodingError CodingSums::Sums::error() const
{
    if (count == 0)
        return {};
    return { powerRatioDb(signal, noise), noise == 0, absolute / double(count), largest };
}

CodingSums::CodingSums(FoundScales scales, size_t heads)
    : m_scales(std::move(scales))
    , m_heads(heads)
    , m_nonFinite(heads)
{
}

void CodingSums::add(const CacheRows& rows)
{
    rows.each([&](size_t, size_t head, size_t, std::span<const float> row) {
        for (const CacheBits bits : kCacheBits) {
            const auto b = size_t(bits);
            auto& [tensor, channel, token] = m_heads[head][b];
            const float ofToken = tokenScale(row, bits);
            for (size_t d = 0; d < row.size(); ++d) {
                if (!std::isfinite(row[d])) {
                    m_nonFinite[head] += b == 0;
                    continue;
                }
                tensor.add(row[d], throughCode(row[d], m_scales.tensor[b], bits));
                channel.add(row[d], throughCode(row[d], m_scales.channels[b][head * row.size() + d], bits));
                token.add(row[d], throughCode(row[d], ofToken, bits));
            }
        }
    });
}

void CodingSums::fill(CacheRow& row) const
{
    row.tensorScale = m_scales.tensor;
    row.channelScales = m_scales.channels;
    for (size_t b = 0; b < kCacheBits.size(); ++b)
        for (size_t s = 0; s < kCacheScales.size(); ++s) {
            Sums all;
            for (size_t h = 0; h < m_heads.size(); ++h) {
                all.add(m_heads[h][b][s]);
                row.heads[h].errors[b][s] = m_heads[h][b][s].error();
                row.heads[h].errors[b][s].exact &= m_nonFinite[h] == 0;
            }
            row.errors[b][s] = all.error();
            row.errors[b][s].exact &= row.nonFinite == 0;
        }
}

} // namespace qs
