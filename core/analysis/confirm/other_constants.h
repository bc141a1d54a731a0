// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"

#include <functional>

namespace qs {

/// The data that both files are compared on.
struct AllSamples {
    size_t count = 0;
    std::function<Result<ProofSample>(size_t)> at {};
};

/// What constants of the quantized file that are no codes do, where the files are the same with the float model's
/// (NetworkProof::withFloatConstants): fills `errorWithout`, of all data or of so many spread evenly among them as are
/// worth the time. Beside weights that are rounded to codes and stored as reals the numbers of other constants are
/// theirs alone (`withFloatWeights`, without places); those that move outputs by little of what rounding these weights
/// does were rounded with them, and are left out of the roundings. `samples`: those of the proof, at least one; no
/// `all`: these are all.
void measureOtherConstants(const ComparePair& pair, const std::vector<ProofSample>& samples, const AllSamples& all,
    const WorkContext& work, NetworkProof& proof);

} // namespace qs
