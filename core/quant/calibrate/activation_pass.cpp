// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/calibrate/activation_pass.h"

#include "core/data/sample_hash.h"

#include <algorithm>
#include <map>

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
    const size_t feeds = run.data->feeds();
    if (feeds == 0)
        return badInput("there are no samples to calibrate with", {}, "give at least one sample");
    QS_TRY(CarriedState start, CarriedState::make(run.plan, run.carry, run.data->initialStates()));
    std::vector<ValueId> watched;
    Demand demand;
    for (const std::string& name : run.tensors) {
        QS_TRY(const ValueId id, watchedValue(plan, name));
        watched.push_back(id);
        if (!plan.constant(id))
            demand.values.push_back(id);
    }
    const auto carried = start.outputs();
    demand.values.insert(demand.values.end(), carried.begin(), carried.end());
    QS_TRY(const auto schedule, Schedule::make(run.plan, std::move(demand)));
    const size_t atOnce = run.inOrder || !start.empty() ? 1 : allOrOneAtOnce(run.feeds().count, run.work.threadCount());
    QS_TRY(SampleLoop loop, SampleLoop::make(std::span(&schedule, 1), atOnce, run.work));
    ActivationPass pass(run, std::move(start), std::move(loop));
    pass.m_schedule = schedule;
    pass.m_watched = std::move(watched);
    pass.findSeen();
    return pass;
}

void ActivationPass::findSeen()
{
    const Plan& plan = *m_run->plan;
    std::map<ValueId, size_t> watchers;
    for (size_t i = 0; i < m_watched.size(); ++i)
        if (!plan.constant(m_watched[i]))
            watchers.emplace(m_watched[i], i);
    const auto addSeen = [&](ValueId id, std::vector<Seen>& to) {
        if (const auto found = watchers.find(id); found != watchers.end())
            to.push_back({ found->second, id });
    };
    for (const ValueId id : plan.graph().inputs())
        addSeen(id, m_inputs);
    for (const Schedule::Task& task : m_schedule->tasks()) {
        m_outputs.emplace_back();
        for (const ValueId id : task.outputs)
            addSeen(id, m_outputs.back());
    }
}

const Tensor* ActivationPass::constant(size_t watched) const { return m_run->plan->constant(m_watched[watched]); }

Status ActivationPass::runFeed(size_t index, const SampleWorker& worker, CarriedState& state, const See& see) const
{
    QS_TRY(const Feed feed, m_run->data->feed(index));
    if (m_run->hashes)
        std::ranges::copy(sampleHashes(feed), m_run->hashes->begin() + std::ptrdiff_t(feed.firstSample));
    Execution execution = worker.execution(m_schedule);
    QS_CHECK(execution.bind(state.inputs(feed.inputs)));
    auto show = [&](const std::vector<Seen>& values) -> Status {
        for (const Seen& seen : values) {
            QS_CHECK(see(seen.watched, execution.get(seen.value), index, worker.index));
            if (!state.carries(seen.value))
                execution.release(seen.value);
        }
        return {};
    };
    QS_CHECK(show(m_inputs));
    const CancelToken& cancel = m_run->work.cancel;
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

Status ActivationPass::run(std::string_view phase, const See& see)
{
    CarriedState state = m_start;
    const FeedRange feeds = m_run->feeds();
    return m_loop.run({ feeds.count, phase },
        [&](size_t index, const SampleWorker& worker) { return runFeed(feeds.first + index, worker, state, see); });
}

} // namespace qs
