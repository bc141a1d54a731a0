// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/quant/recipe/recipe.h"

#include <span>

/// Float8 (E4M3FN) codes as ONNX Runtime's quantization tools make them: without zero point, by a scale that gives the
/// codes the spread of the values. Source: ONNX Runtime, onnxruntime.quantization (behaviour, measured).
namespace qs {

constexpr bool isFloat8(DType type) { return type == DType::Float8E4M3FN; }

/// NumPy's standard deviation of values of Float32 or Float16, to the last bit.
float deviationOf(std::span<const float> values, DType real);
/// The scale for values of that deviation, exact in `real`. Issue (without the tensor's name): they do not differ.
Result<float> float8Scale(float deviation, DType real);
/// Codes of values of type `real`, saturated.
void float8Codes(std::span<const float> values, float scale, DType real, uint8_t* codes);

/// A deviation that gives this scale; nothing where none does.
std::optional<float> impliedDeviation(float scale, DType real);

/// Issue: float8 where ONNX Runtime's tools or its operators have none.
Status checkFloat8(const Recipe& recipe);

} // namespace qs
