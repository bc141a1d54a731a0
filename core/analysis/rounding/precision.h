// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor.h"

#include <optional>
#include <string_view>

namespace qs {

/// Floating-point types that values of a network are rounded to, finest first.
enum class Precision : uint8_t { Float32, TensorFloat32, Float16, BFloat16, Float8E4M3, Float8E5M2 };

inline constexpr Precision kCoarsestPrecision = Precision::Float8E5M2;

std::string_view precisionName(Precision precision); ///< "float32", "tf32", "float16" ...
/// Largest relative error of rounding to it.
double roundingOf(Precision precision);
/// How far rounding to it moves a number at most that is no larger than `size`.
double largestRounding(Precision precision, double size);
/// Of a tensor's own type: nothing for integers and for types that no network computes in.
std::optional<Precision> precisionOf(DType type);

/// `x` rounded to the nearest value of that type (half to even, beyond its range as Cast does without saturation
/// where the type has infinities).
float rounded(float x, Precision precision);
/// A float32, float16 or bfloat16 tensor with every element rounded, in its own type and layout; others as they are.
Tensor rounded(const Tensor& t, Precision precision);
/// The same with errors of up to `times` its size, up or down, that `seed` draws. What that type holds exactly is not
/// rounded and stays, as the ones of a mask: errors of them, times its constant, would be as large as scores. Of a
/// tensor of that very type, which holds nothing else, numbers of few bits stay.
Tensor disturbed(const Tensor& t, Precision precision, uint32_t seed, double times = 1);

} // namespace qs
