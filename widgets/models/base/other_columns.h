// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/cells.h"

/// Columns of a second quantized model (B) beside the first (A), for rows that have its numbers in `other`.
namespace qs {

template <class Row> Cell<Row> otherSqnrCell()
{
    return decibels<Row>([](const Row& row) { return row.other ? row.other->sqnrDb : Number(); },
        [](const Row& row) { return row.other && row.other->exact; });
}

/// "+3.2", the unit being the column's.
inline QString gainNumber(const Number& gainDb)
{
    return gainDb && *gainDb >= 0.05 ? u'+' + decibelNumber(gainDb) : decibelNumber(gainDb);
}

/// `sqnrDb`: of A, a function of the row.
template <class Row> Cell<Row> otherGainCell(auto sqnrDb)
{
    return numbers<Row>([sqnrDb](const Row& row) { return gainOfOther(row, std::invoke(sqnrDb, row)); }, gainNumber);
}

} // namespace qs
