// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/convolution/window_shape.h"

/// Naive convolutions in double over plain tensors; `bias` may be null.
namespace qs {

void convReference(
    const ConvShape& shape, const double* x, const double* weights, const double* bias, double* y) noexcept;
void convTransposeReference(
    const ConvShape& shape, const double* x, const double* weights, const double* bias, double* y) noexcept;

} // namespace qs
