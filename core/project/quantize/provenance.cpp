// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/provenance.h"

#include "core/quant/calibrate/range_growth.h"

#include <algorithm>

namespace qs {

namespace {

/// Of the tensors that have ranges in the end; the curve counts runs of the model, which may hold several samples.
void fillCurve(const Quantization& made, size_t samplesInRun, CalibrationSet& set)
{
    const CalibrationData& data = made.kept->data;
    RangeCurve curve(data.feeds);
    for (const TensorStatistics& tensor : data.tensors) {
        if (!made.ranges.find(tensor.name))
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

Provenance provenanceOf(
    const Quantization& made, const std::shared_ptr<const DataSource>& calibration, const DataSource* judged)
{
    Provenance provenance { made.left, {} };
    if (!made.calibrated || !made.kept || !calibration || made.ranges.tensors.empty())
        return provenance;
    const size_t runs = std::max<size_t>(made.kept->data.feeds, 1);
    CalibrationSet set;
    set.samples = calibration->samples();
    set.judged = calibration.get() == judged;
    set.extremes = made.recipe.calibration.kind == Calibrator::MinMax;
    set.labels = calibration->labels();
    set.hashes = made.kept->sampleHashes;
    fillCurve(made, set.samples / runs, set);
    provenance.calibration = std::move(set);
    return provenance;
}

} // namespace qs
