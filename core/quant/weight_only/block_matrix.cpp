// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/block_matrix.h"

#include "core/base/work/parallel.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <bit>

namespace qs {

namespace {

/// [N, K] to [K, N], or the other way round.
std::vector<uint8_t> exchanged(const std::vector<uint8_t>& codes, int64_t rows, int64_t columns)
{
    std::vector<uint8_t> out(codes.size());
    constexpr int64_t kTile = 64;
    for (int64_t c0 = 0; c0 < columns; c0 += kTile)
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = c0; c < std::min(c0 + kTile, columns); ++c)
                out[static_cast<size_t>(r * columns + c)] = codes[static_cast<size_t>(c * rows + r)];
    return out;
}

Tensor fourBits(const std::vector<uint8_t>& codes, Shape shape, DType type)
{
    return packedAs(Tensor::of<uint8_t>(std::move(shape), codes), type);
}

Tensor storedReals(DType type, Shape shape, const std::vector<float>& values)
{
    if (type != DType::BFloat16)
        return realTensor(type, std::move(shape), values);
    Tensor out = Tensor::allocate(type, std::move(shape));
    std::ranges::transform(values, out.fill<uint16_t>().begin(), floatToBFloat16);
    return out;
}

} // namespace

BlockMatrix BlockMatrix::sized(const Tensor& matrix, int64_t blockSize)
{
    BlockMatrix out;
    out.rows = matrix.dim(0);
    out.columns = matrix.dim(1);
    out.blocks = (out.rows + blockSize - 1) / blockSize;
    out.scales.resize(static_cast<size_t>(out.columns * out.blocks));
    out.zeroPoints.resize(out.scales.size());
    out.codes.resize(static_cast<size_t>(out.rows * out.columns));
    return out;
}

Tensor packedColumns(const BlockMatrix& m, const BlockRules& rules)
{
    const size_t perByte = 8 / static_cast<size_t>(rules.bits);
    const auto blobBytes = static_cast<size_t>(rules.blockSize) / perByte;
    const auto rows = static_cast<size_t>(m.rows), blocks = static_cast<size_t>(m.blocks);
    const auto blockSize = static_cast<size_t>(rules.blockSize);
    const bool fillsWithZero = rules.algorithm != WeightOnlyAlgorithm::Default;
    Tensor out = Tensor::allocate(DType::UInt8, { m.columns, m.blocks, static_cast<int64_t>(blobBytes) });
    const auto bytes = out.fill<uint8_t>();
    const auto packColumn = [&](size_t c) {
        const uint8_t* codes = m.codes.data() + c * rows;
        // MLAS leaves the codes before where a byte has none of its own, within the blocks whose zero points share one.
        std::array<unsigned, 4> slots {};
        for (size_t block = 0; block < blocks; ++block) {
            if (block % perByte == 0)
                slots = {};
            const size_t from = block * blockSize, to = std::min(from + blockSize, rows);
            uint8_t* blob = bytes.data() + (c * blocks + block) * blobBytes;
            const uint8_t zero = m.zeroPoints[m.at(c, block)];
            for (size_t b = 0; b < blobBytes; ++b) {
                const size_t r = from + b * perByte;
                if (r >= to && !fillsWithZero) {
                    blob[b] = 0;
                    continue;
                }
                unsigned byte = 0;
                for (size_t k = 0; k < perByte; ++k) {
                    slots[k] = r + k < to ? codes[r + k] : fillsWithZero ? zero : slots[k];
                    byte |= slots[k] << (k * static_cast<size_t>(rules.bits));
                }
                blob[b] = static_cast<uint8_t>(byte);
            }
        }
    };
    constexpr size_t kColumnsAtOnce = 64;
    const auto columns = static_cast<size_t>(m.columns);
    parallelFor((columns + kColumnsAtOnce - 1) / kColumnsAtOnce, rules.threads, [&](size_t tile, size_t) {
        for (size_t c = tile * kColumnsAtOnce; c < std::min((tile + 1) * kColumnsAtOnce, columns); ++c)
            packColumn(c);
    });
    return out;
}

Tensor packedZeroPoints(const BlockMatrix& m, const BlockRules& rules)
{
    const auto blocks = static_cast<size_t>(m.blocks), bits = static_cast<size_t>(rules.bits);
    const size_t rowBytes = (blocks * bits + 7) / 8, perByte = 8 / bits;
    Tensor out = Tensor::allocate(DType::UInt8, { m.columns, static_cast<int64_t>(rowBytes) });
    const auto bytes = out.fill<uint8_t>();
    const unsigned unused = bits == 8 ? 0u : 1u << (bits - 1);
    for (size_t c = 0; c < static_cast<size_t>(m.columns); ++c)
        for (size_t b = 0; b < rowBytes; ++b) {
            unsigned byte = 0;
            for (size_t k = 0; k < perByte; ++k) {
                const size_t block = b * perByte + k;
                byte |= (block < blocks ? m.zeroPoints[m.at(c, block)] : unused) << (k * bits);
            }
            bytes[c * rowBytes + b] = static_cast<uint8_t>(byte);
        }
    return out;
}

BlockTensors operatorTensors(const BlockMatrix& m, const BlockRules& rules, DType real)
{
    const bool flat = rules.algorithm == WeightOnlyAlgorithm::Hqq;
    const Shape perBlock = flat ? Shape { m.columns * m.blocks } : Shape { m.columns, m.blocks };
    BlockTensors out { packedColumns(m, rules), storedReals(real, perBlock, m.scales), {} };
    if (flat)
        out.zeroPoints = storedReals(real, perBlock, m.realZeros);
    else if (!rules.symmetric)
        out.zeroPoints = packedZeroPoints(m, rules);
    return out;
}

BlockTensors dequantizerTensors(const BlockMatrix& m, const BlockRules& rules, DType real, bool byRows)
{
    const DType type = rules.symmetric ? DType::Int4 : DType::UInt4;
    BlockTensors out;
    out.codes = byRows ? fourBits(m.codes, { m.columns, m.rows }, type)
                       : fourBits(exchanged(m.codes, m.rows, m.columns), { m.rows, m.columns }, type);
    std::vector<float> byBlock(m.scales.size());
    for (size_t b = 0; b < static_cast<size_t>(m.blocks); ++b)
        for (size_t c = 0; c < static_cast<size_t>(m.columns); ++c)
            byBlock[b * static_cast<size_t>(m.columns) + c] = m.scales[m.at(c, b)];
    out.scales = storedReals(real, byRows ? Shape { m.columns, 1 } : Shape { m.blocks, m.columns }, byBlock);
    if (!rules.symmetric)
        out.zeroPoints = fourBits(exchanged(m.zeroPoints, m.blocks, m.columns), { m.blocks, m.columns }, type);
    return out;
}

std::string BlockRules::text() const
{
    return std::to_string(bits) + (symmetric ? "s" : "u") + std::to_string(blockSize) + " "
        + std::string(nameIn(kWeightOnlyAlgorithms, algorithm)) + (dequantizeForm ? " dequantized " : " ")
        + std::to_string(std::bit_cast<uint32_t>(clipRatio));
}

} // namespace qs
