// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/implementation_check.h"

#include "core/qdq/qlinear_signature.h"

namespace qs {

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
        total.squares += d.squares;
    }
    addPairCounts(sums.pairs, m_integer.pairCounts());
}

} // namespace qs
