// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"
#include "core/data/data_source.h"
#include "core/engine/run/activation_cache.h"
#include "core/engine/run/carry.h"

#include <memory>

namespace qs {

/// What a look at single samples needs of a comparison.
struct DetailInputs {
    ComparePair pair;
    std::shared_ptr<const DataSource> data;
    CarryNames carry;
    std::shared_ptr<ActivationCache> activations; ///< may be null
};

} // namespace qs
