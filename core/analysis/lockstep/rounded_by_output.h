// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"

#include <vector>

namespace qs {

/// Fills NetworkProof::byOutput: constant matrices of products with integer codes that are not the nearest ones, held
/// against the nearest ones on what the float model multiplies on these samples (of large ones some rows and columns).
/// Where they move the output less, or do so without wrong factors of scales or a wrong zero point, they are told.
void measureRoundedByOutput(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof);

} // namespace qs
