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

/// A matrix filters x inputs, in panels of as many filters as fit the registers. A filter has `taps` inputs in each
/// channel: the places of a convolution's window.
struct PanelWeights {
    size_t channels = 0, taps = 1, filters = 0;
    size_t panelFilters = 0;
    LineVector<float> panels; ///< by panel: its biases, then weights by channel, tap, filter; missing filters are 0
    size_t inputs() const { return channels * taps; }
    size_t panelCount() const { return (filters + panelFilters - 1) / panelFilters; }
    size_t panelFloats() const { return (inputs() + 1) * panelFilters; }
};
/// Filters by inputs as they are given.
struct PlainWeights {
    const float*
        weights; ///< of filter f, channel c and tap t: weights[f * filterStride + (c * taps + t) * inputStride]
    size_t filterStride, inputStride;
    size_t filters, channels, taps;
};
/// `bias` may be null.
PanelWeights packPanels(const PlainWeights& given, const float* bias);

/// In which order products are added. Products of a chain are added to zero one after another, each product and
/// addition rounded once; then the chains are added up from left to right. ONNX Runtime's order for the same layer.
struct ChainOrder {
    size_t chain = SIZE_MAX; ///< products of a chain
    bool biasFirst = false; ///< before the first chain, else behind the last one
};

/// Pixels at equal distances: of a row or a column of an image, or the rows of a matrix.
struct PixelRun {
    const float* const* taps = nullptr; ///< where each tap of the first pixel has its channels; null: it adds nothing
    ptrdiff_t stride = 0; ///< floats between neighbouring pixels
    size_t count = 0; ///< pixels
    float* y = nullptr; ///< filters of the first pixel
    size_t yStride = 0; ///< floats between the outputs of neighbouring pixels
    ChainOrder order {};
};
/// y[p][f] = bias[f] and the sum of x[p][i] * weight[f][i] over channels, then taps, in the order of the run; then
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
/// y[o][c] = the sum over the taps inside the input of x * weight, + bias[c]; then `epilogue`. Products are rounded,
/// too. Those of four taps are added up, and that is added to the sum so far; of three taps at the end, two and one.
/// ONNX Runtime's order.
void depthwiseRow(const DepthwiseWeights& weights, const DepthwiseRow& row, const SumEpilogue& epilogue);

} // namespace qs
