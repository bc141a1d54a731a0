// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace qs {

/// Threads that stay ready between many short parallel loops (parallelFor starts threads for each). One loop at a time;
/// a loop inside a loop is not allowed.
class WorkerTeam {
public:
    /// `threads` counts the caller; fewer when the system gives no more.
    explicit WorkerTeam(size_t threads);
    ~WorkerTeam();
    WorkerTeam(const WorkerTeam&) = delete;
    WorkerTeam& operator=(const WorkerTeam&) = delete;
    size_t threads() const;
    /// Calls work(index, worker) for every index below `count`, worker < threads(), and returns when all are done. The
    /// first exception is rethrown then.
    void run(size_t count, const std::function<void(size_t index, size_t worker)>& work);

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace qs
