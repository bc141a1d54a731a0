// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/plan.h"

#include "core/engine/fuse.h"

#include <algorithm>
#include <exception>

namespace qs {

namespace {

/// Folding stops at results of this size: a constant that large is better computed when it is needed.
constexpr int64_t kLargestFolded = int64_t(1) << 28;

bool isRandom(const Node& node)
{
    return node.opType.starts_with("Random") || node.opType == "Multinomial" || node.opType == "Bernoulli";
}

std::string operatorName(const Node& node)
{
    return node.domain.empty() ? node.opType : node.domain + "." + node.opType;
}

Issue nodeIssue(const Model& model, const Node& node, Issue issue)
{
    issue.file = model.path;
    if (issue.node.empty())
        issue.node = node.name;
    return issue;
}

} // namespace

std::shared_ptr<const Plan> Plan::make(std::shared_ptr<const Model> model, const PlanOptions& options)
{
    auto plan = std::make_shared<Plan>();
    plan->m_model = std::move(model);
    plan->m_facts = inferFacts(plan->graph());
    plan->m_steps.resize(plan->graph().nodes().size());
    plan->m_constants.resize(plan->graph().values().size());
    plan->m_hidden.resize(plan->graph().values().size(), false);
    BufferPool pool;
    for (size_t n = 0; n < plan->m_steps.size(); ++n)
        plan->addNode(NodeId(n), options, pool);
    for (FusedUnit& unit : fuseUnits(*plan, options))
        plan->addUnit(std::move(unit));
    return plan;
}

void Plan::addNode(NodeId id, const PlanOptions& options, BufferPool& pool)
{
    const Node& node = graph().node(id);
    Step& step = m_steps[id.index()];
    auto block = [&](Issue issue, bool own) {
        step.blocked = nodeIssue(*m_model, node, std::move(issue));
        step.ownReason = own;
    };
    std::vector<ValueId> reads = node.inputs;
    reads.insert(reads.end(), node.captures.begin(), node.captures.end());
    const Issue* cause = nullptr;
    for (ValueId in : reads)
        if (in.valid() && !cause)
            cause = blocked(in);
    const LowerFn lower = loweringRegistry().find(node);
    if (!lower) {
        block(badInput("the operator " + operatorName(node) + " is not supported", {},
                  "what does not depend on it still runs"),
            true);
        return;
    }
    if (cause) {
        block(badInput("depends on node '" + cause->node + "', which cannot run: " + cause->what), false);
        if (cause->what.starts_with("depends on"))
            step.blocked->what = cause->what;
        return;
    }
    if (node.outputs.empty()) {
        block(badInput(node.opType + ": it has no output", {}, "export the model again"), true);
        return;
    }
    std::vector<const Tensor*> constants;
    std::vector<DType> types;
    for (ValueId in : node.inputs) {
        constants.push_back(in.valid() ? constant(in) : nullptr);
        types.push_back(in.valid() ? m_facts.of(in).dtype : DType::Undefined);
    }
    auto lowered = lower({ node, constants, types, options.mode });
    if (!lowered.ok()) {
        block(std::move(lowered).issue(), true);
        return;
    }
    step.lowered = std::move(*lowered);
    if (fold(id, step, pool))
        step.folded = true;
}

bool Plan::fold(NodeId id, Step& step, BufferPool& pool)
{
    const Node& node = graph().node(id);
    if (isRandom(node) || !node.captures.empty())
        return false;
    std::vector<const Tensor*> inputs;
    for (ValueId in : node.inputs) {
        const Tensor* c = in.valid() ? constant(in) : nullptr;
        if (in.valid() && !c)
            return false;
        inputs.push_back(c);
    }
    for (ValueId out : node.outputs)
        if (out.valid() && m_facts.of(out).dims)
            if (const auto shape = toShape(*m_facts.of(out).dims);
                shape && elementCount(*shape).value_or(0) > kLargestFolded)
                return false;
    std::vector<Tensor> outputs(node.outputs.size());
    StepContext context(inputs, outputs, pool);
    try {
        const Status status = step.lowered->run(context);
        if (!status.ok())
            return false; // said again when the node runs
    } catch (const std::exception&) {
        return false;
    }
    for (size_t i = 0; i < outputs.size(); ++i)
        if (node.outputs[i].valid() && outputs[i].valid())
            m_constants[node.outputs[i].index()] = outputs[i];
    return std::ranges::all_of(node.outputs, [&](ValueId out) { return !out.valid() || constant(out); });
}

void Plan::addUnit(FusedUnit unit)
{
    if (unit.when == FusedUnit::When::Always)
        for (ValueId id : unit.inner)
            m_hidden[id.index()] = true;
    const NodeId last = unit.nodes.back();
    m_units.insert_or_assign(last, std::move(unit));
}

const FusedUnit* Plan::unit(NodeId last) const
{
    const auto it = m_units.find(last);
    return it == m_units.end() ? nullptr : &it->second;
}

const Tensor* Plan::constant(ValueId id) const
{
    const Value& value = graph().value(id);
    if (value.initializer)
        return &*value.initializer;
    const auto& folded = m_constants[id.index()];
    return folded ? &*folded : nullptr;
}

const Issue* Plan::blocked(ValueId id) const
{
    const NodeId producer = graph().value(id).producer;
    if (!producer.valid())
        return nullptr;
    const auto& reason = m_steps[producer.index()].blocked;
    return reason ? &*reason : nullptr;
}

std::vector<std::pair<NodeId, Issue>> Plan::unsupported() const
{
    std::vector<std::pair<NodeId, Issue>> list;
    for (size_t n = 0; n < m_steps.size(); ++n)
        if (m_steps[n].blocked && m_steps[n].ownReason)
            list.emplace_back(NodeId(n), *m_steps[n].blocked);
    return list;
}

} // namespace qs
