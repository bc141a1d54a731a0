// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/provenance.h"

#include "core/qdq/name_tails.h"
#include "core/quant/calibrate/range_growth.h"
#include "core/quant/read_back/setting_reach.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

/// Of these tensors; the curve counts runs of the model, which may hold several samples.
void fillCurve(
    const Quantization& made, const std::vector<std::string>& tensors, size_t samplesInRun, CalibrationSet& set)
{
    const CalibrationData& data = made.kept->data;
    const std::unordered_set<std::string> wanted(tensors.begin(), tensors.end());
    RangeCurve curve(data.feeds);
    for (const TensorStatistics& tensor : data.tensors) {
        if (!wanted.contains(tensor.name))
            continue;
        std::vector<std::pair<double, double>> extremes;
        for (const ValueRange& range : tensor.feeds)
            extremes.emplace_back(range.empty() ? 0.0 : double(range.low), range.empty() ? 0.0 : double(range.high));
        curve.add(extremes);
    }
    set.settledAfter = curve.settledAfter() * samplesInRun;
    set.halfShare = curve.meanShare(data.feeds / 2);
}

} // namespace

namespace {

Provenance provenanceOf(const Quantization& made)
{
    Provenance provenance { made.left, {} };
    for (const CorrectionReport& correction : made.corrections)
        (correction.movesFactors ? provenance.movesFactors : provenance.correctsWeights) = true;
    if (made.recipe.format == RecipeFormat::WeightOnly && made.recipe.weightOnly.algorithm == WeightOnlyAlgorithm::Gptq)
        provenance.correctsWeights = true;
    return provenance;
}

} // namespace

std::vector<std::string> rangesFromSamples(const Quantization& made)
{
    std::vector<std::string> tensors;
    for (const auto& [name, range] : made.ranges.tensors)
        if (made.draft.constant(name + tails::kScale) && !givesRange(made.recipe, name))
            tensors.push_back(name);
    return tensors;
}

Provenance provenanceOf(
    const Quantization& made, const std::shared_ptr<const DataSource>& calibration, const DataSource* judged)
{
    Provenance provenance = provenanceOf(made);
    if (!made.calibrated || !made.kept || !calibration)
        return provenance;
    const std::vector<std::string> tensors = rangesFromSamples(made);
    if (tensors.empty())
        return provenance;
    const size_t runs = std::max<size_t>(made.kept->data.feeds, 1);
    CalibrationSet set;
    set.samples = calibration->samples();
    set.judged = calibration.get() == judged;
    set.extremes = made.recipe.calibration.kind == Calibrator::MinMax;
    set.labels = calibration->labels();
    std::erase_if(set.labels, [](int64_t label) { return label < 0; }); // samples without a class
    set.hashes = made.kept->sampleHashes;
    fillCurve(made, tensors, set.samples / runs, set);
    provenance.calibration = std::move(set);
    return provenance;
}

} // namespace qs
