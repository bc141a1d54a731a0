// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/work/cancel.h"

#include <cstddef>
#include <functional>

namespace qs {

/// Cores this process may use (at least 1).
size_t hardwareThreads();

/// One loop on a WorkerTeam of its own, which has no more threads than there are indices.
void parallelFor(size_t count, size_t threads, const std::function<void(size_t index, size_t worker)>& work);

/// The same for work that can fail. After a failure nothing above its index begins, after a cancellation nothing at
/// all. The issue is that of the lowest index that fails, the same on any number of threads, or Cancelled.
Status parallelTry(size_t count, size_t threads, const CancelToken& cancel,
    const std::function<Status(size_t index, size_t worker)>& work);

} // namespace qs
