// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/profile.h"
#include "core/engine/lowered/lowering_cache.h"
#include "core/engine/step/kernel_mode.h"

#include <cstdint>
#include <memory>

namespace qs {

struct PlanOptions {
    KernelMode mode = KernelMode::Fast;
    ArithmeticProfile profile = ArithmeticProfile::Simulated;
    /// Plans made with the same one share lowered nodes and know the keys of their values; null: neither.
    std::shared_ptr<LoweringCache> cache = {};
    /// Nothing will be run: large constants are not touched, neither packed nor folded. What is small is known as ever,
    /// and so is what cannot run.
    bool onlyLookedAt = false;
    /// Bytes that folded constants may take; a node that would make more cannot run. 0: any.
    uint64_t memoryLimit = 0;
};

} // namespace qs
