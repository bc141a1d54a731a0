// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// {"float": [{"value", "node", "op_type"}], "quantized": []}: values of each file that the other one computes inside a
/// node.
nlohmann::ordered_json insideJson(const Snapshot& snapshot);
/// {"float": [{"value", "why"}], "quantized": []}: of values without a partner, where it is known.
nlohmann::ordered_json unmatchedWhyJson(const Snapshot& snapshot);

} // namespace qs
