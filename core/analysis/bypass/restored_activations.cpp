// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/restored_activations.h"

#include "core/base/rounding.h"
#include "core/engine/run/execution.h"
#include "core/graph/draft.h"
#include "core/qdq/qlinear_signature.h"
#include "core/quant/params/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

double errorOf(const Tensor& x, const Tensor& y)
{
    const std::vector<float> wanted = toFloats(x), found = toFloats(y);
    double sum = 0;
    for (size_t i = 0; i < std::min(wanted.size(), found.size()); ++i)
        if (std::isfinite(wanted[i]) && std::isfinite(found[i]))
            sum += (double(found[i]) - wanted[i]) * (double(found[i]) - wanted[i]);
    return sum;
}

double dbOf(double signal, double error)
{
    const double db = error > 0 ? 10 * std::log10(signal / error) : kExactDb;
    return std::clamp(db, -kExactDb, kExactDb);
}

const std::shared_ptr<const Plan>& writtenOf(const ComparePair& pair)
{
    return pair.writtenPlan ? pair.writtenPlan : pair.quantPlan;
}

} // namespace

RestoredRuns::RestoredRuns(const ComparePair& pair, std::shared_ptr<const Plan> restored)
    : m_floatPlan(pair.floatPlan)
    , m_asIs(writtenOf(pair))
    , m_restored(std::move(restored))
    , m_fed(CarriedState(m_asIs), CarriedState(m_floatPlan))
{
    for (const OutputPair& out : pairOutputs(pair)) {
        m_x.push_back(out.x);
        m_y.push_back(out.y);
        m_z.push_back(m_restored->graph().findValue(out.quantizedName));
    }
    m_sums.resize(m_x.size());
}

std::optional<RestoredRuns> RestoredRuns::make(const ComparePair& pair, const std::vector<PairPlan>& pairs)
{
    const std::shared_ptr<const Plan>& quantized = writtenOf(pair);
    GraphDraft draft(std::make_shared<const Model>(quantized->model()));
    std::vector<NodeId> done;
    for (const PairPlan& plan : pairs) {
        if (!plan.lostNode.valid() || std::ranges::find(done, plan.lostNode) != done.end())
            continue;
        if (draft.opsets[""] < kClipOfCodes || !putBack(plan, quantized->graph(), draft))
            return std::nullopt;
        done.push_back(plan.lostNode);
    }
    if (done.empty())
        return std::nullopt;
    const auto model = draft.build();
    if (!model.ok())
        return std::nullopt;
    RestoredRuns runs(pair, Plan::make(*model));
    const auto runnable = [&](ValueId out) { return out.valid() && !runs.m_restored->blocked(out); };
    if (runs.m_z.empty() || !std::ranges::all_of(runs.m_z, runnable))
        return std::nullopt;
    return runs;
}

std::optional<double> RestoredRuns::add(const std::vector<Tensor>& inputs, const WorkContext& work)
{
    const std::vector<Tensor> fed = m_fed.inputs(inputs);
    const auto x = run(m_floatPlan, m_x, inputs, work), y = run(m_asIs, m_y, fed, work),
               z = run(m_restored, m_z, fed, work);
    if (!x || !y || !z)
        return std::nullopt;
    double most = 0;
    for (size_t i = 0; i < m_sums.size(); ++i) {
        Sums here { 0, errorOf((*x)[i], (*y)[i]), errorOf((*x)[i], (*z)[i]) };
        for (const float v : toFloats((*x)[i]))
            here.signal += std::isfinite(v) ? double(v) * v : 0;
        if (here.signal > 0)
            most = std::max(most, (here.asIs - here.restored) / here.signal);
        m_sums[i].signal += here.signal;
        m_sums[i].asIs += here.asIs;
        m_sums[i].restored += here.restored;
    }
    return most;
}

RestoredOutput RestoredRuns::result() const
{
    RestoredOutput worst { kExactDb, kExactDb };
    const bool signals = std::ranges::any_of(m_sums, [](const Sums& sums) { return sums.signal > 0; });
    for (const Sums& sums : m_sums) {
        if (signals && sums.signal == 0)
            continue;
        worst.asIsDb = std::min(worst.asIsDb, dbOf(sums.signal, sums.asIs));
        worst.restoredDb = std::min(worst.restoredDb, dbOf(sums.signal, sums.restored));
    }
    return worst;
}

} // namespace qs
