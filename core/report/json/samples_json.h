// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// Adds what the samples are like: "inputs", "duplicates", "calibration_coverage", "learning_curve".
void addSamplesJson(const Comparison& comparison, nlohmann::ordered_json& document);

} // namespace qs
