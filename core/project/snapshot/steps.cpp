// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/snapshot/steps.h"

namespace qs {

Status Steps::withinMemory(uint64_t more) const
{
    const uint64_t limit = context.settings.memoryLimit;
    if (limit == 0)
        return {};
    const uint64_t now = allocatedBytes();
    const uint64_t taken = (now > m_allocatedBefore ? now - m_allocatedBefore : 0) + more;
    if (taken <= limit)
        return {};
    const Inputs& asked = next.inputs;
    return badInput((more == 0 ? "what was worked out so far takes " : "the next step needs about ")
            + std::to_string(taken) + " bytes, more than the memory limit of " + std::to_string(limit),
        asked.quantPath.empty() ? asked.floatPath : asked.quantPath, "use a larger --memory-limit");
}

} // namespace qs
