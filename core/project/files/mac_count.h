// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"
#include "core/project/snapshot/loaded_model.h"

namespace qs {

/// Multiply-accumulates of one run of a model.
struct MacCount {
    std::optional<int64_t> all; ///< nullopt where sizes are unknown
    Number codeShare; ///< of all: both factors are codes; null without any, or unknown sizes
};
/// `comparison`: says the sizes of inputs that the file leaves open; null: none.
MacCount macCount(const LoadedModel& model, const Comparison* comparison);

} // namespace qs
