// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/convolution/spread_rows.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kLine = 16; ///< floats of a line of the cache
/// Pixels so many floats apart, or a multiple, share a quarter of the places in a cache of 64 lines a way, or less.
constexpr int64_t kContending = 256;
constexpr int64_t kMostFloats = int64_t(256) << 10; ///< of a copy of several rows of the output, about
constexpr int64_t kMostOfOne = int64_t(1) << 20; ///< of one: what is wider is read where it lies
constexpr int64_t kLeastFilters = 64; ///< that read a copy

} // namespace

SpreadRows::SpreadRows(const WindowShape& window, int64_t filters)
    : m_down(window.axes[1])
    , m_in(window.axes[2].in)
    , m_channels(window.channels)
    , m_mostRows(std::clamp<int64_t>(kMostFloats / std::max<int64_t>(m_in * m_channels, 1) / m_down.stride, 1,
          std::max<int64_t>(m_down.out, 1))) // a step may be as long as it likes
    , m_gap(m_channels % kContending == 0 && filters >= kLeastFilters && inputRows(1) * m_in * m_channels <= kMostOfOne
              ? kLine
              : 0)
{
}

int64_t SpreadRows::inputRows(int64_t outputRows) const
{
    return std::min((outputRows - 1) * m_down.stride + (m_down.kernel - 1) * m_down.dilation + 1, m_down.in);
}

size_t SpreadRows::floats() const { return needed() ? size_t(inputRows(m_mostRows) * inputRow()) : 0; }

const float* SpreadRows::copy(const float* x, int64_t firstRow, int64_t lastRow, float* room) const noexcept
{
    const int64_t image = firstRow / m_down.out;
    const int64_t begin = firstRow % m_down.out * m_down.stride - m_down.padBegin;
    const int64_t first = std::clamp<int64_t>(begin, 0, m_down.in);
    const int64_t last = std::clamp<int64_t>(
        begin + (lastRow - firstRow - 1) * m_down.stride + (m_down.kernel - 1) * m_down.dilation + 1, first, m_down.in);
    const float* from = x + (image * m_down.in + first) * m_in * m_channels;
    float* to = room;
    for (int64_t i = 0; i < (last - first) * m_in; ++i, from += m_channels, to += pixel())
        std::copy_n(from, m_channels, to);
    return room - (image * m_down.in + first) * inputRow();
}

} // namespace qs
