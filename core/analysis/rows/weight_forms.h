// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/weight_grid.h"
#include "core/analysis/rows/weight_row.h"
#include "core/tensor/tensor.h"

#include <optional>

/// What other granularities, blocks and bits would give a weight: by rounding it, no run needed.
namespace qs {

/// How a weight is stored, apart from its granularity.
struct WeightForm {
    DType type = DType::Int8; ///< signed where unsigned codes lie evenly around their zero point
    bool symmetric = true;
    bool reduced = false; ///< one bit of eight is left unused
    std::optional<CodeRange> kept = {}; ///< the codes that a Clip leaves
};
/// What codes and parameters show of it.
WeightForm weightForm(const QuantParams& params, const Tensor& codes);

/// One trial: the form with one scale, a scale for each index of `axis`, or for each block beside it.
struct WeightGranularity {
    std::optional<int64_t> axis; ///< of the channels
    int64_t blockSize = 0; ///< > 0: blocks of so many elements that one channel's sums run over
    bool oneMoreBit = false;
};
/// Sum of squared errors of a finite float32 weight with the scales that the quantizer would choose for it; nothing
/// where the type cannot be tried, or blocks do not fit the weight.
std::optional<double> formNoise(const Tensor& weight, const WeightForm& form, const WeightGranularity& granularity);

/// `axis`: of the output channels; `signal`: sum of squares of the weight.
FinerWeights finerWeights(
    const Tensor& weight, const WeightForm& form, const QuantParams& own, int64_t axis, double signal);

/// A weight as it is stored: the float elements, those that its codes stand for, its signal and the grid of the codes.
struct WeightOnGrid {
    std::span<const float> x, y;
    double signal = 0;
    const QuantParams& params; ///< as stored
    const WeightGrid& grid;
    std::vector<size_t> elements; ///< by scale, where others share them; empty: all are the weight's
};
/// Nothing where the type has no integer codes of at most 8 bits. Scales that others share stay as they are.
std::optional<ScalesAnew> scalesAnew(const WeightOnGrid& weight, const WeightForm& form);

} // namespace qs
