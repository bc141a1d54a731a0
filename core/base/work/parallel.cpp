// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/parallel.h"

#include "core/base/work/worker_team.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <sched.h>
#include <thread>

namespace qs {

size_t hardwareThreads()
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return static_cast<size_t>(std::max(1, CPU_COUNT(&set)));
    return std::max(1u, std::thread::hardware_concurrency());
}

void parallelFor(size_t count, size_t threads, const std::function<void(size_t, size_t)>& work)
{
    WorkerTeam(std::min(threads, count)).run(count, work);
}

Status parallelTry(
    size_t count, size_t threads, const CancelToken& cancel, const std::function<Status(size_t, size_t)>& work)
{
    std::mutex mutex;
    std::optional<Issue> failure;
    size_t failed = 0;
    std::atomic<bool> stop { false };
    parallelFor(count, threads, [&](size_t index, size_t worker) {
        if (stop || cancel.cancelled())
            return;
        Status status = work(index, worker);
        if (status.ok())
            return;
        const std::lock_guard lock(mutex);
        if (!failure || index < failed) {
            failure = std::move(status).issue();
            failed = index;
        }
        stop = true;
    });
    if (cancel.cancelled())
        return cancelled();
    if (failure)
        return *failure;
    return {};
}

} // namespace qs
