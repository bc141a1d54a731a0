// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/report.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

nlohmann::ordered_json filesJson(const std::vector<FileFacts>& files);
/// Where the ranges of the recipe come from; null where nothing was calibrated here.
nlohmann::ordered_json calibrationJson(const Snapshot& snapshot);
nlohmann::ordered_json elementsJson(const ElementDifferences& found);

} // namespace qs
