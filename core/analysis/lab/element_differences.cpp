// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lab/element_differences.h"

#include "core/analysis/pairs/fed_model.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/engine/run/sample_loop.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace qs {

namespace {

/// Whether b is a within the tolerance.
bool within(double a, double b, const ElementTolerance& t)
{
    if (a == b || (std::isnan(a) && std::isnan(b)))
        return true;
    const double difference = std::fabs(b - a);
    return std::isfinite(difference) && difference <= t.absolute + t.relative * std::fabs(a);
}

/// Position of a row-major index.
Shape placeOf(size_t index, const Shape& shape)
{
    Shape at(shape.size(), 0);
    for (size_t d = shape.size(); d-- > 0;) {
        const auto size = size_t(std::max<int64_t>(shape[d], 1));
        at[d] = int64_t(index % size);
        index /= size;
    }
    return at;
}

/// The quantizer whose codes a value holds; null where it holds none.
const Quantizer* quantizerOf(const ElementSide& side, ValueId id)
{
    const auto index = side.quant->ofQuantized(id);
    const Quantizer* q = index ? &side.quant->quantizers()[*index] : nullptr;
    return q && q->codes == id ? q : nullptr;
}

/// Values that its parameters are computed as.
std::vector<ValueId> computedParameters(const Quantizer* q)
{
    std::vector<ValueId> list;
    if (q && q->dynamic)
        for (const ValueId id : { q->scaleValue, q->zeroPointValue })
            if (id.valid())
                list.push_back(id);
    return list;
}

/// What its codes mean in this run; no scale where it is no quantizer.
QuantParams paramsIn(const Execution& execution, const Quantizer* q)
{
    if (!q || !q->dynamic || !q->scaleValue.valid())
        return q ? q->params : QuantParams {};
    QuantParams params = q->params;
    params.scale = toFloats(execution.get(q->scaleValue));
    params.zeroPoint.assign(params.scale.size(), 0);
    if (q->zeroPointValue.valid() && !params.zeroPoint.empty() && execution.get(q->zeroPointValue).count() > 0)
        params.zeroPoint[0] = int32_t(elementAsDouble(execution.get(q->zeroPointValue), 0));
    return params;
}

/// One model on its way through a sample.
struct Runner {
    Execution execution;
    std::vector<size_t> uses; ///< of its values, by id: pairs that still ask for them

    Status advance(ValueId id, const CancelToken& cancel)
    {
        while (!execution.has(id) && !execution.finished()) {
            if (cancel.cancelled())
                return cancelled();
            QS_CHECK(execution.step(&cancel));
        }
        return execution.has(id) ? Status() : Status(internalError("a demanded value was not made"));
    }
    void drop(ValueId id)
    {
        if (--uses[id.index()] == 0)
            execution.release(id);
    }
};

class ElementCheck {
public:
    ElementCheck(const ElementRequest& request, const WorkContext& work)
        : m_r(request)
        , m_work(work)
    {
        m_found.tolerance = request.tolerance;
        for (const ElementPair& p : request.pairs)
            m_found.rows.push_back({ p.name, request.a.plan->graph().value(p.a).name,
                request.b.plan->graph().value(p.b).name, p.output, 0, 0, 0, {} });
        m_unlike.assign(request.pairs.size(), false);
        for (size_t i = 0; i < request.pairs.size(); ++i)
            m_order.push_back(i);
        // as they are made, so that each can be dropped soon
        std::ranges::stable_sort(m_order, {}, [&](size_t i) {
            const NodeId producer = request.a.plan->graph().value(request.pairs[i].a).producer;
            return producer.valid() ? producer.index() + 1 : 0;
        });
    }

    Result<ElementDifferences> run()
    {
        QS_TRY(m_a, schedule(m_r.a, &ElementPair::a));
        QS_TRY(m_b, schedule(m_r.b, &ElementPair::b));
        const std::shared_ptr<const Schedule> beside[] { m_a, m_b };
        const size_t feeds = m_r.data->feeds();
        QS_TRY(SampleLoop loop, SampleLoop::make(beside, asManyAtOnce(feeds, m_work.threadCount()), m_work));
        QS_CHECK(loop.run({ feeds, "compare elements" },
            [this](size_t index, const SampleWorker& worker) { return feed(index, worker); }));
        for (size_t i = m_found.rows.size(); i-- > 0;)
            if (m_unlike[i]) {
                m_found.unlike.insert(m_found.unlike.begin(), m_found.rows[i].name);
                m_found.rows.erase(m_found.rows.begin() + std::ptrdiff_t(i));
            }
        return std::move(m_found);
    }

private:
    Result<std::shared_ptr<const Schedule>> schedule(const ElementSide& side, ValueId ElementPair::*value) const
    {
        Demand demand;
        for (const ElementPair& p : m_r.pairs) {
            demand.values.push_back(p.*value);
            for (const ValueId id : computedParameters(quantizerOf(side, p.*value)))
                demand.values.push_back(id);
        }
        return Schedule::make(side.plan, std::move(demand));
    }

    Result<Runner> runner(const std::shared_ptr<const Schedule>& schedule, const SampleWorker& worker, const Feed& feed,
        ValueId ElementPair::*value) const
    {
        Runner r { worker.execution(schedule), std::vector<size_t>(schedule->plan().graph().values().size()) };
        for (const ElementPair& p : m_r.pairs)
            ++r.uses[(p.*value).index()];
        const FedModel fed { CarriedState(schedule == m_a ? m_r.a.plan : m_r.b.plan), CarriedState(m_r.fed) };
        QS_CHECK(r.execution.bind(fed.inputs(feed.inputs)));
        return r;
    }

    Status feed(size_t index, const SampleWorker& worker)
    {
        QS_TRY(const Feed feed, m_r.data->feed(index));
        QS_TRY(Runner a, runner(m_a, worker, feed, &ElementPair::a));
        QS_TRY(Runner b, runner(m_b, worker, feed, &ElementPair::b));
        for (size_t i : m_order) {
            const ElementPair& p = m_r.pairs[i];
            QS_CHECK(a.advance(p.a, m_work.cancel));
            QS_CHECK(b.advance(p.b, m_work.cancel));
            measure(i, a.execution, b.execution, feed);
            a.drop(p.a);
            b.drop(p.b);
        }
        return {};
    }

    void measure(size_t index, const Execution& runOfA, const Execution& runOfB, const Feed& feed)
    {
        const ElementPair& p = m_r.pairs[index];
        const Tensor &at = runOfA.get(p.a), &bt = runOfB.get(p.b);
        const bool unlike = at.count() != bt.count();
        std::vector<float> first, second;
        Tensor keepA, keepB;
        const QuantParams ofA = paramsIn(runOfA, quantizerOf(m_r.a, p.a)),
                          ofB = paramsIn(runOfB, quantizerOf(m_r.b, p.b));
        const float* a = unlike ? nullptr : asFloats(at, Layout::Plain, &ofA, first, keepA);
        const float* b = unlike ? nullptr : asFloats(bt, Layout::Plain, &ofB, second, keepB);
        ElementRow found;
        if (!unlike)
            found = differences(a, b, at.shape(), feed);
        const std::lock_guard lock(m_mutex);
        m_unlike[index] = m_unlike[index] || unlike;
        ElementRow& row = m_found.rows[index];
        row.elements += found.elements;
        row.beyond += found.beyond;
        row.largest = std::max(row.largest, found.largest);
        if (found.first && (!row.first || found.first->sample < row.first->sample))
            row.first = std::move(found.first);
    }

    ElementRow differences(const float* a, const float* b, Shape shape, const Feed& feed) const
    {
        ElementRow found;
        size_t count = 1;
        for (const int64_t d : shape)
            count *= size_t(d);
        const size_t slices = feed.slicesOf(count), slice = count / slices;
        if (slices > 1 && !shape.empty() && shape[0] % int64_t(slices) == 0)
            shape[0] /= int64_t(slices);
        found.elements = count;
        for (size_t i = 0; i < count; ++i) {
            const double x = double(a[i]), y = double(b[i]), difference = std::fabs(y - x);
            if (std::isfinite(difference))
                found.largest = std::max(found.largest, difference);
            if (within(x, y, m_r.tolerance))
                continue;
            if (found.beyond++ == 0)
                found.first = { feed.firstSample + i / slice, placeOf(i % slice, shape), x, y };
        }
        return found;
    }

    const ElementRequest& m_r;
    const WorkContext& m_work;
    ElementDifferences m_found;
    std::vector<bool> m_unlike; ///< by pair
    std::vector<size_t> m_order; ///< of pairs
    std::shared_ptr<const Schedule> m_a, m_b;
    std::mutex m_mutex;
};

} // namespace

Result<ElementDifferences> compareElements(const ElementRequest& request, const WorkContext& work)
{
    return ElementCheck(request, work).run();
}

} // namespace qs
