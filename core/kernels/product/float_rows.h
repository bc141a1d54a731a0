// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/cpu/aligned.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace qs {

/// What happens to a finished sum in the register that made it, with the bits that BinaryOp::Add, then UnaryOp::Relu or
/// UnaryOp::Clip would make.
struct SumEpilogue {
    enum class Bound { None, Relu, Clip };
    const float* addend = nullptr; ///< an element for each output, in the same order; null: none
    Bound bound = Bound::None;
    float low = 0, high = 0; ///< of Clip

    /// The same for outputs from element `begin` on.
    SumEpilogue from(size_t begin) const
    {
        SumEpilogue t = *this;
        t.addend = addend ? addend + begin : nullptr;
        return t;
    }
};

/// True where this CPU has the instructions (fused multiplication and addition) that these kernels need.
bool hasFloatRows();

/// A matrix filters x inputs, in panels of as many filters as fit the registers. The inputs of a filter lie in
/// `segments` runs of equal length: the rows of a convolution's window.
struct PanelWeights {
    size_t segments = 1, segmentInputs = 0, filters = 0;
    size_t panelFilters = 0;
    LineVector<float> panels; ///< by panel: its biases, then its filters' weights by input; missing filters are 0
    size_t inputs() const { return segments * segmentInputs; }
    size_t panelCount() const { return (filters + panelFilters - 1) / panelFilters; }
    size_t panelFloats() const { return (inputs() + 1) * panelFilters; }
};
/// Weight of filter f and input i: weights[f * filterStride + inputOffsets[i]]. `bias` may be null.
PanelWeights packPanels(const float* weights, size_t filterStride, std::span<const size_t> inputOffsets,
    size_t segments, const float* bias, size_t filters);

/// Pixels at equal distances: of a row or a column of an image, or the rows of a matrix.
struct PixelRun {
    const float* const* segments = nullptr; ///< where each segment's inputs lie; null: it adds nothing
    ptrdiff_t offset = 0; ///< from there to the first pixel's input 0
    size_t firstInput = 0, lastInput = 0; ///< of each segment, one past the last: the others add nothing
    ptrdiff_t stride = 0; ///< floats between neighbouring pixels
    size_t count = 0; ///< pixels
    float* y = nullptr; ///< filters of the first pixel
    size_t yStride = 0; ///< floats between the outputs of neighbouring pixels
};
/// y[p][f] = bias[f] + the sum of x[p][i] * weight[f][i] in order of i, each product and addition rounded once; then
/// `epilogue`. Only filters of panels `firstPanel` .. `lastPanel` - 1.
void multiplyPixels(
    const PanelWeights& weights, const PixelRun& run, size_t firstPanel, size_t lastPanel, const SumEpilogue& epilogue);

/// Weights channels x kernelRows x kernelColumns of a depthwise convolution by blocks of channels.
struct DepthwiseWeights {
    size_t channels = 0, kernelRows = 0, kernelColumns = 0;
    LineVector<float> blocks; ///< by block: its biases, then its weights by tap; missing channels are 0
};
/// `bias` may be null.
DepthwiseWeights packDepthwise(
    const float* weights, const float* bias, size_t channels, size_t kernelRows, size_t kernelColumns);

/// One row of the output of a depthwise convolution, or two neighbours.
struct DepthwiseRow {
    /// Row of the input for each row of the kernel; null where it is padding. Of two rows with one pointer more: the
    /// second one meets what lies under the first, one row further.
    const float* const* rows = nullptr;
    ptrdiff_t columns = 0; ///< of the input
    ptrdiff_t outputs = 0; ///< columns of the output
    ptrdiff_t stride = 1, dilation = 1, padBegin = 0;
    float* y = nullptr; ///< outputs x channels, of the second row behind those of the first
    bool two = false;
};
/// y[o][c] = bias[c] + the sum over the taps inside the input, in their order, of x * weight, each product and addition
/// rounded once; then `epilogue`.
void depthwiseRow(const DepthwiseWeights& weights, const DepthwiseRow& row, const SumEpilogue& epilogue);

} // namespace qs
