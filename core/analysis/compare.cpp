// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compare.h"

#include "core/analysis/rows/fill_rows.h"
#include "core/analysis/rows/weight_rows.h"
#include "core/analysis/rules/findings.h"

#include <numeric>

namespace qs {

Comparison summarize(const ComparePair& pair, ArithmeticProfile profile, Measured& measured,
    const std::vector<int64_t>& labels, std::vector<WeightRow> weights)
{
    Comparison c;
    c.profile = profile;
    c.weights = std::move(weights);
    c.samples = static_cast<size_t>(std::accumulate(measured.done.begin(), measured.done.end(), size_t(0)));
    c.firstSample = measured.firstSample;
    c.partial = c.samples < measured.allSamples;
    fillActivations(pair, measured, c);
    c.restored = measured.restored;
    c.network = networkVerdict(measured.proof, c);
    fillImplementation(pair, measured, c);
    splitWeightNoise(pair, c);
    fillOutputs(pair, measured, labels, c);
    fillSamples(pair, measured, c);
    if (!c.partial)
        fillFloatNodes(pair, c);
    fillFindings(pair, c);
    return c;
}

Result<Comparison> compareModels(const ComparePair& pair, const DataSource& data, const CompareOptions& options,
    const WorkContext& work, const std::function<void(Comparison)>& partial)
{
    const std::vector<WeightRow> weights
        = compareWeights(pair, options.histograms, work.threadCount(), options.pairs.get());
    if (work.cancel.cancelled()) // rows are missing
        return cancelled();
    MeasuredFn soFar;
    if (partial)
        soFar = [&](Measured& m) { partial(summarize(pair, options.profile, m, data.labels(), weights)); };
    QS_TRY(const auto measured, measureModels(pair, data, options, work, soFar));
    return summarize(pair, options.profile, *measured, data.labels(), weights);
}

} // namespace qs
