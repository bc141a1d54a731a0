// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/output_row.h"

#include <vector>

namespace qs {

/// The outputs that are results: those that are not handed on to the next run, or all where there is no other.
std::vector<const OutputRow*> resultOutputs(const std::vector<OutputRow>& outputs);
/// Of the results the one with the lowest SQNR, an exact one where all are; null without outputs.
const OutputRow* worstOutput(const std::vector<OutputRow>& outputs);

} // namespace qs
