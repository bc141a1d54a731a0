// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/weight_map.h"
#include "widgets/plots/series.h"
#include "widgets/session/shown/theme.h"

namespace qs {

/// RMS errors over the last two axes, in the tensor's unit or in shares of the values there.
HeatData errorMapData(const PairDetail& detail, bool relative, const Theme& theme);
enum class WeightMapOf { Error, Relative, Scale };
/// A weight's output channels over what they sum up: RMS errors, these over the values, or the scales of the blocks.
HeatData weightMapData(const WeightMap& weight, WeightMapOf of, const Theme& theme);
/// What the second has more than the first, both of one tensor.
HeatData differenceData(const HeatData& first, HeatData second, const Theme& theme);
/// `other`: the same of a second quantized model (B); null: none.
LineData magnitudeData(
    const std::vector<MagnitudeBand>& bands, const std::vector<MagnitudeBand>* other, const Theme& theme);

} // namespace qs
