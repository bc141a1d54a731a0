// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/canonical.h"

namespace qs {

/// Both graphs of an alignment.
struct GraphPair {
    CanonicalGraph f, q; ///< float and quantized
    const QuantView& view; ///< of the quantized one
};

} // namespace qs
