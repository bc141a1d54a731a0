// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/row_parts.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kLeastWork = int64_t(1) << 19; ///< multiplications worth handing to another thread
constexpr int64_t kPartsAWorker = 2; ///< so that one that begins late has less to do

} // namespace

RowParts::RowParts(const StepContext& step, int64_t rows, int64_t together, int64_t rowCost)
    : m_rows(rows)
    , m_each(std::max<int64_t>(rows, 1))
{
    const auto workers = static_cast<int64_t>(step.workers());
    const int64_t worth = rows / std::max<int64_t>(kLeastWork / std::max<int64_t>(rowCost, 1), 1);
    const int64_t parts = std::min(workers * kPartsAWorker, worth);
    if (workers <= 1 || parts <= 1)
        return;
    together = std::max<int64_t>(together, 1);
    m_each = std::max<int64_t>(((rows + parts - 1) / parts + together - 1) / together * together, 1);
    m_workers = step.workers();
}

void RowParts::run(
    const StepContext& step, const std::function<void(int64_t first, int64_t rows, size_t worker)>& work) const
{
    const auto one = [&](size_t index, size_t worker) {
        const int64_t first = static_cast<int64_t>(index) * m_each;
        work(first, std::min(m_each, m_rows - first), worker);
    };
    const auto parts = static_cast<size_t>((m_rows + m_each - 1) / m_each);
    if (parts > 1)
        step.parallel(parts, one);
    else if (parts == 1)
        one(0, 0);
}

} // namespace qs
