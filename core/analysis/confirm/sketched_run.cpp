// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/confirm/sketched_run.h"

#include "core/analysis/bypass/bypass.h"
#include "core/analysis/bypass/bypass_builder.h"
#include "core/analysis/pairs/fed_model.h"
#include "core/base/work/parallel.h"
#include "core/engine/run/execution.h"
#include "core/qdq/qlinear_signature.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

namespace qs {

namespace {

constexpr Closeness kPrecision { 0.03, 3, 10, true, true,
    0.003 }; ///< what float16 and other decompositions may explain
constexpr Closeness kStoredWeights { 0.15, 1.4, 3, true, true }; ///< rounded weights, too
constexpr Closeness kQuantized { 0.35, 1.4, 3, false, false }; ///< and rounded activations

/// What the plan computes: no constants, and nothing that it cannot run or that is no tensor.
std::vector<ValueId> computed(const Plan& plan)
{
    std::vector<ValueId> values;
    for (size_t v = 0; v < plan.graph().values().size(); ++v) {
        const ValueId id(v);
        if (plan.graph().values()[v].producer.valid() && !plan.blocked(id) && !plan.constant(id) && !plan.hidden(id)
            && plan.container(id).empty())
            values.push_back(id);
    }
    return values;
}

bool sketchSample(const std::shared_ptr<const Schedule>& schedule, std::span<const Tensor> inputs,
    const WorkContext& work, Sketches& sketches)
{
    BufferPool pool(work.memoryBytes());
    Execution execution(schedule, pool);
    if (!execution.bind(inputs).ok())
        return false;
    const auto& graphInputs = schedule->plan().graph().inputs();
    for (size_t i = 0; i < graphInputs.size() && i < inputs.size(); ++i)
        sketches[graphInputs[i]].add(inputs[i]);
    while (!execution.finished()) {
        const Schedule::Task& task = schedule->tasks()[execution.position()];
        if (work.cancel.cancelled() || !execution.step(&work.cancel).ok())
            return false;
        for (const ValueId id : task.outputs)
            if (id.valid() && execution.has(id)) {
                sketches[id].add(execution.get(id));
                execution.release(id);
            }
    }
    return true;
}

/// By value of the quantized graph: values of the bypassed one have its names.
Sketches byNames(const Sketches& sketches, const Graph& from, const Graph& to)
{
    Sketches renamed;
    for (const auto& [id, sketch] : sketches)
        if (const ValueId there = to.findValue(from.value(id).name); there.valid()) {
            renamed.emplace(there, sketch);
            const ValueId before = from.findValue(unboundedName(from.value(id).name));
            if (const ValueSketch* made = before.valid() ? sketches.find(before) : nullptr)
                renamed.emplace(ValueEvidence::beforeBounds(to, there), *made);
        }
    return renamed;
}

/// Codes of quantizers that compute their parameters stand for the reals that they read.
void showReals(const ComparePair& pair, Sketches& sketches)
{
    for (const Quantizer& q : pair.quantView->quantizers())
        if (q.role == QuantRole::Activation && q.dynamic)
            if (const ValueSketch* real = sketches.find(q.real)) {
                ValueSketch shown = *real;
                sketches[q.shown()] = std::move(shown);
            }
}

/// Codes mean reals. Those with a scale a channel tell nothing.
void scaleCodes(const ComparePair& pair, Sketches& sketches)
{
    for (auto& [id, sketch] : sketches) {
        const auto index = pair.quantView->ofQuantized(id);
        if (!index || !isInteger(pair.quantPlan->graph().value(id).type.dtype))
            continue;
        const QuantParams& params = pair.quantView->quantizers()[*index].params;
        if (params.scale.size() == 1)
            sketch.scale(params.scale[0], params.zeroPoint.empty() ? 0 : double(params.zeroPoint[0]));
        else
            sketch = {};
    }
}

/// The file without its quantizers, and what it computes.
struct BypassedRun {
    std::shared_ptr<const Plan> plan; ///< null where it cannot be made or run
    Sketches sketches; ///< by its values
    Closeness closeness = kPrecision;
};

BypassedRun bypassed(
    const ComparePair& pair, BypassBuilder::Weights weights, const SampleInputs& samples, const WorkContext& work)
{
    BypassBuilder builder(pair, planPairs(pair), weights);
    const auto draft = builder.make();
    if (!draft || (weights == BypassBuilder::Weights::Alike && builder.unlikeConstants() == 0))
        return {}; // or the same as with the float model's
    const auto model = draft->build();
    if (!model.ok())
        return {};
    const auto plan = Plan::make(*model, { KernelMode::Fast, ArithmeticProfile::Simulated, pair.lowered });
    auto run = sketchRun(plan, pair.floatPlan, samples, work);
    if (!run)
        return {};
    return { plan, std::move(*run), builder.ownConstants().empty() ? kPrecision : kStoredWeights };
}

/// What a Softmax reads that makes a value; invalid: none does.
ValueId scoresOf(const Graph& graph, ValueId value)
{
    constexpr std::array<std::string_view, 4> kPassing { "DequantizeLinear", "QuantizeLinear", "Identity", "Cast" };
    constexpr size_t kMost = 4; // nodes that hand it on
    for (size_t i = 0; i <= kMost && value.valid() && graph.value(value).producer.valid(); ++i) {
        const Node& node = graph.node(graph.value(value).producer);
        if (floatOpType(node) == "Softmax")
            return node.hasInput(0) ? node.inputs[0] : ValueId();
        if (std::ranges::find(kPassing, node.opType) == kPassing.end() || !node.hasInput(0))
            return {};
        value = node.inputs[0];
    }
    return {};
}

/// Outputs, and the scores that probabilities among them are made of: where one class is sure, no fault is seen behind
/// the Softmax.
std::vector<OutputPair> outputsAndScores(const ComparePair& pair)
{
    std::vector<OutputPair> found = pairOutputs(pair);
    for (size_t i = 0, count = found.size(); i < count; ++i) {
        const ValueId x = scoresOf(pair.floatPlan->graph(), found[i].x),
                      y = scoresOf(pair.quantPlan->graph(), found[i].y);
        if (x.valid() && y.valid()) {
            found.push_back(found[i]);
            found.back().x = x;
            found.back().y = y;
        }
    }
    return found;
}

bool agree(const std::vector<OutputPair>& outputs, const ValueEvidence& evidence)
{
    return std::ranges::all_of(outputs, [&](const OutputPair& out) {
        return !evidence.tellsOfFloat(out.x) || evidence.verdict(out.x, out.y) == Verdict::Same;
    });
}

} // namespace

std::optional<Sketches> sketchRun(const std::shared_ptr<const Plan>& plan, const std::shared_ptr<const Plan>& floatPlan,
    const SampleInputs& samples, const WorkContext& work)
{
    const auto schedule = Schedule::make(plan, { computed(*plan), {} });
    if (!schedule.ok())
        return std::nullopt;
    const FedModel fed { CarriedState(plan), CarriedState(floatPlan) };
    std::vector<Sketches> runs(samples.size());
    std::atomic<bool> good = true;
    parallelFor(samples.size(), work.threadCount(), [&](size_t i, size_t) {
        if (!sketchSample(*schedule, fed.inputs(samples[i]), work, runs[i]))
            good = false;
    });
    if (!good)
        return std::nullopt;
    for (size_t i = 1; i < runs.size(); ++i)
        for (const auto& [id, sketch] : runs[i])
            runs[0][id].append(sketch);
    return std::move(runs[0]);
}

std::optional<Evidence> evidenceOf(
    const ComparePair& pair, std::optional<Sketches>& floats, const SampleInputs& samples, const WorkContext& work)
{
    BypassedRun first;
    const bool both = !floats;
    parallelFor(both ? 2 : 1, work.threadCount(), [&](size_t i, size_t) {
        if (i == 0)
            first = bypassed(pair, BypassBuilder::Weights::OfFloatModel, samples, work);
        else
            floats = sketchRun(pair.floatPlan, pair.floatPlan, samples, work);
    });
    if (!floats)
        return std::nullopt;
    const auto judged = [&](Evidence evidence) {
        const auto outputs = outputsAndScores(pair);
        evidence.sameOutputs = agree(outputs, evidence.values);
        if (std::ranges::any_of(
                outputs, [&](const OutputPair& out) { return !evidence.values.mayBeOne(out.x, out.y); }))
            evidence.values.outputsPart();
        return evidence;
    };
    std::optional<Evidence> best;
    for (const auto weights : { BypassBuilder::Weights::OfFloatModel, BypassBuilder::Weights::Alike }) {
        const bool again = weights != BypassBuilder::Weights::OfFloatModel;
        const BypassedRun run = again ? bypassed(pair, weights, samples, work) : std::move(first);
        if (!run.plan)
            continue;
        Sketches sketches = byNames(run.sketches, run.plan->graph(), pair.quantPlan->graph());
        showReals(pair, sketches);
        Evidence found
            = judged({ ValueEvidence(pair.floatPlan->graph(), *floats, std::move(sketches), run.closeness), run.plan });
        if (!best || found.values.agreement() > best->values.agreement())
            best = std::move(found);
        if (best->sameOutputs)
            break;
    }
    if (best)
        return best;
    auto run = sketchRun(pair.quantPlan, pair.floatPlan, samples, work);
    if (!run)
        return std::nullopt;
    scaleCodes(pair, *run);
    showReals(pair, *run);
    return judged({ ValueEvidence(pair.floatPlan->graph(), *floats, std::move(*run), kQuantized), pair.quantPlan });
}

} // namespace qs
