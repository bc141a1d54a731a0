// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/memory_budget.h"

namespace qs {

Result<uint64_t> memoryPerWorker(
    std::span<const std::shared_ptr<const Schedule>> schedules, uint64_t limitBytes, size_t workers)
{
    uint64_t constants = 0, tensors = 0;
    const auto add = [](uint64_t& sum, uint64_t bytes) { sum = bytes > UINT64_MAX - sum ? UINT64_MAX : sum + bytes; };
    for (const auto& schedule : schedules) {
        add(constants, schedule->constantBytes());
        add(tensors, schedule->estimatedPeakBytes());
    }
    const std::string& file = schedules.front()->plan().model().path;
    if (constants > limitBytes)
        return badInput("the weights need about " + std::to_string(constants) + " bytes, more than the memory limit of "
                + std::to_string(limitBytes),
            file, "use a larger --memory-limit");
    const uint64_t each = (limitBytes - constants) / workers;
    if (tensors > each)
        return badInput("one sample on each of " + std::to_string(workers) + " threads needs about "
                + std::to_string(tensors) + " bytes each for its tensors, more than the "
                + std::to_string(limitBytes - constants) + " bytes that the weights leave of the memory limit of "
                + std::to_string(limitBytes),
            file, "use fewer --threads, smaller inputs or a larger --memory-limit");
    return each;
}

} // namespace qs
