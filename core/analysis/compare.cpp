// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/compare.h"

#include "core/analysis/rounding/smoothed_values.h"
#include "core/analysis/rows/fill_rows.h"
#include "core/analysis/rows/weight_rows.h"
#include "core/analysis/rules/findings.h"
#include "core/analysis/untaken_branches.h"

#include <numeric>

namespace qs {

Comparison summarize(const ComparePair& pair, ArithmeticProfile profile, Measured& measured,
    const std::vector<int64_t>& labels, std::vector<WeightRow> weights)
{
    Comparison c;
    c.profile = profile;
    c.weights = std::move(weights);
    std::vector<WeightRow> untaken = takeUntaken(c.weights);
    c.equalized = pair.equalized;
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
    addUntaken(pair, std::move(untaken), c);
    return c;
}

ComparePair withEqualized(ComparePair pair, const std::vector<WeightRow>& weights)
{
    EqualizedLayers layers = equalizedLayers(pair, weights);
    layers.values.merge(smoothedValues(pair));
    pair.equalized
        = layers.values.empty() ? nullptr : std::make_shared<const EqualizedValues>(std::move(layers.values));
    return pair;
}

Result<Comparison> compareModels(const ComparePair& files, const DataSource& data, const CompareOptions& options,
    const WorkContext& work, const std::function<void(Comparison)>& partial)
{
    const std::vector<WeightRow> weights
        = compareWeights(files, options.histograms, work.threadCount(), options.pairs.get());
    if (work.cancel.cancelled()) // rows are missing
        return cancelled();
    const ComparePair pair = withEqualized(files, weights);
    MeasuredFn soFar;
    if (partial)
        soFar = [&](Measured& m) { partial(summarize(pair, options.profile, m, data.labels(), weights)); };
    QS_TRY(const auto measured, measureModels(pair, data, options, work, soFar));
    return summarize(pair, options.profile, *measured, data.labels(), weights);
}

} // namespace qs
