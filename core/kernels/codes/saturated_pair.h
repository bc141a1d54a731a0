// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>

namespace qs {

/// Two products that were added into 16 bits, and did not fit: raw codes, as the instruction multiplies them.
struct SaturatedPair {
    int64_t column = 0; ///< output channel
    int64_t index = 0; ///< the products of depth 2 * index and the one after it
    int32_t a0 = 0, a1 = 0; ///< unsigned codes of the left side
    int32_t w0 = 0, w1 = 0; ///< signed codes of the right side
    int32_t sum() const { return a0 * w0 + a1 * w1; }
    int32_t kept() const { return std::clamp(sum(), -32768, 32767); } ///< what remains of the sum
    int32_t lost() const { return sum() > kept() ? sum() - kept() : kept() - sum(); } ///< 0: it fits
    bool operator==(const SaturatedPair&) const = default;
};

/// Loses more; of equals the first by column and depth. An order of all pairs, so that the worst does not depend on
/// who counted first.
inline bool losesMore(const SaturatedPair& a, const SaturatedPair& b)
{
    const auto key = [](const SaturatedPair& p) { return std::tuple(-p.lost(), p.column, p.index, p.a0, p.a1); };
    return key(a) < key(b);
}

/// What saturated in one run of a product.
struct SaturationTally {
    std::span<uint64_t> columns; ///< pairs that saturated, by column
    SaturatedPair worst;
};

} // namespace qs
