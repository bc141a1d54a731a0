// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/correct/output_error.h"

#include "core/graph/handed_on.h"
#include "core/kernels/statistics/pair_sums.h"
#include "core/quant/calibrate/activation_pass.h"
#include "core/quant/correct/some_feeds.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr size_t kMostFeeds = 16;

} // namespace

Result<OutputError> OutputError::make(CalibrationRun run)
{
    OutputError error;
    const Graph& graph = run.plan->graph();
    run.data = std::make_shared<SomeFeeds>(run.data, kMostFeeds, !run.carry.empty());
    run.tensors.clear();
    std::vector<std::string> results, handedOn;
    for (ValueId id : graph.outputs())
        if (graph.value(id).producer.valid() && !run.plan->constant(id)
            && run.plan->facts().of(id).dtype == DType::Float32)
            (isHandedOn(graph, id) ? handedOn : results).push_back(graph.value(id).name);
    run.tensors = results.empty() ? handedOn : results;
    error.m_run = std::move(run);
    error.m_wanted.assign(error.m_run.tensors.size(), std::vector<Tensor>(error.m_run.data->feeds()));
    if (error.m_run.tensors.empty())
        return error;
    QS_TRY(ActivationPass pass, ActivationPass::make(error.m_run));
    const auto see = [&](size_t watched, const Tensor& value, size_t feed, size_t) -> Status {
        error.m_wanted[watched][feed] = value;
        return {};
    };
    QS_CHECK(pass.run({}, see));
    return error;
}

Result<std::optional<double>> OutputError::sqnr(const GraphDraft& quantized) const
{
    if (m_run.tensors.empty())
        return std::optional<double>();
    QS_TRY(const auto model, quantized.build());
    CalibrationRun run = m_run;
    run.plan = Plan::make(model);
    QS_TRY(ActivationPass pass, ActivationPass::make(run));
    const size_t feeds = run.data->feeds();
    std::vector<std::vector<PairSums>> sums(run.tensors.size(), std::vector<PairSums>(feeds));
    const auto see = [&](size_t watched, const Tensor& value, size_t feed, size_t) -> Status {
        const std::vector<float> wanted = toFloats(m_wanted[watched][feed]), got = toFloats(value);
        addPairSums(
            sums[watched][feed], wanted.data(), got.data(), nullptr, std::min(wanted.size(), got.size()), nullptr, {});
        return {};
    };
    QS_CHECK(pass.run({}, see));
    double least = std::numeric_limits<double>::infinity();
    for (const auto& runs : sums) {
        PairSums all;
        for (const PairSums& s : runs)
            all.merge(s);
        if (all.ee > 0)
            least = std::min(least, 10 * std::log10(all.xx / all.ee));
    }
    return std::optional(least);
}

} // namespace qs
