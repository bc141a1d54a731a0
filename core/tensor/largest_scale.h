// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/quant_params.h"

#include <algorithm>
#include <cmath>

namespace qs {

/// The widest step between codes: scales of weights may be negative (ONNX Runtime's symmetric MatMulNBits). 0 without
/// scales.
inline double largestScale(const QuantParams& params)
{
    double largest = 0;
    for (const float scale : params.scale)
        largest = std::max(largest, std::fabs(double(scale)));
    return largest;
}

} // namespace qs
