// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/pair_runner.h"

#include "core/analysis/lockstep/lockstep.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/engine/lowered/content_key.h"

#include <algorithm>

namespace qs {

namespace {

/// Elements of the part of a feed's values that belongs to one of its samples.
PairRunner::Values sliceOf(const PairRunner::Values& all, size_t index, size_t slices)
{
    if (slices < 2 || all.x.size() % slices != 0)
        return all;
    const auto part = static_cast<ptrdiff_t>(all.x.size() / slices), begin = static_cast<ptrdiff_t>(index) * part;
    PairRunner::Values one;
    one.shape = all.shape;
    if (!one.shape.empty() && one.shape[0] % static_cast<int64_t>(slices) == 0)
        one.shape[0] /= static_cast<int64_t>(slices);
    one.x.assign(all.x.begin() + begin, all.x.begin() + begin + part);
    one.y.assign(all.y.begin() + begin, all.y.begin() + begin + part);
    return one;
}

} // namespace

Result<PairRunner> PairRunner::make(const DetailInputs& inputs, std::vector<PairPlan> pairs)
{
    const ComparePair& pair = inputs.pair;
    QS_TRY(const CarriedState f, CarriedState::make(pair.floatPlan, inputs.carry, inputs.data->initialStates()));
    QS_TRY(const CarriedState q, CarriedState::make(pair.quantPlan, inputs.carry, inputs.data->initialStates()));
    Demand ofFloat { f.outputs(), {} }, ofQuant { q.outputs(), {} };
    for (const PairPlan& p : pairs) {
        ofFloat.values.push_back(p.x);
        for (const ValueId id : { p.y, p.dynamicScale, p.dynamicZero })
            if (id.valid() && !pair.quantPlan->constant(id))
                ofQuant.values.push_back(id);
        if (p.beforeRounding.valid())
            ofQuant.unrounded.push_back(p.beforeRounding);
    }
    QS_TRY(const auto floatSchedule, Schedule::make(pair.floatPlan, std::move(ofFloat)));
    QS_TRY(const auto quantSchedule, Schedule::make(pair.quantPlan, std::move(ofQuant)));
    return PairRunner(inputs, std::move(pairs), { floatSchedule, FedModel(f, f) }, { quantSchedule, FedModel(q, f) });
}

Status PairRunner::runModel(Model& model, Execution& execution, const Feed& feed, const CancelToken& cancel)
{
    const auto tensors = model.fed.inputs(feed.inputs);
    QS_CHECK(execution.bind(tensors));
    if (m_inputs.activations && model.fed.state().empty() && !m_inputs.pair.writtenPlan)
        execution.useCache(*m_inputs.activations, sampleKey(tensors), CacheUse::Find);
    QS_CHECK(execution.runAll(cancel));
    model.fed.keep(execution);
    return {};
}

Status PairRunner::runFeed(const Feed& feed, const SampleWorker& worker, const CancelToken& cancel)
{
    Execution f = worker.execution(m_float.schedule), q = worker.execution(m_quant.schedule);
    QS_CHECK(runModel(m_float, f, feed, cancel));
    QS_CHECK(runModel(m_quant, q, feed, cancel));
    m_values.assign(m_pairs.size(), {});
    for (size_t i = 0; i < m_pairs.size(); ++i) {
        const PairPlan& plan = m_pairs[i];
        const Tensor& x = f.get(plan.x);
        const Tensor& y = plan.beforeRounding.valid() ? q.unrounded(plan.beforeRounding) : q.get(plan.y);
        if (x.count() != y.count())
            continue;
        double unused = 0;
        const QuantParams params = pairParams(plan, q, unused);
        Tensor keep;
        std::vector<float> buffer;
        const auto count = static_cast<size_t>(x.count());
        m_values[i].shape = x.shape();
        const float* data = asFloats(x, Layout::Plain, nullptr, buffer, keep);
        std::vector<float> factored;
        if (plan.factors)
            data = withFactors(*plan.factors, x.shape(), data, factored);
        m_values[i].x.assign(data, data + count);
        data = asFloats(y, Layout::Plain, &params, buffer, keep);
        m_values[i].y.assign(data, data + count);
    }
    return {};
}

/// Those that hold the samples, with state all up to the last one. Feeds hold equal numbers of samples, the last one
/// perhaps fewer.
std::vector<size_t> PairRunner::feedsFor(std::span<const size_t> samples) const
{
    const bool inOrder = !m_inputs.carry.empty();
    const size_t count = m_inputs.data->feeds();
    const size_t each = (m_inputs.data->samples() + count - 1) / std::max<size_t>(count, 1);
    std::vector<size_t> feeds;
    size_t next = 0;
    for (size_t at = 0; at < count && next < samples.size(); ++at) {
        const bool holds = samples[next] < (at + 1) * each;
        if (inOrder || holds)
            feeds.push_back(at);
        while (next < samples.size() && samples[next] < (at + 1) * each)
            ++next;
    }
    return feeds;
}

Status PairRunner::run(std::span<const size_t> samples, const WorkContext& work, const Use& use)
{
    const std::shared_ptr<const Schedule> beside[] { m_float.schedule, m_quant.schedule };
    QS_TRY(SampleLoop loop, SampleLoop::make(beside, 1, work));
    const std::vector<size_t> feeds = feedsFor(samples);
    size_t done = 0;
    return loop.run({ feeds.size() }, [&](size_t index, const SampleWorker& worker) -> Status {
        QS_TRY(const Feed feed, m_inputs.data->feed(feeds[index]));
        QS_CHECK(runFeed(feed, worker, work.cancel));
        for (; done < samples.size() && samples[done] < feed.firstSample + feed.samples; ++done) {
            std::vector<Values> values;
            for (const Values& all : m_values)
                values.push_back(sliceOf(all, samples[done] - feed.firstSample, feed.samples));
            use(samples[done], values);
            work.tell("run", done + 1, samples.size());
        }
        return {};
    });
}

} // namespace qs
