// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace qs {

/// What one look at an array finds out, infinities included; NaN are only noticed.
struct ValueRange {
    float low = std::numeric_limits<float>::infinity(); ///< low > high: no value yet
    float high = -std::numeric_limits<float>::infinity();
    float least = std::numeric_limits<float>::infinity(); ///< smallest magnitude
    bool nan = false;

    bool empty() const { return low > high; }
    bool allFinite() const; ///< neither NaN nor infinities
    float magnitude() const; ///< largest magnitude; 0 when empty
    void merge(const ValueRange& other);
    bool operator==(const ValueRange&) const = default;
};

ValueRange valueRangeReference(std::span<const float> x);
ValueRange valueRange(std::span<const float> x);

/// What lies on both sides of a magnitude.
struct MagnitudeGap {
    float below = 0; ///< largest magnitude below the limit
    float above = std::numeric_limits<float>::infinity(); ///< smallest magnitude of at least the limit
};
MagnitudeGap magnitudeGap(std::span<const float> x, float limit);

/// What of a value is looked at.
enum class ValueSide { Upper, Lower, Magnitude }; ///< x, -x, |x|

/// Writes those sides of the values that are greater than `limit`, in order; returns how many. `to` has room for all
/// and kValuesAboveSpare more.
size_t valuesAbove(std::span<const float> x, ValueSide side, float limit, float* to);
size_t valuesAboveReference(std::span<const float> x, ValueSide side, float limit, float* to);
constexpr size_t kValuesAboveSpare = 64;

} // namespace qs
