// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/run/execution.h"

#include <memory>
#include <span>

namespace qs {

/// About what plans hold while the schedules run, beside their tensors: graphs, constants, and what kernels pack of
/// them; what several share is counted once.
uint64_t heldBytes(std::span<const std::shared_ptr<const Schedule>> schedules);

/// An Issue when looking at all constants of a plan takes more than the limit, or folding would have.
Status checkConstants(const Plan& plan, uint64_t limitBytes);
/// The same before there is a plan.
Status checkConstants(const Model& model, uint64_t limitBytes);

/// Bytes that each of `workers` may use for tensors when the schedules run side by side under a limit for all: what
/// heldBytes() leaves, shared equally. An Issue when one sample's tensors do not fit; sizes that inference could not
/// find count as one element.
Result<uint64_t> memoryPerWorker(
    std::span<const std::shared_ptr<const Schedule>> schedules, uint64_t limitBytes, size_t workers);

} // namespace qs
