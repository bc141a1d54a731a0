// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

#include <cstdint>
#include <vector>

namespace qs {

/// Sums of more terms are not followed.
inline constexpr int64_t kMostTerms = int64_t(1) << 20;

/// Which elements are multiplied for one element of a product.
struct ProductPlaces {
    struct Pair {
        int64_t a = 0; ///< -1: padding
        int64_t b = 0;
    };
    std::vector<Pair> pairs; ///< in the order in which integer kernels add them up
    int64_t row = 0; ///< of the left matrix, or 0
    int64_t column = 0; ///< output channel, or column of the right matrix
    int64_t aMatrix = 0, bMatrix = 0; ///< of stacks
    int64_t rows = 1, columns = 1; ///< of one output matrix; of a convolution 1 and the channels
    bool ownKernel = false; ///< a depthwise convolution, whose integer kernel adds nothing in 16 bits
};

/// Of x [N, C, spatial] and w [M, C / groups, kernel]; the depth runs over positions of the kernel, at each over
/// channels.
Result<ProductPlaces> convPlaces(const Node& node, const Shape& x, const Shape& w, int64_t element);
/// Of x [N, C, spatial] and w [C, M / groups, kernel].
Result<ProductPlaces> convTransposePlaces(
    const Node& node, const Shape& x, const Shape& w, const Shape& out, int64_t element);
/// Numpy's matmul.
Result<ProductPlaces> matMulPlaces(const Shape& a, const Shape& b, int64_t element);
/// Of two matrices with the attributes transA and transB.
Result<ProductPlaces> gemmPlaces(const Node& node, const Shape& a, const Shape& b, int64_t element);

} // namespace qs
