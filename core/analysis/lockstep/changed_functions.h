// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"

#include <vector>

namespace qs {

/// Measures what each operator of another function does: the float model is run with this one in place of its own.
/// What moves nothing computes the same, and what moves more than is between the files is made up for elsewhere; both
/// are taken out of NetworkProof::otherFunctions.
void measureChangedFunctions(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof);

/// Those first that move the output by which the files are known to be apart; the largest effect first. `told`: how
/// they are apart; null: they are not.
void sortByEffect(const ComparePair& pair, const NetworkDistance* told, NetworkProof& proof);

/// Attributes that depend on how large or how far apart values are, and rows of tables, that differ and move nothing on
/// these samples: into NetworkProof::unreached, where the files are the same.
void findUnreached(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof);

/// Which inputs or outputs of one size stand in each other's place: with them exchanged the quantized file without
/// its quantizers is near the float model, and without it is not. A sentence without a full stop; empty where none do.
std::string exchangedEnds(const ComparePair& pair, const ProofSample& sample, const WorkContext& work);

} // namespace qs
