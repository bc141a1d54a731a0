// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/explain/explanation/explanation.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// The whole explanation, all terms included.
nlohmann::ordered_json explanationJson(const ElementExplanation& explanation);

/// "float", "integer", "quantize", "dequantize", "other".
std::string explanationKindName(ElementExplanation::Kind kind);

} // namespace qs
