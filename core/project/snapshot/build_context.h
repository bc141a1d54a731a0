// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/cancel.h"
#include "core/base/work/parallel.h"
#include "core/base/work/progress.h"
#include "core/project/memory.h"
#include "core/project/snapshot/snapshot.h"

namespace qs {

/// How a step does its work and what it may use of earlier work. Its result does not depend on any of it.
struct BuildContext {
    const RunSettings& settings;
    const EngineCaches& caches;
    const ProgressFn& progress;
    const CancelToken& cancel;

    size_t threads() const { return settings.threads ? settings.threads : hardwareThreads(); }
    uint64_t memoryLimit() const { return memoryLimitOrDefault(settings.memoryLimit); }
    PlanOptions planOptions() const { return { KernelMode::Fast, ArithmeticProfile::Simulated, caches.lowered }; }
    void report(std::string_view phase) const
    {
        if (progress)
            progress(phase, 0, 0);
    }
};

} // namespace qs
