// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/about/model_info.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

/// What a model is: the document of `info`.
nlohmann::ordered_json infoJson(const Model& model, const ModelInfo& info);

} // namespace qs
