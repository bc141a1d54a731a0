// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/work_context.h"

#include "core/base/work/memory.h"
#include "core/base/work/parallel.h"

namespace qs {

size_t WorkContext::threadCount() const { return threads ? threads : hardwareThreads(); }

uint64_t WorkContext::memoryBytes() const { return memoryLimitOrDefault(memoryLimit); }

void WorkContext::tell(std::string_view phase, size_t done, size_t total) const
{
    if (progress)
        progress(phase, done, total);
}

} // namespace qs
