// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/profile.h"
#include "core/engine/lowered/lowering_cache.h"
#include "core/engine/step/kernel_mode.h"

#include <memory>

namespace qs {

struct PlanOptions {
    KernelMode mode = KernelMode::Fast;
    ArithmeticProfile profile = ArithmeticProfile::Simulated;
    /// Plans made with the same one share lowered nodes and know the keys of their values; null: neither.
    std::shared_ptr<LoweringCache> cache = {};
};

} // namespace qs
