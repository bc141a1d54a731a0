// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/shape.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace qs {

/// Which channel each element of a tensor in plain order belongs to.
struct Channels {
    int64_t count = 1;
    int64_t inner = 1;
    /// Calls run(channel, begin, n) for the stretches of n elements of one channel, in order.
    void eachRun(size_t size, auto run) const
    {
        const auto n = static_cast<size_t>(inner);
        for (size_t i = 0; n > 0 && i < size;)
            for (size_t c = 0; c < size_t(count) && i < size; ++c, i += n)
                run(c, i, n);
    }
};
/// One channel for an axis that the shape does not have.
Channels channelsOf(const Shape& shape, int64_t axis);

/// The elements of a tensor, channel by channel.
class ChannelMajor {
public:
    /// `x` must outlive this.
    ChannelMajor(std::span<const float> x, const Channels& channels);
    size_t channels() const { return m_channels; }
    std::span<const float> all() const { return m_all; }
    std::span<const float> channel(size_t c) const { return m_all.subspan(c * m_size, m_size); }

private:
    size_t m_channels = 1, m_size = 0;
    std::vector<float> m_copy;
    std::span<const float> m_all;
};

/// Sum of term(i) for i in [begin, end), in four parts that do not wait for each other.
double sumOf(size_t begin, size_t end, auto term)
{
    std::array<double, 4> sums {};
    size_t i = begin;
    for (; i + sums.size() <= end; i += sums.size())
        for (size_t k = 0; k < sums.size(); ++k)
            sums[k] += term(i + k);
    for (; i < end; ++i)
        sums[0] += term(i);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Largest over median; nothing for one value, or where the median is zero.
std::optional<double> largestOverMedian(std::vector<double> values);

} // namespace qs
