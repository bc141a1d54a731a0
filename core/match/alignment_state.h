// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph.h"
#include "core/match/alignment.h"

#include <string>
#include <string_view>

namespace qs {

/// What an alignment found: it follows from data, not from the files alone.
std::string alignmentBytes(const Alignment& alignment);
/// Puts it into an alignment of the same two files, in place of what is there; what the user keeps apart stays. False
/// where it does not fit them.
bool readAlignment(
    std::string_view bytes, const Graph& floatGraph, const Graph& quantGraph, size_t quantizers, Alignment& alignment);

} // namespace qs
