// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/report.h"

namespace qs {

/// compareCsv() with what the laboratory says of each weight, by the scalar keys that JSON has (`laboratory.…`).
std::string compareCsv(const Snapshot& snapshot, const WeightLaboratory& laboratory);

} // namespace qs
