// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/graph/draft.h"

namespace qs {

/// Where an input takes codes, and Cast, Sub or Add and Mul or Div by single numbers, in whatever order, make reals of
/// them before anybody else reads them, one DequantizeLinear takes the place of these; nodes that only move elements
/// may stand before. Not where `reals`, another model that takes these reals as `realInput`, begins by the same step:
/// then it is no part of what the codes stand for. `plan`: of the draft's source, which is unchanged. The number of
/// DequantizeLinear.
size_t fuseInputDequantizing(
    GraphDraft& draft, const Plan& plan, const std::string& input, const Plan& reals, const std::string& realInput);

/// MatMul by a constant of whole numbers that are stored in floats, within those of int8, and a Mul behind it by a
/// positive number for each column, or one for all: a weight in codes, as exporters leave it that fold its Cast. Then
/// the constant is codes with a DequantizeLinear, and the MatMul makes what the Mul did.
bool hasWholeProducts(const Plan& plan);
size_t fuseWholeProducts(GraphDraft& draft, const Plan& plan);

} // namespace qs
