// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"

#include <set>

namespace qs {

/// Inputs of the graph from which each position of the output is made through what keeps positions apart: not those
/// that other positions look up alone, as keys and values of attention, nor what only tells masks and sizes.
std::set<ValueId> inputsByPosition(const Plan& plan, ValueId output);

/// The other way: what is made of an input position by position.
std::set<ValueId> valuesByPosition(const Plan& plan, ValueId input);

} // namespace qs
