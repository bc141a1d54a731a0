// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

namespace qs {

/// The weight of a node of the quantized file; null: it has none that is paired.
const WeightRow* weightOf(const Comparison& comparison, NodeId quantNode);
/// The value behind a node of the quantized file, as its quantizer leaves it where there is one; null: none is paired.
const ActivationRow* madeBy(const Comparison& comparison, NodeId quantNode);
/// Its node in the float file; "" where that is not known.
std::string floatNodeOf(const Comparison& comparison, NodeId quantNode);
/// Of all nodes together; 0 where none can saturate.
double saturatingShare(const Comparison& comparison);

/// The same question about one quantized model, with the numbers of runs alone.
Inputs measuredAlone(Inputs inputs);
/// What a run beside others may start from: its sums are remembered by nobody else.
SnapshotPtr withoutMemory(const Snapshot& snapshot);

} // namespace qs
