// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/remedy.h"

#include <vector>

/// What the changes of a remedy are about.
namespace qs {

/// Of how activations are quantized, and of nothing else.
bool ofActivationsAlone(const std::vector<Remedy>& changes);
bool ofWeightsAlone(const std::vector<Remedy>& changes);
/// Finds ranges anew beside what it does to weights.
bool recalibratesToo(const std::vector<Remedy>& changes);
/// One change, of the ranges of all activations.
bool ofAllRanges(const std::vector<Remedy>& changes);
/// What one node gains in float it may gain in a healthy file, too: that mends no cause in another place.
bool leavesOneNode(const std::vector<Remedy>& changes);

} // namespace qs
