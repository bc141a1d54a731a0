// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/implementation_check.h"

#include "core/engine/plan/merged_pairs.h"
#include "core/qdq/qlinear_signature.h"

namespace qs {

std::vector<ValueId> ImplementationCheck::borders(const Plan& integer)
{
    std::vector<ValueId> list;
    for (size_t n = 0; n < integer.graph().nodes().size(); ++n) {
        const Node& node = integer.graph().node(NodeId(n));
        const auto signature = qlinearSignature(node);
        const ValueId made = node.outputs.empty() ? ValueId() : node.outputs[0];
        const bool floats = made.valid() && isDequantizeLinear(node) && isOfMergedPairs(integer, made);
        if (!isQuantizeLinear(node) && !(signature && signature->output.scale >= 0) && !floats)
            continue;
        if (made.valid() && !integer.hidden(made) && !integer.constant(made) && !integer.blocked(made)
            && (floats || !isOnOtherGrid(integer, made)))
            list.push_back(made);
    }
    for (const SaturatingSums& sums : saturatingSums(integer))
        list.push_back(sums.scaled);
    return list;
}

ImplementationCheck::ImplementationCheck(Execution& integer, const Schedule& integerSchedule, Execution& stages,
    const Schedule& stageSchedule, const std::vector<ValueId>& borders)
    : m_integer(integer)
    , m_integerSchedule(integerSchedule)
    , m_stages(stages)
    , m_stageSchedule(stageSchedule)
    , m_border(stageSchedule.plan().graph().values().size(), Border::None)
{
    const Plan& plan = integerSchedule.plan();
    for (const ValueId id : borders) {
        const DType type = plan.facts().of(id).dtype;
        const bool sums = type == DType::Int32 || type == DType::Float32 || type == DType::Float16;
        m_border[id.index()] = isOfMergedPairs(plan, id) ? Border::HandedOn : sums ? Border::Sums : Border::Codes;
    }
}

Status ImplementationCheck::follow(const CancelToken& cancel)
{
    const Schedule::Task& done = m_integerSchedule.tasks()[m_integer.position() - 1];
    while (!m_stages.finished() && m_stageSchedule.tasks()[m_stages.position()].last <= done.last)
        QS_CHECK(m_stages.step(&cancel));
    for (ValueId id : done.outputs) {
        const Border border = id.valid() ? m_border[id.index()] : Border::None;
        if (border == Border::None)
            continue;
        if (border == Border::Codes)
            m_codes[id] = differenceOf(m_stages.get(id), m_integer.get(id));
        else if (border == Border::Sums)
            m_sums[id].add(m_stages.get(id), m_integer.get(id));
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
    for (const auto& [id, d] : m_sums)
        sums.sums[id].add(d);
    addPairCounts(sums.pairs, m_integer.pairCounts());
}

} // namespace qs
