// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/lockstep.h"

#include "core/analysis/lockstep/node_alone.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/engine/lowered/content_key.h"

#include <algorithm>
#include <optional>

namespace qs {

Status Lockstep::prepare(Shared& shared, const CompareOptions& options)
{
    const ComparePair& pair = *shared.pair;
    QS_TRY(CarriedState floatState, CarriedState::make(pair.floatPlan, options.carry, shared.initialStates));
    QS_TRY(CarriedState quantState, CarriedState::make(pair.quantPlan, options.carry, shared.initialStates));
    shared.floatModel.emplace(floatState, floatState);
    shared.quantModel.emplace(quantState, floatState);
    Demand f, q;
    for (size_t i = 0; i < shared.measured->pairs.size(); ++i) {
        if (shared.measured->knownPairs[i])
            continue;
        const PairPlan& p = shared.measured->pairs[i];
        f.values.push_back(p.x);
        q.values.push_back(p.y);
        for (ValueId id : { p.p, p.codes, p.dynamicScale, p.dynamicZero })
            if (id.valid() && !pair.quantPlan->constant(id))
                q.values.push_back(id);
        for (NodeId id : { p.unrounded, p.beforeRounding, p.cache ? p.cache->node : NodeId() })
            if (id.valid())
                q.unrounded.push_back(id);
    }
    if (shared.nodeAlone)
        for (size_t i = 0; i < shared.measured->pairs.size(); ++i)
            for (ValueId id : nodeAloneInputs(pair, shared.measured->pairs[i]))
                f.values.push_back(id);
    for (size_t i = 0; i < shared.outputs.size(); ++i) {
        if (shared.measured->knownOutputs[i])
            continue;
        f.values.push_back(shared.outputs[i].x);
        q.values.push_back(shared.outputs[i].y);
        for (const size_t part : shared.outputs[i].task.parts) {
            f.values.push_back(shared.outputs[part].x);
            q.values.push_back(shared.outputs[part].y);
        }
    }
    const auto carriedByFloat = floatState.outputs(), carriedByQuant = quantState.outputs();
    f.values.insert(f.values.end(), carriedByFloat.begin(), carriedByFloat.end());
    q.values.insert(q.values.end(), carriedByQuant.begin(), carriedByQuant.end());
    shared.text = textPositions(*pair.floatPlan, shared.outputs);
    if (pair.writtenPlan) {
        shared.borders = ImplementationCheck::borders(*pair.quantPlan);
        QS_TRY(shared.stageSchedule, Schedule::make(pair.writtenPlan, { shared.borders, {} }));
        Demand written;
        for (const OutputPair& out : shared.outputs)
            written.values.push_back(out.y);
        QS_TRY(CarriedState writtenState, CarriedState::make(pair.writtenPlan, options.carry, shared.initialStates));
        const auto carried = writtenState.outputs();
        written.values.insert(written.values.end(), carried.begin(), carried.end());
        shared.writtenModel.emplace(std::move(writtenState), floatState);
        QS_TRY(shared.writtenSchedule, Schedule::make(pair.writtenPlan, std::move(written)));
        q.values.insert(q.values.end(), shared.borders.begin(), shared.borders.end());
    }
    QS_TRY(shared.floatSchedule, Schedule::make(pair.floatPlan, std::move(f)));
    QS_TRY(shared.quantSchedule, Schedule::make(pair.quantPlan, std::move(q)));
    return {};
}

Execution Lockstep::quantExecution(std::shared_ptr<const Schedule> schedule)
{
    return SampleWorker { m_worker.index, m_quantPool, m_worker.team }.execution(std::move(schedule));
}

Status Lockstep::bind(Execution& execution, const FedModel& model, const Feed& feed)
{
    const auto inputs = model.inputs(feed.inputs);
    m_bound = m_shared.activations ? sampleKey(inputs) : Hash128 {};
    return execution.bind(inputs);
}

Status Lockstep::step(Execution& execution, const CancelToken& cancel)
{
    if (cancel.cancelled())
        return cancelled();
    QS_CHECK(execution.step(&cancel));
    if (&execution == m_checked)
        QS_CHECK(m_check->follow(cancel));
    return {};
}

Status Lockstep::advance(Execution& execution, ValueId id, const CancelToken& cancel)
{
    while (!execution.has(id) && !execution.finished())
        QS_CHECK(step(execution, cancel));
    if (!execution.has(id))
        return internalError("a demanded value was not made");
    return {};
}

Status Lockstep::run(const Feed& feed, const CancelToken& cancel)
{
    m_padded = m_shared.text ? PaddedPositions::of(*m_shared.pair->floatPlan, *m_shared.text, feed) : std::nullopt;
    Execution f = m_worker.execution(m_shared.floatSchedule), q = quantExecution(m_shared.quantSchedule);
    QS_CHECK(bind(f, m_float, feed));
    // The stages below go on from other values than their own, and saturation is counted where sums are made.
    if (m_shared.activations)
        f.useCache(*m_shared.activations, m_bound);
    QS_CHECK(bind(q, m_quant, feed));
    if (m_shared.activations && !m_shared.stageSchedule)
        q.useCache(*m_shared.activations, m_bound, CacheUse::Find);
    std::optional<Execution> stages;
    std::optional<ImplementationCheck> check;
    if (m_shared.stageSchedule) {
        stages.emplace(quantExecution(m_shared.stageSchedule));
        QS_CHECK(bind(*stages, m_quant, feed));
        check.emplace(q, *m_shared.quantSchedule, *stages, *m_shared.stageSchedule, m_shared.borders);
    }
    m_unkeptBytes = 0;
    m_check = check ? &*check : nullptr;
    m_checked = check ? &q : nullptr;
    const auto& pairs = m_shared.measured->pairs;
    for (size_t i = 0; i < pairs.size(); ++i) {
        if (m_shared.measured->knownPairs[i])
            continue;
        QS_CHECK(advance(f, pairs[i].x, cancel));
        for (ValueId id : { pairs[i].y, pairs[i].p, pairs[i].codes, pairs[i].dynamicScale, pairs[i].dynamicZero })
            if (id.valid())
                QS_CHECK(advance(q, id, cancel));
        QS_CHECK(measure(i, f, q, feed));
        keepQuantized(pairs[i], q);
        if (m_shared.nodeAlone)
            for (ValueId id : nodeAloneInputs(*m_shared.pair, pairs[i]))
                f.release(id);
        f.release(pairs[i].x);
        for (ValueId id : { pairs[i].y, pairs[i].p, pairs[i].codes, pairs[i].dynamicScale, pairs[i].dynamicZero })
            if (id.valid())
                q.release(id);
    }
    for (size_t i = 0; i < m_shared.outputs.size(); ++i) {
        if (m_shared.measured->knownOutputs[i])
            continue;
        QS_CHECK(advance(f, m_shared.outputs[i].x, cancel));
        QS_CHECK(advance(q, m_shared.outputs[i].y, cancel));
        measureOutput(i, f.get(m_shared.outputs[i].x), q.get(m_shared.outputs[i].y), feed);
        QS_CHECK(measureBoxes(i, f, q, feed, cancel));
    }
    QS_CHECK(f.runAll(cancel));
    while (!q.finished())
        QS_CHECK(step(q, cancel));
    if (check) {
        check->addTo(m_shared.measured->implementation);
        QS_CHECK(runWritten(q, feed, cancel));
    }
    m_float.keep(f);
    m_quant.keep(q);
    return {};
}

/// Keeping costs memory that was never touched before. What is small beside what was computed since the last kept one
/// is the place to go on from: the narrow ends of blocks, of which the wide inside is quickly made again.
bool Lockstep::isWorthKeeping(const PairPlan& pair, const Tensor& value)
{
    constexpr uint64_t kTimes = 4;
    if (!m_shared.keepFew)
        return true;
    if (!pair.codes.valid())
        return false;
    m_unkeptBytes += value.byteCount();
    if (m_unkeptBytes < kTimes * value.byteCount())
        return false;
    m_unkeptBytes = 0;
    return true;
}

/// Codes are a ninth of what stands around them, and what reads them follows quickly.
void Lockstep::keepQuantized(const PairPlan& pair, const Execution& q)
{
    if (!m_shared.activations || m_shared.stageSchedule)
        return;
    const Plan& plan = *m_shared.pair->quantPlan;
    const ValueId id = pair.codes.valid() ? pair.codes : pair.y;
    const Hash128* key = plan.constant(id) ? nullptr : plan.key(id);
    if (key && isWorthKeeping(pair, q.get(id)))
        m_shared.activations->keep(*key, m_bound, q.get(id));
}

/// The file as written from end to end, against the outputs of the integer profile.
Status Lockstep::runWritten(Execution& q, const Feed& feed, const CancelToken& cancel)
{
    Execution written = quantExecution(m_shared.writtenSchedule);
    QS_CHECK(bind(written, *m_written, feed));
    QS_CHECK(written.runAll(cancel));
    Measured& m = *m_shared.measured;
    for (size_t i = 0; i < m_shared.outputs.size(); ++i) {
        const OutputPair& out = m_shared.outputs[i];
        const Tensor &xt = written.get(out.y), &yt = q.get(out.y);
        if (xt.count() != yt.count())
            continue;
        const QuantParams* params = outputParams(out);
        Tensor keepX, keepY;
        const float* x = asFloats(xt, Layout::Plain, params, m_x, keepX);
        const float* y = asFloats(yt, Layout::Plain, params, m_y, keepY);
        const auto runs = m_padded ? m_padded->countedOfAll(out.x, xt.shape()) : std::nullopt;
        for (const auto& [begin, end] : runs.value_or(ElementRuns { { 0, static_cast<size_t>(xt.count()) } }))
            addPairSums(m.writtenSums[i * m.samples + feed.firstSample], x + begin, y + begin, nullptr, end - begin,
                nullptr, {});
    }
    m_written->keep(written);
    return {};
}

} // namespace qs
