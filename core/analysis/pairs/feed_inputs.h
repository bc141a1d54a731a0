// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/data_source.h"
#include "core/engine/run/carry.h"

namespace qs {

/// What to bind to the inputs of one of the two models of a comparison. The feed follows the float file's inputs
/// without the carried ones; another model takes each by its name, else (unless `byNameAlone`) those that are left in
/// order. Carried inputs get `state`, by link; empty: that before the first sample.
std::vector<Tensor> feedInputs(const Plan& plan, const Graph& floatGraph, const std::vector<CarryLink>& floatCarry,
    const Feed& feed, const std::vector<CarryLink>& carry, const std::vector<Tensor>& state, bool byNameAlone);

} // namespace qs
