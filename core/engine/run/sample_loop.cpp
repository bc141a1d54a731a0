// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/sample_loop.h"

#include "core/base/work/parallel.h"
#include "core/engine/run/memory_budget.h"

#include <algorithm>
#include <mutex>

namespace qs {

size_t asManyAtOnce(size_t samples, size_t threads) { return std::clamp<size_t>(samples, 1, threads); }

size_t allOrOneAtOnce(size_t samples, size_t threads) { return samples >= threads ? threads : 1; }

Execution SampleWorker::execution(std::shared_ptr<const Schedule> schedule) const
{
    Execution execution(std::move(schedule), pool);
    execution.useTeam(&team);
    return execution;
}

Result<SampleLoop> SampleLoop::make(Schedules beside, size_t atOnce, const WorkContext& work)
{
    SampleLoop loop(work);
    auto each = memoryPerWorker(beside, work.memoryBytes(), atOnce);
    while (!each && atOnce > 1)
        each = memoryPerWorker(beside, work.memoryBytes(), --atOnce);
    QS_TRY(loop.m_bytesEach, std::move(each));
    loop.m_spareBytes = loop.m_bytesEach;
    for (const auto& schedule : beside)
        loop.m_spareBytes -= schedule->estimatedPeakBytes();
    for (size_t i = 0; i < atOnce; ++i)
        loop.m_pools.push_back(std::make_unique<BufferPool>(loop.m_bytesEach));
    return loop;
}

Status SampleLoop::run(const Pass& pass, const Each& each)
{
    const size_t atOnce = asManyAtOnce(pass.samples, std::min(workers(), pass.atMost));
    const size_t threadsEach = std::max<size_t>(m_work.threadCount() / atOnce, 1);
    std::vector<std::unique_ptr<WorkerTeam>> teams(atOnce);
    std::mutex mutex;
    size_t done = pass.done;
    return parallelTry(pass.samples, atOnce, m_work.cancel, [&](size_t sample, size_t index) -> Status {
        if (!teams[index])
            teams[index] = std::make_unique<WorkerTeam>(threadsEach);
        QS_CHECK(each(sample, { index, *m_pools[index], *teams[index] }));
        const std::lock_guard lock(mutex);
        ++done;
        if (!pass.phase.empty())
            m_work.tell(pass.phase, done, pass.total ? pass.total : pass.samples);
        return {};
    });
}

} // namespace qs
