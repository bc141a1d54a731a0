// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/dot_product.h"

#include <optional>

namespace qs {

/// Which instructions multiply codes. Both give the same bits.
enum class CodeProducts {
    Best, ///< dot instructions where the CPU has them
    Pairs, ///< products of 16-bit numbers, on every CPU
};
inline bool useDots(CodeProducts products) { return products == CodeProducts::Best && hasDotProducts(); }

/// A right matrix of codes, packed for this CPU.
class CodeProduct {
public:
    CodeProduct(const CodeMatrix& b, std::span<const int32_t> zeroPoints, CodeProducts products = CodeProducts::Best);
    int64_t depth() const { return m_dots ? m_dots->depth : m_pairs.depth; }
    int64_t columns() const { return m_dots ? m_dots->columns : m_pairs.columns; }
    /// Bytes of scratch memory that the calls below need, 64-byte aligned.
    int64_t scratchBytes(int64_t rows) const;
    /// sums[r * columns + c] of left rows that lie one after another; their zero points: none, one, or one a row.
    void sums(Codes a, int64_t rows, std::span<const int32_t> aZero, std::byte* scratch, int32_t* out) const;
    /// Their codes; one zero point for all rows.
    void codes(Codes a, int64_t rows, int32_t aZero, const Requantization& q, std::byte* scratch, uint8_t* out) const;

private:
    template <class Done> void forEachTile(Codes a, int64_t rows, std::byte* scratch, Done done) const;
    template <class Done>
    void forEachWidened(Codes a, int64_t rows, std::span<const int32_t> aZero, std::byte* scratch, Done done) const;
    void dotRowSums(Codes a, int64_t rows, std::span<const int32_t> aZero, std::byte* scratch, int32_t* out) const;
    PackedCodes m_pairs;
    std::optional<DotMatrix> m_dots;
};

} // namespace qs
