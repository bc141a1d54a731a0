// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/number.h"

#include <cstddef>

namespace qs {

/// What a second quantized model (B) makes of the value that a row of the first (A) is about.
struct OtherNumbers {
    size_t row = 0; ///< of the same list in B's comparison
    Number sqnrDb; ///< accumulated (of the stored values: constants); null when exact or unknown
    bool exact = false;
    bool operator==(const OtherNumbers&) const = default;
};

/// Decibels of B over A at a row; null where either has no number.
template <class Row> Number gainOfOther(const Row& row, const Number& sqnrDb)
{
    return row.other && row.other->sqnrDb && sqnrDb ? Number(*row.other->sqnrDb - *sqnrDb) : Number();
}

} // namespace qs
