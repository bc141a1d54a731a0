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
    // Indices are taken in ascending order: one below that of a failure was taken before and still has to be heard.
    std::atomic<size_t> firstFailed = SIZE_MAX;
    parallelFor(count, threads, [&](size_t index, size_t worker) {
        if (index > firstFailed || cancel.cancelled())
            return;
        Status status = work(index, worker);
        if (status.ok())
            return;
        const std::lock_guard lock(mutex);
        if (index > firstFailed)
            return;
        failure = std::move(status).issue();
        firstFailed = index;
    });
    if (cancel.cancelled())
        return cancelled();
    if (failure)
        return *failure;
    return {};
}

} // namespace qs
