// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/caches/cache_places.h"
#include "core/analysis/measure/number.h"

#include <array>
#include <cmath>
#include <limits>

/// What is found of the keys and values that a language model remembers. Elements that are not finite are left out of
/// every number and counted apart.
namespace qs {

/// Lowest and highest of some elements; the first above the second: none.
struct ValueSpan {
    float low = std::numeric_limits<float>::infinity(), high = -std::numeric_limits<float>::infinity();
    void add(float x)
    {
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    void add(const ValueSpan& other)
    {
        low = other.low < low ? other.low : low;
        high = other.high > high ? other.high : high;
    }
    bool empty() const { return low > high; }
    float largest() const { return empty() ? 0 : std::max(std::abs(low), std::abs(high)); } ///< magnitude
};

/// Codes that caches are stored as.
enum class CacheBits { Eight, Four };
inline constexpr std::array<CacheBits, 2> kCacheBits { CacheBits::Eight, CacheBits::Four };
/// What has a scale of its own. Keys and values of a layer have theirs apart.
enum class CacheScales {
    PerTensor, ///< all of it: GroupQueryAttention's PER_TENSOR
    PerChannel, ///< each channel of each head: PER_CHANNEL
    PerToken, ///< each position of each head of each prompt, found while the model runs
};
inline constexpr std::array<CacheScales, 3> kCacheScales { CacheScales::PerTensor, CacheScales::PerChannel,
    CacheScales::PerToken };
int bitsOf(CacheBits bits);
std::string_view cacheScalesName(CacheScales scales); ///< "per_tensor" ...

/// What is lost where elements x are stored as codes that stand for y.
struct CodingError {
    Number sqnrDb; ///< 20 log10(|x| / |x - y|), dB; null where exact or not defined
    bool exact = false; ///< x == y everywhere
    Number meanAbsError, maxAbsError; ///< of |x - y|
};
/// By bits and scales.
using CodingErrors = std::array<std::array<CodingError, 3>, 2>;
inline const CodingError& errorOf(const CodingErrors& errors, CacheBits bits, CacheScales scales)
{
    return errors[size_t(bits)][size_t(scales)];
}

/// A channel whose largest magnitude is more than kOutlierFactor times the median of those of all channels of the
/// tensor.
struct OutlierChannel {
    size_t channel = 0; ///< of all heads: head * channels of a head + channel in it
    double ratio = 0; ///< to the median
};
inline constexpr double kOutlierFactor = 4;

struct CacheHead {
    ValueSpan range;
    size_t outliers = 0;
    CodingErrors errors;
};

/// Keys, values, or keys before rotary, of one layer, over all prompts.
struct CacheRow {
    size_t layer = 0;
    CacheKind kind = CacheKind::Key;
    std::string name; ///< of the cache
    size_t headCount = 0, size = 0; ///< heads, channels of each
    size_t positions = 0; ///< of the longest prompt
    uint64_t elements = 0, nonFinite = 0;
    bool rotary = false; ///< of keys: it is known how they are turned
    ValueSpan range;
    std::vector<ValueSpan> channels; ///< heads x size
    std::vector<ValueSpan> byPosition; ///< positions x heads
    std::vector<OutlierChannel> outliers; ///< largest first
    std::array<float, 2> tensorScale {}; ///< by bits
    std::array<std::vector<float>, 2> channelScales; ///< by bits: heads x size
    CodingErrors errors;
    std::vector<CacheHead> heads;
};

/// How scales of all prompts are chosen.
enum class ScaleChoice {
    LeastError, ///< the least squared error of thresholds from 0.2 times the largest magnitude to where it has a code
                ///< on either side
    Largest, ///< the largest magnitude
};
std::string_view scaleChoiceName(ScaleChoice choice); ///< "mse", "minmax"

struct CacheReport {
    size_t prompts = 0;
    ScaleChoice choice = ScaleChoice::LeastError;
    bool anyPosition = false; ///< scales of keys hold wherever rotary embedding turns them
    std::vector<CacheRow> rows; ///< by layer: keys, keys before rotary, values
    std::vector<LeftOutCache> leftOut;
};

/// The largest magnitudes of one head, channels x positions.
struct CacheMap {
    size_t channels = 0, positions = 0;
    std::vector<float> largest; ///< row-major; NaN where no prompt is so long
};

} // namespace qs
