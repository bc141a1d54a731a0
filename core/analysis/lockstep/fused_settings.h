// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"

#include <vector>

namespace qs {

/// Where files part at what the quantized file computes in few nodes and the float model in others: a number of one of
/// these nodes, an input that it does not read, or parts of its weights that stand in each other's place, if with
/// another one in its stead the files agree there. It is added to NetworkProof::changed.
void findFusedSetting(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof);

} // namespace qs
