// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/agreement/task_row.h"
#include "core/analysis/measure/measured.h"

namespace qs {

/// Of output `index`, over the samples that are done.
TaskRow taskRow(
    const ComparePair& pair, const std::vector<OutputPair>& outputs, size_t index, const Measured& measured);

} // namespace qs
