// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/runs.h"
#include "core/project/snapshot/build_snapshot.h"

#include <string>
#include <vector>

namespace qs {

/// One way to keep sums of products within 16 bits, made and measured.
struct SaturationTrial {
    enum class Kind {
        ReduceHere, ///< the weight of one node in 7 bits
        Exclude, ///< one node in float
        ReduceEverywhere, ///< all weights in 7 bits
        UnsignedWeights, ///< activations and weights as uint8: another kernel, which is exact
        SignedActivations, ///< activations and weights as int8: exact where a runtime does not shift them
    };
    Kind kind = Kind::ReduceEverywhere;
    std::string node; ///< of the float file; "" = all
    Recipe recipe; ///< that does it
    RunNumbers numbers; ///< under integer-avx2
    double share = 0; ///< of the pairs, that saturate still
    std::string problem; ///< why there are no numbers
};

struct SaturationTrials {
    RunNumbers before; ///< of the recipe without any of it, under integer-avx2
    double shareBefore = 0;
    bool asFile = true; ///< the recipe makes what the quantized file is; else it only comes close
    std::vector<SaturationTrial> trials; ///< best output first, those without numbers last
};

/// Remedies for the nodes where most pairs saturate (`nodes` of them) and for all at once, each made by a recipe and
/// run over the same samples. The snapshot must hold a comparison under integer-avx2. Issues: no recipe can be read
/// from the quantized file; cancelled.
Result<SaturationTrials> trySaturationRemedies(
    const SnapshotPtr& snapshot, size_t nodes, const ProgressFn& progress, const CancelToken& cancel);

std::string_view saturationTrialName(SaturationTrial::Kind kind); ///< "reduce_range_here"

} // namespace qs
