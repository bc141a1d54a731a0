// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/carry.h"

namespace qs {

/// Outputs of a decoder that are its inputs for the next token, by their names: past_key_values.N.key and
/// present.N.key, past_N and present_N, cache_k_in and cache_k_out ... In the order of the inputs. Of one type each; a
/// name that fits two outputs is paired with none.
CarryNames cachePairs(const Graph& graph);

} // namespace qs
