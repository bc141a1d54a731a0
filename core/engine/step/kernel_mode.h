// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace qs {

enum class KernelMode {
    Fast, ///< the best kernel of this build for this CPU
    Reference, ///< naive loops in double / int64
};

/// Which products of codes lose bits in 16-bit pair sums (see core/kernels/codes/pair_saturation.h).
enum class PairSaturation {
    None, ///< exact sums
    AsTyped, ///< where the left codes are unsigned and the right ones signed
    ShiftedLeft, ///< signed left codes count as unsigned ones, 128 higher: the runtime shifts them before it multiplies
};

} // namespace qs
