// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/stats/largest_values.h"

#include <algorithm>
#include <array>
#include <functional>

namespace qs {

void LargestValues::add(std::span<const float> values)
{
    constexpr size_t kBlock = 4096;
    std::array<float, kBlock + kValuesAboveSpare> found;
    for (size_t begin = 0; begin < values.size(); begin += kBlock) {
        const auto block = values.subspan(begin, std::min(kBlock, values.size() - begin));
        const size_t count = valuesAbove(block, m_side, m_floor, found.data());
        m_values.insert(m_values.end(), found.begin(), found.begin() + std::ptrdiff_t(count));
        if (m_values.size() >= 2 * m_keep)
            trim();
    }
}

void LargestValues::trim()
{
    const auto last = m_values.begin() + std::ptrdiff_t(m_keep) - 1;
    std::nth_element(m_values.begin(), last, m_values.end(), std::greater<>());
    m_floor = *last;
    m_values.resize(m_keep);
}

size_t LargestValues::countFrom(float limit) const
{
    return static_cast<size_t>(std::ranges::count_if(m_values, [&](float v) { return v >= limit; }));
}

size_t LargestValues::countAbove(float limit) const
{
    return static_cast<size_t>(std::ranges::count_if(m_values, [&](float v) { return v > limit; }));
}

} // namespace qs
