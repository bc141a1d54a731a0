// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/weight_lab.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// Of one weight; null without one.
nlohmann::ordered_json weightLabJson(const std::optional<WeightLab>& lab);
/// What equalization would do to the model as a whole.
nlohmann::ordered_json equalizationJson(const WeightLaboratory& laboratory);

} // namespace qs
