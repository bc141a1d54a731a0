// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/statistics/value_range.h"

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace qs {

/// The largest of many values, in bounded memory: of any stream at least the `keep` largest.
class LargestValues {
public:
    LargestValues(ValueSide side, size_t keep)
        : m_side(side)
        , m_keep(keep)
    {
    }
    void add(std::span<const float> values);
    size_t keep() const { return m_keep; }
    /// Every value above this is kept; at least keep() values were not below it. -infinity: all are kept.
    float floor() const { return m_floor; }
    /// How many values were at least `limit`, or above it; exact where `limit` is above floor(), or not below it.
    size_t countFrom(float limit) const;
    size_t countAbove(float limit) const;

private:
    void trim();
    ValueSide m_side;
    size_t m_keep;
    float m_floor = -std::numeric_limits<float>::infinity();
    std::vector<float> m_values; ///< fewer than twice m_keep between calls
};

} // namespace qs
