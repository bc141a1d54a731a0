// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lowered/lower_graph.h"

#include "core/base/work/cancel_scope.h"
#include "core/engine/lowered/channel_block.h"
#include "core/engine/lowered/content_key.h"
#include "core/engine/registry/registry.h"
#include "core/graph/domains.h"
#include "core/ops/fact_tools.h"
#include "core/ops/infer.h"
#include "core/ops/left_out.h"
#include "core/ops/macs.h"
#include "core/qdq/quantization_fault.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <exception>

namespace qs {

namespace {

/// Folding stops at results of this size: a constant that large is better computed when it is needed.
constexpr int64_t kLargestFolded = int64_t(1) << 28;

/// Constants above this are large: see PlanOptions::onlyLookedAt.
constexpr size_t kSmallConstant = size_t(64) << 10;

bool isLarge(const Tensor* constant)
{
    return constant && constant->dtype() != DType::String && !isContainer(constant->dtype())
        && constant->byteCount() > kSmallConstant;
}

/// What folding may take, so that a few nodes do not become gigabytes and hours before anything runs: bytes by
/// themselves and for each byte of the constants in the file, and multiply-accumulates. What is not folded is computed
/// when it is needed.
class FoldingBudget {
public:
    explicit FoldingBudget(const Graph& graph)
    {
        for (const Value& value : graph.values())
            m_bytes += value.initializer ? kBytesEach * static_cast<int64_t>(value.initializer->byteCount()) : 0;
    }
    uint64_t bytes() const { return uint64_t(m_bytes); } ///< that are left
    bool allows(int64_t bytes, int64_t macs) const { return bytes <= m_bytes && macs <= m_macs; }
    void take(int64_t bytes, int64_t macs)
    {
        m_bytes -= std::min(bytes, m_bytes);
        m_macs -= std::min(macs, m_macs);
    }

private:
    static constexpr int64_t kBytesEach = 16;
    int64_t m_bytes = int64_t(1) << 30;
    int64_t m_macs = int64_t(1) << 36;
};

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

bool measures(const Node& node) { return node.is("Shape") || node.is("Size"); }

} // namespace

/// Lowers the nodes of a graph one after another; what is folded is a constant for the next ones.
class GraphLowering {
public:
    GraphLowering(std::shared_ptr<const Model> model, std::shared_ptr<const Graph> graph, const OuterValues& outer,
        const PlanOptions& options, const MakeSubPlanFn& makeSubPlan)
        : m_options(options)
        , m_makeSubPlan(makeSubPlan)
        , m_folding(*graph)
    {
        m_out.m_model = std::move(model);
        m_out.m_graph = std::move(graph);
        m_out.m_facts = inferFacts(m_out.graph(), outer.facts);
        m_out.m_steps.resize(m_out.graph().nodes().size());
        m_out.m_constants.resize(m_out.graph().values().size());
        m_channelBlock = channelBlockOf(m_out.graph());
        if (options.cache)
            m_keys.resize(m_out.graph().values().size());
        takeOuter(outer);
        if (outer.facts.empty() && std::ranges::any_of(m_out.graph().nodes(), measures))
            m_sizes = inferFromInputs(m_out.graph());
    }

    GraphLoweringResult run() &&
    {
        for (size_t n = 0; n < m_out.m_steps.size(); ++n)
            addNode(NodeId(n));
        return { std::move(m_out), std::move(m_keys) };
    }

private:
    using Step = LoweredGraph::Step;

    void takeOuter(const OuterValues& outer);
    void addNode(NodeId id);
    /// Nothing when the inputs can be computed.
    std::optional<Issue> missingInput(const Node& node) const;
    Fact knownOf(ValueId id) const;
    /// Why the node cannot run once it is lowered.
    std::optional<Issue> refusedInput(const Node& node, const LoweredNode& lowered) const;
    Result<std::shared_ptr<const LoweredNode>> lower(const Node& node, Step& step);
    std::shared_ptr<const Plan> subPlan(
        const Node& node, std::shared_ptr<const Graph> graph, std::span<const Fact> inputs) const;
    bool fold(const Node& node, Step& step);
    /// Whole numbers that sizes decide, where the file says all of these (Shape, Gather of a Shape ...).
    bool takeKnown(const Node& node);
    /// What its outputs take as constants; INT64_MAX where that is too much for any of them.
    int64_t foldedBytes(const Node& node) const;
    bool isTooLargeToFold(const Node& node) const;
    bool exceedsLimit(const Node& node) const;
    bool isLargeToLookAt(const Node& node, const std::vector<const Tensor*>& inputs) const;
    std::optional<Hash128> foldedKey(const Node& node);
    bool takeFolded(const Node& node, const FoldedNode& folded);
    const PlanOptions& m_options;
    const MakeSubPlanFn& m_makeSubPlan;
    std::optional<InferredFacts> m_sizes; ///< that are certain; nothing where none is asked for, or in a body: there
                                          ///< they may change from one turn to the next
    LoweredGraph m_out;
    std::vector<std::optional<Hash128>> m_keys; ///< of constants, by value; empty without a cache
    int64_t m_channelBlock = 0; ///< see LowerContext
    FoldingBudget m_folding;
    uint64_t m_foldedBytes = 0;
    /// Holds the budget where sizes are not known, too.
    BufferPool m_pool { std::min(m_folding.bytes(), m_options.memoryLimit > 0 ? m_options.memoryLimit : UINT64_MAX) };
};

void GraphLowering::takeOuter(const OuterValues& outer)
{
    for (const auto& [name, value] : outer.values) {
        const ValueId id = m_out.graph().findValue(name);
        if (!id.valid() || !m_out.isOuter(id))
            continue;
        if (value.constant)
            m_out.m_constants[id.index()] = *value.constant;
        if (value.blocked)
            m_out.m_blockedOuter.emplace(id, *value.blocked);
    }
}

void GraphLowering::addNode(NodeId id)
{
    const Node& node = m_out.graph().node(id);
    Step& step = m_out.m_steps[id.index()];
    auto block = [&](Issue issue, bool own) {
        step.blocked = nodeIssue(m_out.model(), node, std::move(issue));
        step.ownReason = own;
    };
    if (stopAsked()) // nobody will use this plan
        return block(cancelled(), true);
    if (!loweringRegistry().find(node))
        return block(unsupportedOperator(node), true);
    if (auto missing = missingInput(node))
        return block(std::move(*missing), false);
    if (std::ranges::none_of(node.outputs, &ValueId::valid))
        return block(badInput(node.opType + ": it has no output", {}, "export the model again"), true);
    if (auto fault = quantizationFault(node, [&](ValueId in) { return knownOf(in); }))
        return block(std::move(*fault), true);
    auto lowered = lower(node, step);
    if (!lowered.ok()) {
        // A subgraph all of whose nodes could run waits for a value of this graph.
        const bool inherited = !step.subPlans.empty() && lowered.issue().what.starts_with("depends on");
        return block(std::move(lowered).issue(), !inherited);
    }
    if (auto refused = refusedInput(node, **lowered))
        return block(std::move(*refused), true);
    step.lowered = std::move(*lowered);
    for (size_t i = 0; i < node.captures.size(); ++i)
        step.captures.push_back(
            i < step.lowered->captures.size() && step.lowered->captures[i] ? node.captures[i] : ValueId());
    step.folded = fold(node, step) || takeKnown(node);
}

std::optional<Issue> GraphLowering::missingInput(const Node& node) const
{
    for (ValueId in : node.inputs)
        if (const Issue* cause = in.valid() ? m_out.blocked(in) : nullptr) {
            if (cause->what.starts_with("depends on"))
                return badInput(cause->what);
            return badInput("depends on node '" + cause->node + "', which cannot run: " + cause->what);
        }
    return std::nullopt;
}

Fact GraphLowering::knownOf(ValueId id) const
{
    const Tensor* folded = m_out.constant(id);
    return folded ? constantFact(*folded) : m_out.facts().of(id);
}

std::optional<Issue> GraphLowering::refusedInput(const Node& node, const LoweredNode& lowered) const
{
    for (ValueId in : node.inputs) {
        const DType type = in.valid() ? m_out.facts().of(in).dtype : DType::Undefined;
        if (isContainer(type) && !lowered.takesContainers)
            return containerRefused(node, m_out.graph().value(in).name, type);
    }
    return std::nullopt;
}

Result<std::shared_ptr<const LoweredNode>> GraphLowering::lower(const Node& node, Step& step)
{
    std::vector<const Tensor*> constants, small;
    std::vector<DType> types;
    std::vector<std::string> captureNames;
    for (ValueId in : node.inputs) {
        constants.push_back(in.valid() ? m_out.constant(in) : nullptr);
        small.push_back(isLarge(constants.back()) ? nullptr : constants.back());
        types.push_back(in.valid() ? m_out.facts().of(in).dtype : DType::Undefined);
    }
    for (ValueId in : node.captures)
        captureNames.push_back(m_out.graph().value(in).name);
    const auto makeSubPlan = [&](std::shared_ptr<const Graph> graph, std::span<const Fact> inputs) {
        step.subPlans.push_back(subPlan(node, std::move(graph), inputs));
        return step.subPlans.back();
    };
    // Said only to whom it concerns: what does not depend on the profile is shared by plans of several.
    const bool wideQuotients = node.opType == "QuantizeLinear" && m_options.profile != ArithmeticProfile::Simulated;
    const auto lowerWith = [&](std::span<const Tensor* const> known) {
        return lowerShared(
            { node, known, types, m_options.mode, captureNames, makeSubPlan,
                m_options.profile == ArithmeticProfile::IntegerAvx2 ? PairSaturation::AsTyped : PairSaturation::None,
                wideQuotients, node.domain == kNchwcDomain ? m_channelBlock : 0 },
            m_options.cache.get(), m_out.m_graph,
            [&](size_t input) { return *keyOf(m_out, node.inputs[input], m_keys); });
    };
    // As if large constants were computed, where that does; operators of Microsoft say what is wrong with their own.
    if (m_options.onlyLookedAt && small != constants && node.domain != kMicrosoftDomain)
        if (auto lowered = lowerWith(small); lowered.ok())
            return lowered;
    return lowerWith(constants);
}

std::shared_ptr<const Plan> GraphLowering::subPlan(
    const Node& node, std::shared_ptr<const Graph> graph, std::span<const Fact> inputs) const
{
    OuterValues outer;
    for (ValueId id : node.captures) {
        const std::string& name = m_out.graph().value(id).name;
        outer.facts[name] = m_out.facts().of(id);
        outer.values[name] = { m_out.constant(id), m_out.blocked(id) };
    }
    for (size_t i = 0; i < graph->inputs().size(); ++i)
        outer.facts[graph->value(graph->inputs()[i]).name]
            = i < inputs.size() ? subgraphInputFact(*graph, i, inputs[i]) : Fact {};
    return m_makeSubPlan(std::move(graph), outer);
}

/// Of a node whose inputs are all constant.
std::optional<Hash128> GraphLowering::foldedKey(const Node& node)
{
    // Without inputs there is nothing to compute; a name or an opset may hide in such nodes.
    const auto own = m_options.cache && !node.inputs.empty() && node.captures.empty()
        ? operatorKey(node, m_options.mode, m_options.profile)
        : std::nullopt;
    if (!own)
        return std::nullopt;
    KeyBuilder key;
    key.add(*own).add(static_cast<int64_t>(node.outputs.size()));
    for (const ValueId in : node.inputs)
        key.add(in.valid() ? *keyOf(m_out, in, m_keys) : Hash128 {});
    return key.key();
}

/// True when that makes all outputs of the node.
bool GraphLowering::takeFolded(const Node& node, const FoldedNode& folded)
{
    int64_t bytes = 0;
    for (const Tensor& output : folded.outputs)
        bytes += output.valid() ? static_cast<int64_t>(output.byteCount()) : 0;
    m_foldedBytes += node.is("Constant") ? 0 : static_cast<uint64_t>(bytes);
    m_folding.take(bytes, nodeMacs(node, m_out.facts()).value_or(0));
    for (size_t i = 0; i < folded.outputs.size(); ++i)
        if (node.outputs[i].valid() && folded.outputs[i].valid()) {
            m_out.m_constants[node.outputs[i].index()] = folded.outputs[i];
            if (!folded.keys.empty())
                m_keys[node.outputs[i].index()] = folded.keys[i];
        }
    return std::ranges::all_of(node.outputs, [&](ValueId out) { return !out.valid() || m_out.constant(out); });
}

int64_t GraphLowering::foldedBytes(const Node& node) const
{
    int64_t bytes = 0;
    for (const ValueId out : node.outputs) {
        if (!out.valid() || !m_out.facts().of(out).dims)
            continue;
        const auto shape = toShape(*m_out.facts().of(out).dims);
        const int64_t count = shape ? elementCount(*shape).value_or(INT64_MAX) : 0;
        if (count > kLargestFolded)
            return INT64_MAX;
        bytes += static_cast<int64_t>(storageBytes(m_out.facts().of(out).dtype, static_cast<size_t>(count)));
    }
    return bytes;
}

bool GraphLowering::isLargeToLookAt(const Node& node, const std::vector<const Tensor*>& inputs) const
{
    return std::ranges::any_of(inputs, isLarge)
        || (!node.is("Constant") && foldedBytes(node) > static_cast<int64_t>(kSmallConstant));
}

bool GraphLowering::isTooLargeToFold(const Node& node) const
{
    const int64_t bytes = foldedBytes(node);
    return bytes == INT64_MAX || !m_folding.allows(bytes, nodeMacs(node, m_out.facts()).value_or(0));
}

bool GraphLowering::exceedsLimit(const Node& node) const
{
    return m_options.memoryLimit > 0 && !node.is("Constant")
        && static_cast<uint64_t>(foldedBytes(node))
        > m_options.memoryLimit - std::min(m_foldedBytes, m_options.memoryLimit);
}

bool GraphLowering::fold(const Node& node, Step& step)
{
    if (!step.lowered->foldable)
        return false;
    std::vector<const Tensor*> inputs;
    for (ValueId in : node.inputs) {
        inputs.push_back(in.valid() ? m_out.constant(in) : nullptr);
        if (in.valid() && !inputs.back())
            return false;
    }
    if (isTooLargeToFold(node) || (m_options.onlyLookedAt && isLargeToLookAt(node, inputs)))
        return false;
    if (exceedsLimit(node)) {
        step.ownReason = true;
        step.blocked = nodeIssue(m_out.model(), node,
            badInput("folding it to a constant takes " + std::to_string(foldedBytes(node))
                    + " bytes, with those before it more than the memory limit of "
                    + std::to_string(m_options.memoryLimit),
                {}, "use a larger --memory-limit"));
        if (!m_out.m_overLimit)
            m_out.m_overLimit = step.blocked;
        step.lowered = nullptr;
        return false;
    }
    const auto key = foldedKey(node);
    if (key && (step.shared = m_options.cache->findFolded(*key)))
        return takeFolded(node, *step.shared);
    FoldedNode folded { std::vector<Tensor>(node.outputs.size()), {} };
    const CancelToken cancel = cancelOfScope();
    StepContext context(inputs, folded.outputs, m_pool, {}, &cancel);
    try {
        if (!step.lowered->run(context).ok() || cancel.cancelled())
            return false; // said again when the node runs
    } catch (const std::exception&) {
        return false;
    }
    if (!key)
        return takeFolded(node, folded);
    for (const Tensor& output : folded.outputs)
        folded.keys.push_back(output.valid() ? contentKey(output) : Hash128 {});
    step.shared = m_options.cache->addFolded(*key, std::move(folded));
    return takeFolded(node, *step.shared);
}

bool GraphLowering::takeKnown(const Node& node)
{
    if (!m_sizes)
        return false;
    std::vector<Tensor> known;
    for (const ValueId out : node.outputs) {
        const Fact* fact = out.valid() ? &m_sizes->of(out) : nullptr;
        if (!fact || !fact->value || !isInteger(fact->dtype) || fact->value->dtype() != fact->dtype)
            return false;
        known.push_back(*fact->value);
    }
    for (size_t i = 0; i < known.size(); ++i)
        m_out.m_constants[node.outputs[i].index()] = std::move(known[i]);
    return true;
}

const std::optional<Hash128>& keyOf(const LoweredGraph& lowered, ValueId id, std::vector<std::optional<Hash128>>& keys)
{
    std::optional<Hash128>& known = keys[id.index()];
    if (const Tensor* t = known ? nullptr : lowered.constant(id))
        known = contentKey(*t);
    return known;
}

GraphLoweringResult lowerGraph(std::shared_ptr<const Model> model, std::shared_ptr<const Graph> graph,
    const OuterValues& outer, const PlanOptions& options, const MakeSubPlanFn& makeSubPlan)
{
    return GraphLowering(std::move(model), std::move(graph), outer, options, makeSubPlan).run();
}

} // namespace qs
