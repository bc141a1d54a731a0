// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/blame/mixed_runs.h"

#include "core/analysis/decode/guesses.h"
#include "core/analysis/pairs/float_elements.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

/// In the type and shape of the value that it takes the place of.
Tensor inPlaceOf(const Tensor& there, const Tensor& t)
{
    Tensor fitting = convertedTo(toPlain(t), there.dtype());
    return fitting.shape() == there.shape() ? fitting : fitting.reshaped(there.shape());
}

ValueId sideOf(const std::pair<ValueId, ValueId>& values, bool quantized)
{
    return quantized ? values.second : values.first;
}

} // namespace

MixedRuns::MixedRuns(
    const ComparePair& pair, ValueId x, ValueId y, CutModels models, BlamedText text, CancelToken cancel)
    : m_pair(pair)
    , m_x(x)
    , m_y(y)
    , m_models(std::move(models))
    , m_text(std::move(text))
    , m_cancel(std::move(cancel))
{
}

std::shared_ptr<const Schedule> MixedRuns::scheduleOf(bool quantized) const
{
    return quantized ? m_models.quantSchedule : m_models.floatSchedule;
}

/// Advances a run; what it makes of `given` is replaced, and the output of a product has some parts of its weight as
/// the other model has them.
Result<std::vector<float>> MixedRuns::scores(
    Execution& run, bool quantized, const GivenValues& given, const ExchangedParts& exchanged) const
{
    const Schedule& schedule = *scheduleOf(quantized);
    QS_CHECK(run.bind(quantized ? m_text.quantInputs : m_text.floatInputs));
    while (!run.finished()) {
        if (m_cancel.cancelled())
            return cancelled();
        QS_CHECK(run.step(&m_cancel));
        for (const ValueId out : schedule.tasks()[run.position() - 1].outputs) {
            if (const auto value = given.find(out); out.valid() && value != given.end())
                run.set(out, inPlaceOf(run.get(out), value->second));
            else if (exchanged.product && out == sideOf(exchanged.product->output, quantized))
                run.set(out,
                    withParts(run.get(out), run.get(sideOf(exchanged.product->input, quantized)), *exchanged.product,
                        exchanged.parts, quantized ? -1.0F : 1.0F));
        }
    }
    const ValueId output = quantized ? m_y : m_x;
    const Tensor all = toPlain(run.get(output));
    if (all.rank() != 3 || all.dim(0) <= int64_t(m_text.row) || all.dim(1) <= int64_t(m_text.position.value_or(0))
        || all.count() == 0)
        return badInput("output '" + schedule.plan().graph().value(output).name + "' has shape "
                + shapeText(all.shape()) + ", no scores by prompt and position",
            schedule.plan().model().path, "leave out --blame");
    return m_text.position ? scoresAt(all, int64_t(m_text.row), int64_t(*m_text.position))
                           : lastScores(all, int64_t(m_text.row));
}

double MixedRuns::difference(const std::vector<float>& scores) const
{
    return double(scores[size_t(m_rivals.floatId)]) - double(scores[size_t(m_rivals.quantId)]);
}

void MixedRuns::chooseRivals(const std::vector<float>& xs, const std::vector<float>& ys)
{
    m_rivals.floatId = bestToken(xs);
    m_rivals.quantId = bestToken(ys);
    if (m_rivals.floatId == m_rivals.quantId) {
        std::vector<float> others = xs;
        others[size_t(m_rivals.floatId)] = -std::numeric_limits<float>::infinity();
        m_rivals.quantId = bestToken(others);
    }
    m_rivals.floatDifference = difference(xs);
    m_rivals.quantDifference = difference(ys);
}

Status MixedRuns::runBoth(const SampleWorker& worker)
{
    Execution f = worker.execution(m_models.floatSchedule), q = worker.execution(m_models.quantSchedule);
    QS_TRY(const std::vector<float> xs, scores(f, false, {}));
    QS_TRY(const std::vector<float> ys, scores(q, true, {}));
    if (xs.size() != ys.size() || xs.size() < 2)
        return badInput(
            "the models have " + std::to_string(xs.size()) + " and " + std::to_string(ys.size()) + " scores of a token",
            m_pair.quantPlan->model().path, "leave out --blame");
    chooseRivals(xs, ys);
    for (const ValueCut& cut : m_models.cuts)
        for (const auto& [x, y] : cut.values) {
            m_floats[x] = f.get(x);
            m_quants[y] = q.get(y);
        }
    std::erase_if(m_models.cuts, [&](const ValueCut& cut) {
        return std::ranges::any_of(
            cut.values, [&](const auto& v) { return m_floats[v.first].count() != m_quants[v.second].count(); });
    });
    return {};
}

Result<MixedDifferences> MixedRuns::at(size_t border, bool quantized, const std::vector<size_t>& ends,
    const SampleWorker& worker, const ExchangedParts& exchanged) const
{
    GivenValues given;
    if (border > 0)
        for (const auto& [x, y] : m_models.cuts[border - 1].values)
            given.emplace(quantized ? y : x, quantized ? m_floats.at(x) : m_quants.at(y));
    Execution run = worker.execution(scheduleOf(quantized));
    QS_TRY(const std::vector<float> last, scores(run, quantized, given, exchanged));
    MixedDifferences found { difference(last), {} };
    for (const size_t end : ends) {
        if (end == lastBorder()) {
            found.between.push_back(found.behind);
            continue;
        }
        GivenValues made;
        for (const std::pair<ValueId, ValueId>& values : m_models.cuts[end - 1].values)
            made.emplace(sideOf(values, !quantized), run.get(sideOf(values, quantized)));
        Execution other = worker.execution(scheduleOf(!quantized));
        QS_TRY(const std::vector<float> all, scores(other, !quantized, made));
        found.between.push_back(difference(all));
    }
    return found;
}

} // namespace qs
