// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/rows/comparison.h"

namespace qs {

/// Each row of `a` gets the numbers of its partner in `b`: that of the same float value, which both comparisons have.
void numberOthers(Comparison& a, const Comparison& b);
void forgetOthers(Comparison& a);

} // namespace qs
