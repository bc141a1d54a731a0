// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/explain/run/sample_values.h"

#include "core/analysis/pairs/fed_model.h"
#include "core/engine/lowered/content_key.h"
#include "core/engine/run/sample_loop.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>

namespace qs {

bool canBeRead(const Plan& plan, ValueId id)
{
    return id.valid() && (plan.constant(id) || (!plan.hidden(id) && !plan.blocked(id) && plan.container(id).empty()));
}

const Tensor& SampleValues::of(ValueId id) const
{
    static const Tensor none;
    const auto it = m_values.find(id);
    return it == m_values.end() ? none : it->second;
}

int64_t SampleValues::parts(const Tensor& tensor) const
{
    const auto samples = int64_t(m_samples);
    return tensor.rank() > 0 && tensor.dim(0) % samples == 0 ? samples : 1;
}

int64_t SampleValues::rows(const Tensor& tensor) const { return tensor.rank() > 0 ? tensor.dim(0) / parts(tensor) : 1; }

int64_t SampleValues::firstRow(const Tensor& tensor) const
{
    return parts(tensor) > 1 ? int64_t(m_position) * rows(tensor) : 0;
}

Result<SampleValues> SampleValues::read(std::shared_ptr<const Plan> plan, const std::vector<ValueId>& values,
    const SampleRuns& runs, size_t sample, const WorkContext& work)
{
    SampleValues found;
    Demand demand;
    for (const ValueId id : values) {
        if (!canBeRead(*plan, id))
            continue;
        if (const Tensor* constant = plan->constant(id))
            found.m_values.emplace(id, toPlain(*constant));
        else
            demand.values.push_back(id);
    }
    if (demand.values.empty())
        return found;
    if (!runs.data)
        return badUse("its values depend on data, and there are none", "give --data");
    QS_CHECK(checkSample(*runs.data, sample));
    const size_t samples = runs.data->samples();
    QS_TRY(const CarriedState own, CarriedState::make(plan, runs.carry, runs.data->initialStates()));
    QS_TRY(const CarriedState fed, CarriedState::make(runs.fed, runs.carry, runs.data->initialStates()));
    for (const ValueId id : own.outputs())
        demand.values.push_back(id);
    std::ranges::sort(demand.values);
    demand.values.erase(std::unique(demand.values.begin(), demand.values.end()), demand.values.end());
    QS_TRY(const auto schedule, Schedule::make(plan, demand));
    FedModel model(own, fed);
    const std::array<std::shared_ptr<const Schedule>, 1> beside { schedule };
    QS_TRY(SampleLoop loop, SampleLoop::make(beside, 1, work));
    const size_t each
        = std::max<size_t>((samples + runs.data->feeds() - 1) / std::max<size_t>(runs.data->feeds(), 1), 1);
    const size_t last = sample / each, first = runs.carry.empty() ? last : 0;
    const auto runOne = [&](size_t index, const SampleWorker& worker) -> Status {
        QS_TRY(const Feed feed, runs.data->feed(first + index));
        Execution run = worker.execution(schedule);
        const auto inputs = model.inputs(feed.inputs);
        QS_CHECK(run.bind(inputs));
        if (runs.activations && own.empty())
            run.useCache(*runs.activations, sampleKey(inputs), CacheUse::Find);
        QS_CHECK(run.runAll(work.cancel));
        model.keep(run);
        work.tell("run", index + 1, last + 1 - first);
        if (first + index < last)
            return {};
        found.m_samples = std::max<size_t>(feed.samples, 1);
        found.m_firstSample = feed.firstSample;
        found.m_position = sample - feed.firstSample;
        for (const ValueId id : demand.values)
            found.m_values.emplace(id, toPlain(run.get(id)));
        return {};
    };
    QS_CHECK(loop.run({ last + 1 - first }, runOne));
    return found;
}

} // namespace qs
