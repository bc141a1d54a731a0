// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/run_time.h"

#include "core/analysis/pairs/fed_model.h"
#include "core/base/work/stopwatch.h"
#include "core/engine/run/sample_loop.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kWarmup = 2; ///< rounds

struct Timed {
    std::shared_ptr<const Schedule> schedule;
    FedModel fed;
    std::vector<double> ms;
};

Status runOnce(Timed& model, const Feed& feed, const SampleWorker& worker, const CancelToken& cancel, bool counted)
{
    const auto inputs = model.fed.inputs(feed.inputs);
    const Stopwatch watch;
    Execution execution = worker.execution(model.schedule);
    QS_CHECK(execution.bind(inputs));
    QS_CHECK(execution.runAll(cancel));
    if (counted)
        model.ms.push_back(watch.ms());
    return {};
}

RunTime timeOf(std::vector<double> ms, size_t threads)
{
    std::ranges::sort(ms);
    const size_t n = ms.size();
    return { (ms[(n - 1) / 2] + ms[n / 2]) / 2, ms.front(), ms.back(), n, threads };
}

} // namespace

Result<std::vector<RunTime>> runTimes(std::span<const std::shared_ptr<const Plan>> plans, const DataSource& data,
    const CarryNames& carry, size_t runs, const WorkContext& work)
{
    if (plans.empty() || runs == 0)
        return std::vector<RunTime>();
    QS_TRY(const CarriedState first, CarriedState::make(plans.front(), carry));
    std::vector<Timed> models;
    std::vector<std::shared_ptr<const Schedule>> beside;
    for (const auto& plan : plans) {
        const auto outputs = plan->graph().outputs();
        QS_TRY(const auto schedule, Schedule::make(plan, { { outputs.begin(), outputs.end() }, {} }));
        QS_TRY(CarriedState state, CarriedState::make(plan, carry));
        models.push_back({ schedule, FedModel(std::move(state), first), {} });
        beside.push_back(schedule);
    }
    QS_TRY(SampleLoop loop, SampleLoop::make(beside, 1, work));
    const auto round = [&](size_t index, const SampleWorker& worker) -> Status {
        QS_TRY(const Feed feed, data.feed(index % data.feeds()));
        for (Timed& model : models)
            QS_CHECK(runOnce(model, feed, worker, work.cancel, index >= kWarmup));
        return {};
    };
    QS_CHECK(loop.run({ kWarmup + runs, "measure time" }, round));
    std::vector<RunTime> times;
    for (Timed& model : models)
        times.push_back(timeOf(std::move(model.ms), work.threadCount()));
    return times;
}

} // namespace qs
