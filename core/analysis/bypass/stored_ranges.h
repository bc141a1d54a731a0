// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/pair_plan.h"

#include <map>

namespace qs {

/// By what it is known which activation a quantizer stands for.
enum class BypassedRanges {
    AsPaired, ///< by the float value that it is paired with
    /// The same, and where that has none by the range: one that begins at 0 cuts off as Relu does, one that ends at the
    /// bound of a Clip of the float model, too, as that does.
    AsStored,
};

/// Whether a node quantizes, dequantizes or computes on codes, in whatever form.
bool quantizes(const Node& node);

/// What ranges alone say of static quantizers of activations for which `activations` (by quantizer) has no bounds: see
/// BypassedRanges::AsStored.
void addStoredRanges(const ComparePair& pair, std::map<uint32_t, PairActivation>& activations);

} // namespace qs
