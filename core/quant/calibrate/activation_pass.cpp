// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/activation_pass.h"

#include "core/base/work/parallel.h"
#include "core/engine/run/memory_budget.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace qs {

namespace {

Issue ofTensor(const std::string& name, const std::string& file, std::string what, std::string remedy)
{
    return { IssueKind::BadInput, std::move(what), file, {}, name, std::move(remedy) };
}

Result<ValueId> watchedValue(const Plan& plan, const std::string& name)
{
    const ValueId id = plan.graph().findValue(name);
    const std::string& file = plan.model().path;
    if (!id.valid())
        return ofTensor(name, file, "cannot be calibrated: the model has no such tensor", "check the name");
    const DType type = plan.facts().of(id).dtype;
    if (type != DType::Float32 && type != DType::Float16)
        return ofTensor(name, file, "cannot be calibrated: it is " + std::string(dtypeName(type)),
            "calibrate float32 and float16 tensors alone");
    return id;
}

} // namespace

Result<ActivationPass> ActivationPass::make(const CalibrationRun& run)
{
    const Plan& plan = *run.plan;
    if (run.data->feeds() == 0)
        return badInput("there are no samples to calibrate with", {}, "give at least one sample");
    ActivationPass pass;
    pass.m_run = &run;
    QS_TRY(pass.m_carry, findCarry(plan, run.carry));
    Demand demand;
    for (const std::string& name : run.tensors) {
        QS_TRY(const ValueId id, watchedValue(plan, name));
        pass.m_watched.push_back(id);
        if (!plan.constant(id))
            demand.values.push_back(id);
    }
    for (const CarryLink& link : pass.m_carry)
        demand.values.push_back(link.output);
    QS_TRY(pass.m_schedule, Schedule::make(run.plan, std::move(demand)));
    std::map<ValueId, size_t> watchers;
    for (size_t i = 0; i < pass.m_watched.size(); ++i)
        if (!plan.constant(pass.m_watched[i]))
            watchers.emplace(pass.m_watched[i], i);
    auto addSeen = [&](ValueId id, std::vector<Seen>& to) {
        if (const auto found = watchers.find(id); found != watchers.end())
            to.push_back({ found->second, id });
    };
    for (const ValueId id : plan.graph().inputs())
        addSeen(id, pass.m_inputs);
    for (const Schedule::Task& task : pass.m_schedule->tasks()) {
        pass.m_outputs.emplace_back();
        for (const ValueId id : task.outputs)
            addSeen(id, pass.m_outputs.back());
    }
    // State is carried from sample to sample, so these run in order on one worker.
    const bool parallel = !run.inOrder && pass.m_carry.empty() && run.data->feeds() >= run.threads;
    const size_t workers = parallel ? std::max<size_t>(run.threads, 1) : 1;
    if (workers < run.threads)
        pass.m_team = std::make_unique<WorkerTeam>(run.threads);
    uint64_t bytes = UINT64_MAX;
    if (run.memoryLimit) {
        QS_TRY(bytes, memoryPerWorker(std::span(&pass.m_schedule, 1), run.memoryLimit, workers));
        pass.m_spareBytes = bytes - pass.m_schedule->estimatedPeakBytes();
    }
    for (size_t i = 0; i < workers; ++i)
        pass.m_pools.push_back(std::make_unique<BufferPool>(bytes));
    return pass;
}

const Tensor* ActivationPass::constant(size_t watched) const { return m_run->plan->constant(m_watched[watched]); }

Status ActivationPass::runFeed(
    size_t index, size_t worker, CarriedState& state, const See& see, const CancelToken& cancel)
{
    QS_TRY(const Feed feed, m_run->data->feed(index));
    Execution execution(m_schedule, *m_pools[worker]);
    execution.useTeam(m_team.get());
    QS_CHECK(execution.bind(state.inputs(feed.inputs)));
    auto show = [&](const std::vector<Seen>& values) -> Status {
        for (const Seen& seen : values) {
            QS_CHECK(see(seen.watched, execution.get(seen.value), index, worker));
            if (!state.carries(seen.value))
                execution.release(seen.value);
        }
        return {};
    };
    QS_CHECK(show(m_inputs));
    while (!execution.finished()) {
        if (cancel.cancelled())
            return cancelled();
        const size_t task = execution.position();
        QS_CHECK(execution.step(&cancel));
        QS_CHECK(show(m_outputs[task]));
    }
    state.keep(execution);
    return {};
}

Status ActivationPass::run(
    const See& see, std::string_view phase, const ProgressFn& progress, const CancelToken& cancel)
{
    const size_t feeds = m_run->data->feeds();
    CarriedState state(m_run->plan, m_carry);
    std::mutex mutex;
    size_t finished = 0;
    return parallelTry(feeds, workers(), cancel, [&](size_t index, size_t worker) -> Status {
        CarriedState none(m_run->plan, {});
        QS_CHECK(runFeed(index, worker, m_carry.empty() ? none : state, see, cancel));
        const std::lock_guard lock(mutex);
        ++finished;
        if (progress)
            progress(phase, finished, feeds);
        return {};
    });
}

} // namespace qs
