// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"

namespace qs {

/// Biases stored as codes that are further from the float model's than rounding takes them: what the means of the
/// channels behind them are off by on a few of these samples. A bias that was corrected takes that away, another one
/// makes it. Nothing of those behind which the files hold no values of the same size in reals.
std::vector<BiasShift> measureBiasShifts(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work);

} // namespace qs
