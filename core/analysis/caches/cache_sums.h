// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/caches/cache_report.h"
#include "core/analysis/caches/cache_rows.h"

/// Passes over the rows of one tensor of one layer, prompt by prompt; what they keep does not grow with the prompts.
namespace qs {

/// Scales are thresholds over this, as onnxruntime-genai's calibration has it: the lowest code stands for the threshold
/// below 0, and the highest falls one step short of it.
float codeOfThreshold(CacheBits bits);
/// A threshold's scale. Thresholds below 1e-6 count as that.
float cacheScale(float threshold, CacheBits bits);
/// x as a code of GroupQueryAttention's caches and back: times the scale's inverse, rounded half to even, saturated.
float throughCode(float x, float scale, CacheBits bits);

/// First pass: how large elements get.
class CacheExtents {
public:
    /// An Issue where heads or channels are others than before.
    Status add(const CacheRows& rows, const CachePlace& place);
    /// What thresholds begin at, by channel: the largest magnitude, or with `anyPosition` the largest length of a
    /// channel and its rotary partner, which no position exceeds.
    std::vector<float> largest(bool anyPosition) const;
    /// Fills in what this pass found.
    void fill(CacheRow& row) const;
    size_t heads() const { return m_heads; }
    size_t size() const { return m_size; }

private:
    size_t m_heads = 0, m_size = 0, m_positions = 0;
    uint64_t m_elements = 0, m_nonFinite = 0;
    std::vector<ValueSpan> m_channels, m_byPosition;
    std::vector<float> m_lengths; ///< by channel: largest square of a pair's length; empty: not known
};

/// That are tried, and how many of them lie above the largest magnitude.
inline constexpr size_t kThresholds = 28, kWiderThresholds = 4;

/// Scales of a whole tensor and of its channels, by bits.
struct FoundScales {
    std::array<float, 2> tensor {};
    std::array<std::vector<float>, 2> channels;
};
/// The largest magnitude as threshold.
FoundScales scalesOf(const std::vector<float>& largest);

/// Second pass: which threshold makes the least squared error.
class ThresholdSearch {
public:
    explicit ThresholdSearch(std::vector<float> largest);
    void add(const CacheRows& rows);
    /// Of equal errors the largest threshold.
    FoundScales best() const;

private:
    using Errors = std::array<double, kThresholds>;
    std::vector<float> m_largest; ///< by channel
    std::array<Errors, 2> m_tensor {};
    std::array<std::vector<Errors>, 2> m_channels;
    std::array<std::array<float, kThresholds>, 2> m_tensorScales {};
    std::array<std::vector<std::array<float, kThresholds>>, 2> m_channelScales;
};

/// Last pass: what is lost.
class CodingSums {
public:
    CodingSums(FoundScales scales, size_t heads);
    void add(const CacheRows& rows);
    void fill(CacheRow& row) const;

private:
    struct Sums {
        double signal = 0, noise = 0, absolute = 0;
        float largest = 0;
        uint64_t count = 0;
        void add(float x, float y);
        void add(const Sums& other);
        CodingError error() const;
    };
    using ByForm = std::array<std::array<Sums, 3>, 2>;
    FoundScales m_scales;
    std::vector<ByForm> m_heads;
    std::vector<uint64_t> m_nonFinite; ///< by head
};

} // namespace qs
