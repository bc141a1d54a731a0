// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/output_row.h"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace qs {

nlohmann::ordered_json taskJson(const TaskRow& task);
/// Of one sample, by its index in the task's list; null where the task says nothing of it.
nlohmann::ordered_json taskSampleJson(const TaskRow& task, size_t index);

/// Of the first output that guesses next tokens; null where none does.
nlohmann::ordered_json languageJson(const std::vector<OutputRow>& outputs);

} // namespace qs
