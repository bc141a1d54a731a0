// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"

#include <cstddef>
#include <cstdint>

namespace qs {

/// Scales and zero points of a run of elements: one for all (stride 0) or one each (stride 1).
struct QuantRun {
    const float* scale;
    const int32_t* zeroPoint;
    size_t stride;
};

/// Type that the quotient x / scale is rounded to. Source: ONNX QuantizeLinear, attribute precision.
enum class QuotientPrecision { Half, BFloat16, Single, Double };

/// x / scale in the asked precision.
void quotients(const double* x, QuantRun q, QuotientPrecision precision, double* out, size_t n);
/// Round half to even, add the zero point, saturate to [low, high]; NaN becomes `low` (ONNX leaves it open; ONNX
/// Runtime on x64 does so).
void quantizeReference(const double* quotient, QuantRun q, int64_t low, int64_t high, int64_t* codes, size_t n);
/// The same for float32 in one go; T = uint8_t, int8_t, uint16_t or int16_t with its full range.
template <class T> void quantizeFast(const float* x, QuantRun q, T* codes, size_t n);

/// (code - zero point) * scale in float32.
void dequantizeReference(const double* codes, QuantRun q, float* x, size_t n);
/// T = uint8_t, int8_t, uint16_t, int16_t or int32_t.
template <class T> void dequantizeFast(const T* codes, QuantRun q, float* x, size_t n);

/// Lowest and highest element, both at least touching zero; NaN is passed over.
struct FloatRange {
    float low = 0;
    float high = 0;
};
FloatRange rangeWithZero(const float* x, size_t n);

/// Scale and zero point of uint8 codes over that range. Source: ONNX DynamicQuantizeLinear.
struct DynamicScale {
    float scale = 1;
    uint8_t zeroPoint = 0;
};
DynamicScale dynamicScale(const FloatRange& range);

} // namespace qs
