// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/similarity.h"

#include <string>

namespace qs {

/// As few digits as show on which side of the limit a number is.
std::string numberAgainst(double value, double limit);
/// There is an SQNR, and it speaks for all elements.
bool hasSqnr(const Similarity& similarity);
/// "12.3 dB", "exact", or why there is none.
std::string measuredSqnr(const Similarity& similarity, double limit);

} // namespace qs
