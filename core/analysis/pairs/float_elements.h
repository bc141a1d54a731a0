// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/quant_params.h"
#include "core/tensor/tensor.h"

#include <vector>

namespace qs {

/// Float32 elements of a tensor in the memory order of `layout`; codes are dequantized with `params`. `buffer` keeps
/// the data when they are not the tensor's own.
const float* asFloats(
    const Tensor& t, Layout layout, const QuantParams* params, std::vector<float>& buffer, Tensor& keep);

/// A tensor of floats in another floating-point type of 16 or 32 bits, plain; others as they are.
Tensor convertedTo(const Tensor& t, DType type);

/// A float32 matrix with rows and columns exchanged.
Tensor exchangedAxes(const Tensor& matrix);

} // namespace qs
