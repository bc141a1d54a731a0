// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/convolution/spread_rows.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kLine = 16; ///< floats of a line of the cache
/// Pixels a multiple of so many floats apart share at most four of the 64 sets of a first cache, channel by channel.
constexpr int64_t kContending = 256;
constexpr int64_t kMostFloats = int64_t(256) << 10; ///< of a copy for several rows of the output, about
constexpr int64_t kMostOfOne = int64_t(1) << 20; ///< for one: what is wider is read where it lies
constexpr int64_t kLeastFilters = 64; ///< that read a copy

int64_t extent(const SpatialAxis& a) { return (a.kernel - 1) * a.dilation + 1; }

} // namespace

SpreadRows::SpreadRows(const WindowShape& window, int64_t filters)
    : m_down(window.axes[1])
    , m_in(window.axes[2].in)
    , m_channels(window.channels)
    , m_mostRows(1)
    , m_images(1)
    , m_gap(0)
{
    if (m_channels % kContending != 0 || filters < kLeastFilters || m_down.out < 1)
        return;
    const int64_t rowFloats = std::max<int64_t>(m_in * m_channels, 1);
    // Rows first, then steps between them, which may be as long as they like.
    m_mostRows = std::clamp<int64_t>(kMostFloats / rowFloats / m_down.stride, 1, m_down.out);
    const int64_t rows = inputRows(m_mostRows), read = m_mostRows * std::min(m_down.stride, m_down.kernel);
    if (rows * rowFloats > kMostOfOne || rows > 2 * read)
        return;
    if (m_mostRows == m_down.out)
        m_images = std::clamp<int64_t>(
            kMostFloats / std::max<int64_t>(m_down.in * rowFloats, 1), 1, std::max<int64_t>(window.batch, 1));
    m_gap = kLine;
}

int64_t SpreadRows::inputRows(int64_t outputRows) const
{
    return std::min((outputRows - 1) * m_down.stride + extent(m_down), m_down.in);
}

size_t SpreadRows::floats() const
{
    const int64_t rows = m_images > 1 ? m_images * m_down.in : inputRows(m_mostRows);
    return needed() ? size_t(rows * inputRow()) : 0;
}

int64_t SpreadRows::lastRow(int64_t row, int64_t last) const
{
    const int64_t images = row / m_down.out; // before it
    const int64_t end = (images + m_images) * m_down.out;
    return std::min({ last, end, m_images > 1 ? end : row + m_mostRows });
}

const float* SpreadRows::copy(const float* x, int64_t firstRow, int64_t lastRow, float* room) const noexcept
{
    const auto firstOf = [&](int64_t row) { // of the input, before it is cut to the image
        return row % m_down.out * m_down.stride - m_down.padBegin;
    };
    const auto before = [&](int64_t row) { return row / m_down.out * m_down.in; };
    const int64_t first = before(firstRow) + std::clamp<int64_t>(firstOf(firstRow), 0, m_down.in);
    const int64_t last = before(lastRow - 1) + std::clamp<int64_t>(firstOf(lastRow - 1) + extent(m_down), 0, m_down.in);
    const float* from = x + first * m_in * m_channels;
    float* to = room;
    for (int64_t i = 0; i < (last - first) * m_in; ++i, from += m_channels, to += pixel())
        std::copy_n(from, m_channels, to);
    return room - first * inputRow();
}

} // namespace qs
