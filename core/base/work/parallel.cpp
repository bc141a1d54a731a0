// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/work/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

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
    threads = std::clamp<size_t>(threads, 1, std::max<size_t>(count, 1));
    std::atomic<size_t> next { 0 };
    std::exception_ptr failure;
    std::mutex failureMutex;
    auto loop = [&](size_t worker) {
        try {
            for (size_t i = next++; i < count; i = next++)
                work(i, worker);
        } catch (...) {
            std::lock_guard lock(failureMutex);
            if (!failure)
                failure = std::current_exception();
            next = count;
        }
    };
    if (threads == 1) {
        loop(0);
    } else {
        std::vector<std::thread> pool;
        try {
            for (size_t w = 0; w < threads; ++w)
                pool.emplace_back(loop, w);
        } catch (const std::system_error&) { // the system gives no more threads: those there are do the work
            if (pool.empty())
                loop(0);
        }
        for (auto& t : pool)
            t.join();
    }
    if (failure)
        std::rethrow_exception(failure);
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
