// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <string>
#include <utility>
#include <vector>

namespace qs {

/// What onnxruntime-genai reads from a model's folder beside the model.
struct GenaiFolder {
    std::vector<std::pair<std::string, std::string>> copies; ///< from where to where
    std::vector<std::string> warnings;
};

/// The files beside the float model that belong beside another model at `outPath`: genai_config.json and what its
/// tokenizer is read from, as they are. What lies there already stays. None where the float model has no
/// genai_config.json, or where both are in one folder. A warning: the configuration names another file than the model.
GenaiFolder genaiFolder(const std::string& floatPath, const std::string& outPath);

} // namespace qs
