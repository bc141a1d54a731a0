// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tensor/packed_rows.h"

namespace qs {

std::vector<uint8_t> unpackRows(std::span<const uint8_t> bytes, int64_t rows, int64_t columns, int64_t bits)
{
    const int64_t perByte = 8 / bits, rowBytes = packedRowBytes(columns, bits);
    std::vector<uint8_t> codes(static_cast<size_t>(rows * columns));
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
            const unsigned byte = bytes[static_cast<size_t>(r * rowBytes + c / perByte)];
            codes[static_cast<size_t>(r * columns + c)]
                = static_cast<uint8_t>((byte >> (bits * (c % perByte))) & ((1u << bits) - 1));
        }
    return codes;
}

std::vector<uint8_t> packRows(std::span<const uint8_t> codes, int64_t rows, int64_t columns, int64_t bits)
{
    const int64_t perByte = 8 / bits, rowBytes = packedRowBytes(columns, bits);
    std::vector<uint8_t> bytes(static_cast<size_t>(rows * rowBytes));
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
            bytes[static_cast<size_t>(r * rowBytes + c / perByte)]
                |= static_cast<uint8_t>(codes[static_cast<size_t>(r * columns + c)] << (bits * (c % perByte)));
    return bytes;
}

} // namespace qs
