// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/measure/measured.h"
#include "core/data/data_source.h"
#include "core/engine/run/carry.h"

#include <functional>
#include <vector>

namespace qs {

/// A few of the samples that were run, on which two files that are not one network show it: the first whose inputs are
/// not the same number everywhere, that of the worst output, one where the first value that has any has more numbers
/// that are not finite, and the one whose masks are most unlike the first one's (what is done to padding is seen only
/// where there is some). `feed` reads one of `feeds`; each is in the result at most once.
Result<std::vector<ProofSample>> proofSamples(
    const Measured& measured, size_t feeds, const std::function<Result<Feed>(size_t)>& feed);

/// Fills Measured::proof, on such samples and the one where lost activations matter most, and Measured::restored, where
/// all were measured. `before`: what is carried from sample to sample, before the first one.
Status proveMeasured(const ComparePair& pair, const CarriedState& before, size_t feeds,
    const std::function<Result<Feed>(size_t)>& feed, Measured& measured, const WorkContext& work);

} // namespace qs
