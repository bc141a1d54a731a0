// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/convolution/row_conv.h"

#include "core/kernels/convolution/spread_rows.h"
#include "core/tensor/arithmetic.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace qs {

namespace {

constexpr int64_t kCacheBytes = int64_t(256) << 10; ///< of input or output that a piece aims at
constexpr int64_t kBandBytes = int64_t(512) << 10; ///< of input that stays in the cache while weights pass by
constexpr int64_t kPieceMacs = 1'000'000; ///< below this a piece is not worth a thread
constexpr int64_t kPieceBytes = int64_t(192) << 10; ///< the same for depthwise convolutions, which memory limits
constexpr int64_t kMostPieces = 8; ///< made for threads' sake

// How ONNX Runtime's library of products (MLAS, MlasSgemmOperation) cuts sums; tests/parity/float_sums.py compares.
constexpr size_t kConvChain = 128; ///< products of a chain ...
constexpr int64_t kConvWidth = 128, kLeastWidth = 16; ///< ... of so many pixels
constexpr size_t kProductChain = 256; ///< of a constant matrix

/// Outputs of a piece: rows (pixels where each is a row of its own) and panels of filters.
struct Part {
    int64_t firstRow, lastRow;
    size_t firstPanel, lastPanel;
};

struct Work {
    int64_t rows, inputBytes, outputBytes, weightBytes;
    int64_t threads; ///< pieces worth making for threads' sake
    int64_t panels;
};

/// A power of two of pieces, which any even number of threads shares well.
std::vector<Part> partsOf(const Work& w)
{
    const auto threads = int64_t(std::bit_floor(uint64_t(std::clamp<int64_t>(w.threads, 1, kMostPieces))));
    std::vector<Part> parts;
    // Every piece by rows reads all weights: where these are the most, each piece takes filters of its own.
    if (w.weightBytes > 2 * kCacheBytes && w.weightBytes > w.inputBytes) {
        const int64_t count = std::min(threads, w.panels);
        for (int64_t i = 0; i < count; ++i)
            parts.push_back({ 0, w.rows, size_t(w.panels * i / count), size_t(w.panels * (i + 1) / count) });
        return parts;
    }
    const int64_t aim = w.weightBytes > kCacheBytes ? kBandBytes : kCacheBytes;
    const auto cache = int64_t(std::bit_ceil(uint64_t(ceilDiv(std::max(w.inputBytes, w.outputBytes), aim))));
    const int64_t count = std::min(std::max(cache, threads), w.rows);
    for (int64_t i = 0; i < count; ++i)
        parts.push_back({ w.rows * i / count, w.rows * (i + 1) / count, 0, size_t(w.panels) });
    return parts;
}

/// What all kernels of rows share.
class PartedConv : public RowConv {
public:
    size_t scratchBytes() const override { return m_scratchBytes; }
    std::span<const Piece> pieces() const override { return m_pieces; }
    bool contiguous() const override { return m_contiguous; }
    bool takesEpilogue() const override { return true; }
    bool run(
        size_t piece, const float* x, float* y, std::byte* scratch, const SumEpilogue& epilogue) const noexcept override
    {
        runPart(m_parts[piece], x, y, reinterpret_cast<const float**>(scratch), epilogue);
        return true;
    }

    /// What was cut by filters for the threads' sake reads its input once for all of them.
    bool runPieces(size_t first, size_t last, const float* x, float* y, std::byte* scratch,
        const SumEpilogue& epilogue) const noexcept override
    {
        if (m_contiguous || first == last)
            return PreparedConv::runPieces(first, last, x, y, scratch, epilogue);
        Part whole = m_parts[first];
        whole.lastPanel = m_parts[last - 1].lastPanel;
        runPart(whole, x, y, reinterpret_cast<const float**>(scratch), epilogue);
        return true;
    }

    void makeRow(const float* x, int64_t row, float* out, std::byte* scratch,
        const SumEpilogue& epilogue) const noexcept override
    {
        const int64_t first = row * m_rowsOfRow, last = first + m_rowsOfRow;
        const ptrdiff_t before = first * m_rowOutputs; // as if all rows before it lay there, too
        SumEpilogue own = epilogue;
        if (epilogue.addend)
            own.addend -= before;
        runPart({ first, last, 0, m_panels }, x, out - before, reinterpret_cast<const float**>(scratch), own);
    }

protected:
    /// `rowsOfRow`: rows of `work` in a row of the image; `floats`: room behind the pointers.
    PartedConv(std::shared_ptr<const RowConvWeights> weights, const Work& work, int64_t rowOutputs, size_t pointers,
        int64_t rowsOfRow = 1, size_t floats = 0)
        : m_weights(std::move(weights))
        , m_parts(partsOf(work))
        , m_scratchBytes(pointers * sizeof(float*) + floats * sizeof(float))
        , m_rowOutputs(rowOutputs)
        , m_rowsOfRow(rowsOfRow)
        , m_panels(size_t(work.panels))
    {
        for (const Part& p : m_parts) {
            m_contiguous = m_contiguous && p.firstPanel == 0 && int64_t(p.lastPanel) == work.panels;
            m_pieces.push_back({ size_t(p.firstRow * rowOutputs), size_t(p.lastRow * rowOutputs) });
        }
    }
    /// `pointers`: room for as many as were asked for.
    virtual void runPart(const Part& part, const float* x, float* y, const float** pointers,
        const SumEpilogue& epilogue) const noexcept = 0;
    std::shared_ptr<const RowConvWeights> m_weights;

private:
    std::vector<Part> m_parts;
    std::vector<Piece> m_pieces;
    bool m_contiguous = true;
    size_t m_scratchBytes;
    int64_t m_rowOutputs, m_rowsOfRow;
    size_t m_panels;
};

Work workOf(const ConvShape& s, int64_t rows, int64_t panels)
{
    const WindowShape& w = s.window;
    const int64_t weights = s.filters * (w.channels / s.groups) * w.kernelSize();
    Work work { rows, 4 * w.batch * w.channels * w.inSize(), 4 * w.batch * s.filters * w.outSize(), 4 * weights, 0,
        panels };
    work.threads = s.groups == 1 ? std::max(w.batch * w.outSize() * weights / kPieceMacs, work.weightBytes / kBandBytes)
                                 : (work.inputBytes + work.outputBytes) / kPieceBytes;
    return work;
}

/// Rows (or pixels) whose inputs stay in the cache while the weights pass by.
int64_t bandRows(const Work& w)
{
    return std::max<int64_t>(kBandBytes * w.rows / std::max<int64_t>(w.inputBytes, 1), 1);
}

/// Windows of one pixel, stride 1: the pixels of all images are the rows of one matrix.
class PixelConv final : public PartedConv {
public:
    PixelConv(
        const ConvShape& s, std::shared_ptr<const RowConvWeights> weights, const Work& work, const ChainOrder& order)
        : PartedConv(std::move(weights), work, s.filters, 1, s.window.axes[2].out)
        , m_channels(s.window.channels)
        , m_order(order)
        , m_band(std::max<int64_t>(bandRows(work), 64))
    {
    }

private:
    void runPart(const Part& part, const float* x, float* y, const float** taps,
        const SumEpilogue& epilogue) const noexcept override
    {
        const PanelWeights& weights = *m_weights->panels;
        for (int64_t row = part.firstRow; row < part.lastRow; row += m_band) {
            taps[0] = x + row * m_channels;
            const size_t begin = size_t(row) * weights.filters;
            const auto count = size_t(std::min(m_band, part.lastRow - row));
            multiplyPixels(weights, { taps, m_channels, count, y + begin, weights.filters, m_order }, part.firstPanel,
                part.lastPanel, epilogue.from(begin));
        }
    }
    int64_t m_channels;
    ChainOrder m_order;
    int64_t m_band;
};

/// Where rows of the input lie under a row of the output.
struct RowPlaces {
    SpatialAxis axis; ///< of the rows
    int64_t inputImage, inputRow; ///< floats

    /// Rows from `row` on, within an image, under which the rows of the input are `stride` apart; at least 1.
    int64_t sameRows(int64_t row) const
    {
        const auto inside = [&](int64_t r) {
            const int64_t first = r * axis.stride - axis.padBegin;
            return first >= 0 && first + (axis.kernel - 1) * axis.dilation < axis.in;
        };
        const int64_t first = row % axis.out;
        int64_t end = first + 1;
        while (inside(first) && end < axis.out && inside(end))
            ++end;
        return end - first;
    }
    /// Row `row` counts through all images; null where a row of the kernel meets padding. Writes a pointer for each,
    /// and for rows `further` below.
    void find(const float* x, int64_t row, const float** rows, int64_t further = 0) const
    {
        const float* image = x + row / axis.out * inputImage;
        const int64_t first = row % axis.out * axis.stride - axis.padBegin;
        for (int64_t k = 0; k < axis.kernel + further; ++k) {
            const int64_t at = first + k * axis.dilation;
            rows[k] = at >= 0 && at < axis.in ? image + at * inputRow : nullptr;
        }
    }
};

RowPlaces placesOf(const WindowShape& w) { return { w.axes[1], w.channels * w.inSize(), w.channels * w.axes[2].in }; }

/// Neighbouring columns of the output that have the same columns of the kernel inside the input.
struct ColumnRun {
    int64_t first, count, firstTap, lastTap;
};

std::vector<ColumnRun> columnRuns(const SpatialAxis& a)
{
    std::vector<ColumnRun> runs;
    for (int64_t o = 0; o < a.out; ++o) {
        const int64_t begin = o * a.stride - a.padBegin;
        const auto tapFrom = [&](int64_t at) { // first tap that meets column `at` or a later one
            return std::clamp<int64_t>(at <= begin ? 0 : ceilDiv(at - begin, a.dilation), 0, a.kernel);
        };
        const ColumnRun run { o, 1, tapFrom(0), tapFrom(a.in) };
        if (!runs.empty() && runs.back().firstTap == run.firstTap && runs.back().lastTap == run.lastTap)
            ++runs.back().count;
        else
            runs.push_back(run);
    }
    return runs;
}

/// Windows of several pixels, or steps between them.
class WindowConv final : public PartedConv {
public:
    WindowConv(const ConvShape& s, std::shared_ptr<const RowConvWeights> weights, const Work& work)
        : WindowConv(s, std::move(weights), work, SpreadRows(s.window, s.filters))
    {
    }

private:
    WindowConv(
        const ConvShape& s, std::shared_ptr<const RowConvWeights> weights, const Work& work, const SpreadRows& spread)
        : PartedConv(
            std::move(weights), work, s.filters * s.window.axes[2].out, pointersOf(s.window), 1, spread.floats())
        , m_shape(s)
        , m_spread(spread)
        , m_places { s.window.axes[1], spread.inputImage(), spread.inputRow() }
        , m_runs(columnRuns(s.window.axes[2]))
        , m_band(bandRows(work))
        , m_order(chainOrder(s))
    {
    }
    /// Whole lines of the cache: a copy lies behind them.
    static size_t pointersOf(const WindowShape& w) { return (size_t(w.axes[1].kernel + w.kernelSize()) + 7) / 8 * 8; }

    void runPart(const Part& part, const float* x, float* y, const float** pointers,
        const SumEpilogue& epilogue) const noexcept override
    {
        if (!m_spread.needed())
            return runBands(part, x, y, pointers, epilogue);
        auto* copy = reinterpret_cast<float*>(pointers + pointersOf(m_shape.window));
        for (int64_t row = part.firstRow, end; row < part.lastRow; row = end) {
            end = m_spread.lastRow(row, part.lastRow);
            runBands(
                { row, end, part.firstPanel, part.lastPanel }, m_spread.copy(x, row, end, copy), y, pointers, epilogue);
        }
    }
    void runBands(
        const Part& part, const float* x, float* y, const float** pointers, const SumEpilogue& epilogue) const noexcept
    {
        for (int64_t row = part.firstRow; row < part.lastRow; row += m_band) {
            const int64_t end = std::min(part.lastRow, row + m_band);
            for (size_t panel = part.firstPanel; panel < part.lastPanel; ++panel)
                for (const ColumnRun& run : m_runs)
                    if (run.lastTap - run.firstTap == m_shape.window.axes[2].kernel)
                        runRows({ row, end, panel, run }, x, y, pointers, epilogue);
                    else
                        runColumns({ row, end, panel, run }, x, y, pointers, epilogue);
        }
    }
    struct Block {
        int64_t firstRow, lastRow;
        size_t panel;
        ColumnRun columns;
    };
    /// Neighbours are pixels of a row.
    void runRows(
        const Block& b, const float* x, float* y, const float** rows, const SumEpilogue& epilogue) const noexcept
    {
        const ptrdiff_t stride = m_shape.window.axes[2].stride * m_spread.pixel();
        for (int64_t row = b.firstRow; row < b.lastRow; ++row) {
            m_places.find(x, row, rows);
            PixelRun pixels { .stride = stride, .count = size_t(b.columns.count), .yStride = size_t(m_shape.filters) };
            run(b, row, b.columns.first, pixels, y, rows, epilogue);
        }
    }
    /// Neighbours are pixels of a column: those at the edges, which are few in a row.
    void runColumns(
        const Block& b, const float* x, float* y, const float** rows, const SumEpilogue& epilogue) const noexcept
    {
        const SpatialAxis &down = m_shape.window.axes[1], &across = m_shape.window.axes[2];
        for (int64_t row = b.firstRow; row < b.lastRow;) {
            const int64_t count = std::min(m_places.sameRows(row), b.lastRow - row);
            m_places.find(x, row, rows);
            for (int64_t i = 0; i < b.columns.count; ++i) {
                PixelRun pixels { .stride = down.stride * m_places.inputRow,
                    .count = size_t(count),
                    .yStride = size_t(across.out * m_shape.filters) };
                run(b, row, b.columns.first + i, pixels, y, rows, epilogue);
            }
            row += count;
        }
    }
    /// `rows`: of the input; room for the taps behind them.
    void run(const Block& b, int64_t row, int64_t column, PixelRun& pixels, float* y, const float** rows,
        const SumEpilogue& epilogue) const noexcept
    {
        const SpatialAxis &down = m_shape.window.axes[1], &across = m_shape.window.axes[2];
        const auto begin = size_t((row * across.out + column) * m_shape.filters);
        const float** taps = rows + down.kernel;
        for (int64_t ky = 0, i = 0; ky < down.kernel; ++ky)
            for (int64_t kx = 0; kx < across.kernel; ++kx, ++i)
                taps[i] = rows[ky] && kx >= b.columns.firstTap && kx < b.columns.lastTap
                    ? rows[ky] + (column * across.stride - across.padBegin + kx * across.dilation) * m_spread.pixel()
                    : nullptr;
        pixels.taps = taps;
        pixels.y = y + begin;
        pixels.order = m_order;
        multiplyPixels(*m_weights->panels, pixels, b.panel, b.panel + 1, epilogue.from(begin));
    }
    ConvShape m_shape;
    SpreadRows m_spread;
    RowPlaces m_places;
    std::vector<ColumnRun> m_runs;
    int64_t m_band;
    ChainOrder m_order;
};

class DepthwiseConv final : public PartedConv {
public:
    DepthwiseConv(const ConvShape& s, std::shared_ptr<const RowConvWeights> weights, const Work& work)
        : PartedConv(std::move(weights), work, s.filters * s.window.axes[2].out, size_t(s.window.axes[1].kernel + 1))
        , m_places(placesOf(s.window))
        , m_across(s.window.axes[2])
        , m_rowOutputs(s.filters * s.window.axes[2].out)
    {
    }

private:
    void runPart(const Part& part, const float* x, float* y, const float** rows,
        const SumEpilogue& epilogue) const noexcept override
    {
        for (int64_t row = part.firstRow; row < part.lastRow;) {
            const SpatialAxis& down = m_places.axis;
            const bool two = pairsRows(down) && row + 1 < part.lastRow && (row + 1) % down.out != 0;
            m_places.find(x, row, rows, two ? 1 : 0);
            const auto begin = size_t(row * m_rowOutputs);
            depthwiseRow(*m_weights->depthwise,
                { rows, m_across.in, m_across.out, m_across.stride, m_across.dilation, m_across.padBegin, y + begin,
                    two },
                epilogue.from(begin));
            row += two ? 2 : 1;
        }
    }
    RowPlaces m_places;
    SpatialAxis m_across;
    int64_t m_rowOutputs;
};

bool isDepthwise(const ConvShape& s) { return s.groups > 1 && s.groups == s.window.channels && s.groups == s.filters; }

/// Every pixel of the output is made from the pixel of the input at the same place.
bool isPixelwise(const ConvShape& s)
{
    return s.groups == 1 && std::ranges::all_of(s.window.axes, [](const SpatialAxis& a) {
        return a.kernel == 1 && a.stride == 1 && a.padBegin == 0 && a.in == a.out;
    });
}

} // namespace

ChainOrder chainOrder(const ConvShape& s)
{
    const int64_t inputs = s.window.channels / s.groups * s.window.kernelSize(), pixels = s.window.outSize();
    size_t chain = kConvChain;
    // Fewer pixels leave room in the cache for more inputs.
    for (int64_t width = kConvWidth; pixels < inputs && width > kLeastWidth && width / 2 >= pixels; width /= 2)
        chain *= 2;
    return { chain, false };
}

bool pairsRows(const SpatialAxis& down) { return down.stride == 1 && down.dilation == 1; }

bool suitsRowConv(const ConvShape& s)
{
    return hasFloatRows() && (isPixelwise(s) || (s.window.spatialRank == 2 && (s.groups == 1 || isDepthwise(s))));
}

std::shared_ptr<const RowConvWeights> packRowConv(const ConvShape& s, const float* weights, const float* bias)
{
    auto packed = std::make_shared<RowConvWeights>();
    const auto channels = size_t(s.window.channels), taps = size_t(s.window.kernelSize());
    const size_t rows = size_t(s.window.axes[1].kernel);
    if (isDepthwise(s)) {
        packed->depthwise = packDepthwise(weights, bias, channels, rows, taps / rows);
        return packed;
    }
    packed->panels = packPanels({ weights, channels * taps, 1, size_t(s.filters), channels, taps }, bias);
    return packed;
}

std::shared_ptr<const RowConvWeights> packProduct(
    const float* b, int64_t inner, int64_t columns, bool transposed, const float* bias)
{
    auto packed = std::make_shared<RowConvWeights>();
    const auto in = size_t(inner), out = size_t(columns);
    packed->panels = packPanels({ b, transposed ? in : 1, transposed ? 1 : out, out, in, 1 }, bias);
    return packed;
}

std::shared_ptr<const RowConv> prepareProduct(int64_t rows, std::shared_ptr<const RowConvWeights> weights)
{
    ConvShape s;
    s.window.channels = int64_t(weights->panels->inputs());
    s.window.axes[2].in = s.window.axes[2].out = rows;
    s.filters = int64_t(weights->panels->filters);
    const Work work = workOf(s, rows, int64_t(weights->panels->panelCount()));
    return std::make_shared<PixelConv>(s, std::move(weights), work, ChainOrder { kProductChain, true });
}

std::shared_ptr<const RowConv> prepareRowConv(const ConvShape& s, std::shared_ptr<const RowConvWeights> weights)
{
    const WindowShape& w = s.window;
    if (weights->depthwise)
        return std::make_shared<DepthwiseConv>(s, std::move(weights), workOf(s, w.batch * w.axes[1].out, 1));
    const auto panels = int64_t(weights->panels->panelCount());
    if (isPixelwise(s))
        return std::make_shared<PixelConv>(
            s, std::move(weights), workOf(s, w.batch * w.outSize(), panels), chainOrder(s));
    return std::make_shared<WindowConv>(s, std::move(weights), workOf(s, w.batch * w.axes[1].out, panels));
}

} // namespace qs
