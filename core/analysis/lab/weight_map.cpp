// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/weight_map.h"

#include "core/analysis/rows/similarity.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr size_t kFewCells = 256; ///< of a row without blocks
constexpr size_t kMostCells = 1 << 20; ///< of all; more of a row share a cell above it

/// Rows and columns of a weight, and where its elements lie.
struct ChannelRows {
    size_t count = 1, inner = 1, columns = 1;

    ChannelRows(const Shape& shape, int64_t channelAxis)
    {
        if (shape.empty())
            return;
        const auto axis = size_t(std::clamp<int64_t>(channelAxis, 0, int64_t(shape.size()) - 1));
        count = size_t(shape[axis]);
        for (size_t d = axis + 1; d < shape.size(); ++d)
            inner *= size_t(shape[d]);
        columns = count > 0 ? size_t(elementCount(shape).value_or(0)) / count : 0;
    }
    size_t element(size_t row, size_t column) const { return (column / inner * count + row) * inner + column % inner; }
};

/// Elements of a row from `first` on that have the same scale as it.
size_t blockAt(const Elements& elements, const ChannelRows& rows, size_t first)
{
    const size_t scale = elements.scaleIndex(rows.element(0, first));
    size_t end = first + 1;
    while (end < rows.columns && elements.scaleIndex(rows.element(0, end)) == scale)
        ++end;
    return end - first;
}

/// What shares a scale in a row; 0 where rows have one scale.
size_t blockSize(const Elements& elements, const ChannelRows& rows)
{
    if (!elements.hasCodes() || elements.params().blockSize <= 0 || rows.count == 0 || rows.columns == 0)
        return 0;
    const size_t block = blockAt(elements, rows, 0);
    return block < rows.columns ? block : 0;
}

} // namespace

Number WeightMap::sqnrDb(size_t cell) const
{
    return powerRatioDb(map.signal[cell] * map.signal[cell], map.error[cell] * map.error[cell]);
}

std::vector<size_t> WeightMap::worst(size_t most) const
{
    std::vector<size_t> cells;
    for (size_t cell = 0; cell < map.error.size(); ++cell)
        if (map.error[cell] > 0)
            cells.push_back(cell);
    const auto end = cells.begin() + ptrdiff_t(std::min(most, cells.size()));
    std::ranges::partial_sort(cells, end, {}, [&](size_t cell) { return std::pair(-map.error[cell], cell); });
    cells.erase(end, cells.end());
    return cells;
}

ErrorMap WeightMap::scales() const { return { map.rows, map.columns, scale, map.signal }; }

std::optional<WeightMap> weightMap(
    const TensorValues& values, const WeightRow& row, bool other, const CancelToken& cancel)
{
    const std::optional<Elements>& quantized = other ? values.other : values.quantized;
    if (!values.reference || !quantized || values.count() == 0)
        return std::nullopt;
    const ChannelRows rows(values.shape, row.channelAxis);
    const size_t block = blockSize(*quantized, rows);
    WeightMap made;
    made.blocks = block > 0;
    made.cellElements = block > 0 ? block : std::max<size_t>(1, (rows.columns + kFewCells - 1) / kFewCells);
    const size_t cells = rows.count * ((rows.columns + made.cellElements - 1) / made.cellElements);
    made.cellElements *= std::max<size_t>(1, (cells + kMostCells - 1) / kMostCells);
    made.matrix = values.shape.size() == 2;
    made.exchanged = made.matrix && rows.inner == 1;
    made.map.rows = rows.count;
    made.map.columns = (rows.columns + made.cellElements - 1) / made.cellElements;
    MagnitudeBands bands;
    for (size_t r = 0; r < made.map.rows; ++r) {
        if (cancel.cancelled())
            return std::nullopt;
        for (size_t c = 0; c < made.map.columns; ++c) {
            PartSums cell;
            double scale = 0;
            for (size_t i = c * made.cellElements; i < std::min((c + 1) * made.cellElements, rows.columns); ++i) {
                const size_t element = rows.element(r, i);
                const auto x = float(values.reference->real(element)), y = float(quantized->real(element));
                if (quantized->hasCodes())
                    scale
                        = std::max(scale, std::fabs(double(quantized->params().scale[quantized->scaleIndex(element)])));
                if (!std::isfinite(x) || !std::isfinite(y))
                    continue;
                cell.add(x, y);
                bands.add(x, y);
            }
            made.map.error.push_back(cell.rmse());
            made.map.signal.push_back(cell.count ? std::sqrt(cell.xx / double(cell.count)) : 0);
            if (quantized->hasCodes())
                made.scale.push_back(scale);
        }
    }
    made.bands = bands.take();
    return made;
}

} // namespace qs
