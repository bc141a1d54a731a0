// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/convolution/conv_bands.h"

#include <algorithm>
#include <vector>

namespace qs {

namespace {

constexpr int64_t kLeastBytes = int64_t(768) << 10; ///< of the first output: smaller ones stay in the cache anyway
constexpr int64_t kMostWeightBytes = int64_t(256) << 10;
constexpr int64_t kMostRingBytes = int64_t(512) << 10;
constexpr int64_t kMostBands = 8;

class ConvBands final : public PreparedConv {
public:
    explicit ConvBands(const ConvTriple& triple)
        : m_triple(triple)
        , m_first(prepareRowConv(triple.shapes[0], triple.weights[0]))
        , m_down(triple.shapes[1].window.axes[1])
        , m_across(triple.shapes[1].window.axes[2])
        , m_windowRows((m_down.kernel - 1) * m_down.dilation + 1)
        , m_ringRows(m_windowRows + (pairsRows(m_down) ? 1 : 0))
        , m_ringRow(size_t(m_across.in * triple.shapes[1].window.channels))
        , m_middleRow(size_t(m_across.out * triple.shapes[1].filters))
        , m_outputRow(size_t(m_across.out * triple.shapes[2].filters))
    {
        const int64_t rows = triple.shapes[2].window.batch * m_down.out;
        // Every piece makes the rows above its first one again; at most one of 25 rows.
        const int64_t again = std::max<int64_t>(m_windowRows - m_down.stride, 0);
        int64_t count = std::min(kMostBands, rows);
        while (count > 2 && (count - 1) * again * 25 > rows * m_down.stride)
            count /= 2;
        for (int64_t i = 0; i < count; ++i) {
            m_rows.push_back({ rows * i / count, rows * (i + 1) / count });
            m_pieces.push_back({ size_t(m_rows.back().first) * m_outputRow, size_t(m_rows.back().last) * m_outputRow });
        }
    }
    size_t scratchBytes() const override
    {
        return pointerBytes() + 4 * (size_t(m_ringRows) * m_ringRow + 2 * m_middleRow);
    }
    std::span<const Piece> pieces() const override { return m_pieces; }
    bool takesEpilogue() const override { return true; }
    bool run(
        size_t piece, const float* x, float* y, std::byte* scratch, const SumEpilogue& epilogue) const noexcept override
    {
        auto** pointers = reinterpret_cast<const float**>(scratch + (m_first->scratchBytes() + 63) / 64 * 64);
        float* ring = reinterpret_cast<float*>(scratch + pointerBytes());
        float* middle = ring + size_t(m_ringRows) * m_ringRow;
        int64_t next = 0; // row of the first output that is not made yet
        for (int64_t row = m_rows[piece].first; row < m_rows[piece].last;) {
            const int64_t image = row / m_down.out, begin = row % m_down.out * m_down.stride - m_down.padBegin;
            const bool two = pairsRows(m_down) && row + 1 < m_rows[piece].last && (row + 1) % m_down.out != 0;
            const int64_t from = std::max<int64_t>(begin, 0), end = begin + m_windowRows + (two ? 1 : 0);
            if (row == m_rows[piece].first || row % m_down.out == 0)
                next = from;
            for (next = std::max(next, from); next < std::min(end, m_down.in); ++next)
                m_first->makeRow(x, image * m_down.in + next, ringRow(ring, next), scratch, m_triple.epilogues[0]);
            for (int64_t k = 0; k < m_down.kernel + (two ? 1 : 0); ++k) {
                const int64_t at = begin + k * m_down.dilation;
                pointers[k] = at >= 0 && at < m_down.in ? ringRow(ring, at) : nullptr;
            }
            depthwiseRow(*m_triple.weights[1]->depthwise,
                { pointers, m_across.in, m_across.out, m_across.stride, m_across.dilation, m_across.padBegin, middle,
                    two },
                m_triple.epilogues[1]);
            makeLast(row, two ? 2 : 1, middle, y, epilogue);
            row += two ? 2 : 1;
        }
        return true;
    }

private:
    struct Rows {
        int64_t first, last;
    };
    /// Of the pointers of the first and the second convolution.
    size_t pointerBytes() const
    {
        return ((m_first->scratchBytes() + 63) / 64 + (size_t(m_down.kernel + 1) * sizeof(float*) + 63) / 64) * 64;
    }
    float* ringRow(float* ring, int64_t row) const { return ring + size_t(row % m_ringRows) * m_ringRow; }
    void makeLast(int64_t row, int64_t rows, const float* middle, float* y, const SumEpilogue& epilogue) const noexcept
    {
        const PanelWeights& weights = *m_triple.weights[2]->panels;
        const size_t begin = size_t(row) * m_outputRow;
        const PixelRun run { &middle, ptrdiff_t(weights.inputs()), size_t(rows * m_across.out), y + begin,
            weights.filters, chainOrder(m_triple.shapes[2]) };
        multiplyPixels(weights, run, 0, weights.panelCount(), epilogue.from(begin));
    }
    ConvTriple m_triple;
    std::shared_ptr<const RowConv> m_first;
    SpatialAxis m_down, m_across; ///< of the second
    int64_t m_windowRows; ///< rows of the first output that a row of the second needs
    int64_t m_ringRows; ///< rows of the first output that are kept
    size_t m_ringRow, m_middleRow, m_outputRow; ///< floats of a row of each output
    std::vector<Rows> m_rows; ///< by piece
    std::vector<Piece> m_pieces;
};

int64_t weightBytes(const ConvShape& s)
{
    return 4 * s.filters * (s.window.channels / s.groups) * s.window.kernelSize();
}

} // namespace

bool suitsConvBands(const std::array<ConvShape, 3>& shapes)
{
    const auto& [first, second, third] = shapes;
    const bool fits
        = std::ranges::all_of(shapes, [](const ConvShape& s) { return s.window.spatialRank == 2 && suitsRowConv(s); })
        && first.groups == 1 && second.groups > 1 && third.groups == 1
        && std::ranges::all_of(third.window.axes,
            [](const SpatialAxis& a) { return a.kernel == 1 && a.stride == 1 && a.padBegin == 0 && a.in == a.out; });
    const SpatialAxis& down = second.window.axes[1];
    const int64_t rowBytes = 4 * second.window.channels * second.window.axes[2].in;
    return fits && rowBytes * down.in >= kLeastBytes
        && rowBytes * ((down.kernel - 1) * down.dilation + 1) <= kMostRingBytes
        && weightBytes(first) + weightBytes(second) + weightBytes(third) <= kMostWeightBytes;
}

std::shared_ptr<const PreparedConv> prepareConvBands(const ConvTriple& triple)
{
    return std::make_shared<ConvBands>(triple);
}

} // namespace qs
