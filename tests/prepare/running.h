// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/execution.h"
#include "core/tensor/convert.h"

#include <memory>
#include <vector>

namespace qs::test {

/// The elements of these values, one after another, of a model that is run once; empty where it cannot be run.
inline std::vector<double> valuesOf(
    const std::shared_ptr<const Plan>& plan, const std::vector<ValueId>& ids, const std::vector<Tensor>& inputs)
{
    const auto schedule = Schedule::make(plan, { ids, {} });
    if (!schedule)
        return {};
    BufferPool pool(uint64_t(1) << 30);
    Execution execution(*schedule, pool);
    if (!execution.bind(inputs).ok() || !execution.runAll({}).ok())
        return {};
    std::vector<double> all;
    for (const ValueId id : ids)
        for (const double v : toDoubles(toPlain(execution.get(id))))
            all.push_back(v);
    return all;
}

} // namespace qs::test
