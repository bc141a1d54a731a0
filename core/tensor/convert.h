// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor.h"

#include <vector>

/// Slow, general conversions for import, parameters, tests and reports; kernels have fast ones of their own.
namespace qs {

float float16ToFloat(uint16_t bits);
uint16_t floatToFloat16(float value); ///< round half to even
float bfloat16ToFloat(uint16_t bits);
uint16_t floatToBFloat16(float value); ///< round half to even
/// float8 (four kinds), float8e8m0 and float4 codes to float.
float smallFloatToFloat(DType type, uint8_t bits);
/// ONNX Cast to float8/float4; `saturate` as the Cast attribute. Source: ONNX technical note "float stored in 8 bits".
uint8_t floatToSmallFloat(DType type, float value, bool saturate);

/// Element i in memory order as double / int64 (any numeric type, packed ones included).
double elementAsDouble(const Tensor& t, int64_t i);
int64_t elementAsInt(const Tensor& t, int64_t i);
/// All elements in logical row-major order.
std::vector<double> toDoubles(const Tensor& t);
std::vector<float> toFloats(const Tensor& t);
std::vector<int64_t> toInts(const Tensor& t);

/// 2- and 4-bit codes unpacked to one byte each (int4 -> int8, uint4 -> uint8 ...); others are returned as they are.
Tensor unpacked(const Tensor& t);
/// The inverse for `type` of 2 or 4 bits; `t` holds one code a byte.
Tensor packedAs(const Tensor& t, DType type);
/// Same elements in the asked layout (no copy when it already is).
Tensor toLayout(const Tensor& t, Layout layout);
/// Writes the elements of `from` in the layout of `to` (same shape and dtype, whole bytes).
void copyToLayout(const Tensor& from, Tensor& to);
inline Tensor toPlain(const Tensor& t) { return toLayout(t, Layout::Plain); }

} // namespace qs
