// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/pair_runner.h"

#include "core/analysis/lockstep/lockstep.h"
#include "core/analysis/pairs/feed_inputs.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/engine/lowered/content_key.h"
#include "core/tensor/convert.h"

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
    PairRunner runner(inputs);
    runner.m_pairs = std::move(pairs);
    Demand f, q;
    const ComparePair& pair = inputs.pair;
    for (const PairPlan& p : runner.m_pairs) {
        f.values.push_back(p.x);
        for (const ValueId id : { p.y, p.dynamicScale, p.dynamicZero })
            if (id.valid() && !pair.quantPlan->constant(id))
                q.values.push_back(id);
        if (p.beforeRounding.valid())
            q.unrounded.push_back(p.beforeRounding);
    }
    QS_TRY(runner.m_float.carry, findCarry(*pair.floatPlan, inputs.carry));
    QS_TRY(runner.m_quant.carry, findCarry(*pair.quantPlan, inputs.carry));
    for (const CarryLink& link : runner.m_float.carry)
        f.values.push_back(link.output);
    for (const CarryLink& link : runner.m_quant.carry)
        q.values.push_back(link.output);
    QS_TRY(runner.m_float.schedule, Schedule::make(pair.floatPlan, std::move(f)));
    QS_TRY(runner.m_quant.schedule, Schedule::make(pair.quantPlan, std::move(q)));
    return runner;
}

Status PairRunner::runModel(
    Model& model, Execution& execution, const Feed& feed, bool byNameAlone, const CancelToken& cancel)
{
    const Plan& plan = model.schedule->plan();
    const auto tensors = feedInputs(
        plan, m_inputs.pair.floatPlan->graph(), m_float.carry, feed, model.carry, model.state, byNameAlone);
    QS_CHECK(execution.bind(tensors));
    if (m_inputs.activations && model.carry.empty() && !m_inputs.pair.writtenPlan)
        execution.useCache(*m_inputs.activations, sampleKey(tensors), CacheUse::Find);
    QS_CHECK(execution.runAll(cancel));
    model.state.clear();
    for (const CarryLink& link : model.carry)
        model.state.push_back(toPlain(execution.get(link.output)));
    return {};
}

Status PairRunner::runFeed(const Feed& feed, const CancelToken& cancel)
{
    Execution f(m_float.schedule, m_pool), q(m_quant.schedule, m_pool);
    QS_CHECK(runModel(m_float, f, feed, true, cancel));
    QS_CHECK(runModel(m_quant, q, feed, false, cancel));
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
        m_values[i].x.assign(data, data + count);
        data = asFloats(y, Layout::Plain, &params, buffer, keep);
        m_values[i].y.assign(data, data + count);
    }
    return {};
}

Status PairRunner::run(
    std::span<const size_t> samples, const ProgressFn& progress, const CancelToken& cancel, const Use& use)
{
    const bool inOrder = !m_float.carry.empty() || !m_quant.carry.empty();
    size_t done = 0;
    for (size_t at = 0; at < m_inputs.data->feeds() && done < samples.size(); ++at) {
        if (cancel.cancelled())
            return cancelled();
        // Feeds hold equal numbers of samples, the last one perhaps fewer.
        const size_t each = (m_inputs.data->samples() + m_inputs.data->feeds() - 1) / m_inputs.data->feeds();
        if (!inOrder && samples[done] >= (at + 1) * each)
            continue;
        QS_TRY(const Feed feed, m_inputs.data->feed(at));
        QS_CHECK(runFeed(feed, cancel));
        for (; done < samples.size() && samples[done] < feed.firstSample + feed.samples; ++done) {
            std::vector<Values> values;
            for (const Values& all : m_values)
                values.push_back(sliceOf(all, samples[done] - feed.firstSample, feed.samples));
            use(samples[done], values);
            if (progress)
                progress("run", done + 1, samples.size());
        }
    }
    return {};
}

} // namespace qs
