// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/base/place.h"

#include <optional>
#include <vector>

namespace qs {

/// The row of a paired value of one of the models. Where several pairs of quantizers stand for a value of the float
/// model it is the worst of them: who asks for the tensor alone looks for its error. A value of the quantized model
/// whose pair does what another one does with the same value has that one's row.
std::optional<size_t> rowOfValue(
    const Snapshot& snapshot, Side side, ValueId value, Metric metric = Metric::Accumulated);
/// Of a value of the float model as one of these nodes reads it.
std::optional<size_t> rowOfRead(const Snapshot& snapshot, ValueId value, const std::vector<NodeId>& readers);
/// Of two rows the worse one, where both are pairs of quantizers of one value of the float model; else the first.
size_t worseOfPairs(const Comparison& comparison, size_t first, size_t second, Metric metric = Metric::Accumulated);

} // namespace qs
