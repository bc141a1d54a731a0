// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"

#include <cstddef>
#include <cstdint>

namespace qs {

/// What floats that do not fit become in float8 and float4.
enum class Overflow { Saturate, ToSpecial };

/// Elements first..first+n-1 of storage of any numeric type, converted to W: float, double, int64_t or uint64_t.
template <class W> void loadElements(DType type, const std::byte* data, size_t first, W* out, size_t n);

/// The inverse. Integers wrap; floats go to integers by truncation, out of range and NaN as x64 conversions do
/// (lowest value of int32 or int64, of which the low bits are kept); Bool is "not zero". 2- and 4-bit elements must be
/// stored in ascending order.
template <class W>
void storeElements(
    DType type, std::byte* data, size_t first, const W* in, size_t n, Overflow overflow = Overflow::Saturate);

/// Nearest float16/bfloat16/float8 of a double must be found with one rounding: a float that rounds further as the
/// double would ("round to odd").
float oddFloat(double value);

} // namespace qs
