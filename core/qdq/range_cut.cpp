// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/range_cut.h"

namespace qs {

bool rangeCuts(const QuantParams& params, const CutBounds& bounds)
{
    constexpr double kHalfStep = 0.5 + 1e-3; // scales are rounded
    if (params.scale.empty() || !isInteger(params.dtype))
        return false;
    for (size_t c = 0; c < params.scale.size(); ++c) {
        const double most = kHalfStep * double(params.scale[c]);
        if (params.low(c) < bounds.low - most || params.high(c) > bounds.high + most)
            return false;
    }
    return true;
}

} // namespace qs
