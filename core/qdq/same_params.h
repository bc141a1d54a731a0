// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/quant_params.h"

namespace qs {

/// Codes of both stand for the same values: to the bit, whoever says so.
inline bool sameParams(const QuantParams& a, const QuantParams& b)
{
    const auto from = a.codes(), to = b.codes();
    return a.dtype == b.dtype && a.scale == b.scale && a.zeroPoint == b.zeroPoint && a.zeroRest == b.zeroRest
        && a.axis == b.axis && a.blockSize == b.blockSize && from.low == to.low && from.high == to.high;
}

} // namespace qs
