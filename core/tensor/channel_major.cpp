// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/channel_major.h"

#include <algorithm>

namespace qs {

Channels channelsOf(const Shape& shape, int64_t axis)
{
    Channels c;
    if (shape.empty() || axis < 0 || size_t(axis) >= shape.size())
        return c;
    c.count = std::max<int64_t>(shape[size_t(axis)], 1);
    for (size_t i = size_t(axis) + 1; i < shape.size(); ++i)
        c.inner *= shape[i];
    return c;
}

ChannelMajor::ChannelMajor(std::span<const float> x, const Channels& channels)
    : m_channels(size_t(channels.count))
    , m_size(x.size() / m_channels)
    , m_all(x)
{
    const auto inner = size_t(channels.inner);
    if (m_channels == 1 || inner == m_size || x.empty())
        return;
    m_copy.resize(x.size());
    constexpr size_t kBlock = 64; // rows whose cache lines are read again for the next channel
    const size_t outer = m_size / inner;
    for (size_t first = 0; first < outer; first += kBlock)
        for (size_t c = 0; c < m_channels; ++c)
            for (size_t o = first; o < std::min(outer, first + kBlock); ++o)
                std::copy_n(x.data() + (o * m_channels + c) * inner, inner, m_copy.data() + c * m_size + o * inner);
    m_all = m_copy;
}

std::optional<double> largestOverMedian(std::vector<double> values)
{
    if (values.size() < 2)
        return std::nullopt;
    std::ranges::sort(values);
    const double median = (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
    return median > 0 ? std::optional(values.back() / median) : std::nullopt;
}

} // namespace qs
