// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace qs {

/// Codes of 2, 4 or 8 bits, the lowest first, from rows of whole bytes: the first `columns` of each of `rows` rows.
/// `bytes` must hold them all.
std::vector<uint8_t> unpackRows(std::span<const uint8_t> bytes, int64_t rows, int64_t columns, int64_t bits);
/// The other way round: rows x columns codes below 2^bits, in rows of whole bytes whose unused bits are 0.
std::vector<uint8_t> packRows(std::span<const uint8_t> codes, int64_t rows, int64_t columns, int64_t bits);
/// Bytes of one such row.
inline int64_t packedRowBytes(int64_t columns, int64_t bits) { return (columns * bits + 7) / 8; }

} // namespace qs
