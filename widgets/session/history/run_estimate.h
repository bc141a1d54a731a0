// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/quant/recipe/recipe.h"

#include <optional>

namespace qs {

/// How long a run after an edit will take, from how long earlier ones took.
class RunEstimate {
public:
    /// Milliseconds; nullopt while nothing was measured.
    std::optional<double> expect(const Recipe& before, const Recipe& after) const;
    void measured(const std::optional<Recipe>& before, const std::optional<Recipe>& after, double ms);
    void forget() { *this = {}; }

private:
    std::optional<double> m_whole; ///< from scratch, or another setting for all nodes
    std::optional<double> m_local; ///< some nodes or tensors are quantized otherwise
};

} // namespace qs
