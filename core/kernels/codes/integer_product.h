// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/cpu/aligned.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Products of 8-bit codes with their zero points taken off, summed exactly in 32 bits (modulo 2^32).
namespace qs {

/// 8-bit codes in memory, signed or not.
struct Codes {
    const uint8_t* data = nullptr;
    bool isSigned = false;

    int32_t at(int64_t i) const { return isSigned ? static_cast<int8_t>(data[i]) : data[i]; }
    Codes from(int64_t offset) const { return { data + offset, isSigned }; }
};

/// A matrix of codes seen through strides.
struct CodeMatrix {
    Codes codes;
    int64_t rows = 0, columns = 0;
    int64_t rowStride = 0, columnStride = 0;
};

/// Zero points: none (0), one for all, or one for each row or column.
inline int32_t pick(std::span<const int32_t> list, int64_t i)
{
    return list.empty() ? 0 : list[list.size() == 1 ? 0 : static_cast<size_t>(i)];
}

/// A sum modulo 2^32.
inline int32_t wrapped(int64_t sum) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum))); }

/// sums[r * columns of b + c] = sum over k of (a[r,k] - aZero[r]) (b[k,c] - bZero[c]); loops as the formula says.
void multiplyReference(const CodeMatrix& a, std::span<const int32_t> aZero, const CodeMatrix& b,
    std::span<const int32_t> bZero, int32_t* sums);

/// The right matrix, widened to 16 bits with its zero points taken off, in the order in which multiply() reads it.
struct PackedCodes {
    int64_t depth = 0, columns = 0;
    LineVector<int16_t> data;
};
PackedCodes packCodes(const CodeMatrix& b, std::span<const int32_t> zeroPoints);

/// Length of one widened row of the left matrix (depth rounded up to even, the rest 0).
inline int64_t widenedDepth(int64_t depth) { return depth + depth % 2; }
/// One row of the left matrix: n codes `stride` apart, minus zeroPoint; writes widenedDepth(n) numbers.
void widen(Codes codes, int64_t n, int64_t stride, int32_t zeroPoint, int16_t* out);
/// sums[r * sumStride + c] for rows r of `a` (each widenedDepth(b.depth) long).
void multiply(const int16_t* a, int64_t rows, const PackedCodes& b, int32_t* sums, int64_t sumStride);

/// From sums to codes: f32(sum + bias) * multiplier, clamped to low - zeroPoint .. high - zeroPoint, rounded half to
/// even, plus zeroPoint. Source: the order of ONNX Runtime's integer kernels. Lists have one entry a column, the
/// multipliers may be a single one, the bias may be missing.
struct Requantization {
    std::span<const float> multiplier;
    std::span<const int32_t> bias;
    int32_t zeroPoint = 0;
    int32_t low = 0, high = 0;
};
void requantizeReference(const int32_t* sums, int64_t rows, int64_t columns, const Requantization& q, uint8_t* out);
void requantize(const int32_t* sums, int64_t rows, int64_t columns, const Requantization& q, uint8_t* out);
/// Both: the codes of multiply()'s sums, rows `stride` apart.
void multiplyToCodes(
    const int16_t* a, int64_t rows, const PackedCodes& b, const Requantization& q, uint8_t* out, int64_t stride);
/// f32(sum + bias) * scale.
void scaleSums(const int32_t* sums, int64_t rows, int64_t columns, std::span<const float> scale,
    std::span<const int32_t> bias, float* out);

} // namespace qs
