// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

namespace qs {

/// The row of a second quantized model (B) that is about the same value; null: B has none, or there is no B.
template <class Row> const Row* otherRow(const Snapshot& snapshot, const Row& row, std::vector<Row> Comparison::*rows)
{
    if (!snapshot.other || !row.other)
        return nullptr;
    const Comparison& comparison = *snapshot.other->snapshot->comparison;
    const std::vector<Row>& all = comparison.*rows;
    return row.other->row < all.size() ? &all[row.other->row] : nullptr;
}

} // namespace qs
