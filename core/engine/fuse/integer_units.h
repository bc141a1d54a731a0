// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/qdq_graph.h"

#include <vector>

namespace qs {

/// The units of an integer profile: DequantizeLinear, operator, QuantizeLinear as one operator on codes, wherever ONNX
/// Runtime's default optimizations make such an operator of it on an x64 CPU.
std::vector<FusedUnit> integerUnits(const Plan& plan, const PlanOptions& options);

} // namespace qs
