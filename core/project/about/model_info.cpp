// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/model_info.h"

#include "core/graph/domains.h"
#include "core/graph/draft.h"
#include "core/graph/origin/exporter_origin.h"
#include "core/ops/infer.h"
#include "core/ops/macs.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>

namespace qs {

namespace {

/// Operators of floats whose weight has its scale and zero point in inputs 2 and 3.
bool hasStoredScale(const Node& node)
{
    return node.domain == kMicrosoftDomain
        && (node.opType == "MatMulNBits" || node.opType == "GatherBlockQuantized" || node.opType == "MatMulBnb4"
            || node.opType == "DynamicQuantizeMatMul");
}

/// Values that only say how codes are meant: scales and zero points.
std::set<ValueId> parameterValues(const Graph& graph)
{
    std::set<ValueId> values;
    auto add = [&](const Node& node, int slot) {
        if (slot >= 0 && node.hasInput(size_t(slot)))
            values.insert(node.inputs[size_t(slot)]);
    };
    for (const Node& node : graph.nodes()) {
        if (isQuantizeLinear(node) || isDequantizeLinear(node)) {
            add(node, 1);
            add(node, 2);
        } else if (const auto s = qlinearSignature(node)) {
            for (const CodeOperand& in : s->inputs) {
                add(node, in.scale);
                add(node, in.zeroPoint);
            }
            add(node, s->output.scale);
            add(node, s->output.zeroPoint);
        } else if (hasStoredScale(node)) {
            add(node, 2);
            add(node, 3);
        } else if (node.is("QMoE", kMicrosoftDomain)) {
            for (const int slot : { 3, 6, 9, 11, 12, 13 })
                add(node, slot);
        }
    }
    // Through nodes that copy or compute them: Identity of a shared scale.
    for (size_t n = graph.nodes().size(); n-- > 0;) {
        const Node& node = graph.nodes()[n];
        const bool all = !node.outputs.empty()
            && std::ranges::all_of(node.outputs, [&](ValueId out) { return !out.valid() || values.contains(out); });
        if (all)
            for (ValueId in : node.inputs)
                if (in.valid())
                    values.insert(in);
    }
    return values;
}

bool isStored(const Graph& graph, size_t index)
{
    const Value& v = graph.values()[index];
    return v.initializer || (v.producer.valid() && graph.node(v.producer).is("Constant"));
}

/// One graph, the main one or a body.
struct GraphView {
    const Plan& plan;
    const QuantView& quant;
    const Graph& graph() const { return plan.graph(); }
};

/// That a stored constant is of: its own, or the one behind nodes that bound, cast or move its codes.
const Quantizer* quantizerOf(const GraphView& view, ValueId stored)
{
    for (ValueId at = stored; at.valid();) {
        if (const auto index = view.quant.ofQuantized(at))
            return &view.quant.quantizers()[*index];
        const auto& uses = view.graph().value(at).uses;
        const auto passes = [&](const Use& use) {
            const Node& node = view.graph().node(use.node);
            return use.slot == 0 && node.hasOutput(0) && isInteger(view.plan.facts().of(node.outputs[0]).dtype)
                && (node.is("Clip") || node.is("Cast") || node.is("Identity") || movesElements(node));
        };
        const auto next = std::ranges::find_if(uses, passes);
        at = next == uses.end() ? ValueId() : view.graph().node(next->node).outputs[0];
    }
    return nullptr;
}

/// What bodies read of the graphs around them, by name.
struct OuterConstants {
    std::set<std::string> parameters; ///< scales and zero points
    std::map<std::string, int64_t> codes; ///< elements of weights
};

/// Elements that the graph stores, those in its bodies not among them; takes what it stores out of `outer` and adds
/// what it reads of the graphs around it.
int64_t countStored(const GraphView& view, OuterConstants& outer)
{
    const Graph& g = view.graph();
    const auto skip = parameterValues(g);
    int64_t count = 0;
    for (size_t v = 0; v < g.values().size(); ++v) {
        const std::string& name = g.values()[v].name;
        const bool stored = isStored(g, v), parameter = skip.contains(ValueId(v));
        const Tensor* t = stored || !g.values()[v].producer.valid() ? view.plan.constant(ValueId(v)) : nullptr;
        if (!t)
            continue;
        const Quantizer* q = quantizerOf(view, ValueId(v));
        const bool codes = q && q->role != QuantRole::Activation;
        const int64_t elements = q && q->logicalCodes.valid() ? q->logicalCodes.count() : t->count();
        const auto asked = outer.codes.find(name);
        if (!stored && parameter) {
            outer.parameters.insert(name);
        } else if (!stored && codes && !isFloat(t->dtype())) {
            outer.codes.emplace(name, elements);
        } else if (stored) {
            if (!parameter && outer.parameters.erase(name) == 0)
                count += isFloat(t->dtype()) || codes ? elements : asked != outer.codes.end() ? asked->second : 0;
            outer.codes.erase(name);
        }
    }
    return count;
}

int64_t countParameters(const LoadedModel& model, const std::vector<BodyView>& bodies)
{
    OuterConstants outer;
    int64_t count = 0;
    for (size_t i = bodies.size(); i-- > 0;) // what lies in others comes before them
        count += countStored({ *bodies[i].plan, bodies[i].quant }, outer);
    return count + countStored({ *model.plan, *model.quant }, outer);
}

std::optional<int64_t> countMacs(const Graph& graph, const InferredFacts& facts)
{
    int64_t total = 0;
    for (const Node& node : graph.nodes()) {
        const auto macs = nodeMacs(node, facts);
        if (!macs || __builtin_add_overflow(total, *macs, &total))
            return std::nullopt;
    }
    return total;
}

/// Of inputs that leave their first size open and no other: these with a first size of one.
std::optional<OuterFacts> batchOfOne(const Graph& graph)
{
    OuterFacts inputs;
    for (const ValueId in : graph.inputs()) {
        const Value& value = graph.value(in);
        if (value.initializer)
            continue;
        if (!value.type.dims || !value.type.container.empty())
            return std::nullopt;
        Dims dims = *value.type.dims;
        if (!dims.empty() && !dims.front().known())
            dims.front() = { 1, {} };
        if (!toShape(dims))
            return std::nullopt;
        inputs.emplace(value.name, fact(value.type.dtype, std::move(dims)));
    }
    return inputs;
}

/// Whatever its type: products add it, and nothing else reads it.
bool isBias(const Graph& graph, const Quantizer& q)
{
    constexpr uint32_t kAddend = 2;
    const auto adds = [&](const Use& use) {
        const Node& node = graph.node(use.node);
        return use.slot == kAddend && (node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm"));
    };
    const auto& uses = q.dequantized.valid() ? graph.value(q.dequantized).uses : std::vector<Use> {};
    return q.role == QuantRole::Bias
        || (q.role == QuantRole::Weight && !uses.empty() && std::ranges::all_of(uses, adds));
}

void addTypes(const Graph& graph, const QuantView& view, ModelInfo& info)
{
    for (const Quantizer& q : view.quantizers()) {
        if (isBias(graph, q))
            continue;
        const bool activation = q.role == QuantRole::Activation;
        (activation ? info.activationTypes : info.weightTypes).insert(std::string(dtypeName(q.params.dtype)));
        if (isInteger(q.params.dtype))
            (activation ? info.activationBits : info.weightBits).insert(q.params.bits());
        if (!activation && !q.params.scale.empty())
            info.granularity.insert(q.params.blockSize > 0 ? "per_block"
                    : q.params.axis                        ? "per_channel"
                                                           : "per_tensor");
    }
}

void fillQuantization(const LoadedModel& model, const std::vector<BodyView>& bodies, ModelInfo& info)
{
    info.form = formOf(model, bodies);
    addTypes(model.graph(), *model.quant, info);
    for (const BodyView& body : bodies)
        addTypes(body.plan->graph(), body.quant, info);
    if (info.activationTypes.empty())
        info.activationTypes.insert("float32");
    if (info.weightTypes.empty() && info.parameters > 0)
        info.weightTypes.insert("float32");
}

/// Nodes that cannot run, with those inside of subgraphs behind the node that holds them.
void addUnsupported(const Plan& plan, ModelInfo& info)
{
    for (size_t n = 0; n < plan.graph().nodes().size(); ++n) {
        const Node& node = plan.graph().nodes()[n];
        const Plan::Step& step = plan.step(NodeId(n));
        if (step.blocked && step.ownReason)
            info.unsupported.push_back({ node.name, node.opType, step.blocked->what });
        for (const auto& inner : step.subPlans)
            addUnsupported(*inner, info);
    }
}

/// Nodes in the node's bodies.
void countInner(const Node& node, std::map<std::string, size_t>& types)
{
    for (const auto& body : subgraphs(node.attributes))
        for (const Node& inner : body->nodes()) {
            ++types[inner.opType];
            countInner(inner, types);
        }
}

void countOrigin(const Node& node, ModelInfo::Origins& origins)
{
    const ExporterOrigin origin = exporterOrigin(node);
    const bool told = origin.pathBy == OriginEvidence::Metadata || origin.pathBy == OriginEvidence::Documentation;
    origins.modulePath += told;
    origins.stackTrace += origin.frame.has_value();
    origins.nameScope += origin.pathBy == OriginEvidence::Name;
    origins.unknown += !origin.known();
}

} // namespace

ModelInfo modelInfo(const LoadedModel& model)
{
    const Graph& g = model.graph();
    ModelInfo info;
    for (ValueId in : g.inputs())
        info.inputs.push_back({ g.value(in).name, g.value(in).type });
    for (ValueId out : g.outputs()) {
        ValueType type = g.value(out).type;
        const Fact& f = model.plan->facts().of(out);
        if (type.container.empty()) { // as the file says; inference fills what it leaves open
            if (type.dtype == DType::Undefined)
                type.dtype = f.dtype;
            if (!type.dims)
                type.dims = f.dims;
            for (size_t d = 0; f.dims && f.dims->size() == type.dims->size() && d < f.dims->size(); ++d)
                if (Dim& dim = (*type.dims)[d]; !dim.known() && dim.symbol.empty() && (*f.dims)[d].known())
                    dim = (*f.dims)[d];
        }
        info.outputs.push_back({ g.value(out).name, type });
    }
    info.nodes = model.model->fileNodes;
    for (const Node& node : g.nodes()) {
        ++info.nodeTypes[node.opType];
        countOrigin(node, info.origins);
    }
    for (const Node& node : g.nodes())
        countInner(node, info.innerTypes);
    const std::vector<BodyView> bodies = bodyViews(*model.plan);
    info.parameters = countParameters(model, bodies);
    info.macs = countMacs(g, model.plan->facts());
    if (const auto one = info.macs ? std::nullopt : batchOfOne(g))
        info.macsOfOne = countMacs(g, inferFacts(g, *one));
    fillQuantization(model, bodies, info);
    addUnsupported(*model.plan, info);
    return info;
}

} // namespace qs
