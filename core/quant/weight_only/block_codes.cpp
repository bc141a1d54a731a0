// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/block_codes.h"

#include "core/base/rounding.h"
#include "core/base/work/parallel.h"
#include "core/kernels/statistics/value_range.h"
#include "core/quant/params/scale.h"
#include "core/quant/weight_only/hqq.h"
#include "core/quant/weight_only/k_quant.h"
#include "core/quant/weight_only/small_rounding.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

/// Columns that are worked on together, and rows of them that are turned at a time.
constexpr size_t kTileColumns = 64, kTileRows = 128;

template <class T> using PerColumn = std::array<T, kTileColumns>;

/// Parameters of one block of each column of a tile.
struct TileParams {
    PerColumn<float> low, high; ///< of the values
    PerColumn<float> scale; ///< as stored
    PerColumn<float> reciprocal; ///< MLAS multiplies
    PerColumn<double> exactScale; ///< round to nearest divides
    PerColumn<float> zeroPoint;
};

float clamped(float v, float low, float high) { return std::min(std::max(v, low), high); }

void defaultParams(TileParams& p, size_t c, const BlockRules& rules, DType real)
{
    const auto levels = static_cast<float>(rules.levels());
    const auto half = static_cast<float>(1 << (rules.bits - 1));
    float scale = 0;
    if (rules.symmetric) {
        const float largest = std::abs(p.high[c]) > std::abs(p.low[c]) ? p.high[c] : p.low[c]; // with its sign
        scale = -largest / half;
        p.zeroPoint[c] = rules.dequantizeForm ? 0 : half;
    } else {
        const float low = std::min(p.low[c], 0.0f), high = std::max(p.high[c], 0.0f);
        scale = (high - low) / levels;
        p.zeroPoint[c] = roundHalfAway(clamped(scale != 0 ? 0.0f - low / scale : low, 0, levels));
    }
    p.scale[c] = roundedTo(real, double(scale));
    p.reciprocal[c] = p.scale[c] != 0 ? 1.0f / p.scale[c] : 0.0f;
}

void nearestParams(TileParams& p, size_t c, const BlockRules& rules, DType real)
{
    const double levels = rules.levels();
    const float ratio = roundedTo(real, double(rules.clipRatio));
    const auto clipped = [&](float v) { return roundedTo(real, double(v * ratio)); };
    const float low = clipped(p.low[c]), high = clipped(p.high[c]);
    if (rules.symmetric) {
        const double largest = std::max(std::abs(double(low)), std::abs(double(high)));
        p.exactScale[c] = largest > 0 ? double(roundedTo(real, largest * 2)) / levels : 1;
        p.zeroPoint[c] = static_cast<float>(1 << (rules.bits - 1));
    } else {
        p.exactScale[c] = low != high ? double(roundedTo(real, double(high - low))) / levels : 1;
        p.zeroPoint[c]
            = static_cast<float>(std::clamp(roundHalfEven((0.0 - double(low)) / p.exactScale[c]), 0.0, levels));
    }
    p.scale[c] = roundedTo(real, p.exactScale[c]);
}

/// MLAS rounds ties away from zero here, unlike everything else that is quantized.
void operatorCodes(const float* v, size_t width, const TileParams& p, const BlockRules& rules, uint8_t* out)
{
    const auto levels = static_cast<float>(rules.levels());
    for (size_t c = 0; c < width; ++c) {
        const float x = v[c] * p.reciprocal[c] + p.zeroPoint[c];
        out[c] = static_cast<uint8_t>(roundedUpAtHalf(std::min(x > 0 ? x : 0.0f, levels)));
    }
}

void dequantizeCodes(const float* v, size_t width, const TileParams& p, const BlockRules& rules, uint8_t* out)
{
    const int levels = rules.levels();
    const int low = rules.symmetric ? -(levels + 1) / 2 : 0, high = rules.symmetric ? levels / 2 : levels;
    constexpr float kFar = 1024; // beyond all codes
    for (size_t c = 0; c < width; ++c) {
        const float x = v[c] * p.reciprocal[c], size = std::abs(x);
        const int whole = roundedUpAtHalf(size < kFar ? size : kFar);
        const int q = (x < 0 ? -whole : whole) + static_cast<int>(p.zeroPoint[c]);
        out[c] = static_cast<uint8_t>(std::min(std::max(q, low), high) & levels);
    }
}

void nearestCodes(const float* v, size_t width, const TileParams& p, const BlockRules& rules, uint8_t* out)
{
    for (size_t c = 0; c < width; ++c) {
        const double q = double(v[c]) / p.exactScale[c] + double(p.zeroPoint[c]);
        out[c] = static_cast<uint8_t>(roundHalfEven(std::min(q > 0 ? q : 0.0, double(rules.levels()))));
    }
}

/// Columns [first, first + width) of the matrix, block after block.
struct Tile {
    std::span<const float> values;
    DType real;
    const BlockRules& rules;
    size_t first, width;

    void extremes(size_t from, size_t to, size_t columns, TileParams& p) const
    {
        const float* row = values.data() + from * columns + first;
        std::copy_n(row, width, p.low.data());
        std::copy_n(row, width, p.high.data());
        for (size_t r = from + 1; r < to; ++r) {
            row += columns;
            for (size_t c = 0; c < width; ++c) {
                p.low[c] = std::min(p.low[c], row[c]);
                p.high[c] = std::max(p.high[c], row[c]);
            }
        }
    }

    void params(bool padded, TileParams& p) const
    {
        const bool nearest = rules.algorithm != WeightOnlyAlgorithm::Default;
        for (size_t c = 0; c < width; ++c) {
            if (nearest && padded) { // the zeros that fill the block count
                p.low[c] = std::min(p.low[c], 0.0f);
                p.high[c] = std::max(p.high[c], 0.0f);
            }
            nearest ? nearestParams(p, c, rules, real) : defaultParams(p, c, rules, real);
        }
    }

    void codes(size_t from, size_t to, const TileParams& p, BlockMatrix& out) const
    {
        const auto rows = static_cast<size_t>(out.rows), columns = static_cast<size_t>(out.columns);
        const auto code = rules.algorithm != WeightOnlyAlgorithm::Default ? nearestCodes
            : rules.dequantizeForm                                        ? dequantizeCodes
                                                                          : operatorCodes;
        std::array<uint8_t, kTileColumns * kTileRows> turned;
        for (size_t r = from; r < to; r += kTileRows) {
            const size_t count = std::min(kTileRows, to - r);
            for (size_t i = 0; i < count; ++i)
                code(values.data() + (r + i) * columns + first, width, p, rules, turned.data() + i * kTileColumns);
            for (size_t c = 0; c < width; ++c)
                for (size_t i = 0; i < count; ++i)
                    out.codes[(first + c) * rows + r + i] = turned[i * kTileColumns + c];
        }
    }

    void quantize(BlockMatrix& out) const
    {
        TileParams p;
        const auto rows = static_cast<size_t>(out.rows), columns = static_cast<size_t>(out.columns);
        const auto blockSize = static_cast<size_t>(rules.blockSize);
        for (size_t block = 0; block < static_cast<size_t>(out.blocks); ++block) {
            const size_t from = block * blockSize, to = std::min(from + blockSize, rows);
            extremes(from, to, columns, p);
            params(to - from < blockSize, p);
            for (size_t c = 0; c < width; ++c) {
                out.scales[out.at(first + c, block)] = p.scale[c];
                out.zeroPoints[out.at(first + c, block)] = static_cast<uint8_t>(p.zeroPoint[c]);
            }
            codes(from, to, p, out);
        }
    }
};

} // namespace

BlockMatrix nearestBlocks(std::span<const float> values, const Tensor& matrix, const BlockRules& rules)
{
    BlockMatrix out = BlockMatrix::sized(matrix, rules.blockSize);
    // bfloat16 values are quantized as float32; their scales are rounded where they are written.
    const DType real = matrix.dtype() == DType::Float16 ? DType::Float16 : DType::Float32;
    const auto columns = static_cast<size_t>(out.columns);
    parallelFor((columns + kTileColumns - 1) / kTileColumns, rules.threads, [&](size_t tile, size_t) {
        const size_t first = tile * kTileColumns;
        Tile { values, real, rules, first, std::min(kTileColumns, columns - first) }.quantize(out);
    });
    return out;
}

Result<BlockMatrix> quantizeBlocks(const Tensor& matrix, const BlockRules& rules)
{
    std::vector<float> converted;
    const bool direct = matrix.dtype() == DType::Float32 && matrix.layout() == Layout::Plain;
    if (!direct)
        converted = toFloats(matrix);
    const std::span<const float> values = direct ? matrix.data<float>() : std::span<const float>(converted);
    if (!valueRange(values).allFinite())
        return badInput(
            "holds NaN or infinity, which no scale can represent", {}, "repair the model, or exclude its node");
    switch (rules.algorithm) {
    case WeightOnlyAlgorithm::Hqq:
        return hqqBlocks(values, matrix, rules);
    case WeightOnlyAlgorithm::KQuant:
        return kQuantBlocks(values, matrix, rules);
    case WeightOnlyAlgorithm::Default:
    case WeightOnlyAlgorithm::RoundToNearest:
    case WeightOnlyAlgorithm::Gptq:
        break;
    }
    return nearestBlocks(values, matrix, rules);
}

} // namespace qs
