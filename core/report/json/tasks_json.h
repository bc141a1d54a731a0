// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/output_row.h"

#include <nlohmann/json_fwd.hpp>

namespace qs {

nlohmann::ordered_json taskJson(const TaskRow& task);
/// Of one sample, by its index in the task's list; null where the task says nothing of it.
nlohmann::ordered_json taskSampleJson(const TaskRow& task, size_t index);

} // namespace qs
