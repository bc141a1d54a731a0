// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/values/model_value.h"

#include "core/analysis/pairs/fed_model.h"
#include "core/engine/lowered/content_key.h"
#include "core/engine/plan/merged_pairs.h"
#include "core/engine/run/sample_loop.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace qs {

namespace {

Status areNumbers(const Tensor& tensor, const Plan& plan, ValueId id)
{
    const size_t bits = dtypeBits(tensor.dtype());
    const bool complex = tensor.dtype() == DType::Complex64 || tensor.dtype() == DType::Complex128;
    if (bits > 0 && !complex && !isContainer(tensor.dtype()))
        return {};
    Issue issue = badInput("holds no real numbers", {}, "choose another tensor");
    issue.tensor = plan.graph().value(id).name;
    return issue;
}

/// The part of a feed's tensor that belongs to one of its samples; the same storage.
Tensor ofSample(const Tensor& all, const Feed& feed, size_t sample)
{
    const Tensor plain = toPlain(all);
    const size_t slices = feed.slicesOf(size_t(plain.count()));
    if (slices < 2 || plain.rank() == 0 || plain.dim(0) % int64_t(slices) != 0)
        return plain;
    const Tensor whole = unpacked(plain);
    Shape shape = whole.shape();
    shape[0] /= int64_t(slices);
    const size_t bytes = whole.byteCount() / slices;
    const auto owner = std::make_shared<const Tensor>(whole);
    return Tensor::wrap(
        whole.dtype(), std::move(shape), owner->bytes().data() + (sample - feed.firstSample) * bytes, owner);
}

QuantParams paramsIn(const ModelValue& value, const Execution& run)
{
    QuantParams params = value.params;
    if (!value.dynamicScale.valid())
        return params;
    params.scale = toFloats(run.get(value.dynamicScale));
    params.zeroPoint.assign(params.scale.size(), 0);
    if (!value.dynamicZero.valid())
        return params;
    const std::vector<int64_t> zeros = toInts(run.get(value.dynamicZero));
    for (size_t i = 0; i < std::min(zeros.size(), params.zeroPoint.size()); ++i)
        params.zeroPoint[i] = int32_t(zeros[i]);
    return params;
}

Result<Elements> elementsIn(const ModelValue& value, const Execution& run, const Feed& feed, size_t sample)
{
    const Tensor& real = value.beforeRounding.valid() ? run.unrounded(value.beforeRounding) : run.get(value.value);
    if (!real.valid())
        return badInput("the value before rounding is not given out", {}, "choose another tensor");
    QS_CHECK(areNumbers(real, *value.plan, value.value));
    if (!value.codes.valid())
        return Elements(ofSample(real, feed, sample));
    const Tensor codes = ofSample(run.get(value.codes), feed, sample);
    if (value.codes == value.value)
        return Elements(codes, paramsIn(value, run));
    return Elements(codes, paramsIn(value, run), ofSample(real, feed, sample));
}

Demand demandOf(const ModelValue& value, const CarriedState& state)
{
    Demand demand { state.outputs(), {} };
    if (value.beforeRounding.valid())
        demand.unrounded.push_back(value.beforeRounding);
    for (const ValueId id : { value.value, value.codes, value.dynamicScale, value.dynamicZero })
        if (id.valid() && !value.plan->constant(id))
            demand.values.push_back(id);
    return demand;
}

} // namespace

ModelValue modelValue(std::shared_ptr<const Plan> plan, const QuantView* view, ValueId value)
{
    ModelValue found;
    found.plan = std::move(plan);
    found.value = value;
    const auto index = view ? view->ofQuantized(value) : std::nullopt;
    const Quantizer* q = index ? &view->quantizers()[*index] : nullptr;
    const bool known = q && (q->codes == value || q->dequantized == value);
    if (!known || !q->codes.valid() || found.plan->hidden(q->codes) || found.plan->blocked(q->codes)
        || isOnOtherGrid(*found.plan, q->codes))
        return found;
    found.codes = q->codes;
    found.params = q->params;
    if (q->dynamic) {
        found.dynamicScale = q->scaleValue;
        found.dynamicZero = q->zeroPointValue;
    }
    return found;
}

ModelValue quantizedValue(const ComparePair& pair, const PairPlan& plan)
{
    ModelValue found = modelValue(pair.quantPlan, pair.quantView.get(), plan.y);
    if (plan.beforeRounding.valid()) {
        found = modelValue(pair.quantPlan, nullptr, plan.y);
        found.beforeRounding = plan.beforeRounding;
    }
    return found;
}

Result<Elements> constantElements(const ModelValue& value)
{
    const Tensor& tensor = *value.plan->constant(value.value);
    QS_CHECK(areNumbers(tensor, *value.plan, value.value));
    const Tensor* codes = value.codes.valid() ? value.plan->constant(value.codes) : nullptr;
    if (!codes)
        return Elements(tensor);
    return value.codes == value.value ? Elements(*codes, value.params) : Elements(*codes, value.params, tensor);
}

Status checkSample(const DataSource& data, size_t sample)
{
    const size_t samples = data.samples();
    if (sample < samples)
        return {};
    return badUse("there is no sample " + std::to_string(sample) + ": the data hold " + std::to_string(samples)
            + ", counted from 0",
        "give a smaller number");
}

Result<Elements> sampleElements(const ModelValue& value, const SampleRuns& runs, size_t sample, const WorkContext& work)
{
    QS_CHECK(checkSample(*runs.data, sample));
    QS_TRY(const CarriedState own, CarriedState::make(value.plan, runs.carry, runs.data->initialStates()));
    QS_TRY(const CarriedState fed, CarriedState::make(runs.fed, runs.carry, runs.data->initialStates()));
    QS_TRY(const auto schedule, Schedule::make(value.plan, demandOf(value, own)));
    FedModel model(own, fed);
    const std::array<std::shared_ptr<const Schedule>, 1> beside { schedule };
    QS_TRY(SampleLoop loop, SampleLoop::make(beside, 1, work));
    const size_t each = (runs.data->samples() + runs.data->feeds() - 1) / std::max<size_t>(runs.data->feeds(), 1);
    const size_t last = sample / std::max<size_t>(each, 1), first = runs.carry.empty() ? last : 0;
    std::optional<Elements> found;
    const auto runOne = [&](size_t index, const SampleWorker& worker) -> Status {
        QS_TRY(const Feed feed, runs.data->feed(first + index));
        Execution run = worker.execution(schedule);
        const auto inputs = model.inputs(feed.inputs);
        QS_CHECK(run.bind(inputs));
        if (runs.activations && own.empty())
            run.useCache(*runs.activations, sampleKey(inputs), CacheUse::Find);
        QS_CHECK(run.runAll(work.cancel));
        model.keep(run);
        work.tell("run", index + 1, last + 1 - first);
        if (first + index < last)
            return {};
        QS_TRY(found, elementsIn(value, run, feed, sample));
        return {};
    };
    QS_CHECK(loop.run({ last + 1 - first }, runOne));
    return *std::move(found);
}

} // namespace qs
