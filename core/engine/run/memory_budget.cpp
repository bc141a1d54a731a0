// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/run/memory_budget.h"

#include "core/base/files/mapped_pages.h"
#include "core/graph/domains.h"
#include "core/ops/macs.h"
#include "core/tensor/container.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

uint64_t saturated(uint64_t a, uint64_t b) { return b > UINT64_MAX - a ? UINT64_MAX : a + b; }

/// Of a constant that a product or convolution reads: its elements once more in the order of the kernel, floats of two
/// bytes as float32 before that, too.
uint64_t packedBytes(const Tensor& constant)
{
    const auto count = static_cast<uint64_t>(constant.count());
    if (isInteger(constant.dtype()))
        return 2 * count;
    return isFloat(constant.dtype()) ? (dtypeBits(constant.dtype()) < 32 ? 8 : 4) * count : 0;
}

bool isBlockProduct(const Node& node)
{
    return node.is("MatMulNBits", kMicrosoftDomain) || node.is("MatMulBnb4", kMicrosoftDomain);
}
bool becomesPanels(const Node& node) { return node.is("MatMulNBits", kMicrosoftDomain) && !node.hasInput(4); }

/// Panels of codes (those of 2 bits as 4), a float32 scale and a byte of zero point a block; or, with groups and of
/// float codes, float32 twice.
uint64_t packedBlockBytes(const Node& node, size_t slot, const Tensor& constant)
{
    const auto count = static_cast<uint64_t>(constant.count());
    const auto bits = static_cast<uint64_t>(std::clamp<int64_t>(node.attributes.integer("bits", 4), 2, 8));
    if (!becomesPanels(node))
        return slot == 1 ? 2 * 4 * 8 / bits * count : 0;
    if (slot < 1 || slot > 3)
        return 0;
    return (isFloat(constant.dtype()) ? 4 : slot == 3 ? 8 / bits : bits == 2 ? 2 : 1) * count;
}

/// What the panels stand in for: its mapped pages go.
bool goesWhenPacked(const Node& node, size_t slot, const Tensor& constant)
{
    return becomesPanels(node) && (slot == 1 || slot == 2) && !constant.copiesWhenRead() && isMapped(constant.bytes());
}

/// Adds up what is held, each thing once.
class HeldBytes {
public:
    void add(const Schedule& schedule)
    {
        const Plan& plan = schedule.plan();
        if (isNew(&plan.model()))
            m_bytes = saturated(m_bytes, plan.model().graphBytes);
        for (const Schedule::Task& task : schedule.tasks()) {
            const auto macs = nodeMacs(plan.graph().node(task.node), plan.facts());
            const bool packs = isNew(task.lowered) && (!macs || *macs > 0);
            for (size_t i = 0; i < task.inputs.size(); ++i)
                if (const Tensor* constant = task.inputs[i].valid() ? plan.constant(task.inputs[i]) : nullptr)
                    if (constant->dtype() != DType::String && !isContainer(constant->dtype()))
                        add(plan.graph().node(task.node), i, *constant, packs);
        }
    }
    uint64_t bytes() const { return m_bytes; }

private:
    void add(const Node& node, size_t slot, const Tensor& constant, bool packs)
    {
        if (!goesWhenPacked(node, slot, constant) && isNew(constant.identity()))
            m_bytes = saturated(m_bytes, (constant.copiesWhenRead() ? 2 : 1) * constant.byteCount());
        if (packs)
            m_bytes = saturated(
                m_bytes, isBlockProduct(node) ? packedBlockBytes(node, slot, constant) : packedBytes(constant));
    }
    bool isNew(const void* thing) { return m_seen.insert(thing).second; }
    std::unordered_set<const void*> m_seen;
    uint64_t m_bytes = 0;
};

} // namespace

uint64_t heldBytes(std::span<const std::shared_ptr<const Schedule>> schedules)
{
    HeldBytes held;
    for (const auto& schedule : schedules)
        held.add(*schedule);
    return held.bytes();
}

Status checkConstants(const Plan& plan, uint64_t limitBytes)
{
    if (const Issue* issue = plan.overLimit())
        return *issue;
    return checkConstants(plan.model(), limitBytes);
}

Status checkConstants(const Model& model, uint64_t limitBytes)
{
    uint64_t bytes = model.graphBytes;
    for (const Value& value : model.graph.values())
        if (const auto& t = value.initializer; t && t->dtype() != DType::String && !isContainer(t->dtype()))
            bytes = saturated(bytes, (t->copiesWhenRead() ? 2 : 1) * t->byteCount());
    if (bytes <= limitBytes)
        return {};
    return badInput("the graph and its weights need about " + std::to_string(bytes)
            + " bytes, more than the memory limit of " + std::to_string(limitBytes),
        model.path, "use a larger --memory-limit");
}

Result<uint64_t> memoryPerWorker(
    std::span<const std::shared_ptr<const Schedule>> schedules, uint64_t limitBytes, size_t workers)
{
    const uint64_t constants = heldBytes(schedules);
    uint64_t tensors = 0;
    for (const auto& schedule : schedules)
        tensors = saturated(tensors, schedule->estimatedPeakBytes());
    const std::string& file = schedules.front()->plan().model().path;
    if (constants > limitBytes)
        return badInput("the graph and its weights, those that kernels pack included, need about "
                + std::to_string(constants) + " bytes, more than the memory limit of " + std::to_string(limitBytes),
            file, "use a larger --memory-limit");
    const uint64_t each = (limitBytes - constants) / workers;
    if (tensors > each)
        return badInput("one sample on each of " + std::to_string(workers) + " threads needs about "
                + std::to_string(tensors) + " bytes each for its tensors, more than the "
                + std::to_string(limitBytes - constants) + " bytes that graph and weights leave of the memory limit of "
                + std::to_string(limitBytes),
            file, "use fewer --threads, smaller inputs or a larger --memory-limit");
    return each;
}

} // namespace qs
