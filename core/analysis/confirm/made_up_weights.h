// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"

namespace qs {

/// Weights that are further from the float model's than rounding moves them, and that the others make up for: with all
/// that the quantized file stores, its results are no further from the float model's than rounding the weights
/// explains, and with this one put back to the float model's alone they are. Neurons in another order are so, and
/// channels that were turned. Fills withOwnWeights, madeUp and otherCaches of the proof, and `rearranged` where no
/// other weight is left. `samples`: at least one.
void findMadeUpWeights(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof);

} // namespace qs
