// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/confirm/sketched_run.h"

namespace qs {

/// How two files are to be paired.
struct PairingRequest {
    ManualLinks links;
    bool oneNetwork = false; ///< see align()
};

/// Holds the alignment of a pair against what both files compute on the first sample, or on all of them where this
/// one leaves something open, the quantized one without its quantizers, and pairs again with that evidence until
/// nothing changes. What is the same in several places, or with its axes in another order, becomes a link. The
/// alignment stays as it is where the files do not run.
Result<Alignment> confirmPairs(
    const ComparePair& pair, const PairingRequest& request, const SampleInputs& samples, const WorkContext& work);

} // namespace qs
