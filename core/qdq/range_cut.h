// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/quant_params.h"

#include <limits>

namespace qs {

/// What Relu and Clip let pass.
struct CutBounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};

/// The quantizer does a Relu's or Clip's work: what it can represent begins and ends inside the bounds, or at most half
/// a step beyond them. Then quantizing alone gives what bounding and quantizing give. It does not without parameters
/// that are known, nor with codes that are no integers.
bool rangeCuts(const QuantParams& params, const CutBounds& bounds);

} // namespace qs
