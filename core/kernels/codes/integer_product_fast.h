// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/kernels/codes/integer_product.h"

/// Vector loops that integer_product.h and integer_conv.h are made of.
namespace qs {

/// n neighbouring codes minus the zero point, as 16-bit numbers.
void widenRun(Codes codes, int64_t n, int32_t zeroPoint, int16_t* out);
/// sums[c] = sum over used taps t of (x[from[t] + c] - zero) * w[taps[t] + c].
void depthwisePosition(Codes x, int32_t zero, const int16_t* w, const int64_t* from, const int64_t* taps, size_t used,
    int64_t channels, int32_t* sums);

} // namespace qs
