// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/work/work_context.h"
#include "core/engine/run/execution.h"

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace qs {

/// How many samples run at once on so many threads: as many as there are.
size_t asManyAtOnce(size_t samples, size_t threads);
/// One on each thread, or where they are too few for that one after the other, which takes the memory of one.
size_t allOrOneAtOnce(size_t samples, size_t threads);

/// What a worker of a loop over samples has for itself: buffers within its share of the memory limit, and threads for
/// the nodes of its sample.
struct SampleWorker {
    size_t index; ///< below SampleLoop::workers()
    BufferPool& pool;
    WorkerTeam& team;
    /// A run with these.
    Execution execution(std::shared_ptr<const Schedule> schedule) const;
};

/// Loops over samples. Several samples run at once, each on one worker; threads that are left share the nodes of these
/// samples. Samples that go on from one another (carried state), or that are added up as they come, run one at a time,
/// in order. Buffers stay from loop to loop.
class SampleLoop {
public:
    using Schedules = std::span<const std::shared_ptr<const Schedule>>;
    /// For up to `atOnce` samples at once, over each of which `beside` run. An Issue when they do not fit the memory
    /// limit.
    static Result<SampleLoop> make(Schedules beside, size_t atOnce, const WorkContext& work);
    size_t workers() const { return m_pools.size(); }
    /// Bytes for the tensors of each worker, and how many of them its schedules do not need.
    uint64_t bytesEach() const { return m_bytesEach; }
    uint64_t spareBytes() const { return m_spareBytes; }

    struct Pass {
        size_t samples = 0;
        std::string_view phase = {}; ///< what progress is told of; empty: of nothing
        size_t done = 0, total = 0; ///< of a longer row of passes: before this one, and in all
        size_t atMost = SIZE_MAX; ///< at once
    };
    using Each = std::function<Status(size_t sample, const SampleWorker& worker)>;
    /// Calls `each` for all samples, begun in ascending order. After a failure or a cancellation nothing new begins; of
    /// several issues that of the first sample is returned.
    Status run(const Pass& pass, const Each& each);

private:
    explicit SampleLoop(const WorkContext& work)
        : m_work(work)
    {
    }
    WorkContext m_work;
    uint64_t m_bytesEach = 0, m_spareBytes = 0;
    std::vector<std::unique_ptr<BufferPool>> m_pools; ///< by worker
};

} // namespace qs
