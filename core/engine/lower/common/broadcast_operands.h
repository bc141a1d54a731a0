// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/engine/step/step_context.h"
#include "core/kernels/elementwise/broadcast.h"

namespace qs {

/// Operands of a broadcasting step brought to one memory order, and the loop over their common output.
struct BroadcastOperands {
    Layout layout = Layout::Plain; ///< of the output
    Shape shape; ///< logical shape of the output
    std::vector<Tensor> tensors;
    BroadcastLoop loop;
};

/// Keeps channels-last where every operand has that layout, is a scalar, or has one element a channel; converts
/// otherwise. Fails when the shapes do not broadcast.
Result<BroadcastOperands> prepareBroadcast(const StepContext& c, std::span<const Tensor* const> operands);

/// The same tensor in another layout, in storage of this worker's pool.
Tensor inLayout(const StepContext& c, const Tensor& t, Layout layout);

/// Shape in memory order: with channels last, N, spatial..., C.
Shape memoryShape(const Shape& shape, Layout layout);
/// Position of a logical axis in the memory shape.
size_t memoryAxis(size_t axis, size_t rank, Layout layout);

} // namespace qs
