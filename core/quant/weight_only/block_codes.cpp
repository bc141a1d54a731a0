// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/block_codes.h"

#include "core/base/rounding.h"
#include "core/quant/scale.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

struct BlockParams {
    float scale = 0; ///< as stored
    double exactScale = 0; ///< RoundToNearest divides by it
    float zeroPoint = 0;
};

struct Extremes {
    float low = 0, high = 0;
};

float clamped(float v, float low, float high) { return std::min(std::max(v, low), high); }

BlockParams defaultParams(const Extremes& e, const BlockRules& rules, DType real)
{
    const auto levels = static_cast<float>((1 << rules.bits) - 1);
    const auto half = static_cast<float>(1 << (rules.bits - 1));
    BlockParams p;
    if (rules.symmetric) {
        const float largest = std::abs(e.high) > std::abs(e.low) ? e.high : e.low; // with its sign
        p.scale = roundedTo(real, double(-largest / half));
        p.zeroPoint = rules.dequantizeForm ? 0 : half;
        return p;
    }
    const float low = std::min(e.low, 0.0f), high = std::max(e.high, 0.0f);
    const float scale = (high - low) / levels;
    p.zeroPoint = roundHalfAway(clamped(scale != 0 ? 0.0f - low / scale : low, 0, levels));
    p.scale = roundedTo(real, double(scale));
    return p;
}

BlockParams nearestParams(const Extremes& e, const BlockRules& rules, DType real)
{
    const double levels = (1 << rules.bits) - 1;
    BlockParams p;
    if (rules.symmetric) {
        const double largest = std::max(std::abs(double(e.low)), std::abs(double(e.high)));
        p.exactScale = largest > 0 ? largest * 2 / levels : 1;
        p.zeroPoint = static_cast<float>(1 << (rules.bits - 1));
    } else {
        p.exactScale = e.low != e.high ? double((e.high - e.low) / static_cast<float>(levels)) : 1;
        p.zeroPoint = static_cast<float>(std::clamp(roundHalfEven(-double(e.low) / p.exactScale), 0.0, levels));
    }
    p.scale = roundedTo(real, p.exactScale);
    return p;
}

uint8_t codeOf(float v, const BlockParams& p, const BlockRules& rules)
{
    const int levels = (1 << rules.bits) - 1;
    if (rules.algorithm == WeightOnlyAlgorithm::RoundToNearest) {
        const double q = roundHalfEven(double(v) / p.exactScale + double(p.zeroPoint));
        return static_cast<uint8_t>(std::clamp(q, 0.0, double(levels)));
    }
    // MLAS rounds ties away from zero here, unlike everything else that is quantized.
    const float reciprocal = p.scale != 0 ? 1.0f / p.scale : 0.0f;
    if (!rules.dequantizeForm)
        return static_cast<uint8_t>(
            clamped(roundHalfAway(v * reciprocal + p.zeroPoint), 0, static_cast<float>(levels)));
    const int low = rules.symmetric ? -(levels + 1) / 2 : 0, high = rules.symmetric ? levels / 2 : levels;
    const auto q = static_cast<int>(roundHalfAway(v * reciprocal)) + static_cast<int>(p.zeroPoint);
    return static_cast<uint8_t>(std::clamp(q, low, high) & levels);
}

} // namespace

Result<BlockMatrix> quantizeBlocks(const Tensor& matrix, const BlockRules& rules)
{
    const std::vector<float> values = toFloats(matrix);
    float sum = 0;
    for (float v : values)
        sum += v * 0;
    if (sum != 0 || std::isnan(sum))
        return badInput(
            "holds NaN or infinity, which no scale can represent", {}, "repair the model, or exclude its node");
    BlockMatrix out;
    out.rows = matrix.dim(0);
    out.columns = matrix.dim(1);
    out.blocks = (out.rows + rules.blockSize - 1) / rules.blockSize;
    const auto columns = static_cast<size_t>(out.columns), rows = static_cast<size_t>(out.rows);
    out.scales.resize(columns * static_cast<size_t>(out.blocks));
    out.zeroPoints.resize(out.scales.size());
    out.codes.resize(values.size());
    std::vector<Extremes> extremes(columns);
    std::vector<BlockParams> params(columns);
    for (int64_t block = 0; block < out.blocks; ++block) {
        const auto from = static_cast<size_t>(block * rules.blockSize);
        const size_t to = std::min(from + static_cast<size_t>(rules.blockSize), rows);
        for (size_t c = 0; c < columns; ++c)
            extremes[c] = { values[from * columns + c], values[from * columns + c] };
        for (size_t r = from; r < to; ++r)
            for (size_t c = 0; c < columns; ++c) {
                const float v = values[r * columns + c];
                extremes[c].low = std::min(extremes[c].low, v);
                extremes[c].high = std::max(extremes[c].high, v);
            }
        const bool padded = to - from < static_cast<size_t>(rules.blockSize);
        for (size_t c = 0; c < columns; ++c) {
            if (rules.algorithm == WeightOnlyAlgorithm::RoundToNearest) {
                if (padded) // the zeros that fill the block count
                    extremes[c] = { std::min(extremes[c].low, 0.0f), std::max(extremes[c].high, 0.0f) };
                params[c] = nearestParams(extremes[c], rules, matrix.dtype());
            } else {
                params[c] = defaultParams(extremes[c], rules, matrix.dtype());
            }
            const size_t at = c * static_cast<size_t>(out.blocks) + static_cast<size_t>(block);
            out.scales[at] = params[c].scale;
            out.zeroPoints[at] = static_cast<uint8_t>(params[c].zeroPoint);
        }
        for (size_t r = from; r < to; ++r)
            for (size_t c = 0; c < columns; ++c)
                out.codes[c * rows + r] = codeOf(values[r * columns + c], params[c], rules);
    }
    return out;
}

Tensor packedColumns(const BlockMatrix& m, const BlockRules& rules)
{
    const auto blobBytes = static_cast<size_t>(rules.blockSize * rules.bits / 8);
    const auto rows = static_cast<size_t>(m.rows), columns = static_cast<size_t>(m.columns);
    const auto blocks = static_cast<size_t>(m.blocks), blockSize = static_cast<size_t>(rules.blockSize);
    Tensor out = Tensor::allocate(DType::UInt8, { m.columns, m.blocks, static_cast<int64_t>(blobBytes) });
    const auto bytes = out.fill<uint8_t>();
    std::ranges::fill(bytes, uint8_t(0));
    for (size_t c = 0; c < columns; ++c) {
        uint8_t high = 0; // of the code before: MLAS leaves it where there is no second one, within two blocks
        for (size_t block = 0; block < blocks; ++block) {
            const size_t from = block * blockSize, to = std::min(from + blockSize, rows);
            high = block % 2 == 0 ? uint8_t(0) : high;
            uint8_t* blob = bytes.data() + (c * blocks + block) * blobBytes;
            const uint8_t* codes = m.codes.data() + c * rows;
            if (rules.bits == 8) {
                std::copy(codes + from, codes + to, blob);
                if (rules.algorithm == WeightOnlyAlgorithm::RoundToNearest)
                    std::fill(blob + (to - from), blob + blobBytes, m.zeroPoints[c * blocks + block]);
                continue;
            }
            const bool fillsWithZero = rules.algorithm == WeightOnlyAlgorithm::RoundToNearest;
            const uint8_t zero = m.zeroPoints[c * blocks + block];
            for (size_t r = from; r < from + blockSize; r += 2) {
                if (r >= to && !fillsWithZero)
                    break;
                const uint8_t low = r < to ? codes[r] : zero;
                high = r + 1 < to ? codes[r + 1] : fillsWithZero ? zero : high;
                blob[(r - from) / 2] = static_cast<uint8_t>(low | (high << 4));
            }
        }
    }
    return out;
}

Tensor packedZeroPoints(const BlockMatrix& m, const BlockRules& rules)
{
    const auto blocks = static_cast<size_t>(m.blocks);
    const size_t rowBytes = (blocks * static_cast<size_t>(rules.bits) + 7) / 8;
    Tensor out = Tensor::allocate(DType::UInt8, { m.columns, static_cast<int64_t>(rowBytes) });
    const auto bytes = out.fill<uint8_t>();
    const auto unused = static_cast<uint8_t>(rules.bits == 4 ? 8 : 0);
    for (size_t c = 0; c < static_cast<size_t>(m.columns); ++c)
        for (size_t b = 0; b < rowBytes; ++b) {
            const auto zero = [&](size_t block) { return block < blocks ? m.zeroPoints[c * blocks + block] : unused; };
            bytes[c * rowBytes + b]
                = rules.bits == 8 ? zero(b) : static_cast<uint8_t>(zero(2 * b) | (zero(2 * b + 1) << 4));
        }
    return out;
}

} // namespace qs
