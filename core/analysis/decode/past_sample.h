// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"

#include <optional>
#include <string>

namespace qs {

/// The float model has caches, and none of them holds anything on this sample.
bool leavesCachesEmpty(const Plan& plan, const std::vector<Tensor>& inputs);

/// The second half of a text behind what `remembers`, the float model or a network of its names, remembers of its
/// first: one sample of which the caches hold something, each what the output of that name gave. Nothing where the
/// inputs do not allow it (no tokens, places or switches that nothing tells), names are others or it does not run so.
std::optional<ProofSample> sampleBehindPast(const ComparePair& pair, const std::shared_ptr<const Plan>& remembers,
    const ProofSample& sample, const WorkContext& work);

/// A sample without the positions that are padding in all of its texts, before or behind them, and which these are.
/// Nothing where there are none, or the inputs do not allow it.
struct UnpaddedSample {
    ProofSample sample;
    ReadPadding padding;
};
std::optional<UnpaddedSample> sampleWithoutPadding(const ComparePair& pair, const ProofSample& sample);

/// Nodes that make a cache of another one than the float model's do, by the graphs alone: a sentence without a full
/// stop; empty where there are none.
std::string exchangedCaches(const ComparePair& pair);

} // namespace qs
