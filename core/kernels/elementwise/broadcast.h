// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/shape.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace qs {

/// How operands of several shapes meet in one output shape: neighbouring axes that all operands treat alike are
/// merged, so that the innermost run is as long as possible. Operands are dense and row-major over their own shapes.
struct BroadcastLoop {
    Shape shape; ///< merged output shape, at least one axis
    std::vector<std::vector<size_t>> strides; ///< one list an operand, in elements; the innermost is 0 or 1

    size_t runLength() const { return static_cast<size_t>(shape.back()); }
    size_t innerStride(size_t operand) const { return strides[operand].back(); }
};

/// Shapes must broadcast to `out` (fewer axes are aligned at the end).
BroadcastLoop makeBroadcastLoop(std::span<const Shape> operands, const Shape& out);

/// Calls run(offsets, outOffset) for every innermost run, in output order; offsets hold one element offset an operand.
template <class Run> void forEachRun(const BroadcastLoop& loop, Run run)
{
    const size_t operands = loop.strides.size();
    const size_t outer = loop.shape.size() - 1;
    size_t runs = 1;
    for (size_t d = 0; d < outer; ++d)
        runs *= static_cast<size_t>(loop.shape[d]);
    if (loop.runLength() == 0)
        return;
    std::vector<size_t> offsets(operands, 0);
    std::vector<int64_t> index(outer, 0);
    for (size_t r = 0; r < runs; ++r) {
        run(std::span<const size_t>(offsets), r * loop.runLength());
        for (size_t d = outer; d-- > 0;) {
            for (size_t k = 0; k < operands; ++k)
                offsets[k] += loop.strides[k][d];
            if (++index[d] < loop.shape[d])
                break;
            for (size_t k = 0; k < operands; ++k)
                offsets[k] -= loop.strides[k][d] * static_cast<size_t>(loop.shape[d]);
            index[d] = 0;
        }
    }
}

} // namespace qs
