// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/model_info.h"

#include "core/graph/domains.h"
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

/// Float constants of the subgraphs that may run.
int64_t countInside(const Plan& plan)
{
    int64_t count = 0;
    for (size_t n = 0; n < plan.graph().nodes().size(); ++n)
        for (const auto& inner : plan.step(NodeId(n)).subPlans) {
            const Graph& g = inner->graph();
            const auto skip = parameterValues(g);
            for (size_t v = 0; v < g.values().size(); ++v)
                if (const Tensor* t = isStored(g, v) ? inner->constant(ValueId(v)) : nullptr;
                    t && isFloat(t->dtype()) && !skip.contains(ValueId(v)))
                    count += t->count();
            count += countInside(*inner);
        }
    return count;
}

/// That a stored constant is of: its own, or the one behind nodes that bound, cast or move its codes.
const Quantizer* quantizerOf(const LoadedModel& model, ValueId stored)
{
    for (ValueId at = stored; at.valid();) {
        if (const auto index = model.quant->ofQuantized(at))
            return &model.quant->quantizers()[*index];
        const auto& uses = model.graph().value(at).uses;
        const auto passes = [&](const Use& use) {
            const Node& node = model.graph().node(use.node);
            return use.slot == 0 && node.hasOutput(0) && isInteger(model.plan->facts().of(node.outputs[0]).dtype)
                && (node.is("Clip") || node.is("Cast") || node.is("Identity") || movesElements(node));
        };
        const auto next = std::ranges::find_if(uses, passes);
        at = next == uses.end() ? ValueId() : model.graph().node(next->node).outputs[0];
    }
    return nullptr;
}

int64_t countParameters(const LoadedModel& model)
{
    const Graph& g = model.graph();
    const auto skip = parameterValues(g);
    int64_t count = countInside(*model.plan);
    for (size_t v = 0; v < g.values().size(); ++v) {
        const Tensor* t = isStored(g, v) ? model.plan->constant(ValueId(v)) : nullptr;
        if (!t || skip.contains(ValueId(v)))
            continue;
        const Quantizer* q = quantizerOf(model, ValueId(v));
        if (isFloat(t->dtype()) || (q && q->role != QuantRole::Activation))
            count += q && q->logicalCodes.valid() ? q->logicalCodes.count() : t->count();
    }
    return count;
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

void fillQuantization(const LoadedModel& model, ModelInfo& info)
{
    info.form = model.quant->form();
    for (const Quantizer& q : model.quant->quantizers()) {
        if (isBias(model.graph(), q))
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
    info.parameters = countParameters(model);
    info.macs = countMacs(g, model.plan->facts());
    if (const auto one = info.macs ? std::nullopt : batchOfOne(g))
        info.macsOfOne = countMacs(g, inferFacts(g, *one));
    fillQuantization(model, info);
    addUnsupported(*model.plan, info);
    return info;
}

} // namespace qs
