// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/convolution/row_conv.h"

#include <array>
#include <memory>

namespace qs {

/// Three convolutions one after another: any one, a depthwise one and one of single pixels, each on the output of the
/// one before. Two spatial axes.
struct ConvTriple {
    std::array<ConvShape, 3> shapes;
    std::array<std::shared_ptr<const RowConvWeights>, 3> weights;
    std::array<SumEpilogue, 2> epilogues; ///< of the first two; no addends
};

/// Whether the shapes are such a triple, and bands of rows gain something: the tensors between are large, and the
/// weights, which pass by for every row, small.
bool suitsConvBands(const std::array<ConvShape, 3>& shapes);
/// The triple in bands of rows, so that what is between stays in the cache; every bit as one after another. Needs
/// suitsConvBands().
std::shared_ptr<const PreparedConv> prepareConvBands(const ConvTriple& triple);

} // namespace qs
