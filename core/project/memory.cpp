// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/memory.h"

#include <sys/resource.h>
#include <unistd.h>

namespace qs {

uint64_t memoryLimitOrDefault(uint64_t limit)
{
    if (limit)
        return limit;
    return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE)) / 10 * 8;
}

uint64_t peakMemoryBytes()
{
    rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

} // namespace qs
