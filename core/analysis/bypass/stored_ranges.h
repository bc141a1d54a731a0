// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/pairs/pair_plan.h"

#include <map>

namespace qs {

/// Whether a node quantizes, dequantizes or computes on codes, in whatever form.
bool quantizes(const Node& node);

/// What ranges alone say of static quantizers of activations for which `activations` (by quantizer) has no bounds: see
/// BypassedRanges::AsStored.
void addStoredRanges(const ComparePair& pair, std::map<uint32_t, PairActivation>& activations);

} // namespace qs
