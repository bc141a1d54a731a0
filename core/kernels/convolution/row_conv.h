// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/convolution/prepared_conv.h"
#include "core/kernels/convolution/window_shape.h"
#include "core/kernels/product/float_rows.h"

#include <memory>
#include <optional>

namespace qs {

/// Weights of a convolution packed for rows of pixels (see float_rows.h), for every size of input.
struct RowConvWeights {
    std::optional<PanelWeights> panels; ///< one group
    std::optional<DepthwiseWeights> depthwise; ///< a group a channel
};

/// What our kernels prepare. It takes epilogues.
class RowConv : public PreparedConv {
public:
    /// Row `row` of the output (the last but one axis, counted through all images) goes to `out`.
    virtual void makeRow(
        const float* x, int64_t row, float* out, std::byte* scratch, const SumEpilogue& epilogue) const noexcept = 0;
};

/// Two spatial axes (or windows of one pixel), one group or one a channel, on a CPU that has the instructions.
bool suitsRowConv(const ConvShape& shape);
/// Needs suitsRowConv(); `bias` may be null.
std::shared_ptr<const RowConvWeights> packRowConv(const ConvShape& shape, const float* weights, const float* bias);
std::shared_ptr<const RowConv> prepareRowConv(const ConvShape& shape, std::shared_ptr<const RowConvWeights> weights);

/// The order in which a convolution that is not depthwise adds its products.
ChainOrder chainOrder(const ConvShape& shape);

/// Whether two rows of a depthwise convolution can be made at once (see DepthwiseRow).
bool pairsRows(const SpatialAxis& down);

/// A product of matrices is the convolution of a row of pixels. B is inner x columns (transposed: the other way round);
/// `bias`, one for each column, may be null. Needs hasFloatRows().
std::shared_ptr<const RowConvWeights> packProduct(
    const float* b, int64_t inner, int64_t columns, bool transposed, const float* bias);
std::shared_ptr<const RowConv> prepareProduct(int64_t rows, std::shared_ptr<const RowConvWeights> weights);

} // namespace qs
