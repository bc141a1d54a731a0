// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/fuse/fused_unit.h"
#include "core/engine/lowered/lowered_graph.h"
#include "core/engine/lowered/plan_options.h"

#include <vector>

namespace qs {

/// The units of an integer profile: DequantizeLinear, operator, QuantizeLinear as one operator on codes, wherever ONNX
/// Runtime's default optimizations make such an operator of it on an x64 CPU.
std::vector<FusedUnit> integerUnits(const LoweredGraph& lowered, const PlanOptions& options);

/// By node: such a unit's kernel adds pairs of products in 16 bits on a CPU without VNNI.
std::vector<bool> nodesAddingPairs(const LoweredGraph& lowered);

/// By node: in such a unit it computes with codes. Units that only keep their weights as codes do not count.
std::vector<bool> nodesOnCodes(const LoweredGraph& lowered);

} // namespace qs
