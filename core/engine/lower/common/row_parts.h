// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/step/step_context.h"

namespace qs {

/// Cuts rows 0 .. rows-1 among the threads of a step; for results that do not depend on the cut (exact sums).
class RowParts {
public:
    /// `together`: rows that are cheap only in whole groups; `rowCost`: multiplications of one row. Little work stays
    /// whole.
    RowParts(const StepContext& step, int64_t rows, int64_t together, int64_t rowCost);
    /// work(first row, rows, worker), on all threads.
    void run(
        const StepContext& step, const std::function<void(int64_t first, int64_t rows, size_t worker)>& work) const;
    /// Workers that may be called: what each needs for itself is needed so often.
    size_t workers() const { return m_workers; }

private:
    int64_t m_rows;
    int64_t m_each; ///< rows of a part
    size_t m_workers = 1;
};

} // namespace qs
