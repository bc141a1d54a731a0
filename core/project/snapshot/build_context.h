// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/snapshot.h"

#include <algorithm>

namespace qs {

/// How a step does its work and what it may use of earlier work. Its result does not depend on any of it.
struct BuildContext {
    const RunSettings& settings;
    const EngineCaches& caches;
    const WorkContext work; ///< by these settings

    /// Bytes of the memory for values that the next runs may need again.
    uint64_t cacheShare() const { return std::min(settings.activationCache, work.memoryBytes() / 2); }
    PlanOptions planOptions() const { return { .cache = caches.lowered, .memoryLimit = work.memoryBytes() }; }
    void report(std::string_view phase) const { work.tell(phase, 0, 0); }
};

} // namespace qs
