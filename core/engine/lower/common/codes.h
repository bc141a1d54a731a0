// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/engine/step/kernel_mode.h"
#include "core/engine/step/step_context.h"
#include "core/kernels/codes/pair_saturation.h"

/// What the lowerings of products of codes share.
namespace qs {

bool isCode(DType type); ///< int8 or uint8
Codes codesOf(const Tensor& t);
/// Values of a zero point input; empty when it is absent.
std::vector<int32_t> zeroPointsOf(const Tensor* t);
Result<float> singleReal(const Tensor& t, const char* what);
/// Issue unless the elements are int8 or uint8.
Status checkCodes(const Tensor& t, const char* what);

/// Output type, scale and zero point of a requantizing node.
struct OutputCodes {
    DType type = DType::UInt8;
    float scale = 1;
    int32_t zeroPoint = 0;
};
Result<OutputCodes> outputCodes(const StepContext& s, size_t scaleSlot, size_t zeroSlot, DType fallback);

/// Whether the product of such codes adds pairs in 16 bits.
bool saturates(PairSaturation rule, DType left, DType right);
/// What to add to left codes (modulo 256) so that they are the unsigned numbers which the runtime multiplies.
inline int32_t leftShift(PairSaturation rule) { return rule == PairSaturation::ShiftedLeft ? 128 : 0; }
/// Adds what one run counted to what the step is asked for. `rows` products of `depth` terms for each column.
void countPairs(const StepContext& s, int64_t rows, int64_t depth, const SaturationTally& tally);

/// Where rows of sums go: to codes, and unrounded to floats when somebody asked.
struct RowEpilogue {
    KernelMode mode;
    OutputCodes codes;
    int64_t columns;
    std::span<const float> scale; ///< f32(input scale * weight scale), one a column
    std::span<const float> multiplier; ///< scale / output scale
    std::span<const int32_t> bias;
    uint8_t* out;
    float* unrounded; ///< null when nobody asks
};
void requantizeRows(const RowEpilogue& epilogue, const int32_t* sums, int64_t first, int64_t rows);

} // namespace qs
