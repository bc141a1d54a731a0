// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

namespace qs {

namespace {

uint64_t physicalMemory()
{
    return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

} // namespace

uint64_t memoryLimitOrDefault(uint64_t limit) { return limit ? limit : physicalMemory() / 10 * 8; }

uint64_t defaultActivationCache() { return physicalMemory() / 4; }

uint64_t allocatedBytes()
{
    const struct mallinfo2 info = mallinfo2();
    return uint64_t(info.uordblks) + uint64_t(info.hblkhd);
}

void joinFreedMemory() { mallopt(M_MXFAST, 0); }

uint64_t peakMemoryBytes()
{
    rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

} // namespace qs
