// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/plan/plan.h"

#include "core/base/work/cancel_scope.h"
#include "core/engine/fuse/fuse.h"
#include "core/engine/plan/channel_block.h"
#include "core/engine/plan/content_key.h"
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"
#include "core/ops/left_out.h"

#include <algorithm>
#include <exception>

namespace qs {

namespace {

/// Folding stops at results of this size: a constant that large is better computed when it is needed.
constexpr int64_t kLargestFolded = int64_t(1) << 28;

std::string operatorName(const Node& node)
{
    return node.domain.empty() ? node.opType : node.domain + "." + node.opType;
}

Issue unsupportedOperator(const Node& node)
{
    const std::string what = "the operator " + operatorName(node) + " is not supported";
    if (const LeftOutOperator* known = leftOut(node))
        return badInput(what + ": " + std::string(known->why), {}, std::string(known->remedy));
    return badInput(what, {}, "what does not depend on it still runs");
}

Issue nodeIssue(const Model& model, const Node& node, Issue issue)
{
    issue.file = model.path;
    if (issue.node.empty())
        issue.node = node.name;
    return issue;
}

} // namespace

Issue containerRefused(const Node& node, const std::string& name, DType kind)
{
    return badInput(node.opType + " needs a tensor, but '" + name + "' is a " + std::string(dtypeName(kind)), {},
        "export the model again");
}

std::shared_ptr<const Plan> Plan::make(std::shared_ptr<const Model> model, const PlanOptions& options)
{
    const std::shared_ptr<const Graph> graph(model, &model->graph);
    return make(std::move(model), graph, {}, {}, options);
}

std::shared_ptr<const Plan> Plan::subPlan(const Node& node, std::shared_ptr<const Graph> graph,
    std::span<const Fact> inputs, const PlanOptions& options) const
{
    OuterFacts facts;
    std::map<std::string, OuterValue> outer;
    for (ValueId id : node.captures) {
        const std::string& name = m_graph->value(id).name;
        facts[name] = m_facts.of(id);
        outer[name] = { constant(id), blocked(id) };
    }
    for (size_t i = 0; i < graph->inputs().size(); ++i)
        facts[graph->value(graph->inputs()[i]).name]
            = i < inputs.size() ? subgraphInputFact(*graph, i, inputs[i]) : Fact {};
    return make(m_model, std::move(graph), facts, outer, options);
}

std::shared_ptr<Plan> Plan::make(std::shared_ptr<const Model> model, std::shared_ptr<const Graph> graph,
    const OuterFacts& facts, const std::map<std::string, OuterValue>& outer, const PlanOptions& options)
{
    auto plan = std::make_shared<Plan>();
    plan->m_model = std::move(model);
    plan->m_graph = std::move(graph);
    plan->m_facts = inferFacts(plan->graph(), facts);
    plan->m_channelBlock = channelBlockOf(plan->graph());
    plan->m_steps.resize(plan->graph().nodes().size());
    plan->m_constants.resize(plan->graph().values().size());
    if (options.cache)
        plan->m_keys.resize(plan->graph().values().size());
    plan->m_hidden.resize(plan->graph().values().size(), false);
    for (const auto& [name, value] : outer) {
        const ValueId id = plan->graph().findValue(name);
        if (!id.valid() || !plan->isOuter(id))
            continue;
        if (value.constant)
            plan->m_constants[id.index()] = *value.constant;
        if (value.blocked)
            plan->m_blockedOuter.emplace(id, *value.blocked);
    }
    BufferPool pool;
    for (size_t n = 0; n < plan->m_steps.size(); ++n)
        plan->addNode(NodeId(n), options, pool);
    for (FusedUnit& unit : fuseUnits(*plan, options))
        plan->addUnit(std::move(unit));
    if (options.cache)
        plan->makeKeys(options);
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
    if (stopAsked()) { // nobody will use this plan
        block(cancelled(), true);
        return;
    }
    const Issue* cause = nullptr;
    for (ValueId in : node.inputs)
        if (in.valid() && !cause)
            cause = blocked(in);
    if (!loweringRegistry().find(node)) {
        block(unsupportedOperator(node), true);
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
    auto lowered = lower(node, step, options);
    if (!lowered.ok()) {
        // A subgraph all of whose nodes could run waits for a value of this graph.
        const bool inherited = !step.subPlans.empty() && lowered.issue().what.starts_with("depends on");
        block(std::move(lowered).issue(), !inherited);
        return;
    }
    for (ValueId in : node.inputs)
        if (in.valid() && isContainer(m_facts.of(in).dtype) && !(*lowered)->takesContainers) {
            block(containerRefused(node, m_graph->value(in).name, m_facts.of(in).dtype), true);
            return;
        }
    step.lowered = std::move(*lowered);
    for (size_t i = 0; i < node.captures.size(); ++i)
        step.captures.push_back(
            i < step.lowered->captures.size() && step.lowered->captures[i] ? node.captures[i] : ValueId());
    if (fold(id, step, options, pool))
        step.folded = true;
}

Result<std::shared_ptr<const LoweredNode>> Plan::lower(const Node& node, Step& step, const PlanOptions& options)
{
    std::vector<const Tensor*> constants;
    std::vector<DType> types;
    std::vector<std::string> captureNames;
    for (ValueId in : node.inputs) {
        constants.push_back(in.valid() ? constant(in) : nullptr);
        types.push_back(in.valid() ? m_facts.of(in).dtype : DType::Undefined);
    }
    for (ValueId in : node.captures)
        captureNames.push_back(m_graph->value(in).name);
    const auto makeSubPlan = [&](std::shared_ptr<const Graph> graph, std::span<const Fact> inputs) {
        step.subPlans.push_back(subPlan(node, std::move(graph), inputs, options));
        return step.subPlans.back();
    };
    // Said only to whom it concerns: what does not depend on the profile is shared by plans of several.
    const bool wideQuotients = node.opType == "QuantizeLinear" && options.profile != ArithmeticProfile::Simulated;
    return lowerShared(
        { node, constants, types, options.mode, captureNames, makeSubPlan,
            options.profile == ArithmeticProfile::IntegerAvx2 ? PairSaturation::AsTyped : PairSaturation::None,
            wideQuotients, node.domain == kNchwcDomain ? m_channelBlock : 0 },
        options.cache.get(), m_graph, [&](size_t input) { return *keyOf(node.inputs[input]); });
}

/// Constants' keys follow from their elements, which are looked at once.
const std::optional<Hash128>& Plan::keyOf(ValueId id)
{
    std::optional<Hash128>& known = m_keys[id.index()];
    if (const Tensor* t = known ? nullptr : constant(id))
        known = contentKey(*t);
    return known;
}

/// After fusion, since what a unit computes follows from its borders, too.
void Plan::makeKeys(const PlanOptions& options)
{
    for (size_t i = 0; i < graph().inputs().size(); ++i)
        m_keys[graph().inputs()[i].index()] = KeyBuilder().add("input").add(static_cast<int64_t>(i)).key();
    for (size_t n = 0; n < m_steps.size(); ++n) {
        if (stopAsked())
            return;
        if (m_steps[n].folded)
            continue; // its values have keys of their own
        const Node& node = graph().node(NodeId(n));
        std::optional<Hash128> own = operatorKey(node, options.mode, options.profile);
        const FusedUnit* fused = unit(NodeId(n));
        KeyBuilder key;
        const auto addInputs = [&](std::span<const ValueId> inputs) {
            for (ValueId in : inputs) {
                const std::optional<Hash128> from = in.valid() ? keyOf(in) : Hash128 {};
                if (!from)
                    own.reset();
                else
                    key.add(*from);
            }
        };
        addInputs(node.inputs);
        if (fused && fused->when == FusedUnit::When::Always) {
            key.add("unit").add(fused->lowered.kernel);
            addInputs(fused->inputs);
        }
        for (size_t i = 0; own && i < node.outputs.size(); ++i)
            if (node.outputs[i].valid() && !constant(node.outputs[i]))
                m_keys[node.outputs[i].index()] = KeyBuilder(key).add(*own).add(static_cast<int64_t>(i)).key();
    }
}

/// Of a node whose inputs are all constant.
std::optional<Hash128> Plan::foldedKey(const Node& node, const PlanOptions& options)
{
    // Without inputs there is nothing to compute; a name or an opset may hide in such nodes.
    const auto own = options.cache && !node.inputs.empty() && node.captures.empty()
        ? operatorKey(node, options.mode, options.profile)
        : std::nullopt;
    if (!own)
        return std::nullopt;
    KeyBuilder key;
    key.add(*own).add(static_cast<int64_t>(node.outputs.size()));
    for (const ValueId in : node.inputs)
        key.add(in.valid() ? *keyOf(in) : Hash128 {});
    return key.key();
}

/// True when that makes all outputs of the node.
bool Plan::takeFolded(const Node& node, const FoldedNode& folded)
{
    for (size_t i = 0; i < folded.outputs.size(); ++i)
        if (node.outputs[i].valid() && folded.outputs[i].valid()) {
            m_constants[node.outputs[i].index()] = folded.outputs[i];
            if (!folded.keys.empty())
                m_keys[node.outputs[i].index()] = folded.keys[i];
        }
    return std::ranges::all_of(node.outputs, [&](ValueId out) { return !out.valid() || constant(out); });
}

bool Plan::fold(NodeId id, Step& step, const PlanOptions& options, BufferPool& pool)
{
    const Node& node = graph().node(id);
    if (!step.lowered->foldable)
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
    const auto key = foldedKey(node, options);
    if (key && (step.shared = options.cache->findFolded(*key)))
        return takeFolded(node, *step.shared);
    FoldedNode folded { std::vector<Tensor>(node.outputs.size()), {} };
    StepContext context(inputs, folded.outputs, pool);
    try {
        const Status status = step.lowered->run(context);
        if (!status.ok())
            return false; // said again when the node runs
    } catch (const std::exception&) {
        return false;
    }
    if (!key)
        return takeFolded(node, folded);
    for (const Tensor& output : folded.outputs)
        folded.keys.push_back(output.valid() ? contentKey(output) : Hash128 {});
    step.shared = options.cache->addFolded(*key, std::move(folded));
    return takeFolded(node, *step.shared);
}

void Plan::addUnit(FusedUnit unit)
{
    if (unit.when == FusedUnit::When::Always)
        for (ValueId id : unit.inner)
            m_hidden[id.index()] = true;
    const NodeId last = unit.nodes.back();
    m_units.insert_or_assign(last, std::move(unit));
}

bool Plan::isOuter(ValueId id) const
{
    const Value& value = graph().value(id);
    return !value.producer.valid() && !value.initializer && !graph().isInput(id);
}

std::string Plan::container(ValueId id) const
{
    const std::string& declared = graph().value(id).type.container;
    const DType type = m_facts.of(id).dtype;
    return declared.empty() && isContainer(type) ? std::string(dtypeName(type)) : declared;
}

const FusedUnit* Plan::unit(NodeId last) const
{
    const auto it = m_units.find(last);
    return it == m_units.end() ? nullptr : &it->second;
}

const Hash128* Plan::key(ValueId id) const
{
    return m_keys.empty() || !m_keys[id.index()] ? nullptr : &*m_keys[id.index()];
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
    if (!producer.valid()) {
        const auto outer = m_blockedOuter.find(id);
        return outer == m_blockedOuter.end() ? nullptr : &outer->second;
    }
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
