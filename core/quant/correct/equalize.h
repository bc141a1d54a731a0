// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

#include <vector>

namespace qs {

struct EqualizeReport {
    size_t pairs = 0; ///< of layers whose channels were brought to equal ranges
    std::vector<std::string> clips; ///< Clip nodes that stand between layers; these pairs are left as they are
    std::vector<std::string> replaced; ///< Clip nodes that became Relu
};

/// Cross-layer equalization: where one layer alone reads another (through Relu or a pool, depthwise layers included),
/// output channels of the first are divided and input channels of the second multiplied by what makes the ranges of
/// both weights equal channel by channel, until nothing moves. The model computes the same function; one scale for all
/// of a weight then serves every channel. Nodes that are not `chosen` keep their weights.
/// A Clip stands in the way, since one bound for all channels cannot be scaled by channel; with `replaceClips` those
/// from 0 on (Relu6) become Relu: what lies above their bound is then no longer cut.
/// Source: Nagel et al. 2019, Data-Free Quantization Through Weight Equalization and Bias Correction, section 4.1.
EqualizeReport equalizeLayers(GraphDraft& draft, const std::vector<bool>& chosen, bool replaceClips = false);

} // namespace qs
