// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/match/graph/channel_steps.h"
#include "core/tensor/quant_params.h"

#include <span>
#include <vector>

namespace qs {

/// One weight of a product, element by element.
struct StoredWeight {
    std::span<const float> wanted; ///< of the float model, folded by the factors as they are stored
    std::span<const float> stored;
    std::span<const float> steps; ///< of the codes
    std::span<const size_t> channels;
};

/// A factor behind the product that is stored as codes is only within half a step of the one that the float file has
/// folded. By channel, the ratio that the wanted weight is multiplied by, and `factor` divided by, so that as many
/// elements as can be are within half a step of what is stored; 1 where less than half of them can be.
std::vector<double> fittedRatios(const StoredWeight& weight, const ChannelStep& factor);

} // namespace qs
