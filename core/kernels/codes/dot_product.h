// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/integer_product.h"
#include "core/kernels/cpu/aligned.h"

/// Products of 8-bit codes by the CPU's own dot instruction (AVX-512 VNNI: four products of an unsigned and a signed
/// code added to 32 bits, modulo 2^32). The left codes are unsigned, the right ones signed: codes of the other kind are
/// moved by 128 together with their zero points. Only for CPUs where hasDotProducts().
namespace qs {

bool hasDotProducts();

/// Columns that lie side by side in a packed matrix.
constexpr int64_t kDotPanel = 16;
/// n rounded up to whole panels.
inline int64_t dotColumns(int64_t n) { return (n + kDotPanel - 1) / kDotPanel * kDotPanel; }
/// Length of a left row: the depth rounded up to fours. What stands behind the depth does not matter.
inline int64_t dotDepth(int64_t depth) { return (depth + 3) / 4 * 4; }

/// The right matrix: for each panel and each four rows, the fours of its columns.
struct DotMatrix {
    int64_t depth = 0, columns = 0;
    LineVector<int8_t> data;
    LineVector<int32_t> columnSums; ///< of the moved codes; whole panels
    std::vector<int32_t> zeros; ///< moved zero points, one a column; empty: all 0
};
DotMatrix packDots(const CodeMatrix& b, std::span<const int32_t> zeroPoints);

/// Codes as unsigned ones: signed ones are moved by 128.
void toUnsigned(Codes codes, int64_t n, uint8_t* out);
inline int32_t unsignedZero(int32_t zeroPoint, bool isSigned) { return isSigned ? zeroPoint + 128 : zeroPoint; }

/// What each column starts with, for left rows of this (moved) zero point: bias and corrections; whole panels. Matrices
/// with zero points need correctRows() too.
LineVector<int32_t> dotStart(const DotMatrix& b, int32_t leftZero, std::span<const int32_t> bias);

/// Rows of unsigned codes, each dotDepth() long.
struct DotRows {
    const uint8_t* data = nullptr;
    int64_t rows = 0, stride = 0;
};
/// sums[r * stride + c] = start[c] + product.
void dotSums(const DotRows& a, const DotMatrix& b, const int32_t* start, int32_t* sums, int64_t stride);
/// sums[r * stride + c] -= zeros[c] * sum of row r.
void correctRows(const DotRows& a, const DotMatrix& b, int32_t* sums, int64_t stride);

/// Requantization of whole panels (see Requantization, whose bias is in `start`).
struct DotEpilogue {
    LineVector<int32_t> start;
    LineVector<float> multiplier;
    int32_t zeroPoint = 0;
    bool isSigned = false;
};
/// Whether no rounded value can leave 32 bits, which DotEpilogue asks for.
bool staysInRange(std::span<const float> multiplier);
/// Codes of the product of a matrix without zero points.
void dotCodes(const DotRows& a, const DotMatrix& b, const DotEpilogue& epilogue, uint8_t* out, int64_t stride);

} // namespace qs
