// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

/// Keys and values that an attention keeps as symmetric codes: int8, or int4 as the value + 8, two a byte, the first in
/// the low half. Source: ONNX Runtime's GroupQueryAttention and its CPU kernel.
namespace qs {

struct CacheCodes {
    int64_t bits = 8; ///< 8 or 4
    int64_t heads = 1; ///< lines in a sample
    int64_t size = 0; ///< elements of a row
    const float* scale = nullptr; ///< one, or heads x size
    bool perChannel = false;

    int64_t rowBytes() const { return (size * bits + 7) / 8; }
};

/// Rows of floats, samples x heads x rows x size, as codes: times the scale's inverse (1 where the scale is 0), rounded
/// half to even, saturated.
void quantizeCache(const CacheCodes& c, const float* x, int64_t samples, int64_t rows, uint8_t* codes);

/// Codes, samples x heads x rows x rowBytes, as floats.
void dequantizeCache(const CacheCodes& c, const uint8_t* codes, int64_t samples, int64_t rows, float* x);

} // namespace qs
