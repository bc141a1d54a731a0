// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace qs {

/// Nodes whose 16-bit sums saturated, most pairs first, with the worst channel; `verbose` shows all of them.
std::string saturationText(const std::vector<SaturationRow>& rows, bool verbose);
/// "channel 3, products 4 and 5: 255 · 127 + 250 · 120 = 62385, of which 32767 is kept"
std::string saturatedPairText(const SaturatedPair& pair);
nlohmann::ordered_json saturationJson(const std::vector<SaturationRow>& rows);

} // namespace qs
