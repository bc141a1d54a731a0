// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/implementation.h"

#include "core/analysis/lockstep/measured.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cstdlib>

namespace qs {

namespace {

template <class A, class B> CodeDifference countDifferences(const A& a, const B& b)
{
    CodeDifference d;
    d.count = a.size();
    for (size_t i = 0; i < a.size(); ++i) {
        const int64_t steps = std::abs(static_cast<int64_t>(a[i]) - static_cast<int64_t>(b[i]));
        d.offByOne += steps == 1;
        d.beyond += steps > 1;
    }
    return d;
}

} // namespace

CodeDifference differenceOf(const Tensor& a, const Tensor& b)
{
    if (a.shape() != b.shape() || a.dtype() != b.dtype())
        return { static_cast<uint64_t>(a.count()), 0, static_cast<uint64_t>(a.count()) };
    const Layout layout = a.layout() == b.layout() ? a.layout() : Layout::Plain;
    const Tensor x = toLayout(a, layout), y = toLayout(b, layout);
    if (x.dtype() == DType::UInt8)
        return countDifferences(x.data<uint8_t>(), y.data<uint8_t>());
    if (x.dtype() == DType::Int8)
        return countDifferences(x.data<int8_t>(), y.data<int8_t>());
    return countDifferences(toInts(x), toInts(y));
}

void addPairCounts(std::map<NodeId, PairCounts>& total, const std::map<NodeId, PairCounts>& counts)
{
    for (const auto& [id, more] : counts) {
        PairCounts& sum = total[id];
        sum.pairs += more.pairs;
        sum.saturated.resize(std::max(sum.saturated.size(), more.saturated.size()));
        for (size_t c = 0; c < more.saturated.size(); ++c)
            sum.saturated[c] += more.saturated[c];
    }
}

std::vector<SaturationRow> saturationRows(const Plan& plan, const std::map<NodeId, PairCounts>& counts)
{
    std::vector<SaturationRow> rows;
    for (const auto& [last, sum] : counts) {
        const FusedUnit* unit = plan.unit(last);
        const NodeId id = unit ? unit->node : last;
        const Node& node = plan.graph().node(id);
        if (sum.pairs > 0)
            rows.push_back({ id, node.name, node.opType, sum.pairs, sum.saturated });
    }
    return rows;
}

std::vector<ValueId> ImplementationCheck::borders(const Plan& integer)
{
    std::vector<ValueId> list;
    for (const Node& node : integer.graph().nodes()) {
        const auto signature = qlinearSignature(node);
        if (!isQuantizeLinear(node) && !(signature && signature->output.scale >= 0))
            continue;
        const ValueId codes = node.outputs.empty() ? ValueId() : node.outputs[0];
        if (codes.valid() && !integer.hidden(codes) && !integer.constant(codes) && !integer.blocked(codes))
            list.push_back(codes);
    }
    return list;
}

ImplementationCheck::ImplementationCheck(Execution& integer, const Schedule& integerSchedule, Execution& stages,
    const Schedule& stageSchedule, const std::vector<ValueId>& borders)
    : m_integer(integer)
    , m_integerSchedule(integerSchedule)
    , m_stages(stages)
    , m_stageSchedule(stageSchedule)
    , m_border(stageSchedule.plan().graph().values().size(), false)
{
    for (ValueId id : borders)
        m_border[id.index()] = true;
}

Status ImplementationCheck::follow(const CancelToken& cancel)
{
    const Schedule::Task& done = m_integerSchedule.tasks()[m_integer.position() - 1];
    while (!m_stages.finished() && m_stageSchedule.tasks()[m_stages.position()].last <= done.last)
        QS_CHECK(m_stages.step(&cancel));
    for (ValueId id : done.outputs) {
        if (!id.valid() || !m_border[id.index()])
            continue;
        m_codes[id] = differenceOf(m_stages.get(id), m_integer.get(id));
        m_stages.set(id, m_integer.get(id));
        m_stages.release(id);
        m_integer.release(id);
    }
    return {};
}

void ImplementationCheck::addTo(ImplementationSums& sums) const
{
    const std::lock_guard lock(sums.mutex);
    for (const auto& [id, d] : m_codes) {
        CodeDifference& total = sums.codes[id];
        total.count += d.count;
        total.offByOne += d.offByOne;
        total.beyond += d.beyond;
    }
    addPairCounts(sums.pairs, m_integer.pairCounts());
}

void fillImplementation(const ComparePair& pair, Measured& m, Comparison& result)
{
    if (!pair.writtenPlan)
        return;
    const std::lock_guard lock(m.implementation.mutex);
    for (ActivationRow& row : result.activations) {
        if (!row.quantizer)
            continue;
        const auto it = m.implementation.codes.find(pair.quantView->quantizers()[*row.quantizer].codes);
        if (it == m.implementation.codes.end() || it->second.count == 0)
            continue;
        const auto count = static_cast<double>(it->second.count);
        row.implementation = { double(it->second.offByOne) / count, double(it->second.beyond) / count };
    }
    result.saturation = saturationRows(*pair.quantPlan, m.implementation.pairs);
}

} // namespace qs
