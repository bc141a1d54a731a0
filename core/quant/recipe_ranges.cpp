// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe_ranges.h"

#include "core/quant/calibrators.h"

#include <algorithm>

namespace qs {

namespace {

/// Calibrators of single tensors.
std::vector<const CalibratorOptions*> linkedCalibrators(const Recipe& recipe)
{
    std::vector<const CalibratorOptions*> list;
    for (const auto& [name, override] : recipe.tensors)
        if (override.calibrator)
            list.push_back(&*override.calibrator);
    return list;
}

} // namespace

CollectOptions neededBy(const Recipe& recipe)
{
    CollectOptions needed = neededBy(recipe.calibration);
    for (const CalibratorOptions* calibrator : linkedCalibrators(recipe))
        needed = both(needed, neededBy(*calibrator));
    return needed;
}

bool covers(const CalibrationData& data, const Recipe& recipe)
{
    return data.covers(recipe.calibration)
        && std::ranges::all_of(linkedCalibrators(recipe), [&](const auto* one) { return data.covers(*one); });
}

Result<Ranges> rangesFor(const CalibrationData& data, const Recipe& recipe)
{
    QS_TRY(Ranges ranges, rangesFor(data, recipe.calibration));
    for (const auto& [name, override] : recipe.tensors)
        if (const auto it = ranges.tensors.find(name); override.calibrator && it != ranges.tensors.end()) {
            QS_TRY(it->second, rangeBy(name, data, *override.calibrator));
        }
    return ranges;
}

Result<TensorRange> rangeBy(const std::string& tensor, const CalibrationData& seen, const CalibratorOptions& calibrator)
{
    const auto it = std::ranges::find(seen.tensors, tensor, &TensorStatistics::name);
    if (it == seen.tensors.end() || !seen.covers(calibrator))
        return Issue { IssueKind::BadInput, "was not looked at as this calibrator needs it", {}, {}, tensor,
            "calibrate with it once" };
    QS_TRY(const Ranges ranges, rangesFor(CalibrationData { seen.collected, seen.feeds, { *it } }, calibrator));
    return ranges.tensors.begin()->second;
}

} // namespace qs
