// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/compare_pair.h"

#include <cstdint>
#include <optional>

namespace qs {

/// An axis of what a node of each file reads first, in the order that both files had before their Transposes.
struct AxesBefore {
    int64_t ofFloat = 0, ofQuant = 0;
    bool turnedAlike = true; ///< the same Transposes stand before both nodes, or none
};

/// Transposes right before the nodes are gone back through. Nothing where these differ and what stands before them is
/// no pair, or the ranks are not known.
std::optional<AxesBefore> axesBefore(
    const ComparePair& pair, NodeId floatNode, NodeId quantNode, int64_t floatAxis, int64_t quantAxis);

} // namespace qs
