// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/restored_activations.h"

#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/base/rounding.h"
#include "core/engine/run/execution.h"
#include "core/graph/draft.h"
#include "core/qdq/qlinear_signature.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int64_t kClipOfCodes = 12; ///< opset from which Clip takes integers

/// A Clip from `in` to `out`, with these constants as bounds.
void addClip(GraphDraft& draft, const std::string& in, const std::string& out, Tensor low, Tensor high)
{
    draft.setConstant(out + "_restored_low", std::move(low));
    draft.setConstant(out + "_restored_high", std::move(high));
    DraftNode clip;
    clip.name = out + "_restored";
    clip.opType = "Clip";
    clip.inputs = { in, out + "_restored_low", out + "_restored_high" };
    clip.outputs = { out };
    draft.nodes.push_back(std::move(clip));
}

/// Whoever makes the value makes another one, and a Clip makes the value of it.
void bindValue(GraphDraft& draft, const std::string& value, const PairActivation& bounds, const QuantParams* codes)
{
    const std::string inner = value + "_unrestored";
    for (DraftNode& node : draft.nodes)
        std::ranges::replace(node.outputs, value, inner);
    if (!codes)
        return addClip(draft, inner, value, Tensor::scalar(bounds.low), Tensor::scalar(bounds.high));
    const CodeRange range = codes->codes();
    const auto code = [&](float real) {
        const double at = roundHalfEven(double(real) / double(codes->scale[0])) + codes->zeroPoint[0];
        const std::vector<int32_t> one { int32_t(std::clamp(at, double(range.low), double(range.high))) };
        return codeTensor(codes->dtype, {}, one);
    };
    addClip(draft, inner, value, code(bounds.low), code(bounds.high));
}

/// False where the activation cannot be put back.
bool putBack(const PairPlan& pair, const Graph& graph, GraphDraft& draft)
{
    if (pair.unrounded.valid()) { // an operator that gives codes
        if (!pair.params.perTensor())
            return false;
        bindValue(draft, graph.value(graph.node(pair.unrounded).outputs[0]).name, pair.lost, &pair.params);
        return true;
    }
    const std::string value = graph.value(pair.p.valid() ? pair.p : pair.y).name;
    if (draft.isInput(value) || draft.constant(value))
        return false;
    bindValue(draft, value, pair.lost, nullptr);
    return true;
}

std::optional<std::vector<Tensor>> run(const std::shared_ptr<const Plan>& plan, const std::vector<ValueId>& values,
    const std::vector<Tensor>& inputs, const WorkContext& work)
{
    Demand demand;
    demand.values = values;
    const auto schedule = Schedule::make(plan, std::move(demand));
    if (!schedule.ok())
        return std::nullopt;
    BufferPool pool(work.memoryBytes());
    Execution execution(*schedule, pool);
    if (!execution.bind(inputs).ok() || !execution.runAll(work.cancel).ok())
        return std::nullopt;
    std::vector<Tensor> found;
    for (const ValueId value : values)
        found.push_back(execution.get(value));
    return found;
}

double worstDb(const std::vector<Tensor>& x, const std::vector<Tensor>& y)
{
    double worst = kExactDb;
    for (size_t i = 0; i < x.size(); ++i)
        if (const double apart = relativeDistance(toFloats(x[i]), toFloats(y[i])); apart > 0)
            worst = std::min(worst, -20 * std::log10(apart));
    return worst;
}

} // namespace

std::optional<RestoredOutput> restoredOutput(const ComparePair& pair, const std::vector<PairPlan>& pairs,
    const std::vector<Tensor>& inputs, const WorkContext& work)
{
    const std::shared_ptr<const Plan>& quantized = pair.writtenPlan ? pair.writtenPlan : pair.quantPlan;
    GraphDraft draft(std::make_shared<const Model>(quantized->model()));
    bool any = false;
    std::vector<NodeId> done;
    for (const PairPlan& plan : pairs) {
        if (!plan.lostNode.valid() || std::ranges::find(done, plan.lostNode) != done.end())
            continue;
        if (draft.opsets[""] < kClipOfCodes || !putBack(plan, quantized->graph(), draft))
            return std::nullopt;
        done.push_back(plan.lostNode);
        any = true;
    }
    if (!any)
        return std::nullopt;
    const auto model = draft.build();
    if (!model.ok())
        return std::nullopt;
    const auto restored = Plan::make(*model);
    std::vector<ValueId> x, y, z;
    for (const OutputPair& out : pairOutputs(pair)) {
        x.push_back(out.x);
        y.push_back(out.y);
        z.push_back(restored->graph().findValue(out.quantizedName));
        if (!z.back().valid() || restored->blocked(z.back()))
            return std::nullopt;
    }
    const FedModel fed { CarriedState(quantized), CarriedState(pair.floatPlan) };
    const auto wanted = run(pair.floatPlan, x, inputs, work);
    const auto asIs = run(quantized, y, fed.inputs(inputs), work), after = run(restored, z, fed.inputs(inputs), work);
    if (x.empty() || !wanted || !asIs || !after)
        return std::nullopt;
    return RestoredOutput { worstDb(*wanted, *asIs), worstDb(*wanted, *after) };
}

} // namespace qs
