// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/search/remedy_trials.h"

#include <vector>

/// What is tried in place of a finding's own remedy, one cause at a time.
namespace qs {

/// The finding's own remedy (`own`, measured), or what does about as much or more: the same for all weights, other ways
/// to keep sums within 16 bits, weights of 7 bits beside another form whose sums saturate on this CPU. All that it
/// tries is known to the trials afterwards. `most`: single nodes in float. Issue: cancelled.
Result<std::vector<Remedy>> bestAlone(RemedyTrials& trials, const Comparison& comparison, const Finding& finding,
    const std::vector<Remedy>& own, size_t most);

/// A finding of several places where sums saturate is told of by the one that gains most in float, as far as that was
/// tried.
void putBestPlaceFirst(const RemedyTrials& trials, const Comparison& comparison, Finding& finding);

} // namespace qs
