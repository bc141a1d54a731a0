// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/carry.h"

namespace qs {

/// Outputs of a decoder that are its inputs for the next token, by their names: past_key_values.N.key and
/// present.N.key, past_N and present_N, cache_k_in and cache_k_out ... In the order of the inputs. Of one type each; a
/// name that fits two outputs is paired with none.
/// `anyType`: of floats on one side, as an input that was fitted to floats has them, and codes on the other, too.
CarryNames cachePairs(const Graph& graph, bool anyType = false);

/// What is remembered from step to step by its name: a word of it is past, present, cache, key, value or state.
bool saysItIsCache(const std::string& name);

} // namespace qs
